package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// served19 is a directory in which the quickstart was decided.
func served19(t *testing.T) (data, digest string) {
	t.Helper()
	data = t.TempDir()
	s := serve(t, data)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	digest = digestOf(t, "--nats", s.url)
	s.stop()
	return data, digest
}

// tamper changes one row of a stopped store.
func tamper(t *testing.T, data string, change func(key, value []byte) *state.Change) {
	t.Helper()
	store, err := projections.OpenStore(projections.StoreOptions{Dir: filepath.Join(data, "store"), FlushEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	var made *state.Change
	err = store.Scan([]byte{1}, []byte{0xFF}, false, func(key, value []byte) bool {
		made = change(bytes.Clone(key), bytes.Clone(value))
		return made == nil
	})
	if err != nil || made == nil {
		t.Fatalf("nothing was changed: %v", err)
	}
	if err := store.Commit([]state.Change{*made}, store.Cursor()); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// A store that does not say what the log says is found and replaced.
func TestTamperedStore(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(key, value []byte) *state.Change
	}{
		{"a row changed", "has another content than the log says", func(key, value []byte) *state.Change {
			if !bytes.Contains(key, []byte("laptop-1")) {
				return nil
			}
			value[len(value)-1] ^= 1
			return &state.Change{Key: key, Value: value}
		}},
		{"a row lost", "the store lacks the row", func(key, _ []byte) *state.Change {
			if !bytes.Contains(key, []byte("onboarding-07")) { // a receipt: no projection shows it
				return nil
			}
			return &state.Change{Key: key}
		}},
		{"a row too many", "the log does not say so", func(key, value []byte) *state.Change {
			return &state.Change{Key: append(key, "more"...), Value: value}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, digest := served19(t)
			tamper(t, data, c.change)
			r := run(t, "", "reducer", "verify", "--data", data)
			if r.code != exit.Integrity || !strings.Contains(r.stderr, c.want) || !strings.Contains(r.stderr, "rebuild the store with `reducer replay`") {
				t.Errorf("verify: %s", r)
			}
			kept := filepath.Join(data, "store.bad-1")
			r = run(t, "", "reducer", "replay", "--data", data)
			if r.code != exit.Integrity || !strings.Contains(r.stderr, "it is kept in "+kept) || !strings.Contains(r.out, digest) {
				t.Errorf("replay: %s", r)
			}
			if _, err := os.Stat(kept); err != nil {
				t.Error(err)
			}
			must(t, 0, "reducer", "verify", "--data", data)
		})
	}
}

// A store that does not open is said so by those who only read, rebuilt by
// replay, and by serve by itself.
func TestDamagedStore(t *testing.T) {
	data, digest := served19(t)
	manifests, err := filepath.Glob(filepath.Join(data, "store", "MANIFEST-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no manifest: %v", err)
	}
	breakStore := func() {
		for _, name := range manifests {
			if err := os.WriteFile(name, []byte("not a manifest"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	breakStore()
	for _, name := range []string{"verify", "digest", "show runs"} {
		args := append(strings.Fields(name), "--data", data)
		if r := run(t, "", "reducer", args...); r.code == 0 || !strings.Contains(r.stderr, "rebuild the store with `reducer replay`") {
			t.Errorf("%s: %s", name, r)
		}
	}
	if out := must(t, 0, "reducer", "replay", "--data", data); !strings.Contains(out, "the old one was damaged and is kept in") {
		t.Errorf("replay:\n%s", out)
	}
	must(t, 0, "reducer", "verify", "--data", data)
	manifests, _ = filepath.Glob(filepath.Join(data, "store", "MANIFEST-*"))
	breakStore()
	s := serve(t, data)
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("the digest is %s, it was %s", got, digest)
	}
	if !strings.Contains(s.stderr.String(), "the store was set aside") {
		t.Errorf("serve says nothing of it: %s", s.stderr)
	}
}

// What a running reducer reads through by itself it also sets right: a store
// whose rows are not what the log says, and an archive that rots.
func TestScrubHeals(t *testing.T) {
	data, copied, digest := archived19(t)
	tamper(t, data, func(key, _ []byte) *state.Change {
		if key[0] != 'R' { // a run
			return nil
		}
		return &state.Change{Key: key}
	})
	segment := filepath.Join(copied, "00000000000000000001.seg")
	whole, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	rotten := bytes.Clone(whole)
	rotten[len(rotten)/2] ^= 1
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied, "--http", "127.0.0.1:0")
	eventually(t, "the store was read through and made again", func() bool { return statusOf(t, s).Scrub.Store != "" })
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("it serves %s, it was %s", got, digest)
	}
	eventually(t, "everything was read through", func() bool { return readThrough(statusOf(t, s).Scrub) })
	if _, text := get(t, monitored(t, s), "/metrics"); !strings.Contains(text, "\naiws_mended_total{part=\"store\"} 1\n") {
		t.Errorf("metrics do not say so:\n%s", text)
	}
	if said := s.stderr.String(); !strings.Contains(said, "the log says") || !strings.Contains(said, "set aside") {
		t.Errorf("it says: %s", said)
	}
	s.stop()
	if err := os.WriteFile(segment, rotten, 0o600); err != nil {
		t.Fatal(err)
	}
	s = serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	eventually(t, "everything was read through", func() bool { return readThrough(statusOf(t, s).Scrub) })
	s.stop()
	must(t, 0, "reducer", "verify", "--scrub", "--data", data, "--archive", copied)
}

// A log that is damaged is never extended, whatever the server makes of it.
func TestDamagedLog(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data)
	for n := range 5 { // several blocks
		line := fmt.Sprintf(`{"contract":"c","principal":"p","command":{"type":"startRun","runId":"r%d"}}`, n)
		if r := run(t, line, "ingest", "--wait", "--nats", s.url); r.code != exit.Rejected {
			t.Fatal(r)
		}
	}
	s.stop()
	files, err := filepath.Glob(filepath.Join(data, "jetstream", "*", "streams", "AIWS_LOG_0", "msgs", "*.blk"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files of the log, %v", len(files), err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		behind bool // what is damaged was folded before: only who reads all of the log finds it
		change func(text []byte) []byte
	}{
		{"a bit of an early block", true, func(text []byte) []byte { text[len(text)/3] ^= 4; return text }},
		{"a bit of the last block", false, func(text []byte) []byte { text[len(text)-100] ^= 4; return text }},
		{"the end", false, func(text []byte) []byte { return text[:len(text)*2/3] }},
		{"all", true, func([]byte) []byte { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "data")
			if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			relative, err := filepath.Rel(data, files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(copied, relative), c.change(bytes.Clone(whole)), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"verify", "replay", "export"} {
				r := run(t, "", "reducer", name, "--data", copied)
				if r.code != exit.Integrity || !strings.Contains(r.stderr, "block") {
					t.Errorf("%s: %s", name, r)
				}
			}
			if c.behind {
				if err := os.RemoveAll(filepath.Join(copied, "store")); err != nil {
					t.Fatal(err)
				}
			}
			start(t, copied, "--listen", "127.0.0.1:0").exits(exit.Integrity)
		})
	}
}
