package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
)

// work makes the worker with a number, for a ledger.
type work func(contract string, number int) *workload.Worker

var mixedWork, attemptWork work = workload.NewWorker, workload.NewAttempts

// load is a set of submitters over a few connections, each in a closed loop: it
// publishes a command and waits for its decision before it sends the next.
type load struct {
	conns      []*nats.Conn
	submitters []*submitter
}

// submitter is one client with one command in flight.
type submitter struct {
	conn    *nats.Conn
	workers []*workload.Worker // in turn
	turn    int
	reply   string // subject that gets the decision
	ack     string // subject that gets the stream's answer
	decided chan []byte
	refused chan string // the stream did not take the command
	timer   *time.Timer
}

const connections = 4

func newLoad(url string, work work, submitters, ledgers int) (*load, error) {
	l := &load{}
	for range min(connections, submitters) {
		conn, err := nats.Connect(url)
		if err != nil {
			return nil, err
		}
		l.conns = append(l.conns, conn)
	}
	for i := range submitters {
		timer := time.NewTimer(patience)
		l.submitters = append(l.submitters, &submitter{
			conn: l.conns[i%len(l.conns)], decided: make(chan []byte, 1), refused: make(chan string, 1), timer: timer,
		})
	}
	for i := range max(submitters, ledgers) {
		s := l.submitters[i%submitters]
		s.workers = append(s.workers, work(workload.Ledger(i%ledgers), i))
	}
	if err := l.listen(); err != nil {
		return nil, err
	}
	return l, l.open(ledgers)
}

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
			case bytes.Contains(m.Data, []byte(`"error"`)):
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
	return l.each(func(i int, s *submitter) error {
		for n := i; n < ledgers; n += len(l.submitters) {
			for _, c := range workload.Open(workload.Ledger(n)) {
				if err := s.send(c); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// each runs f for all submitters at once, and returns the first error.
func (l *load) each(f func(i int, s *submitter) error) error {
	var group sync.WaitGroup
	var once sync.Once
	var first error
	for i, s := range l.submitters {
		group.Go(func() {
			if err := f(i, s); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	group.Wait()
	return first
}

const patience = 30 * time.Second

// send publishes a command and waits for its decision.
func (s *submitter) send(c workload.Command) error {
	err := s.conn.PublishMsg(&nats.Msg{
		Subject: c.Subject, Reply: s.ack, Data: c.Body,
		Header: nats.Header{"Aiws-Command-Id": {c.ID}, "Aiws-Reply": {s.reply}},
	})
	if err != nil {
		return err
	}
	s.timer.Reset(patience)
	select {
	case <-s.decided:
		return nil
	case refusal := <-s.refused:
		return fmt.Errorf("the inbox refused: %s", refusal)
	case <-s.timer.C:
		return fmt.Errorf("no decision on %s within %s", c.ID, patience)
	}
}

func (s *submitter) next() workload.Command {
	s.turn = (s.turn + 1) % len(s.workers)
	return s.workers[s.turn].Next()
}

// run sends until ctx ends, and calls done after each decision. The first error
// ends it.
func (l *load) run(ctx context.Context, done func(took time.Duration)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return l.each(func(_ int, s *submitter) error {
		for ctx.Err() == nil {
			began := time.Now()
			if err := s.send(s.next()); err != nil {
				cancel()
				return err
			}
			done(time.Since(began))
		}
		return nil
	})
}

// warmUp is how long a load runs before it is measured.
func warmUp(span time.Duration) time.Duration { return max(span/5, 500*time.Millisecond) }

// measure measures for a while, after a warm-up.
func (l *load) measure(s *server, span time.Duration) (*loaded, error) {
	m := &loaded{}
	var measuring atomic.Bool
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- l.run(ctx, func(took time.Duration) {
			if measuring.Load() {
				m.latency.add(took)
			}
		})
	}()
	time.Sleep(warmUp(span))
	began, own, theirs := time.Now(), processorTime(), s.usage().cpu
	measuring.Store(true)
	time.Sleep(span)
	measuring.Store(false)
	took := time.Since(began)
	own, theirs = processorTime()-own, s.usage().cpu-theirs
	cancel()
	if err := <-ended; err != nil {
		return nil, err
	}
	n := m.latency.total()
	if n == 0 {
		return nil, errors.New("nothing was decided")
	}
	m.rate = float64(n) / took.Seconds()
	m.client, m.server, m.peak = own/time.Duration(n), theirs/time.Duration(n), s.usage().peak
	return m, nil
}

// fill sends until so many commands are decided.
func (l *load) fill(commands int) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var count atomic.Int64
	return l.run(ctx, func(time.Duration) {
		if count.Add(1) >= int64(commands) {
			cancel()
		}
	})
}

func (l *load) close() {
	for _, conn := range l.conns {
		conn.Close()
	}
}
