package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
)

// measureLoad compares the reducer, end to end and with fsync on, with a
// pipeline that does the same I/O and decides nothing.
func measureLoad(p plan) ([]result, error) {
	var results []result
	for _, c := range []struct {
		name       string
		submitters int
		ledgers    int
		target     float64
	}{
		{"load-1", 1, 1, 0.8},
		{"load-64", 64, 1, 0.7},
		{"load-1024", 1024, 1, 0.5},
		{"load-1024-ledgers", 1024, 1000, 0.5},
	} {
		if p.quick && c.ledgers > 1 {
			continue
		}
		r, err := compareLoad(p, c.name, c.submitters, c.ledgers)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		r.target = c.target
		results = append(results, r)
	}
	return results, nil
}

func compareLoad(p plan, name string, submitters, ledgers int) (result, error) {
	var ours, empty []float64
	var latency string
	for range p.rounds {
		rate, _, err := loadOnce(p, startEmpty, submitters, ledgers)
		if err != nil {
			return result{}, fmt.Errorf("empty pipeline: %w", err)
		}
		empty = append(empty, rate)
		rate, seen, err := loadOnce(p, startReducer, submitters, ledgers)
		if err != nil {
			return result{}, err
		}
		ours = append(ours, rate)
		latency = seen
	}
	return result{
		name:  name,
		ratio: median(ours) / median(empty),
		what:  fmt.Sprintf("%d in flight, %d ledgers: %.0f/s, empty pipeline %.0f/s; %s", submitters, ledgers, median(ours), median(empty), latency),
	}, nil
}

// start begins a pipeline on a new data directory.
type start func(ctx context.Context, dir string) (url string, stop func() error, err error)

// loadOnce runs submitters in a closed loop: each publishes a command and waits
// for its decision. It returns decisions per second and the latencies.
func loadOnce(p plan, begin start, submitters, ledgers int) (rate float64, latency string, err error) {
	dir, err := os.MkdirTemp(p.dir, "load-")
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	quiet()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	url, stop, err := begin(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return 0, "", err
	}
	l, err := newLoad(url, submitters, ledgers)
	if err == nil {
		rate, latency, err = l.run(p.span)
		l.close()
	}
	cancel()
	return rate, latency, errors.Join(err, stop())
}

// load is a set of submitters over a few connections.
type load struct {
	conns      []*nats.Conn
	submitters []*submitter
}

// submitter is one client with one command in flight.
type submitter struct {
	conn    *nats.Conn
	worker  *workload.Worker
	reply   string // subject that gets the decision
	ack     string // subject that gets the stream's answer
	decided chan []byte
	refused chan string // the stream did not take the command
	times   []time.Duration
}

const connections = 4

func newLoad(url string, submitters, ledgers int) (*load, error) {
	l := &load{}
	for range min(connections, submitters) {
		conn, err := nats.Connect(url)
		if err != nil {
			return nil, err
		}
		l.conns = append(l.conns, conn)
	}
	for i := range submitters {
		conn := l.conns[i%len(l.conns)]
		l.submitters = append(l.submitters, &submitter{
			conn: conn, worker: workload.NewWorker(workload.Ledger(i%ledgers), i),
			decided: make(chan []byte, 1), refused: make(chan string, 1),
		})
	}
	if err := l.listen(); err != nil {
		return nil, err
	}
	return l, l.open(ledgers)
}

func ledger(i int) string { return workload.Ledger(i) }

// listen gives every submitter its two subjects on one subscription a
// connection.
func (l *load) listen() error {
	for n, conn := range l.conns {
		inbox := conn.NewRespInbox()
		mine := map[string]*submitter{}
		for i := n; i < len(l.submitters); i += len(l.conns) {
			s, key := l.submitters[i], strconv.Itoa(i)
			s.reply, s.ack = inbox+".d"+key, inbox+".a"+key
			mine[s.reply], mine[s.ack] = s, s
		}
		_, err := conn.Subscribe(inbox+".*", func(m *nats.Msg) {
			s := mine[m.Subject]
			switch {
			case m.Subject == s.reply:
				s.decided <- m.Data
			case strings.Contains(string(m.Data), `"error"`):
				s.refused <- string(m.Data)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens the ledgers before the clock starts.
func (l *load) open(ledgers int) error {
	s := l.submitters[0]
	for i := range ledgers {
		for _, c := range workload.Open(ledger(i)) {
			if err := s.send(c); err != nil {
				return err
			}
		}
	}
	return nil
}

const patience = 20 * time.Second

// send publishes a command and waits for its decision.
func (s *submitter) send(c workload.Command) error {
	err := s.conn.PublishMsg(&nats.Msg{
		Subject: c.Subject, Reply: s.ack, Data: c.Body,
		Header: nats.Header{"Aiws-Command-Id": {c.ID}, "Aiws-Reply": {s.reply}},
	})
	if err != nil {
		return err
	}
	select {
	case <-s.decided:
		return nil
	case refusal := <-s.refused:
		return fmt.Errorf("the inbox refused: %s", refusal)
	case <-time.After(patience):
		return fmt.Errorf("no decision on %s within %s", c.ID, patience)
	}
}

// run measures for a while, after a warm-up of a fifth of it.
func (l *load) run(span time.Duration) (rate float64, latency string, err error) {
	var count atomic.Int64
	var measuring, ended atomic.Bool
	var failed error
	var once sync.Once
	var wg sync.WaitGroup
	for _, s := range l.submitters {
		wg.Go(func() {
			for !ended.Load() {
				began := time.Now()
				if err := s.send(s.worker.Next()); err != nil {
					once.Do(func() { failed = err })
					return
				}
				if measuring.Load() {
					count.Add(1)
					s.times = append(s.times, time.Since(began))
				}
			}
		})
	}
	time.Sleep(span / 5)
	measuring.Store(true)
	began := time.Now()
	time.Sleep(span)
	measuring.Store(false)
	took := time.Since(began)
	ended.Store(true)
	wg.Wait()
	return float64(count.Load()) / took.Seconds(), l.latencies(), failed
}

func (l *load) latencies() string {
	var all []time.Duration
	for _, s := range l.submitters {
		all = append(all, s.times...)
	}
	if len(all) == 0 {
		return "no decisions"
	}
	slices.Sort(all)
	at := func(q float64) time.Duration {
		return all[min(int(q*float64(len(all))), len(all)-1)].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("p50 %s, p99 %s, p99.9 %s", at(0.5), at(0.99), at(0.999))
}

func (l *load) close() {
	for _, conn := range l.conns {
		conn.Close()
	}
}
