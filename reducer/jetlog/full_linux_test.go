package jetlog_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"
)

// TestStarved takes from a running reducer what it needs: room on the disk (a
// process that may not write larger files meets what a full disk does), or file
// handles. Nothing is lost meanwhile, and when there is enough again it goes on
// by itself.
func TestStarved(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a child process")
	}
	for _, c := range []struct {
		name     string
		resource int
		amount   uint64
		silent   bool // nothing can be answered meanwhile
	}{
		{"disk", unix.RLIMIT_FSIZE, 4096, true},
		{"file handles", unix.RLIMIT_NOFILE, 8, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := t.TempDir()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			heard := &clients{answers: map[string][]byte{}}
			running := startChild(t, path)
			heard.sendAll(ctx, running.url, 0, 200)

			before := len(heard.answers)
			give := limit(t, running.cmd.Process.Pid, c.resource, c.amount)
			starved, stop := context.WithTimeout(ctx, 2*time.Second)
			heard.sendAll(starved, running.url, 200, 300)
			<-starved.Done()
			stop()
			if c.silent && len(heard.answers) != before {
				t.Errorf("%d answers", len(heard.answers)-before)
			}
			give()
			for len(heard.answers) < 400 && ctx.Err() == nil {
				heard.sendAll(ctx, running.url, 0, 400)
				time.Sleep(100 * time.Millisecond)
			}
			if nc, err := nats.Connect(running.url); err != nil {
				t.Error("the server does not listen where it did:", err)
			} else {
				nc.Close()
			}
			running.kill(t)
			checkAnswers(ctx, t, path, heard, 400)
		})
	}
}

// limit takes from a process all but so much of a resource; give gives it back.
func limit(t *testing.T, pid, resource int, amount uint64) (give func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &before); err != nil {
		t.Skip("no right to limit a process:", err)
	}
	if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: amount, Max: before.Max}, nil); err != nil {
		t.Skip("no right to limit a process:", err)
	}
	return func() {
		t.Helper()
		if err := unix.Prlimit(pid, resource, &before, nil); err != nil {
			t.Fatal(err)
		}
	}
}
