package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

const (
	targetReplay = 150_000.0 // decisions per second of processor time
	targetMemory = 512.0     // MiB while replaying
)

// measureReplay folds a log into Pebble. What counts is processor time: reading
// and parsing go on beside the folding, and Pebble compacts beside both.
func measureReplay(p plan) (*finding, error) {
	path := filepath.Join(p.dir, "log")
	written, err := task{name: "write", commands: p.log, path: path}.start()
	if err != nil {
		return nil, err
	}
	defer os.Remove(path) //nolint:errcheck // a temporary file
	whole, err := task{name: "replay", commands: p.log, path: path}.rounds(p.rounds)
	if err != nil {
		return nil, err
	}
	part, err := task{name: "replay", commands: p.log / 8, path: path}.start()
	if err != nil {
		return nil, err
	}
	cpu, wall := whole.Values["perProcessorSecond"], whole.Values["perSecond"]
	f := &finding{costs: []cost{written.cost("the log to replay"), whole.cost("replay"), part.cost("replay of an eighth")}}
	f.results = []result{atLeast("replay", cpu, targetReplay,
		"%.0f decisions per second of processor time into Pebble, at least %.0f; %.0f per second of %d", cpu, targetReplay, wall, p.log)}
	if whole.Peak > 0 {
		f.results = append(f.results, atMost("replay-memory", whole.Peak, targetMemory,
			"at most %.0f MiB resident while replaying %d decisions, %.0f MiB with an eighth of them; at most %.0f", whole.Peak, p.log, part.Peak, targetMemory))
	}
	return f, nil
}

// writeTask writes a log file: blocks of mixed commands, each behind its length.
func writeTask(t task) (_ map[string]float64, err error) {
	file, err := os.Create(t.path)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	err = writeBlocks(newSource(mixedWork), t.commands, func(block []byte) error {
		if _, err := out.Write(binary.AppendUvarint(nil, uint64(len(block)))); err != nil {
			return err
		}
		_, err := out.Write(block)
		return err
	})
	return nil, errors.Join(err, out.Flush(), file.Close())
}

// writeBlocks decides commands into the blocks of a log. The rows are in a
// store, so that memory does not limit the log.
func writeBlocks(commands *source, n int, write func(block []byte) error) error {
	return inStore(func(store *projections.Store) error {
		s, r := state.New(store, store.Cursor(), 0), reducer.New()
		cursor := store.Cursor()
		for rest := n; rest > 0; rest -= min(rest, blockCommands) {
			list := commands.take(min(rest, blockCommands))
			b := decideBlock(s, r, list, cursor)
			changes := s.Take(cursor.LogSeq + 1)
			data, hash := b.Seal(s.Hash())
			cursor = state.Cursor{
				LogSeq: cursor.LogSeq + 1, CommandSeq: list[len(list)-1].Seq, Generation: generation, BlockHash: hash, StateHash: s.Hash(),
			}
			if err := write(data); err != nil {
				return err
			}
			if err := store.Commit(changes, cursor); err != nil {
				return err
			}
			s.Committed()
		}
		return s.Err()
	})
}

const generation = "bench"

func decideBlock(s *state.State, r *reducer.Reducer, list []events.Message, cursor state.Cursor) *events.Builder {
	b := events.NewBlock(events.Header{
		RulesVersion: reducer.RulesVersion, Generation: generation, Writer: "01KBENCHBENCHBENCHBENCHBEN", Build: "bench", Shards: 1,
		Time: "1767225600000", PrevBlockHash: hex.EncodeToString(cursor.BlockHash[:]),
	})
	for i := range list {
		b.Add(&list[i], r.Step(s, &list[i]))
	}
	return b
}

// inStore runs f with an empty store.
func inStore(f func(store *projections.Store) error) error {
	dir, err := os.MkdirTemp("", "aiws-bench-store-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	store, err := projections.OpenStore(projections.StoreOptions{Dir: dir})
	if err != nil {
		return err
	}
	return errors.Join(f(store), store.Close())
}

// fileLog is a log in a file, as writeTask wrote it; it is read once, from its
// beginning, up to a number of commands.
type fileLog struct {
	loop.Log
	in       *bufio.Reader
	commands int
}

// Read implements part of [loop.Log].
func (l *fileLog) Read(_ context.Context, _ uint64, f func(seq uint64, block []byte) error) error {
	for seq := uint64(1); (seq-1)*blockCommands < uint64(l.commands); seq++ {
		size, err := binary.ReadUvarint(l.in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		block := make([]byte, size)
		if _, err := io.ReadFull(l.in, block); err != nil {
			return err
		}
		if err := f(seq, block); err != nil {
			return err
		}
	}
	return nil
}

// replayTask folds a log file into an empty store, as the reducer does.
func replayTask(t task) (map[string]float64, error) {
	file, err := os.Open(t.path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	values := map[string]float64{}
	err = inStore(func(store *projections.Store) error {
		began, cpu := time.Now(), processorTime()
		err := foldAll(store, &fileLog{in: bufio.NewReaderSize(file, 1<<20), commands: t.commands})
		done := float64(store.Cursor().CommandSeq)
		values["perSecond"] = done / time.Since(began).Seconds()
		values["perProcessorSecond"] = done / (processorTime() - cpu).Seconds()
		if err == nil && done < float64(t.commands) {
			err = fmt.Errorf("%.0f decisions were replayed, not %d", done, t.commands)
		}
		return err
	})
	return values, err
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
