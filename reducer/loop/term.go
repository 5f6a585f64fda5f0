package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Term is the work on one session, from recovery to the first error. It is
// used by one goroutine. After an error it must be dropped.
type Term struct {
	o       Options
	session Session
	store   Store
	writer  string
	earlier map[string]bool // writers of this process's earlier terms

	generation string // of the log

	state   *state.State
	decider Decider
	feed    Feed
	last    state.Cursor // of the last block sealed; what the next block follows

	queue  []Command // taken from the feed, not decided
	open   *block    // being decided on top of everything sealed
	write  *write    // the append under way, the only one
	stored *block    // known to be on the log, not folded yet
	limit  int       // commands of the next block; lower after a refusal as too large
	room   int       // bytes that the next block is made for

	inbox   purger
	pins    pins
	stalled bool

	grace context.Context // ends some time after the caller's
	end   func()
}

// NewTerm begins a term on a session and an open store. earlier holds the
// writers of this process's terms before, and gets this one's at the end. When
// ctx ends, what is being written has Limits.Grace left.
func NewTerm(ctx context.Context, o Options, session Session, store Store, earlier map[string]bool) (*Term, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Term{
		o: o, session: session, store: store, writer: o.NewWriter(), earlier: earlier,
		limit: o.Limits.BlockCommands,
	}
	t.grace, t.end = graceful(ctx, o.Clock, o.Limits.Grace)
	t.pins = pins{term: t, checked: map[pinKey]bool{}, stored: map[pinKey]*storedPin{}}
	o.Status.newTerm(t.writer)
	return t, nil
}

// graceful returns a context that ends a while after ctx, and a function that
// ends it now.
func graceful(ctx context.Context, clock Clock, grace time.Duration) (context.Context, func()) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-clock.After(grace):
		case <-late.Done():
		}
		cancel()
	})
	return late, func() { stop(); cancel() }
}

// Close ends the term: what was decided and not sent is dropped, and will be
// decided again. It returns what came of the last write if that ends the
// process: another error may have ended the term before anybody looked.
func (t *Term) Close() error {
	t.end()
	written := t.write.wait()
	if t.feed != nil {
		t.feed.Close()
	}
	t.session.Close()
	t.earlier[t.writer] = true
	if final(written) && !errors.Is(written, ErrTooLarge) {
		return written
	}
	return nil // the next term finds out what became of it
}

// Cursor is that of the last block known to be on the log.
func (t *Term) Cursor() state.Cursor { return t.last }

// Step does what there is to do without waiting for commands, and says whether
// there was anything. Its order is the contract of DESIGN 3, for each block:
//
//	decide - append and wait - fold - archive - reply
//
// While one block is being written the next is decided on top of it, but it is
// sent in a later Step: only when this one is known to be stored. If it is not,
// the error drops everything decided since.
func (t *Term) Step(ctx context.Context) (bool, error) {
	if !t.gateOpen(ctx) {
		return false, nil
	}
	block := t.seal()
	if mutate("publish ahead") {
		block = t.sealedAhead(block)
	}
	if err := t.healthy(); err != nil {
		return false, err
	}
	t.send(block)
	if mutate("reply early") && block != nil {
		t.reply(block)
	}

	folded := t.stored != nil
	if folded {
		if err := t.fold(t.stored); err != nil { // rows, receipts and cursor in one batch
			return false, err
		}
		if err := t.archive(t.stored); err != nil {
			return false, err
		}
		t.reply(t.stored)
		t.stored = nil
	}

	if err := t.decide(ctx); err != nil {
		return false, err
	}
	if mutate("publish ahead") {
		t.publishAhead()
	}
	if err := t.write.wait(); err != nil {
		return true, t.refused(block, err)
	}
	t.stored = block
	t.settled()
	return folded || block != nil || t.open != nil, nil
}

// settled ends a Step in which all went well.
func (t *Term) settled() {
	if !t.stalled {
		t.o.Status.set(PhaseReady, "")
	}
	if t.stored != nil && t.limit < t.o.Limits.BlockCommands {
		t.limit = min(2*t.limit, t.o.Limits.BlockCommands)
	}
	t.purge()
}

// Wait returns when a Step may find something to do, or when it is time to look.
func (t *Term) Wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-t.feed.Wake():
	case <-t.o.Clock.After(t.o.Limits.Purge):
	}
}

// Finish answers what is stored and drops what is only decided.
func (t *Term) Finish() error {
	t.open = nil
	if t.stored == nil {
		return nil
	}
	if err := t.fold(t.stored); err != nil {
		return err
	}
	if err := t.archive(t.stored); err != nil {
		return err
	}
	t.reply(t.stored)
	t.stored = nil
	return nil
}

// gateOpen waits while the gate objects: nothing is sent then. It is false
// when ctx ended before.
func (t *Term) gateOpen(ctx context.Context) bool {
	for {
		err := t.o.Gate()
		if err == nil {
			return true
		}
		t.o.Status.set(PhaseHolding, err.Error())
		select {
		case <-ctx.Done():
			return false
		case <-t.o.Clock.After(t.o.Limits.Retry):
		}
	}
}

// ails is what the session found wrong with itself.
func (t *Term) ails() error {
	if s, ok := t.session.(Ailing); ok {
		return s.Err()
	}
	return nil
}

// healthy: a read error poisons what was decided, a store that found itself
// damaged in the background must not be built on, and a session may be at its
// end without an error to anybody.
func (t *Term) healthy() error {
	if err := t.ails(); err != nil {
		return err
	}
	if err := t.state.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	if err := t.store.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	return nil
}

// fold writes the rows of a stored block.
func (t *Term) fold(b *block) error {
	began := t.o.Clock.Now()
	end := t.o.Status.begin("a commit of the store")
	if mutate("one batch") {
		_ = t.store.Commit(nil, b.cursor) // the rows follow in a batch of their own
	}
	err := t.store.Commit(b.changes, b.cursor)
	end()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	t.state.Committed()
	t.pins.remember(b)
	t.o.Status.moved(b.cursor)
	t.inbox.decided(b)
	if t.o.Hooks.Folded != nil {
		t.o.Hooks.Folded(&Folded{
			Cursor: b.cursor, Messages: b.messages(), Decisions: b.decisions, Changes: b.changes, Bytes: len(b.data),
			Decide: b.decide, Append: b.append, Fold: t.o.Clock.Now().Sub(began),
		})
	}
	return nil
}

func (t *Term) archive(b *block) error {
	if t.o.Archive == nil {
		return nil
	}
	if err := t.o.Archive.Append(b.cursor.LogSeq, b.data); err != nil {
		return fmt.Errorf("archive block %d: %w", b.cursor.LogSeq, err)
	}
	return nil
}

func (t *Term) reply(b *block) {
	replies := t.session.Replies()
	for i, d := range b.decisions {
		if to := b.commands[i].Reply; to != "" {
			replies.Reply(to, b.builder.Record(i), d.Final())
		}
	}
}

// block is a batch of commands with their decisions, before it is on the log.
type block struct {
	builder   *events.Builder
	commands  []Command
	decisions []*events.Decision

	// Set by seal.
	data    []byte
	changes []state.Change
	cursor  state.Cursor // after the block

	decide, append time.Duration
}

func (b *block) messages() []events.Message {
	messages := make([]events.Message, len(b.commands))
	for i := range b.commands {
		messages[i] = b.commands[i].Message
	}
	return messages
}
