package main

import (
	"time"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/events"
)

// source makes commands of one ledger piece by piece, so that they need not all
// be in memory.
type source struct {
	now     time.Time
	opening []workload.Command
	workers []*workload.Worker
	next    int
}

func newSource() *source {
	s := &source{now: time.Now(), opening: workload.Open(ledger(0))}
	for i := range 64 {
		s.workers = append(s.workers, workload.NewWorker(ledger(0), i))
	}
	return s
}

func (s *source) take(n int) []events.Message {
	list := make([]events.Message, n)
	for i := range list {
		c := s.one()
		list[i] = events.Message{Time: s.now.UnixNano(), Subject: c.Subject, IDs: []string{c.ID}, Body: c.Body}
	}
	return list
}

func (s *source) one() workload.Command {
	if len(s.opening) > 0 {
		c := s.opening[0]
		s.opening = s.opening[1:]
		return c
	}
	s.next++
	return s.workers[s.next%len(s.workers)].Next()
}
