package main

import (
	"time"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/events"
)

// source makes the commands of 64 workers in one ledger as they come in, piece
// by piece, so that they need not all be in memory.
type source struct {
	now     time.Time
	seq     uint64
	opening []workload.Command
	workers []*workload.Worker
}

func newSource(work work) *source {
	s := &source{now: time.Now(), opening: workload.Open(workload.Ledger(0))}
	for i := range 64 {
		s.workers = append(s.workers, work(workload.Ledger(0), i))
	}
	return s
}

// take returns the next n commands.
func (s *source) take(n int) []events.Message {
	list := make([]events.Message, n)
	for i := range list {
		c := s.next()
		s.seq++
		list[i] = events.Message{Seq: s.seq, Time: s.now.UnixNano(), Subject: c.Subject, IDs: []string{c.ID}, Body: c.Body}
	}
	return list
}

func (s *source) next() workload.Command {
	if len(s.opening) > 0 {
		c := s.opening[0]
		s.opening = s.opening[1:]
		return c
	}
	return s.workers[s.seq%uint64(len(s.workers))].Next()
}
