package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// errLost is what every call on a session says once its connection is gone.
var errLost = fmt.Errorf("%w: connection closed", loop.ErrLost)

var errDown = errors.New("no server answers")

// server holds the streams: the inbox, the log and the cursor of the mirror.
type server struct {
	w          *world
	up         bool
	doors      bool // publishers are let in
	starts     int  // step at which it starts again; 0: not planned
	full       int  // step until which the log takes nothing
	offset     int64
	generation string // of the log
	oldest     string // generation of its first block

	inbox    stream
	log      [][]byte // block n is log[n-1]
	flying   []flight
	mirror   mirror
	sessions []*session
}

// flight is a message that its sender gave up and that still arrives.
type flight struct {
	step int
	what string
	land func()
}

// later lets something arrive after some steps.
func (s *server) later(steps int, what string, land func()) {
	s.flying = append(s.flying, flight{step: s.w.step + max(steps, 1), what: what, land: land})
}

func (s *server) happen() {
	if s.starts > 0 && s.starts <= s.w.step {
		s.start()
	}
	for i := 0; i < len(s.flying); {
		f := s.flying[i]
		if f.step > s.w.step {
			i++
			continue
		}
		s.flying = slices.Delete(s.flying, i, i+1)
		s.w.trace.add(s.w, "arrives: %s", f.what)
		f.land()
	}
}

func (s *server) nextStep() int {
	next := int(^uint(0) >> 1)
	if s.starts > 0 {
		next = s.starts
	}
	for _, f := range s.flying {
		next = min(next, f.step)
	}
	return next
}

func (s *server) start() {
	s.up, s.starts = true, 0
	s.doors = s.w.setup.External
	s.w.trace.add(s.w, "server: up")
}

func (s *server) heal() {
	s.offset, s.full = 0, 0
	if s.w.setup.External && !s.up {
		s.start()
	}
}

// stop ends all connections; what is on its way has arrived by now, or never does.
func (s *server) stop(landed bool) {
	if landed {
		for _, f := range s.flying {
			s.w.trace.add(s.w, "arrives: %s", f.what)
			f.land()
		}
	}
	s.flying = nil
	s.up, s.doors = false, false
	for _, session := range s.sessions {
		session.lose(false)
	}
	s.sessions = nil
}

// crash stops the server as kill -9 does: the inbox forgets its last commands,
// and under --sync interval the log its last blocks.
func (s *server) crash(f *Fault) {
	s.stop(f.N%2 == 0)
	s.w.settle()
	s.inbox.crash(s.w, f.How, f.N)
	if s.w.setup.Interval {
		s.loseBlocks(f.N / 2)
	}
	s.w.trace.add(s.w, "server: down, inbox %d..%d, log 1..%d", s.inbox.first(), s.inbox.last, len(s.log))
}

// loseBlocks drops the end of the log.
func (s *server) loseBlocks(n int) {
	n = min(n, len(s.log))
	if n == 0 {
		return
	}
	s.w.check.forget(s.log[len(s.log)-n:])
	s.log = s.log[:len(s.log)-n]
	s.w.check.restart(s.log)
}

// anyLast is what an append expects that has no fence: see the mutation fence.
const anyLast = math.MaxUint64

// append is what the log stream does with a message.
func (s *server) append(generation string, last uint64, block []byte) error {
	switch {
	case generation != s.generation:
		return errors.New("no stream takes this subject")
	case s.w.setup.MaxBytes > 0 && len(block) > s.w.setup.MaxBytes:
		return fmt.Errorf("%w: %d bytes", loop.ErrTooLarge, len(block))
	case s.full > s.w.step:
		return errors.New("the server could not store it: no space left on device")
	case last != uint64(len(s.log)) && last != anyLast:
		return fmt.Errorf("wrong last sequence: %d", len(s.log))
	}
	if s.w.logIsOlder() {
		s.w.violated("older log", "block %d is appended to an older log", len(s.log)+1)
	}
	s.log = append(s.log, block)
	s.w.check.appended(block)
	return nil
}

// session is one connection of a process.
type session struct {
	p          *process
	generation string
	lost       bool // written under the world's mutex
	feeds      []*feed
	refuse     string // why the term on it must not open; see machine.mustRefuse
	damaged    bool   // the log was damaged, wherever, when the term began
	asked      bool   // the log was asked what it is
	sent       uint64 // block that was sent last
	stale      int    // how often in a row the answer was an old one
}

// connect implements loop.Options.Connect. The embedded server starts with it,
// without listeners.
func (p *process) connect(ctx context.Context) (loop.Session, error) {
	w := p.m.w
	s, err := call(p, nil, ctx, "connect", "", func() (*session, error) {
		switch {
		case w.spoiled("connect") != nil:
			return nil, errors.New("connection refused")
		case !w.setup.External && !w.server.up:
			w.server.start()
		case !w.server.up:
			return nil, errDown
		}
		s := &session{p: p, generation: w.server.generation}
		p.session = s
		w.server.sessions = append(w.server.sessions, s)
		return s, nil
	})
	if err != nil {
		return nil, err // not a nil *session in an interface
	}
	return s, nil
}

// lose cuts the connection. What was asked and not done stays undone, except
// that an append may be on its way already.
func (s *session) lose(appendArrives bool) {
	w := s.p.m.w
	w.mu.Lock()
	was := s.lost
	s.lost = true
	w.mu.Unlock()
	if was {
		return
	}
	s.p.abort(errLost, func(r *request) bool {
		if r.session != s {
			return false
		}
		if appendArrives && r.op == "log append" && !r.executed {
			effect := r.effect
			w.server.later(1+w.rng.IntN(60), "an append of "+s.p.name, effect)
			r.effect = nil
		}
		return true
	})
	for _, f := range s.feeds {
		f.signal()
	}
}

// Inbox implements [loop.Session].
func (s *session) Inbox() loop.Inbox { return inboxPort{s} }

// Log implements [loop.Session].
func (s *session) Log() loop.Log { return logPort{s} }

// Replies implements [loop.Session].
func (s *session) Replies() loop.Replies { return repliesPort{s} }

// OpenDoors implements [loop.Session].
func (s *session) OpenDoors(ctx context.Context) error {
	return do(s.p, s, ctx, "open doors", "", func() error {
		s.opened()
		s.p.m.w.server.doors = true
		return nil
	})
}

// Err implements [loop.Session].
func (s *session) Err() error { return nil }

// Close implements [loop.Session].
func (s *session) Close() {
	s.p.m.w.mu.Lock()
	defer s.p.m.w.mu.Unlock()
	s.lost = true
}

// opened is called when a term goes to work. It must not where something is
// ahead of the log, or the log is damaged.
func (s *session) opened() {
	w := s.p.m.w
	if s.refuse != "" {
		w.violated("opened", "%s goes to work although %s", s.p.name, s.refuse)
	}
}
