package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

var (
	errTimeout = fmt.Errorf("no answer: %w", context.DeadlineExceeded)
	errNotNow  = errors.New("the server refused")
)

// logPort is the log as a session reaches it.
type logPort struct{ s *session }

// Info implements [loop.Log].
func (l logPort) Info(ctx context.Context) (loop.LogInfo, error) {
	s, w := l.s, l.s.p.m.w
	return call(s.p, s, ctx, "log info", "", func() (loop.LogInfo, error) {
		if !s.asked {
			s.asked, s.damaged = true, w.damage != nil
			s.refuse = s.p.m.mustRefuse()
			w.check.refusal(s)
		}
		info := loop.LogInfo{FirstSeq: 1, LastSeq: uint64(len(w.server.log)), Generation: s.generation}
		f := w.spoiled("log info")
		switch {
		case f == nil:
		case f.How == "timeout":
			return info, errTimeout
		case s.stale < 2 && w.damage == nil: // twice at most, and a damaged log is enough
			s.stale++
			info.LastSeq -= min(info.LastSeq, uint64(f.Steps))
			return info, nil
		}
		s.stale = 0
		return info, nil
	})
}

// Append implements [loop.Log].
func (l logPort) Append(ctx context.Context, last uint64, block []byte) error {
	s, w := l.s, l.s.p.m.w
	w.check.sending(s, last, block)
	return do(s.p, s, ctx, "log append", fmt.Sprintf("%d %.8s", last+1, hashOf(block)), func() error {
		f := w.spoiled("log append")
		if f == nil {
			return w.server.append(s.generation, last, block)
		}
		switch f.How {
		case "stored": // and yet an error is answered
			_ = w.server.append(s.generation, last, block)
			return errTimeout
		case "late":
			w.server.later(f.Steps, "a late append of "+s.p.name, func() {
				_ = w.server.append(s.generation, last, block)
			})
			return errTimeout
		case "refused":
			return errNotNow
		}
		return errTimeout // dropped
	})
}

// Get implements [loop.Log].
func (l logPort) Get(ctx context.Context, seq uint64) ([]byte, error) {
	s, w := l.s, l.s.p.m.w
	block, err := call(s.p, s, ctx, "log get", fmt.Sprint(seq), func() ([]byte, error) {
		if w.spoiled("log get") != nil {
			return nil, errTimeout
		}
		block, ok := w.readable(seq)
		if !ok {
			return nil, loop.ErrAbsent
		}
		return block, nil
	})
	if err == nil {
		w.check.readBack(s, seq, block)
	}
	return block, err
}

// Read implements [loop.Log]: what is there, and then what came meanwhile.
func (l logPort) Read(ctx context.Context, from uint64, f func(seq uint64, block []byte) error) error {
	s, w := l.s, l.s.p.m.w
	type found struct {
		seq   uint64
		block []byte
	}
	for next, more := from, true; more; {
		failing := false
		blocks, err := call(s.p, s, ctx, "log read", fmt.Sprint(next), func() ([]found, error) {
			var blocks []found
			for seq := next; seq <= uint64(len(w.server.log)) && !w.cutBefore(seq); seq++ {
				if block, ok := w.readable(seq); ok {
					blocks = append(blocks, found{seq, block})
				}
			}
			if w.spoiled("log read") != nil {
				failing = true
				blocks = blocks[:len(blocks)/2]
			}
			s.p.reading = true
			return blocks, nil
		})
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if err := f(b.seq, b.block); err != nil {
				return err
			}
			next = b.seq + 1
		}
		if failing {
			return errTimeout
		}
		more = len(blocks) > 0
	}
	s.p.readToEnd()
	return nil
}

// readToEnd notes that no goroutine of p is handing on blocks any more.
func (p *process) readToEnd() {
	p.m.w.mu.Lock()
	defer p.m.w.mu.Unlock()
	p.reading = false
}
