package daemon

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/outlook"
)

// startQueries begins to answer questions, once: the service makes its own
// connection again when it is lost. It ends with ctx, so that no long question
// keeps the store from closing.
func (d *daemon) startQueries(ctx context.Context) {
	d.queries.Do(func() {
		d.beside(ctx, "the query service", func(ctx context.Context) error { return projections.ServeQueries(ctx, d.queryOptions()) })
	})
}

func (d *daemon) queryOptions() projections.QueryOptions {
	return projections.QueryOptions{
		Connect:    d.connector("queries"),
		View:       d.home.View,
		Status:     d.statusNow,
		Checkpoint: d.checkpoints.make,
		Outlook:    outlook.Attempt,
		Shard:      d.o.Streams.Shard,
		Version:    semantic(d.o.Build),
		Log:        d.o.Log,
	}
}

// versionForm is a module's version, as Go writes it: "v" and a semantic version.
var versionForm = regexp.MustCompile(`^v((0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z][0-9A-Za-z.-]*)?(\+[0-9A-Za-z.-]+)?)$`)

// semantic is a build as a semantic version, which a NATS service must have. One
// that is no release is a version before all releases, by its name.
func semantic(build string) string {
	if parts := versionForm.FindStringSubmatch(build); parts != nil {
		return parts[1]
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'A' && r <= 'Z', r >= 'a' && r <= 'z', r == '-':
			return r
		}
		return '-'
	}, build)
	return "0.0.0-build-" + name
}

func (d *daemon) mirrorOptions() projections.MirrorOptions {
	return projections.MirrorOptions{
		Connect:    d.connector("mirror"),
		View:       d.home.View,
		Generation: func() string { return d.status.Info().Generation },
		Shard:      d.o.Streams.Shard,
		Shards:     d.o.Streams.Shards,
		Replicas:   d.o.Streams.Replicas,
		Log:        d.o.Log,
	}
}

// connector makes connections beside the term's, by name.
func (d *daemon) connector(name string) func(context.Context) (*nats.Conn, error) {
	return func(ctx context.Context) (*nats.Conn, error) {
		conn, err := d.dial(ctx, "aiws-reducer "+name)
		if err != nil {
			return nil, err
		}
		return conn.NATS(), nil
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
		Terms: info.Terms, Writer: info.Writer, Mirror: d.mirror.Info().Status(), Archive: d.archiveStatus(), Checkpoint: d.checkpoints.status(),
		Scrub: d.scrub.status(d.logScrub.at().Seq),
	}
	answer.FreeBytes = FreeBytes(d.dir.Path())
	if d.o.External == nil {
		answer.Sync = string(d.o.Sync)
	}
	if !info.Since.IsZero() {
		answer.Since = info.Since.UTC().Format(time.RFC3339)
	}
	return answer
}
