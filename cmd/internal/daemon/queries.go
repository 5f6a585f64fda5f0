package daemon

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
)

// startQueries begins to answer questions, once: the service makes its own
// connection again when it is lost.
func (d *daemon) startQueries() {
	d.queries.Do(func() {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			// Its only error is one of its options, which tests would see.
			if err := projections.ServeQueries(ctx, d.queryOptions()); err != nil {
				d.o.Log.Error("no questions are answered", "error", err)
			}
		}()
		d.stops = append(d.stops, func() {
			cancel()
			<-ended
		})
	})
}

func (d *daemon) queryOptions() projections.QueryOptions {
	return projections.QueryOptions{
		Connect: func(ctx context.Context) (*nats.Conn, error) {
			conn, err := d.dial(ctx, "aiws-reducer queries")
			if err != nil {
				return nil, err
			}
			return conn.NATS(), nil
		},
		View:   d.home.View,
		Status: d.statusNow,
		Shard:  d.o.Streams.Shard,
		Log:    d.o.Log,
	}
}

// dial makes a connection beside the term's.
func (d *daemon) dial(ctx context.Context, name string) (*jetlog.Conn, error) {
	if d.o.External != nil {
		o := *d.o.External
		o.Name = name
		return jetlog.Connect(ctx, o)
	}
	o := d.o.Login
	o.Name = name
	return d.server.Connect(ctx, o)
}

// statusNow is what the loop says about itself, for whoever asks.
func (d *daemon) statusNow() wire.StatusResponse {
	info := d.status.Info()
	answer := wire.StatusResponse{
		Build: d.o.Build, Generation: info.Generation, LogEnd: info.LogEnd, Phase: string(info.Phase), Ready: info.Ready(),
		Reason: info.Reason, RulesVersion: reducer.RulesVersion, Shard: d.o.Streams.Shard, Shards: max(d.o.Streams.Shards, 1),
		Terms: info.Terms, Writer: info.Writer,
	}
	if !info.Since.IsZero() {
		answer.Since = info.Since.UTC().Format(time.RFC3339)
	}
	return answer
}
