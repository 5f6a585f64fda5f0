package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// targetRestart is how soon a restart that reads only the tail of the log is
// ready.
const targetRestart = 5 * time.Second

// measureRestart kills a reducer under load and starts it again, once with its
// rows, so that it reads the tail of the log, and once without them.
func measureRestart(p plan) (*finding, error) {
	dir, err := os.MkdirTemp(p.dir, "restart-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	data := filepath.Join(dir, "data")
	s, err := serve(p, data)
	if err != nil {
		return nil, err
	}
	l, err := newLoad(s.url, mixedWork, 1024, 1)
	if err == nil {
		err = l.fill(p.log)
		l.close()
	}
	s.kill()
	if err != nil {
		return nil, err
	}
	tail, err := restarted(p, data)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"store", "checkpoints"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(data, name)))
	}
	if err != nil {
		return nil, err
	}
	scratch, err := restarted(p, data)
	if err != nil {
		return nil, err
	}
	f := &finding{costs: []cost{{"restart, the tail", tail.cpu, tail.peak}, {"restart from scratch", scratch.cpu, scratch.peak}}}
	f.results = []result{atMost("restart-tail", tail.took.Seconds(), targetRestart.Seconds(),
		"ready %s after a kill -9 with %d decisions on the log, rows kept; at most %s; %s of processor time, %.0f MiB; "+
			"with the rows deleted %s, %s, %.0f MiB", short(tail.took), p.log, targetRestart, short(tail.cpu), tail.peak,
		short(scratch.took), short(scratch.cpu), scratch.peak)}
	if scratch.peak > 0 {
		f.results = append(f.results, atMost("restart-memory", scratch.peak, targetMemory,
			"at most %.0f MiB resident in the daemon that read %d decisions from scratch; at most %.0f", scratch.peak, p.log, targetMemory))
	}
	return f, nil
}

// restart is what a start took.
type restart struct {
	took time.Duration
	usage
}

// restarted starts a reducer, and kills it when it is ready.
func restarted(p plan, data string) (restart, error) {
	s, err := serve(p, data)
	if err != nil {
		return restart{}, err
	}
	defer s.kill()
	return restart{s.starts, s.usage()}, nil
}
