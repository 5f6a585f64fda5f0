package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/archive"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// history is a directory that was used, its archive, and what undamaged copies
// of them come to.
type history struct {
	root   string // with data and archive in it
	blocks [][]byte
	digest string          // once the commands that wait in the inbox are decided
	kept   client.Decision // on the command keptID
}

const (
	keptID        = "kept"
	waitingInside = 3 // commands that wait in the inbox
	smallFiles    = 120_000
)

// makeHistory makes a directory with everything in it that a reducer writes: a
// log of both formats in many files of the server, compressed ones among them, a
// store, its checkpoints, a mirror, an archive of several segments, and commands
// that wait for a decision.
func makeHistory(t *testing.T) *history {
	t.Helper()
	h := &history{root: t.TempDir()}
	data, copied := filepath.Join(h.root, "data"), filepath.Join(h.root, "archive")
	oldLog(t, data)
	oldArchive(t, data, copied)
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	h.kept = submit(t, s, keptID)
	must(t, 0, "reducer", "checkpoint", "--nats", s.url)
	submit(t, s, "later")
	must(t, 0, "reducer", "checkpoint", "--nats", s.url)
	submit(t, s, "last")
	eventually(t, "archive and mirror have caught up", func() bool {
		a := statusOf(t, s).Archive
		return a.Lag == 0 && mirrorIsLive(t, s)
	})
	s.stop()
	h.blocks = blocksOf(t, data)
	leaveWaiting(t, data)
	copied = filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	s = serve(t, copied)
	eventually(t, "what waited is decided", func() bool {
		return statusOf(t, s).AsOf.Seq == headerOf(t, h.blocks[len(h.blocks)-1]).LastCommandSeq+waitingInside
	})
	h.digest = digestOf(t, "--nats", s.url)
	s.stop()
	return h
}

// oldLog writes the history of a release as the log of a new directory, ten
// commands a block, in files as small as the server makes them.
func oldLog(t *testing.T, data string) {
	t.Helper()
	dir, err := jetlog.OpenDir(data)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	server, err := jetlog.StartServer(jetlog.ServerOptions{Dir: dir, Listen: "127.0.0.1:0", Sync: jetlog.SyncInterval})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	conn, err := server.Connect(t.Context(), jetlog.ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	streams := jetlog.Streams{Generation: "01K0000000000000000000000G"}
	for _, limit := range []int64{smallFiles, 0} { // the size of its files goes by the first limit
		streams.LogBytes = limit
		if _, err := streams.Ensure(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
	}
	log, err := jetlog.OpenLog(t.Context(), conn, streams)
	if err != nil {
		t.Fatal(err)
	}
	appendHistory(t, log, streams.Generation, 1, 35)
}

// appendHistory writes the history of a release to a log, as decided under a
// version of the rules, the first blocks in format 1.
func appendHistory(t *testing.T, log interface {
	Append(ctx context.Context, last uint64, block []byte) error
}, generation string, rules int64, bare uint64,
) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(histories, "v0.1", "*.block"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no history: %v", err)
	}
	var entries []events.Entry
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		block, err := events.ParseBlock(data)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, block.Entries...)
	}
	rows := state.NewMemory()
	s, prev := state.New(rows, state.Cursor{}, 0), events.ZeroHash
	for seq := uint64(1); len(entries) > 0; seq++ {
		b := events.NewBlock(events.Header{
			RulesVersion: rules, Generation: generation, Writer: generation, Build: "v0.1", Shards: 1, Time: "1767225600000", PrevBlockHash: prev,
		})
		some := entries[:min(10, len(entries))]
		entries = entries[len(some):]
		for i := range some {
			b.Add(&some[i].Message, some[i].Decision)
			s.Apply(&some[i].Message, some[i].Decision)
		}
		rows.Commit(s.Take(seq))
		s.Committed()
		data, hash := b.Seal(s.Hash())
		if seq <= bare {
			data = bareBlock(t, data)
			hash = events.BlockHash(data)
		}
		if err := log.Append(t.Context(), seq-1, data); err != nil {
			t.Fatal(err)
		}
		prev = hex.EncodeToString(hash[:])
	}
}

// bareBlock is a block in format 1, whose checksum does not cover its header.
func bareBlock(t *testing.T, data []byte) []byte {
	t.Helper()
	line, content, _ := bytes.Cut(data, []byte{'\n'})
	checksum := sha256.Sum256(content)
	line = bytes.Replace(line, []byte(`"checksum":"`+headerOf(t, data).Checksum), []byte(`"checksum":"`+hex.EncodeToString(checksum[:])), 1)
	line = bytes.Replace(line, []byte(`"formatVersion":2`), []byte(`"formatVersion":1`), 1)
	return append(append(line, '\n'), content...)
}

// oldArchive makes an archive of a stopped directory, in segments smaller than
// those of serve, which goes on with it.
func oldArchive(t *testing.T, data, copied string) {
	t.Helper()
	a, err := archive.Open(archive.Options{Dir: copied, SegmentBytes: smallFiles})
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range blocksOf(t, data) {
		if err := a.Append(uint64(i+1), block); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// leaveWaiting puts commands into the inbox of a stopped directory.
func leaveWaiting(t *testing.T, data string) {
	t.Helper()
	log, err := openStopped(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	js, err := log.conn.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	for n := range waitingInside {
		m := nats.NewMsg("aiws.cmd.onboarding.buyer.startRun")
		m.Data = []byte(`{"runId":"waiting-` + string(rune('a'+n)) + `","type":"startRun"}`)
		m.Header[wire.HeaderCommandID] = []string{"waiting-" + string(rune('a'+n))}
		if _, err := js.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
}

// submit starts the run that is named as the command is.
func submit(t *testing.T, s *served, id string) client.Decision {
	t.Helper()
	nc, err := nats.Connect(s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	c, err := client.New(nc, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	d, err := c.Submit(t.Context(), client.Command{
		Contract: "onboarding", Principal: "buyer", ID: id, Body: &schema.StartRun{RunID: id},
	})
	if err != nil {
		t.Fatalf("command %s: %v", id, err)
	}
	return d
}
