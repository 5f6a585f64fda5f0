package loop

import (
	"context"
	"errors"
	"fmt"
)

// Run makes terms until ctx ends, which is no error, or until another term
// cannot help: fenced, an integrity error, the wrong set-up, a decision that is
// too large for the log. The caller holds the lock of the data directory.
//
// The first term must reach the streams, so that a wrong address is an error
// at once. Later ones wait for them to come back.
func Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	o.Status.mu.Lock()
	o.Status.slow, o.Status.now = o.Limits.Slow, o.Clock.Now
	o.Status.mu.Unlock()
	r := &runner{o: o, earlier: map[string]bool{}}
	err = r.run(ctx)
	reason := "stopped"
	if err != nil {
		reason = err.Error()
	}
	o.Status.set(PhaseStopped, reason)
	return errors.Join(err, r.closeStore())
}

type runner struct {
	o       Options
	store   Store
	earlier map[string]bool
	reached bool // the streams were reached once
	grew    int  // terms in a row that ended because the log grew while it was read
}

// maxGrew is how many terms in a row may find that the log grows while they
// read it. A writer that is gone leaves one block at most, since it sends none
// before the one before is known to be stored. So one that shows in three terms
// was at work for two of them, and has the log: nobody can catch up with it
// under load, and the sooner this one stops the better.
const maxGrew = 3

// outrun counts err, and is the error of a process that another one outruns.
func (r *runner) outrun(err error) error {
	if !errors.Is(err, errGrew) {
		r.grew = 0
		return nil
	}
	if r.grew++; r.grew < maxGrew {
		return nil
	}
	return fmt.Errorf("%w: the log grew each of the last %d times that this one read it: another one writes it: only one reducer may run on a log, this one stops",
		ErrFenced, maxGrew)
}

func (r *runner) run(ctx context.Context) error {
	for {
		err := r.term(ctx)
		switch {
		case final(err):
			return err
		case ctx.Err() != nil:
			r.interrupted(err)
			return nil
		case !r.reached:
			return err
		}
		if err := r.outrun(err); err != nil {
			return err
		}
		if err := r.repair(ctx, err); err != nil {
			return err
		}
		r.o.Log.Warn("the term ended; the next one begins from the log", "error", err)
		r.o.Status.set(PhaseHolding, err.Error())
		select {
		case <-ctx.Done():
			return nil
		case <-r.o.Clock.After(r.o.Limits.Retry):
		}
	}
}

// interrupted reports what a stop cut short. Nothing is lost: what is on the log
// is found there, and what is not is still in the inbox.
func (r *runner) interrupted(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		r.o.Log.Warn("stopped before the last block was answered", "error", err)
	}
}

// term is one term, from connecting to its end.
func (r *runner) term(ctx context.Context) (ended error) {
	if err := r.openStore(); err != nil {
		return err
	}
	session, err := r.o.Connect(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	r.reached = true
	t, err := NewTerm(ctx, r.o, session, r.store, r.earlier)
	if err != nil {
		return err
	}
	defer func() {
		if err := t.Close(); err != nil && !final(ended) {
			ended = err
		}
	}()
	if err := t.Recover(ctx); err != nil {
		return err
	}
	if err := t.Open(ctx); err != nil {
		return err
	}
	r.o.Log.Info("ready", "logSeq", t.last.LogSeq, "commandSeq", t.last.CommandSeq, "generation", t.generation, "writer", t.writer)
	for ctx.Err() == nil {
		worked, err := t.Step(ctx)
		if err != nil {
			return err
		}
		if !worked {
			t.Wait(ctx)
		}
	}
	return t.Finish()
}

// repair makes the next term possible after err: a damaged store is set aside,
// any other failure of it is answered by opening it again.
func (r *runner) repair(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, ErrAhead):
		for _, f := range r.o.Followers {
			if err := f.Discard(ctx); err != nil {
				return fmt.Errorf("%s: %w", f.Name(), err)
			}
		}
		return r.setAside(err)
	case isDamaged(err):
		return r.setAside(err)
	case errors.Is(err, ErrStore):
		if err := r.closeStore(); err != nil {
			r.o.Log.Warn("the store was not closed properly", "error", err)
		}
	}
	return nil
}

func (r *runner) openStore() error {
	if r.store != nil {
		return nil
	}
	store, err := r.o.Stores.Open()
	if isDamaged(err) {
		if err := r.setAside(err); err != nil {
			return err
		}
		store, err = r.o.Stores.Open()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	r.store = store
	return nil
}

func (r *runner) setAside(reason error) error {
	if err := r.closeStore(); err != nil {
		r.o.Log.Warn("the store was not closed properly", "error", err)
	}
	where, err := r.o.Stores.SetAside(reason)
	if err != nil {
		return fmt.Errorf("%w: set aside: %w", ErrStore, err)
	}
	r.o.Log.Error("the store was set aside and is built again from the log", "where", where, "reason", reason)
	return nil
}

func (r *runner) closeStore() error {
	if r.store == nil {
		return nil
	}
	store := r.store
	r.store = nil
	if err := store.Close(); err != nil {
		return fmt.Errorf("%w: close: %w", ErrStore, err)
	}
	return nil
}
