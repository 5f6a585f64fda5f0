package main

import (
	"os"
	"path/filepath"
	"time"
)

// targetIdle is the memory of a daemon that nobody asks anything.
const targetIdle = 100.0 // MiB

// measureIdle looks at a daemon that has a ledger and nothing to do.
func measureIdle(p plan) (*finding, error) {
	dir, err := os.MkdirTemp(p.dir, "idle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	s, err := serve(p, filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	defer s.kill()
	l, err := newLoad(s.url, mixedWork, 1, 1)
	if err == nil {
		err = l.fill(100)
		l.close()
	}
	if err != nil {
		return nil, err
	}
	before := s.usage()
	time.Sleep(p.span)
	after := s.usage()
	if after.resident == 0 {
		return nil, errSkipped
	}
	return &finding{costs: []cost{{"idle daemon", after.cpu, after.peak}}, results: []result{atMost("idle-memory", after.resident, targetIdle,
		"%.0f MiB resident in an idle daemon, at most %.0f; ready %s after its first start; %.1f%% of one processor while idle",
		after.resident, targetIdle, short(s.starts), 100*(after.cpu-before.cpu).Seconds()/p.span.Seconds())}}, nil
}
