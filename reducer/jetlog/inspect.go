package jetlog

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Found is a stream as it is, for whoever judges an installation.
type Found struct {
	Name     string
	Inbox    bool
	Missing  bool
	Fault    string // why a reducer would refuse it; "" when it would not
	Replicas int
	Async    bool // PersistMode async
	Leader   bool // a server answers for it
	Behind   int  // replicas that are offline or not current
	Messages uint64
	Bytes    uint64
	MaxBytes int64
	Oldest   time.Time // of its first message; zero when it has none
	LastSeq  uint64
	Asked    time.Time // the server's clock when it answered
}

// Inspect looks at the streams of the shard and changes nothing.
func (s Streams) Inspect(ctx context.Context, c *Conn) ([]Found, error) {
	generation, err := s.FindGeneration(ctx, c)
	fault := ""
	if err != nil && !isStreamNotFound(err) {
		fault = err.Error()
	}
	log, err := inspectStream(ctx, c, s.logConfig(generation))
	if err != nil {
		return nil, err
	}
	if fault != "" {
		log.Fault = fault
	}
	inbox, err := inspectStream(ctx, c, s.inboxConfig())
	if err != nil {
		return nil, err
	}
	inbox.Inbox = true
	return []Found{*log, *inbox}, nil
}

func inspectStream(ctx context.Context, c *Conn, want jetstream.StreamConfig) (*Found, error) {
	stream, err := c.js.Stream(ctx, want.Name)
	if isStreamNotFound(err) {
		return &Found{Name: want.Name, Missing: true}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", want.Name, wireError(err))
	}
	info := stream.CachedInfo()
	f := &Found{
		Name: want.Name, Fault: differs(&info.Config, &want), Replicas: max(info.Config.Replicas, 1),
		Async: info.Config.PersistMode == jetstream.AsyncPersistMode, Leader: true,
		Messages: info.State.Msgs, Bytes: info.State.Bytes, MaxBytes: info.Config.MaxBytes, LastSeq: info.State.LastSeq, Asked: info.TimeStamp,
	}
	if info.State.Msgs > 0 {
		f.Oldest = info.State.FirstTime
	}
	if info.Cluster != nil {
		f.Leader = info.Cluster.Leader != ""
		for _, replica := range info.Cluster.Replicas {
			if replica.Offline || !replica.Current {
				f.Behind++
			}
		}
	}
	return f, nil
}
