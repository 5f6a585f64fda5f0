package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// good is a server with nothing to say against.
func good() *Server {
	return &Server{
		URL: "nats://a:4222", Version: "2.15.2", Tested: "2.15.2", MaxPayload: 8 << 20, MinPayload: 4 << 20,
		NeedsLogin: true, TLS: true, User: "u", Permissions: &Permissions{Allow: []string{"aiws.cmd.*.u.*"}}, Sync: "always",
	}
}

func goodStatus() *wire.StatusResponse {
	return &wire.StatusResponse{
		Ready: true, Build: "b", RulesVersion: 1, AsOf: wire.AsOf{Block: 10, Seq: 20}, FreeBytes: 9 << 30,
		Mirror:     &wire.MirrorStatus{AsOf: wire.AsOf{Block: 10}, Phase: "live"},
		Archive:    &wire.ArchiveStatus{Block: 10, Dir: "d"},
		Checkpoint: &wire.CheckpointStatus{AsOf: wire.AsOf{Block: 9}, Made: "now"},
	}
}

func goodStreams() []Stream {
	return []Stream{
		{Name: "AIWS_LOG_0", Replicas: 3, Leader: true, MaxBytes: -1},
		{Name: "AIWS_INBOX_0", Inbox: true, Replicas: 1, Leader: true, MaxBytes: 1 << 30},
	}
}

// Each thing that can be wrong is found, and comes with what to do about it.
func TestFindings(t *testing.T) {
	type world struct {
		server  *Server
		streams []Stream
		status  *wire.StatusResponse
		dir     *Directory
		logEnd  uint64
	}
	for _, c := range []struct {
		name   string
		change func(*world)
		level  Level
		about  string
		what   string
	}{
		{"all is well", func(*world) {}, Fine, "", ""},
		{"an old server", func(w *world) { w.server.Version = "2.9.25" }, Wrong, "server", "is older than 2.15.2"},
		{"a newer server", func(w *world) { w.server.Version = "v2.16.0-beta" }, Fine, "", ""},
		{"small messages", func(w *world) { w.server.MaxPayload = 1 << 20 }, Wrong, "max_payload", "1048576 bytes"},
		{"interval", func(w *world) { w.server.Sync = "interval" }, Wrong, "fsync", "last minutes"},
		{"an external server", func(w *world) { w.server.Sync = "" }, Note, "fsync", "cannot be seen"},
		{"nobody logs in", func(w *world) { w.server.NeedsLogin = false }, Wrong, "access", "nobody has to log in"},
		{"nobody logs in on loopback", func(w *world) { w.server.NeedsLogin, w.server.Loopback = false, true }, Note, "access", "on this machine"},
		{"no TLS", func(w *world) { w.server.TLS = false }, Wrong, "access", "not encrypted"},
		{"may do everything", func(w *world) { w.server.Permissions = nil }, Note, "permissions", "delete the decision log, change the settings"},
		{"may write the log", func(w *world) { w.server.Permissions.Allow = append(w.server.Permissions.Allow, "aiws.log.>") }, Note, "permissions", "u may write to the decision log"},
		{"may not delete", func(w *world) {
			w.server.Permissions = &Permissions{Deny: []string{"$JS.API.STREAM.>", "aiws.log.*.*", "aiws.cmd.>", "aiws.submit.>", "$KV.>"}}
		}, Fine, "", ""},
		{"a clock that differs", func(w *world) { w.server.Ahead = -time.Minute }, Note, "clock", "differ by 1m0s"},
		{"a clock that stalls", func(w *world) { w.server.Ahead = time.Hour }, Wrong, "clock", "not decided"},

		{"no stream", func(w *world) { w.streams[0] = Stream{Name: "AIWS_LOG_0", Missing: true} }, Wrong, "stream AIWS_LOG_0", "does not exist"},
		{"changed settings", func(w *world) { w.streams[0].Fault = "has an age limit" }, Wrong, "stream AIWS_LOG_0", "it has an age limit"},
		{"no leader", func(w *world) { w.streams[0].Leader = false }, Wrong, "stream AIWS_LOG_0", "no leader"},
		{"a replica away", func(w *world) { w.streams[0].Behind = 1 }, Wrong, "stream AIWS_LOG_0", "1 of its 3 replicas"},
		{"one replica", func(w *world) { w.streams[0].Replicas = 1 }, Note, "stream AIWS_LOG_0", "one replica"},
		{"a full log", func(w *world) { w.streams[0].MaxBytes, w.streams[0].Bytes = 1000, 900 }, Wrong, "stream AIWS_LOG_0", "90 percent full; when"},
		{"a full inbox", func(w *world) { w.streams[1].Bytes = 1 << 30 }, Wrong, "stream AIWS_INBOX_0", "100 percent full: publishers"},
		{"commands wait", func(w *world) { w.streams[1].Oldest, w.streams[1].Messages = time.Hour, 3 }, Wrong, "stream AIWS_INBOX_0", "3 commands wait"},
		{"a replicated inbox", func(w *world) { w.streams[1].Replicas = 3 }, Note, "stream AIWS_INBOX_0", "Nats-Expected-Last-Msg-Id"},
		{"an async inbox", func(w *world) { w.streams[1].Async = true }, Note, "stream AIWS_INBOX_0", "written to disk late"},

		{"not ready", func(w *world) { w.status.Ready, w.status.Phase, w.status.Reason = false, "holding", "why" }, Wrong, "reducer", "holding, why"},
		{"the store is behind", func(w *world) { w.logEnd = 5000 }, Wrong, "store", "4990 blocks behind"},
		{"another build", func(w *world) { w.status.Build = "c" }, Note, "build", "build c"},
		{"other rules", func(w *world) { w.status.RulesVersion = 2 }, Note, "rules", "version 2"},
		{"a broken mirror", func(w *world) { w.status.Mirror.Error = "why" }, Wrong, "KV mirror", "why"},
		{"a mirror that compares", func(w *world) { w.status.Mirror.Phase = "comparing" }, Note, "KV mirror", "comparing"},
		{"a slow mirror", func(w *world) { w.status.AsOf.Block, w.logEnd = 5000, 5000 }, Wrong, "KV mirror", "behind"},
		{"no archive", func(w *world) { w.status.Archive = nil }, Note, "archive", "no second copy"},
		{"a broken archive", func(w *world) { w.status.Archive.Error = "why" }, Wrong, "archive", "why"},
		{"a damaged archive", func(w *world) { w.status.Archive.Missing = 7 }, Wrong, "archive", "7 of its blocks"},
		{"a slow archive", func(w *world) { w.status.Archive.Lag = 5000 }, Wrong, "archive", "5000 blocks behind"},
		{"no checkpoint", func(w *world) { w.status.Checkpoint.Error = "why" }, Wrong, "checkpoint", "why"},
		{"an old checkpoint", func(w *world) {
			w.status.AsOf.Block, w.logEnd, w.status.Mirror.AsOf.Block = 300_000, 300_000, 300_000
		}, Note, "checkpoint", "299991 blocks old"},
		{"little space", func(w *world) { w.status.FreeBytes = 1 << 30 }, Wrong, "disk", "1024 MiB"},
		{"no space", func(w *world) { w.status.FreeBytes = 1 << 20 }, Wrong, "disk", "nothing is decided"},

		{"others write", func(w *world) { w.dir.Mode = 0o777 }, Wrong, "directory d", "others on this machine may write"},
		{"others read", func(w *world) { w.dir.Mode = 0o755 }, Note, "directory d", "everybody on this machine may read"},
		{"remains", func(w *world) { w.dir.Remains = []string{"store.bad-1"} }, Note, "directory d", "store.bad-1 was set aside"},
	} {
		w := &world{good(), goodStreams(), goodStatus(), &Directory{Name: "d", Mode: 0o750, Free: 9 << 30}, 10}
		c.change(w)
		var r Report
		r.Server(w.server, 0, "g")
		r.Streams(w.streams, false)
		r.Reducer(w.status, w.logEnd, "b", 1)
		r.Directory(w.dir)
		if c.level == Fine {
			for _, f := range r {
				if f.Level != Fine {
					t.Errorf("%s: %+v", c.name, f)
				}
			}
			continue
		}
		if (r.Wrong() > 0) != (c.level == Wrong) {
			t.Errorf("%s: %d are wrong", c.name, r.Wrong())
		}
		found := false
		for _, f := range r {
			found = found || f.Level == c.level && f.About == c.about && strings.Contains(f.What, c.what) && f.Do != ""
		}
		if !found {
			t.Errorf("%s: want %s about %q with %q in:\n%s", c.name, c.level, c.about, c.what, strings.ReplaceAll(fmt.Sprintf("%+v", r), "} {", "}\n{"))
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, subject string
		want             bool
	}{
		{"a.b", "a.b", true}, {"a.b", "a.b.c", false}, {"a.b.c", "a.b", false}, {"a.*", "a.b", true}, {"a.*", "a", false},
		{"a.>", "a.b.c", true}, {"a.>", "a", false}, {">", "a", true}, {"*.b", "a.b", true}, {"b.*", "a.b", false},
	} {
		if got := Matches(c.pattern, c.subject); got != c.want {
			t.Errorf("%s covers %s: %v", c.pattern, c.subject, got)
		}
	}
}
