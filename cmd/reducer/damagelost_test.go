package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// Whole directories that are lost or put back from a backup: the log is never
// extended after it, and what is derived is made again.
func TestLost(t *testing.T) {
	data, copied, _ := archived19(t)
	older := t.TempDir()
	if err := os.CopyFS(older, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	submit(t, s, "since")
	must(t, 0, "reducer", "checkpoint", "--nats", s.url)
	digest := digestOf(t, "--nats", s.url)
	eventually(t, "the archive has caught up", func() bool { return statusOf(t, s).Archive.Lag == 0 })
	s.stop()
	for _, c := range []struct {
		name    string
		deleted []string // in the data directory
		back    []string // put back from the older copy
		archive bool
		refused string // "" is served as it was
	}{
		{"the stream of the log", []string{"jetstream/$G/streams/AIWS_LOG_0"}, nil, false, "its inbox was used"},
		{"the description of the log", []string{"jetstream/$G/streams/AIWS_LOG_0/meta.inf"}, nil, false, "could not read the log in"},
		{"all streams", []string{"jetstream"}, nil, false, "the store holds block"},
		{"an older log", []string{"jetstream"}, []string{"jetstream"}, false, "the store holds block"},
		{"an older log, no store", []string{"jetstream", "store", "checkpoints"}, []string{"jetstream"}, true, "the archive holds block"},
		{"an older directory", []string{"jetstream", "store", "checkpoints"}, []string{"jetstream", "store"}, true, "the archive holds block"},
		{"the store", []string{"store"}, nil, true, ""},
		{"the store and its checkpoints", []string{"store", "checkpoints"}, nil, true, ""},
		{"an older store", []string{"store"}, []string{"store"}, true, ""},
		{"the streams of inbox and mirror", []string{"jetstream/$G/streams/AIWS_INBOX_0", "jetstream/$G/streams/KV_aiws"}, nil, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			hurt := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(hurt, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			for _, name := range c.deleted {
				if err := os.RemoveAll(filepath.Join(hurt, name)); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range c.back {
				if err := os.CopyFS(filepath.Join(hurt, name), os.DirFS(filepath.Join(older, name))); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"--listen", "127.0.0.1:0"}
			if c.archive {
				args = append(args, "--archive", copied)
			}
			if c.refused != "" {
				text := start(t, hurt, args...).exits(exit.Integrity)
				if !strings.Contains(text, c.refused) || !strings.Contains(text, "reducer import") {
					t.Errorf("it says: %s", text)
				}
				return
			}
			s := serve(t, hurt, args...)
			if got := digestOf(t, "--nats", s.url); got != digest {
				t.Errorf("it serves %s, it was %s", got, digest)
			}
			s.stop()
			must(t, 0, "reducer", "verify", "--data", hurt)
		})
	}
}

// An archive that is gone is written again from the log.
func TestLostArchive(t *testing.T) {
	data, copied, _ := archived19(t)
	if err := os.RemoveAll(copied); err != nil {
		t.Fatal(err)
	}
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	eventually(t, "the archive has caught up", func() bool {
		a := statusOf(t, s).Archive
		return a.Lag == 0 && a.Block > 0
	})
	s.stop()
	must(t, 0, "reducer", "verify", "--scrub", "--data", data, "--archive", copied)
}
