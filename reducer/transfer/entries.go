package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Entries are commands in their order, with their decisions, or with nil where
// nothing was recorded. An error is the last element.
type Entries = iter.Seq2[*events.Entry, error]

// FromLog gives the commands of a log.
func FromLog(ctx context.Context, log loop.Log) Entries {
	return func(yield func(*events.Entry, error) bool) {
		last := uint64(0)
		err := loop.ReadBlocks(ctx, log, 1, func(b *loop.ReadBlock) error {
			if b.Err != nil {
				return b.Err
			}
			if b.Seq != last+1 {
				return fmt.Errorf("%w: block %d of the log is missing", loop.ErrIntegrity, last+1)
			}
			last = b.Seq
			for i := range b.Block.Entries {
				if !yield(&b.Block.Entries[i], nil) {
					return errEnough
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// errEnough: nobody wants more.
var errEnough = errors.New("enough")

// FromFile gives the commands of a log file. Either all of them have recorded
// decisions or none has.
func FromFile(r io.Reader) Entries {
	return func(yield func(*events.Entry, error) bool) {
		lines := logfile.NewReader(r)
		lines.Decisions = true
		recorded, first := false, true
		for {
			m, raw, err := lines.NextDecided()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil && first {
				recorded, first = raw != nil, false
			}
			if err == nil && recorded != (raw != nil) {
				err = fmt.Errorf("command %d: either all lines have a decision or none has", m.Seq)
			}
			var e *events.Entry
			if err == nil {
				e, err = entryOf(m, raw)
			}
			if err != nil && recorded {
				err = notExported(err)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// notExported: a file with decisions was written by a program, so what cannot be
// read of it was damaged, unless it is the disk that does not give it.
func notExported(err error) error {
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return err
	}
	return fmt.Errorf("%w: %w: the file is not as it was exported, it was cut or changed: take another copy of it", loop.ErrIntegrity, err)
}

func entryOf(m *events.Message, raw []byte) (*events.Entry, error) {
	e := &events.Entry{Message: *m}
	if raw == nil {
		return e, nil
	}
	d, err := events.ParseDecision(raw)
	if err != nil {
		return nil, fmt.Errorf("command %d: %w", m.Seq, err)
	}
	if d.CommandSeq != m.Seq {
		return nil, fmt.Errorf("command %d: its decision is one of command %d", m.Seq, d.CommandSeq)
	}
	e.Decision = d
	return e, nil
}

// Decided decides the commands that have no decision, by the rules of this
// build.
func Decided(in Entries) Entries {
	return func(yield func(*events.Entry, error) bool) {
		rows := state.NewMemory()
		s, decider := state.New(rows, state.Cursor{}, 0), reducer.New()
		n := uint64(0)
		for e, err := range in {
			if err == nil && e.Decision == nil {
				e.Decision = decider.Step(s, &e.Message)
				if n++; n%events.MaxBlockCommands == 0 {
					rows.Commit(s.Take(n))
					s.Committed()
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
