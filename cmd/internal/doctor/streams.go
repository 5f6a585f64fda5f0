package doctor

import "time"

// Stream is what was found out about one of the streams.
type Stream struct {
	Name     string
	Inbox    bool
	Missing  bool
	Fault    string // why a reducer must not use it as it is; "" when it may
	Replicas int
	Async    bool // it may lose acknowledged messages on a crash
	Leader   bool // it has one
	Behind   int  // replicas that are offline or not current
	Messages uint64
	Bytes    uint64
	MaxBytes int64 // -1: no limit
	Oldest   time.Duration
}

const (
	nearlyFull  = 80 // percent
	oldCommands = time.Minute
)

// Streams judges the streams of a shard.
func (r *Report) Streams(streams []Stream, embedded bool) {
	for i := range streams {
		r.stream(&streams[i], embedded)
	}
}

func (r *Report) stream(s *Stream, embedded bool) {
	about := "stream " + s.Name
	switch {
	case s.Missing:
		r.wrong(about, "start a reducer, which makes it; if it was there before, restore the log from the archive (reducer import)", "it does not exist")
		return
	case s.Fault != "":
		r.wrong(about, "set it back with the nats tool (nats stream edit), and find out who changed it; a reducer refuses to start on it", "it %s", s.Fault)
		return
	case !s.Leader:
		r.wrong(about, "bring the servers of the cluster back; nothing is decided meanwhile, and nothing is lost", "it has no leader")
	case s.Behind > 0:
		r.wrong(about, "bring the servers of the cluster back", "%d of its %d replicas are not current", s.Behind, s.Replicas)
	}
	before := len(*r)
	r.capacity(about, s)
	if s.Inbox {
		r.inbox(about, s, embedded)
	} else if s.Replicas == 1 && !embedded {
		r.note(about, "keep an archive on another machine (--archive), or set --replicas 3 on a cluster", "it has one replica: what the disk of its server loses is lost")
	}
	if len(*r) == before {
		r.fine(about, "%d messages, %d bytes, %d replicas", s.Messages, s.Bytes, s.Replicas)
	}
}

func (r *Report) capacity(about string, s *Stream) {
	if s.MaxBytes <= 0 || s.Bytes < uint64(s.MaxBytes)/100*nearlyFull {
		return
	}
	full := 100 * float64(s.Bytes) / float64(s.MaxBytes)
	if s.Inbox {
		r.wrong(about, "see why the reducer does not keep up (reducer status), or raise --inbox-max-bytes", "it is %.0f percent full: publishers are turned away soon", full)
		return
	}
	r.wrong(about, "raise --log-max-bytes", "it is %.0f percent full; when it is full nothing is decided any more", full)
}

func (r *Report) inbox(about string, s *Stream, embedded bool) {
	if s.Oldest > oldCommands {
		r.wrong(about, "see why the reducer does not decide (reducer status)", "%d commands wait, the oldest for %s", s.Messages, s.Oldest.Round(time.Second))
	}
	switch {
	case s.Replicas > 1:
		r.note(about, "let clients that are not trusted use aiws.submit, and deny them to publish to aiws.cmd.> themselves",
			"a client that may publish to it can stop a replicated stream with the header Nats-Expected-Last-Msg-Id")
	case s.Async && !embedded:
		r.note(about, "publishers wait for the decision, not for the acknowledgement, and send again what has none",
			"it is written to disk late: commands that were acknowledged shortly before the server crashed may be lost, or be passed over if they came before the reducer was back")
	}
}
