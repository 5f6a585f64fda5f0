package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// A scrub reads the log, the store, the archive, the mirror and the checkpoints,
// of a running reducer and of a stopped directory.
func TestScrub(t *testing.T) {
	data, copied, _ := archived19(t)
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	eventually(t, "the mirror is live", func() bool { return mirrorIsLive(t, s) })
	must(t, 0, "reducer", "checkpoint", "--nats", s.url)
	var found verified
	if err := json.Unmarshal([]byte(must(t, 0, "reducer", "verify", "--scrub", "--json", "--nats", s.url)), &found); err != nil {
		t.Fatal(err)
	}
	if b := found.Scrub; b == nil || b.Archive != copied || b.ArchiveBlocks != found.Blocks || b.StoreRows == 0 || b.MirrorRows == 0 || !b.MirrorWhole {
		t.Errorf("of a running reducer: %+v", b)
	}
	s.stop()
	out := must(t, 0, "reducer", "verify", "--scrub", "--data", data, "--archive", copied, "--rate", "64MiB")
	for _, want := range []string{"are the log's, byte for byte; 0 are not there yet", "of the KV bucket are the log's", "checkpoints        1"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

func mirrorIsLive(t *testing.T, s *served) bool {
	t.Helper()
	m := statusOf(t, s)
	return m.Mirror != nil && m.Mirror.Phase == "live" && m.Mirror.AsOf == m.AsOf
}

// A scrub says all that is wrong, with what to do, and exits with 3.
func TestScrubFinds(t *testing.T) {
	data, copied, _ := archived19(t)
	must(t, 0, "reducer", "checkpoint", "--data", data)
	checkpoints, err := filepath.Glob(filepath.Join(data, "checkpoints", "*", "*.sst"))
	if err != nil || len(checkpoints) == 0 {
		t.Fatalf("no checkpoint: %v", err)
	}
	for _, c := range []struct {
		name   string
		wants  []string
		change func(t *testing.T, data, copied string)
	}{
		{"the archive has another block", []string{"archive", "from byte", "serve --archive"}, func(t *testing.T, _, copied string) {
			flip(t, filepath.Join(copied, "00000000000000000001.seg"), 900)
		}},
		{"the archive has no HEAD that can be read", []string{"HEAD", "remove HEAD"}, func(t *testing.T, _, copied string) {
			flip(t, filepath.Join(copied, "HEAD"), 10)
		}},
		{"a checkpoint rots", []string{"checkpoint ", "reducer checkpoint"}, func(t *testing.T, data, _ string) {
			relative, err := filepath.Rel(filepath.Dir(filepath.Dir(filepath.Dir(checkpoints[0]))), checkpoints[0])
			if err != nil {
				t.Fatal(err)
			}
			flip(t, filepath.Join(data, relative), 100)
		}},
		{"the mirror has other rows, and lacks some", []string{"KV mirror", wire.BucketStream}, func(t *testing.T, data, _ string) {
			changeBucket(t, data, func(kv jetstream.KeyValue, key string) error {
				_, err := kv.Put(t.Context(), key, []byte(`{"at":"1","block":1,"row":{},"seq":1,"v":1}`))
				return err
			})
		}},
		{"the mirror lacks a row", []string{"KV mirror, stream KV_aiws: it lacks"}, func(t *testing.T, data, _ string) {
			changeBucket(t, data, func(kv jetstream.KeyValue, key string) error { return kv.Delete(t.Context(), key) })
		}},
		{"the archive is of another log", []string{"block 1: the archive", "has another one than the log", "reducer diff"}, func(t *testing.T, data, _ string) {
			export := writeFile(t, "export", must(t, 0, "reducer", "export", "--decisions", "--data", data))
			if err := os.RemoveAll(data); err != nil {
				t.Fatal(err)
			}
			must(t, 0, "reducer", "import", export, "--data", data)
		}},
		{"the log is older than the archive", []string{"the log ends at block 1", "restore it from the archive"}, func(t *testing.T, data, _ string) {
			older := filepath.Join(t.TempDir(), "older")
			must(t, 0, "reducer", "import", data, "--until", "1", "--data", older)
			if err := errors.Join(os.RemoveAll(data), os.Rename(older, data)); err != nil {
				t.Fatal(err)
			}
		}},
		{"the log is damaged and the archive is not", []string{"block 1", "is in order up to block", "reducer import " /* the way out */}, func(t *testing.T, data, _ string) {
			files, err := filepath.Glob(filepath.Join(data, "jetstream", "*", "streams", "AIWS_LOG_0", "msgs", "*.blk"))
			if err != nil {
				t.Fatal(err)
			}
			flip(t, files[0], 900)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			hurt, second := filepath.Join(dir, "data"), filepath.Join(dir, "archive")
			for from, to := range map[string]string{data: hurt, copied: second} {
				if err := os.CopyFS(to, os.DirFS(from)); err != nil {
					t.Fatal(err)
				}
			}
			c.change(t, hurt, second)
			r := run(t, "", "reducer", "verify", "--scrub", "--data", hurt, "--archive", second)
			if r.code != exit.Integrity {
				t.Errorf("%s", r)
			}
			for _, want := range c.wants {
				if !strings.Contains(r.stderr, want) {
					t.Errorf("no %q in: %s", want, r)
				}
			}
		})
	}
}

// flip flips a bit of a file.
func flip(t *testing.T, path string, at int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[at] ^= 4
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// changeBucket changes a row of the KV mirror of a stopped directory.
func changeBucket(t *testing.T, data string, change func(kv jetstream.KeyValue, key string) error) {
	t.Helper()
	log, err := openStopped(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	kv := bucketOf(t, log.conn)
	keys, err := kv.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if _, ok := wire.ParseKey(key); ok {
			if err := change(kv, key); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("no row in the bucket")
}

func bucketOf(t *testing.T, nc *nats.Conn) jetstream.KeyValue {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), wire.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}
