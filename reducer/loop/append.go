package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// write is one append under way. A nil write is one that has nothing to do.
type write struct {
	done chan struct{}
	err  error
}

func (w *write) wait() error {
	if w == nil {
		return nil
	}
	<-w.done
	return w.err
}

// send begins to write b, the only write under way; nil is nothing to write.
func (t *Term) send(b *block) {
	if t.write = nil; b == nil {
		return
	}
	w := &write{done: make(chan struct{})}
	t.write = w
	began := t.o.Clock.Now()
	t.o.Go(func() {
		w.err = t.append(b)
		b.append = t.o.Clock.Now().Sub(began)
		close(w.done)
	})
}

// append stores b at the sequence that it was decided for, or finds out why
// not. nil: it is stored.
//
// After any error of an append the sequence is read back from the leader
// (DESIGN 3): the same bytes are mine, other bytes mean that I am fenced, and
// nothing means nothing: the append may still be on its way, so only the same
// bytes may be sent there again. The fence makes that harmless.
func (t *Term) append(b *block) error {
	for try := 1; ; try++ {
		err := t.appendOnce(b)
		if err == nil {
			return nil
		}
		known, verdict := t.readBack(b, err)
		if known {
			return verdict
		}
		if try >= t.o.Limits.AppendTries || errors.Is(err, ErrLost) || t.ails() != nil {
			return fmt.Errorf("%w: block %d (commands %d to %d): %w", ErrUncertain,
				b.cursor.LogSeq, b.commands[0].Seq, b.cursor.CommandSeq, err)
		}
		t.o.Status.set(PhaseHolding, fmt.Sprintf("the log does not take block %d: %v", b.cursor.LogSeq, err))
		select {
		case <-t.grace.Done():
			return fmt.Errorf("%w: block %d: %w", ErrUncertain, b.cursor.LogSeq, err)
		case <-t.o.Clock.After(t.o.Limits.Retry):
		}
	}
}

func (t *Term) appendOnce(b *block) error {
	defer t.o.Status.begin("an append to the log")()
	ctx, cancel := context.WithTimeout(t.grace, t.o.Limits.Append)
	defer cancel()
	last := b.cursor.LogSeq - 1
	if mutate("fence") {
		last = math.MaxUint64 // whatever the log ends with
	}
	return t.session.Log().Append(ctx, last, b.data)
}

// readBack reads what the log has where b should be. known says that it is
// settled: with a nil verdict b is stored.
func (t *Term) readBack(b *block, cause error) (known bool, verdict error) {
	ctx, cancel := context.WithTimeout(t.grace, t.o.Limits.Append)
	defer cancel()
	found, err := t.session.Log().Get(ctx, b.cursor.LogSeq)
	switch {
	case err == nil && (bytes.Equal(found, b.data) || mutate("read back")):
		return true, nil
	case err == nil:
		return true, t.foreign(b, found)
	case errors.Is(err, ErrAbsent) && errors.Is(cause, ErrTooLarge):
		return true, cause
	}
	return false, nil
}

// foreign says what another block in the place of b means. If an earlier term
// of this process wrote it late, the next term reads it and goes on.
func (t *Term) foreign(b *block, found []byte) error {
	h, err := events.ParseHeader(found)
	if err != nil {
		return blockError(b.cursor.LogSeq, err)
	}
	if t.earlier[h.Writer] && !mutate("earlier terms") {
		return fmt.Errorf("%w: an earlier append of this process arrived as block %d", ErrLost, b.cursor.LogSeq)
	}
	return fmt.Errorf("%w: block %d was written by %s (build %s), not by this one (%s): only one reducer may run on a log, this one stops",
		ErrFenced, b.cursor.LogSeq, h.Writer, h.Build, t.writer)
}

// refused ends the term with err, except that a batch that is too large is
// halved: its commands and all decided on top go back to the queue, and the
// state is the store's again.
func (t *Term) refused(b *block, err error) error {
	if !errors.Is(err, ErrTooLarge) || len(b.commands) == 1 {
		return fmt.Errorf("append block %d: %w", b.cursor.LogSeq, err)
	}
	back := b.commands
	if t.open != nil {
		back = append(back, t.open.commands...)
	}
	t.queue = append(back, t.queue...)
	t.limit = len(b.commands) / 2
	t.open = nil
	t.last = t.store.Cursor() // the block before b is folded: Step does it while b is written
	t.state, t.decider = state.New(t.store, t.last, t.o.CacheRows), t.newDecider()
	return nil
}
