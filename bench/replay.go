package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

const (
	targetReplay = 150_000.0 // decisions per second and core
	targetMemory = 512.0     // MiB while replaying
)

// blocks decides commands into the blocks of a log, 256 a block.
func blocks(list []events.Message) [][]byte {
	s, r := state.New(state.NewMemory(), state.Cursor{}, 2*len(list)), reducer.New()
	prev := events.ZeroHash
	var log [][]byte
	for len(list) > 0 {
		n := min(256, len(list))
		b := events.NewBlock(events.Header{
			RulesVersion: reducer.RulesVersion, Generation: "bench", Writer: "bench", Build: "bench", Shards: 1,
			Time: "0", PrevBlockHash: prev,
		})
		for i := range list[:n] {
			b.Add(&list[i], r.Step(s, &list[i]))
		}
		s.Take(uint64(len(log) + 1))
		s.Committed()
		data, hash := b.Seal(s.Hash())
		prev = fmt.Sprintf("%x", hash)
		log = append(log, data)
		list = list[n:]
	}
	return log
}

// memoryLog is a log that is read from memory: what is measured is the folding.
type memoryLog struct {
	loop.Log
	blocks [][]byte
}

func (l memoryLog) Read(_ context.Context, from uint64, f func(uint64, []byte) error) error {
	for i := from - 1; i < uint64(len(l.blocks)); i++ {
		if err := f(i+1, l.blocks[i]); err != nil {
			return err
		}
	}
	return nil
}

// measureReplay folds a log into Pebble. What counts is processor time: reading
// and parsing go on beside the folding, and Pebble compacts beside both.
func measureReplay(p plan) ([]result, error) {
	log := memoryLog{blocks: blocks(messages(p.commands))}
	var rates []float64
	for range p.rounds {
		took, err := replayOnce(p, log)
		if err != nil {
			return nil, err
		}
		rates = append(rates, float64(p.commands)/took.Seconds())
	}
	return []result{{
		name: "replay", target: 1, ratio: median(rates) / targetReplay,
		what: fmt.Sprintf("%.0f decisions per second of processor time into Pebble, at least %.0f", median(rates), targetReplay),
	}}, nil
}

func replayOnce(p plan, log loop.Log) (took time.Duration, err error) {
	dir, err := os.MkdirTemp(p.dir, "replay-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	quiet()
	store, err := projections.OpenStore(projections.StoreOptions{Dir: dir})
	if err != nil {
		return 0, err
	}
	began := processorTime()
	err = foldAll(store, log)
	took = processorTime() - began
	return took, errors.Join(err, store.Close())
}

func foldAll(store loop.Store, log loop.Log) error {
	folder := loop.NewFolder(store, 0)
	err := loop.ReadBlocks(context.Background(), log, store.Cursor().LogSeq+1, func(b *loop.ReadBlock) error {
		if b.Err != nil {
			return b.Err
		}
		return folder.FoldParsed(b.Seq, b.Block, len(b.Data))
	})
	if err != nil {
		return err
	}
	return folder.Commit()
}

// measureLedger compares commands in a ledger of many attempts with those in a
// ledger of a few, both in Pebble, and says how long a restart takes that finds
// the rows, and what memory all of it needed.
func measureLedger(p plan) ([]result, error) {
	dir, err := os.MkdirTemp(p.dir, "ledger-")
	if err != nil {
		return nil, err
	}
	store, err := projections.OpenStore(projections.StoreOptions{Dir: dir})
	if err != nil {
		return nil, err
	}
	l := &largeLedger{store: store, reducer: reducer.New(), state: state.New(store, store.Cursor(), 0)}
	small, large, err := l.grow(p.ledger)
	if err != nil {
		return nil, err
	}
	reopened, err := l.restart(dir)
	if err != nil {
		return nil, err
	}
	resident := residentMiB()
	return []result{
		{
			name: "large-ledger", target: 1, ratio: 2 * float64(small) / float64(large),
			what: fmt.Sprintf("%s a command at about 1,000 attempts, %s at %d; at most twice as long", small, large, p.ledger),
		},
		{
			name: "restart-tail", target: 1, ratio: float64(5*time.Second) / float64(reopened),
			what: fmt.Sprintf("%s to open a store of %d attempts whose log has nothing new, at most 5s", reopened.Round(time.Millisecond), p.ledger),
		},
		{
			name: "memory", target: 1, ratio: targetMemory / resident,
			what: fmt.Sprintf("%.0f MiB resident at the end of all, the load generator's own included, at most %.0f", resident, targetMemory),
		},
	}, nil
}

// largeLedger decides into Pebble without a log.
type largeLedger struct {
	store   *projections.Store
	reducer *reducer.Reducer
	state   *state.State
	seq     uint64
	block   uint64
}

// grow decides commands until the ledger has so many attempts, and times them
// at the beginning and at the end.
func (l *largeLedger) grow(attempts int) (small, large time.Duration, err error) {
	const probe = 4096 // commands; a seventh of them make an attempt
	commands := attempts * 47 / 8
	source := newSource()
	if _, err = l.decide(source, probe); err != nil { // warm
		return 0, 0, err
	}
	if small, err = l.decide(source, probe); err != nil {
		return 0, 0, err
	}
	for n := 2 * probe; n < commands; n += probe {
		if large, err = l.decide(source, probe); err != nil {
			return 0, 0, err
		}
	}
	return small / probe, large / probe, nil
}

func (l *largeLedger) decide(source *source, n int) (time.Duration, error) {
	list := source.take(n)
	began := processorTime()
	for i := range list {
		l.seq++
		list[i].Seq = l.seq
		l.reducer.Step(l.state, &list[i])
		if i%256 == 255 {
			l.block++
			changes := l.state.Take(l.block)
			cursor := state.Cursor{LogSeq: l.block, CommandSeq: l.seq, Generation: "bench", StateHash: l.state.Hash()}
			if err := l.store.Commit(changes, cursor); err != nil {
				return 0, err
			}
			l.state.Committed()
		}
	}
	return processorTime() - began, l.state.Err()
}

func (l *largeLedger) restart(dir string) (time.Duration, error) {
	if err := l.store.Close(); err != nil {
		return 0, err
	}
	began := time.Now()
	store, err := projections.OpenStore(projections.StoreOptions{Dir: dir})
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	if store.Cursor().CommandSeq != l.seq {
		err = fmt.Errorf("the store reopened at command %d, not %d", store.Cursor().CommandSeq, l.seq)
	}
	return took, errors.Join(err, store.Close())
}

// residentMiB is the peak resident memory of this process, as the kernel says.
func residentMiB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(status), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib / 1024
		}
	}
	return 0
}
