package projections

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// memTables is how many tables in memory there may be: one is written to, the
// others are being flushed.
const memTables = 3

// pebbleOptions tune Pebble for a small daemon with a busy writer. The format
// version is pinned: a newer Pebble must not change what is on disk by itself.
func (s *Store) pebbleOptions() *pebble.Options {
	o := &pebble.Options{
		FS:                          s.o.FS,
		Cache:                       s.cache,
		Logger:                      &pebbleLog{s},
		EventListener:               s.listener(),
		FormatMajorVersion:          pebble.FormatTableFormatV6,
		DisableWAL:                  true,
		MemTableSize:                s.o.MemBytes,
		MemTableStopWritesThreshold: memTables,
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       24,
		MaxOpenFiles:                500,
		BytesPerSync:                1 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
	}
	for i := range o.Levels {
		// Most reads of new ids find nothing; a filter answers them without the disk.
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].FilterType = pebble.TableFilter
	}
	return o
}

// listener hears what happens in the background. Pebble's default ends the
// process on corruption.
func (s *Store) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			s.fail(&StoreError{Op: "write in the background", Err: err, damaged: pebble.IsCorruptionError(err)})
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			s.fail(&StoreError{Op: "read", Err: fmt.Errorf("corrupt file %s: %w", info.Path, info.Details), damaged: true})
		},
		DiskSlow: func(info pebble.DiskSlowInfo) {
			s.o.Log.Warn("the disk of the store is slow", "operation", info.OpType, "path", info.Path, "took", info.Duration)
		},
	}
}

// pebbleLog is Pebble's logger. Its default ends the process in Fatalf.
type pebbleLog struct{ store *Store }

// Infof implements pebble.Logger.
func (l *pebbleLog) Infof(format string, args ...any) { l.say(slog.LevelDebug, format, args) }

// Errorf implements pebble.Logger.
func (l *pebbleLog) Errorf(format string, args ...any) { l.say(slog.LevelError, format, args) }

// Fatalf implements pebble.Logger: after it the store fails everything. What
// is on disk is right or is found damaged when it is opened again.
func (l *pebbleLog) Fatalf(format string, args ...any) {
	l.store.fail(&StoreError{Op: "write in the background", Err: fmt.Errorf(format, args...)})
}

func (l *pebbleLog) say(level slog.Level, format string, args []any) {
	log, ctx := l.store.o.Log, context.Background()
	if log.Enabled(ctx, level) {
		log.Log(ctx, level, fmt.Sprintf(format, args...), "from", "pebble")
	}
}
