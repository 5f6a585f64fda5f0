package daemon

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
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
		var said bytes.Buffer
		s := &scrubber{
			rate: 1 << 30, retry: time.Millisecond, end: func() (state.Cursor, error) { return c.end, nil },
			open: func(context.Context) (loop.Log, func(), error) { return c.log, func() {}, nil },
			log:  slog.New(slog.NewTextHandler(&said, nil)),
		}
		err := s.pass(t.Context())
		if c.want == "" {
			if err != nil || s.status().Passed == "" || !strings.Contains(said.String(), "is in order") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if !errors.Is(err, loop.ErrIntegrity) || !strings.Contains(err.Error(), c.want) || s.status().Passed != "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A fault ends the term that is under way; an error of the connection does not.
func TestScrubRun(t *testing.T) {
	whole, end := makeBlocks(3)
	tries := 0
	s := &scrubber{
		rate: 1 << 30, retry: time.Millisecond, end: func() (state.Cursor, error) { return end, nil }, log: slog.New(slog.DiscardHandler),
		open: func(context.Context) (loop.Log, func(), error) {
			if tries++; tries < 3 {
				return nil, nil, loop.ErrLost
			}
			return &scrubbed{read: whole[:1]}, func() {}, nil
		},
	}
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := (&session{daemon: &daemon{scrub: s}}).Err(); !errors.Is(err, loop.ErrIntegrity) || tries != 3 {
		t.Errorf("after %d tries: %v", tries, err)
	}
}
