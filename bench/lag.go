package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events/client"
)

// measureLag says how far the KV mirror and those who watch it are behind while
// commands come as fast as they can.
func measureLag(p plan) (*finding, error) {
	s := section{
		title: "Lag of the mirror and of a watcher under load",
		text: "Lag is from the time stamp that the inbox gave a command until a watcher of every row got the last change of that\n" +
			"command. The watcher is a Go client in the load generator's process. Behind is by how many commands the mirror's cursor is\n" +
			"behind the decisions, asked every 50 ms.",
		head: []string{"in flight", "decisions/s", "changes/s", "lag p50", "lag p99", "lag p99.9", "behind, median", "behind, most"},
	}
	for _, submitters := range []int{1, 64, 1024} {
		row, err := lagOnce(p, submitters)
		if err != nil {
			return nil, fmt.Errorf("%d in flight: %w", submitters, err)
		}
		s.rows = append(s.rows, row)
	}
	return &finding{sections: []section{s}}, nil
}

func lagOnce(p plan, submitters int) (_ []string, err error) {
	dir, err := os.MkdirTemp(p.dir, "lag-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	s, err := serve(p, filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	l, err := newLoad(s.url, mixedWork, submitters, 1)
	if err != nil {
		return nil, err
	}
	defer l.close()
	w, err := newLagWatcher(s.url)
	if err != nil {
		return nil, err
	}
	defer w.conn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	watched, asked := make(chan error, 1), make(chan error, 1)
	go func() { watched <- w.watch(ctx) }()
	go func() { asked <- w.ask(ctx) }()
	m, err := l.measure(s, p.span)
	cancel()
	if err := errors.Join(err, <-watched, <-asked); err != nil {
		return nil, err
	}
	if w.lags.total() == 0 || len(w.behind) == 0 {
		return nil, errors.New("the watcher saw nothing")
	}
	most := uint64(0)
	for _, n := range w.behind {
		most = max(most, n)
	}
	return []string{
		strconv.Itoa(submitters), fmt.Sprintf("%.0f", m.rate), fmt.Sprintf("%.0f", float64(w.lags.total())/(warmUp(p.span)+p.span).Seconds()),
		short(w.lags.quantile(0.5)), short(w.lags.quantile(0.99)), short(w.lags.quantile(0.999)),
		strconv.FormatUint(median(w.behind), 10), strconv.FormatUint(most, 10),
	}, nil
}

// lagWatcher watches every row of the mirror.
type lagWatcher struct {
	conn   *nats.Conn
	client *client.Client
	lags   histogram
	behind []uint64 // commands
}

func newLagWatcher(url string) (*lagWatcher, error) {
	conn, err := nats.Connect(url)
	if err != nil {
		return nil, err
	}
	c, err := client.New(conn, client.Options{Principal: "bench"})
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &lagWatcher{conn: conn, client: c}, nil
}

func (w *lagWatcher) watch(ctx context.Context) error {
	for change, err := range w.client.Watch(ctx, client.WatchOptions{New: true}) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		at, err := strconv.ParseInt(change.At, 10, 64)
		if err != nil {
			return fmt.Errorf("a change at %q: %w", change.At, err)
		}
		w.lags.add(time.Since(time.UnixMilli(at)))
	}
	return nil
}

func (w *lagWatcher) ask(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(50 * time.Millisecond):
		}
		status, err := w.client.Status(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if status.Mirror != nil {
			w.behind = append(w.behind, status.AsOf.Seq-min(status.AsOf.Seq, status.Mirror.AsOf.Seq))
		}
	}
}
