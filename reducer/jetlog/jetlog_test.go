package jetlog

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

var testStreams = Streams{Generation: "g1"}

// integration skips with -short: the tests after it run a server on disk.
func integration(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("runs an embedded server")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func startServer(t *testing.T, path string) *Server {
	t.Helper()
	dir, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	s, err := StartServer(ServerOptions{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func session(ctx context.Context, t *testing.T, s *Server) *Session {
	t.Helper()
	conn, err := s.Connect(ctx, ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	session, err := NewSession(ctx, conn, testStreams, s.OpenDoors)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// client connects as publishers do.
func client(t *testing.T, s *Server) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func publish(ctx context.Context, t *testing.T, nc *nats.Conn, subject, body string) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(ctx, subject, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

func take(t *testing.T, f loop.Feed, count int) []loop.Command {
	t.Helper()
	var taken []loop.Command
	late := time.After(10 * time.Second)
	for len(taken) < count {
		more, err := f.Take(count - len(taken))
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, more...)
		if len(taken) == count {
			break
		}
		select {
		case <-f.Wake():
		case <-late:
			t.Fatalf("%d commands came, want %d", len(taken), count)
		}
	}
	return taken
}

// TestDoors: nobody outside reaches the server until its doors are open, and
// the inbox is purged before.
func TestDoors(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	s := session(ctx, t, server)
	defer s.Close()
	if nc, err := nats.Connect(server.URL(), nats.Timeout(time.Second)); err == nil {
		nc.Close()
		t.Fatal("a client connected before the doors were open")
	}
	if err := s.Inbox().Purge(ctx, 42); err != nil {
		t.Fatal(err)
	}
	if err := s.OpenDoors(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.OpenDoors(ctx); err != nil {
		t.Fatal("the second time:", err)
	}
	publish(ctx, t, client(t, server), "aiws.cmd.c1.alice.startRun", "{}")
	info, err := s.Inbox().Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if info.FirstSeq != 42 || info.LastSeq != 42 {
		t.Errorf("the first command after a purge up to 42 has a sequence of %d..%d", info.FirstSeq, info.LastSeq)
	}
}

// TestPurge: what a purge leaves, and that the sequences go on from there
// whatever is in the inbox and after a restart.
func TestPurge(t *testing.T) {
	ctx := integration(t)
	path := t.TempDir()
	server := startServer(t, path)
	s := session(ctx, t, server)
	if err := s.OpenDoors(ctx); err != nil {
		t.Fatal(err)
	}
	nc := client(t, server)
	for i := range 10 {
		publish(ctx, t, nc, "aiws.cmd.c1.alice.startRun", fmt.Sprint(i))
	}
	for _, step := range []struct{ purge, first, last uint64 }{
		{1, 1, 10}, {5, 5, 10}, {3, 5, 10}, {11, 11, 10}, {11, 11, 10}, {21, 21, 20}, {12, 21, 20},
	} {
		if err := s.Inbox().Purge(ctx, step.purge); err != nil {
			t.Fatal(err)
		}
		info, err := s.Inbox().Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if info.FirstSeq != step.first || info.LastSeq != step.last {
			t.Errorf("after a purge up to %d: %d..%d, want %d..%d", step.purge, info.FirstSeq, info.LastSeq, step.first, step.last)
		}
	}
	s.Close()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	s = session(ctx, t, server)
	defer s.Close()
	info, err := s.Inbox().Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if info.FirstSeq != 21 || info.LastSeq != 20 {
		t.Errorf("after a restart: %d..%d, want 21..20", info.FirstSeq, info.LastSeq)
	}
}

// TestFence: of two writers that expect the same sequence one is refused, and
// reading back says who is there.
func TestFence(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	a, b := session(ctx, t, server), session(ctx, t, server)
	defer a.Close()
	defer b.Close()
	if err := a.Log().Append(ctx, 0, []byte("first")); err != nil {
		t.Fatal(err)
	}
	err := b.Log().Append(ctx, 0, []byte("second"))
	if !errors.Is(err, errConflict) {
		t.Fatalf("the second writer got %v, want a conflict", err)
	}
	found, err := b.Log().Get(ctx, 1)
	if err != nil || string(found) != "first" {
		t.Errorf("block 1 is %q, %v", found, err)
	}
	if _, err := b.Log().Get(ctx, 2); !errors.Is(err, loop.ErrAbsent) {
		t.Errorf("block 2: %v, want absent", err)
	}
	if err := a.Log().Append(ctx, 0, []byte("first")); !errors.Is(err, errConflict) {
		t.Errorf("the same bytes again: %v, want a conflict", err)
	}
	if err := a.Log().Append(ctx, 1, []byte("next")); err != nil {
		t.Error(err)
	}
	if err := a.Log().Append(ctx, 2, make([]byte, serverPayload+1)); !errors.Is(err, loop.ErrTooLarge) {
		t.Errorf("more than the server takes: %v, want too large", err)
	}
}

// TestGeneration: a writer of an older generation reaches no stream.
func TestGeneration(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	s := session(ctx, t, server)
	defer s.Close()
	old := newLog(s.conn, testStreams, "g0")
	if err := old.Append(ctx, 0, []byte("x")); err == nil {
		t.Error("an older generation was appended")
	}
	info, err := s.Log().Info(ctx)
	if err != nil || info.Generation != "g1" || info.LastSeq != 0 || info.FirstSeq != 1 {
		t.Errorf("log: %+v, %v", info, err)
	}
	other := testStreams
	other.Generation = "g2"
	if got, err := other.Ensure(ctx, s.conn); err != nil || got != "g1" {
		t.Errorf("a log that exists keeps its generation: %q, %v", got, err)
	}
}

// TestReadLog: everything in order, more than one pull, from any sequence.
func TestReadLog(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	s := session(ctx, t, server)
	defer s.Close()
	const blocks = 2*logPullBlocks + 7
	for i := range uint64(blocks) {
		if err := s.Log().Append(ctx, i, fmt.Appendf(nil, "block %d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []uint64{1, 2, blocks, blocks + 1, blocks + 100} {
		next := from
		err := s.Log().Read(ctx, from, func(seq uint64, data []byte) error {
			if seq != next || string(data) != fmt.Sprintf("block %d", seq) {
				t.Errorf("from %d: got %d %q, want %d", from, seq, data, next)
			}
			next++
			return nil
		})
		if want := max(from, blocks+1); err != nil || next != want {
			t.Errorf("from %d: ended before %d, %v; want %d", from, next, err, want)
		}
	}
	stop := errors.New("enough")
	if err := s.Log().Read(ctx, 1, func(uint64, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of the reader: %v", err)
	}
}

// TestReadLargeBlocks: blocks as large as the server takes pass a pull's limit.
func TestReadLargeBlocks(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	s := session(ctx, t, server)
	defer s.Close()
	const blocks, size = 5, serverPayload - 1000
	for i := range uint64(blocks) {
		if err := s.Log().Append(ctx, i, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	err := s.Log().Read(ctx, 1, func(_ uint64, data []byte) error {
		count++
		if len(data) != size {
			t.Errorf("block %d has %d bytes", count, len(data))
		}
		return nil
	})
	if err != nil || count != blocks {
		t.Errorf("read %d blocks, %v", count, err)
	}
}

// TestFeed: order, gaps, the start, headers, and more than fits in memory.
func TestFeed(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	s := session(ctx, t, server)
	defer s.Close()
	if err := s.OpenDoors(ctx); err != nil {
		t.Fatal(err)
	}
	nc := client(t, server)
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(100_000))
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Inbox().Read(ctx, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const commands = 3*feedCommands + 1
	for i := range commands {
		m := nats.NewMsg("aiws.cmd.c1.alice.startRun")
		m.Data = fmt.Append(nil, i+1)
		if i == 2 {
			m.Header = nats.Header{HeaderCommandID: {"a", "b"}, HeaderReply: {"_INBOX.x"}}
		}
		if _, err := js.PublishMsgAsync(m); err != nil {
			t.Fatal(err)
		}
	}
	<-js.PublishAsyncComplete()
	taken := take(t, f, commands-2)
	for i, c := range taken {
		if c.Seq != uint64(i+3) || string(c.Body) != fmt.Sprint(i+3) || c.Subject != "aiws.cmd.c1.alice.startRun" || c.Time == 0 {
			t.Fatalf("command %d: %+v", i, c)
		}
	}
	if first := taken[0]; len(first.IDs) != 2 || first.IDs[1] != "b" || first.Reply != "_INBOX.x" {
		t.Errorf("headers: %+v", first)
	}
	if taken[1].IDs != nil {
		t.Errorf("no header: ids are %q, want nil", taken[1].IDs)
	}
}

// TestFeedLost: a feed ends with its connection and wakes who waits.
func TestFeedLost(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	s := session(ctx, t, server)
	defer s.Close()
	f, err := s.Inbox().Read(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	server.Stop()
	for range 100 {
		if _, err = f.Take(1); err != nil {
			break
		}
		select {
		case <-f.Wake():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if !errors.Is(err, loop.ErrLost) {
		t.Errorf("after the server stopped: %v, want lost", err)
	}
	if err := s.Log().Append(ctx, 0, []byte("x")); !errors.Is(err, loop.ErrLost) {
		t.Errorf("append: %v, want lost", err)
	}
}

// TestBackPressure: a full inbox turns publishers away and keeps what it has.
func TestBackPressure(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	conn, err := server.Connect(ctx, ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	streams := Streams{Generation: "g1", InboxBytes: 100_000}
	s, err := NewSession(ctx, conn, streams, server.OpenDoors)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.OpenDoors(ctx); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(client(t, server))
	if err != nil {
		t.Fatal(err)
	}
	stored := uint64(0)
	for range 20 {
		if _, err = js.Publish(ctx, "aiws.cmd.c1.alice.startRun", make([]byte, 10_000)); err != nil {
			break
		}
		stored++
	}
	var api *jetstream.APIError
	if !errors.As(err, &api) || api.ErrorCode != codeStoreFailed {
		t.Errorf("after %d commands: %v, want a refusal", stored, err)
	}
	if _, err := js.Publish(ctx, "aiws.cmd.c1.alice.startRun", make([]byte, inboxMessageBytes+1)); err == nil {
		t.Error("a command of more than 1 MiB was taken")
	}
	info, err := s.Inbox().Info(ctx)
	if err != nil || info.FirstSeq != 1 || info.LastSeq != stored || info.Limits.Bytes != 100_000 {
		t.Errorf("inbox: %+v, %v", info, err)
	}
	streams.InboxBytes = 1 << 20
	if _, err := streams.Ensure(ctx, s.conn); err != nil {
		t.Fatal(err)
	}
	publish(ctx, t, s.conn.nc, "aiws.cmd.c1.alice.startRun", "{}")
}

// TestRestore: beside an inbox that was used a log is made only by who says so.
func TestRestore(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	s := session(ctx, t, server)
	defer s.Close()
	if err := s.Inbox().Purge(ctx, 8); err != nil {
		t.Fatal(err)
	}
	if err := s.conn.js.DeleteStream(ctx, testStreams.LogName()); err != nil {
		t.Fatal(err)
	}
	restored := Streams{Generation: "g2"}
	if _, err := restored.Ensure(ctx, s.conn); !errors.Is(err, loop.ErrIntegrity) {
		t.Errorf("a reducer: %v, want an integrity error", err)
	}
	restored.Restore = true
	if got, err := restored.Ensure(ctx, s.conn); err != nil || got != "g2" {
		t.Errorf("a restore: generation %q, %v", got, err)
	}
	if err := s.Log().Append(ctx, 0, []byte("old")); err == nil {
		t.Error("a writer of the old generation reached the new log")
	}
}

// TestForeignStream: a stream that may lose messages by itself is refused.
func TestForeignStream(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	conn, err := server.Connect(ctx, ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	config := testStreams.logConfig("g1")
	config.DenyPurge = false
	if _, err := conn.js.CreateStream(ctx, config); err != nil {
		t.Fatal(err)
	}
	if _, err := testStreams.Ensure(ctx, conn); !errors.Is(err, loop.ErrConfig) {
		t.Errorf("a log that can be purged: %v, want a refusal", err)
	}
}
