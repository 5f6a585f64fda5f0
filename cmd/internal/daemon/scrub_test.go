package daemon

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// scrubbed is a log in memory whose readings may differ from what Get gives.
type scrubbed struct {
	loop.Log
	read, get [][]byte
}

func (l *scrubbed) Read(_ context.Context, from uint64, f func(uint64, []byte) error) error {
	for seq := from; seq <= uint64(len(l.read)); seq++ {
		if l.read[seq-1] == nil {
			continue
		}
		if err := f(seq, l.read[seq-1]); err != nil {
			return err
		}
	}
	return nil
}

func (l *scrubbed) Get(_ context.Context, seq uint64) ([]byte, error) {
	if seq > uint64(len(l.get)) || l.get[seq-1] == nil {
		return nil, loop.ErrAbsent
	}
	return l.get[seq-1], nil
}

func makeBlocks(n int) (blocks [][]byte, end state.Cursor) {
	prev := events.ZeroHash
	for seq := 1; seq <= n; seq++ {
		d := &events.Decision{CommandSeq: uint64(seq), Outcome: events.OutcomeRejected, BodyHash: "h"}
		d.Seal(events.ZeroHash)
		b := events.NewBlock(events.Header{Generation: "g", Shards: 1, PrevBlockHash: prev})
		b.Add(&events.Message{Seq: uint64(seq), Body: []byte(fmt.Sprint(seq))}, d)
		data, hash := b.Seal([32]byte{})
		blocks, prev = append(blocks, data), hex.EncodeToString(hash[:])
		end = state.Cursor{LogSeq: uint64(seq), BlockHash: hash}
	}
	return blocks, end
}

func TestScrub(t *testing.T) {
	whole, end := makeBlocks(5)
	bad := bytes.Clone(whole[2])
	bad[len(bad)/2] ^= 1
	worse := bytes.Clone(whole[2])
	worse[len(worse)-9] ^= 1
	with := func(at int, block []byte) [][]byte {
		changed := append([][]byte{}, whole...)
		changed[at] = block
		return changed
	}
	longer, _ := makeBlocks(7)
	other := end
	other.BlockHash[0]++
	for _, c := range []struct {
		name string
		log  *scrubbed
		end  state.Cursor
		want string
	}{
		{"in order", &scrubbed{read: whole, get: whole}, end, ""},
		{"it grows meanwhile", &scrubbed{read: longer, get: longer}, end, ""},
		{"lost on the way", &scrubbed{read: with(2, nil), get: whole}, end, ""},
		{"damaged on the way", &scrubbed{read: with(2, bad), get: whole}, end, ""},
		{"damaged", &scrubbed{read: with(2, bad), get: with(2, bad)}, end, "block 3: "},
		{"content damaged", &scrubbed{read: with(2, worse), get: with(2, worse)}, end, "block 3: "},
		{"missing", &scrubbed{read: with(2, nil), get: with(2, nil)}, end, "block 3: it is missing"},
		{"the end is missing", &scrubbed{read: whole[:4], get: whole[:4]}, end, "block 5: it cannot be read"},
		{"another chain", &scrubbed{read: with(3, whole[1]), get: with(3, whole[1])}, end, "block 4: it is chained"},
		{"another log", &scrubbed{read: whole, get: whole}, other, "block 5: it has the hash"},
	} {
		read := 0
		p := &part{name: partLog, check: (&logScrub{
			retry: time.Millisecond, end: func() (state.Cursor, error) { return c.end, nil },
			open: func(context.Context) (loop.Log, func(), error) { return c.log, func() {}, nil },
			read: func(_ context.Context, bytes int) error { read += bytes; return nil },
		}).check}
		var said bytes.Buffer
		s := &scrubber{parts: []*part{p}, retry: time.Millisecond, log: slog.New(slog.NewTextHandler(&said, nil))}
		err := s.pass(t.Context(), p)
		if c.want == "" {
			if err != nil || s.status(0).Passed == "" || !strings.Contains(said.String(), "is in order") || read < len(whole[0]) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.Is(err, loop.ErrIntegrity) || !strings.Contains(err.Error(), c.want) || s.status(0).Passed != "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// scripted is a part whose checks end as told, one after the other, and the last
// one again and again.
func scripted(name string, called *[]string, ends ...error) *part {
	calls := 0
	return &part{name: name, check: func(context.Context) (int, error) {
		*called = append(*called, name)
		err := ends[min(calls, len(ends)-1)]
		calls++
		if err != nil && !errors.Is(err, errNotYet) {
			return 1, err
		}
		return 0, err
	}}
}

// A fault of the log ends the term that is under way; an error of the connection
// does not, and nothing that fails keeps the others from being read.
func TestScrubRun(t *testing.T) {
	var called []string
	fault := fmt.Errorf("%w: block 2", loop.ErrIntegrity)
	broken := errors.New("the disk is gone")
	var said bytes.Buffer
	s := &scrubber{retry: time.Millisecond, log: slog.New(slog.NewTextHandler(&said, nil)), parts: []*part{
		scripted(partLog, &called, loop.ErrLost, loop.ErrLost, nil),
		scripted(partArchive, &called, broken),
		scripted(partStore, &called, errNotYet, nil),
	}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.run(ctx) }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if now := s.status(7); now.Passed != "" && now.Store != "" {
			if now.Block != 7 || now.Archive != "" {
				t.Errorf("status: %+v", now)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not come through: %s", said.String())
		}
	}
	cancel()
	if err := <-ended; err != nil || s.Err() != nil {
		t.Errorf("it ended with %v, %v", err, s.Err())
	}
	if !slices.Equal(called[:3], []string{partLog, partArchive, partStore}) {
		t.Errorf("they were read in the order %v", called)
	}
	if !strings.Contains(said.String(), "the disk is gone") || strings.Contains(said.String(), errNotYet.Error()) {
		t.Errorf("it said: %s", said.String())
	}
	if _, mended := s.parts[0].lastPassed(); mended != 2 {
		t.Errorf("%d were mended", mended)
	}
	s = &scrubber{retry: time.Millisecond, log: slog.New(slog.DiscardHandler), parts: []*part{scripted(partLog, &called, loop.ErrLost, fault)}}
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := (&session{daemon: &daemon{scrub: s}}).Err(); !errors.Is(err, loop.ErrIntegrity) {
		t.Errorf("the session says %v", err)
	}
}

// Each failure more makes the next try come later, up to some minutes; what was
// in order is read a day later.
func TestScrubDue(t *testing.T) {
	var called []string
	s := &scrubber{retry: time.Second, log: slog.New(slog.DiscardHandler)}
	broken := scripted(partStore, &called, errors.New("broken"))
	for range 40 {
		before := broken.due
		_ = s.pass(t.Context(), broken) // it is broken
		if broken.due.Before(before) || time.Until(broken.due) > scrubLater {
			t.Errorf("due in %v", time.Until(broken.due))
		}
	}
	if time.Until(broken.due) < scrubLater/2 {
		t.Errorf("after 40 failures due in %v", time.Until(broken.due))
	}
	well := scripted(partLog, &called, nil)
	if err := s.pass(t.Context(), well); err != nil || time.Until(well.due) < scrubEvery/2 {
		t.Errorf("due in %v: %v", time.Until(well.due), err)
	}
}
