package sim

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// request is a call of a port that the scheduler has not let return yet. It has
// two steps, and all else may happen between them: first its effect, where the
// thing itself is, then its return, where the caller is.
type request struct {
	op, detail string
	session    *session // nil: on the reducer's own machine
	ctx        context.Context
	effect     func()
	fail       func(error)
	executed   bool
	done       chan struct{}
}

// errGone is what a process that was killed still hears; nobody hears it.
var errGone = fmt.Errorf("%w: the process was killed", loop.ErrLost)

// call stops the calling goroutine of p until the scheduler has executed the
// operation and delivered its answer.
func call[T any](p *process, s *session, ctx context.Context, op, detail string, effect func() (T, error)) (value T, err error) {
	r := &request{op: op, detail: detail, session: s, ctx: ctx, done: make(chan struct{})}
	r.effect = func() { value, err = effect() }
	r.fail = func(cause error) {
		var zero T
		value, err = zero, cause
	}
	if err := p.park(r); err != nil {
		return value, err
	}
	<-r.done
	return value, err
}

// do is call for an operation that returns nothing but an error.
func do(p *process, s *session, ctx context.Context, op, detail string, effect func() error) error {
	_, err := call(p, s, ctx, op, detail, func() (struct{}, error) { return struct{}{}, effect() })
	return err
}

func (p *process) park(r *request) error {
	p.m.w.mu.Lock()
	defer p.m.w.mu.Unlock()
	switch {
	case p.dead:
		return errGone
	case r.session != nil && r.session.lost:
		return errLost
	}
	p.parked = append(p.parked, r)
	return nil
}

// sortParked brings requests that came in the same step into one order.
func (p *process) sortParked() {
	slices.SortStableFunc(p.parked, func(a, b *request) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.detail, b.detail))
	})
}

func (p *process) unpark(r *request) {
	p.m.w.mu.Lock()
	defer p.m.w.mu.Unlock()
	p.parked = slices.DeleteFunc(p.parked, func(x *request) bool { return x == r })
	close(r.done)
}

// execute lets the effect of r happen, or its answer arrive.
func (p *process) execute(r *request) {
	w := p.m.w
	if r.executed {
		w.trace.add(w, "%s: %s %s returns", p.name, r.op, r.detail)
		p.unpark(r)
		return
	}
	w.trace.add(w, "%s: %s %s", p.name, r.op, r.detail)
	w.now += int64(w.rng.IntN(3)) * int64(time.Millisecond)
	r.executed = true
	r.effect()
}

// abort ends all requests for which f is true with the error.
func (p *process) abort(err error, f func(*request) bool) {
	for _, r := range slices.Clone(p.parked) {
		if f(r) {
			r.fail(err)
			p.unpark(r)
		}
	}
}

// timer is one After of a process's clock.
type timer struct {
	due  int64
	wait time.Duration
	c    chan time.Time
}

// Now implements [loop.Clock]: the machine's own idea of the time.
func (p *process) Now() time.Time { return time.Unix(0, p.m.w.now+int64(p.m.offset)) }

// After implements [loop.Clock]. Like the real one it does not care what the
// wall clock does.
func (p *process) After(d time.Duration) <-chan time.Time {
	p.m.w.mu.Lock()
	defer p.m.w.mu.Unlock()
	t := &timer{due: p.m.w.now + int64(d), wait: d, c: make(chan time.Time, 1)}
	if p.dead {
		t.c <- time.Time{}
		return t.c
	}
	p.timers = append(p.timers, t)
	slices.SortStableFunc(p.timers, func(a, b *timer) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.wait, b.wait))
	})
	return t.c
}
