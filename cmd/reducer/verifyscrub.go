package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/pace"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/archive"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// scrubbing holds the flags of verify --scrub, and reads the archive, the KV
// mirror and the checkpoints beside the log. What it finds wrong it keeps, and
// goes on, so that one run says all that is wrong.
type scrubbing struct {
	asked   bool
	archive string // directory; "" is the one that the running reducer names
	rate    cli.Bytes

	pacer  *pace.Pacer
	copied *copied // nil: there is no archive to read
	found  scrubbed
	faults []error
}

// scrubbed is what a scrub has read and found in order.
type scrubbed struct {
	Archive       string `json:"archive,omitempty"`       // its directory
	ArchiveBlocks uint64 `json:"archiveBlocks,omitempty"` // that are the log's, byte for byte
	StoreRows     uint64 `json:"storeRows"`               // of the running reducer, by their digest
	MirrorRows    uint64 `json:"mirrorRows"`              // that are the log's
	MirrorNewer   uint64 `json:"mirrorRowsNotCompared"`   // changed meanwhile
	MirrorWhole   bool   `json:"mirrorComplete"`          // false: the next start makes it again
	Checkpoints   int    `json:"checkpoints"`             // whose files are as they were written
}

// scrubRate is what a scrub reads in a second where a reducer is at work.
const scrubRate = 16 << 20

func (b *scrubbing) add(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&b.asked, "scrub", false, "read the archive, the KV mirror and the checkpoints too, and compare them with the log")
	flags.StringVar(&b.archive, "archive", "", "with --scrub, the `DIR`ectory of the archive (default: the one that the running reducer writes)")
	flags.Var(&b.rate, "rate", "with --scrub, bytes to read in a second; 0 is no limit (default: 16MiB where a reducer is running)")
}

// begin opens the archive and makes the log one that is compared with it.
func (b *scrubbing) begin(c *cobra.Command, s *source, log *openedLog) error {
	if !b.asked {
		return nil
	}
	if !s.stopped() && !c.Flags().Changed("rate") {
		b.rate = scrubRate
	}
	b.pacer = pace.New(int64(b.rate))
	if b.archive == "" && !s.stopped() {
		b.archive = archiveOf(c.Context(), s)
	}
	if b.archive == "" {
		return nil
	}
	reader, err := archive.OpenReader(b.archive)
	switch {
	case errors.Is(err, loop.ErrIntegrity):
		b.fault(err)
		return nil
	case err != nil:
		return err
	}
	b.copied = &copied{Log: log.Log, dir: b.archive, archive: reader, pace: b.pace(c.Context()), fault: b.fault}
	log.Log = b.copied
	return nil
}

// archiveOf is the archive of a running reducer, where this machine has it.
func archiveOf(ctx context.Context, s *source) (dir string) {
	_ = s.asking(ctx, func(running *client.Client) error { // without an answer there is no archive to read
		status, err := running.Status(ctx)
		if err == nil && status.Archive != nil && archive.IsArchive(status.Archive.Dir) {
			dir = status.Archive.Dir
		}
		return err
	})
	return dir
}

func (b *scrubbing) fault(err error) { b.faults = append(b.faults, err) }

func (b *scrubbing) pace(ctx context.Context) func(int) error {
	if b.pacer == nil {
		return func(int) error { return nil }
	}
	return func(n int) error { return b.pacer.Wait(ctx, n) }
}

// finish reads what is beside the log, once scratch is folded to its end, and
// returns all that is wrong. damaged is what is wrong with the log itself: then
// there is nothing to compare with, and the archive is read for whether it is
// in order.
func (b *scrubbing) finish(ctx context.Context, log *openedLog, scratch *projections.Store, damaged error) error {
	if !b.asked {
		return damaged
	}
	if b.copied != nil {
		b.found.Archive = b.archive
		b.copied.rest(ctx, errors.Is(damaged, loop.ErrIntegrity))
		b.found.ArchiveBlocks = b.copied.same
	}
	if damaged != nil {
		return errors.Join(append([]error{damaged}, b.faults...)...)
	}
	mirror, err := projections.CheckMirror(ctx, log.conn, scratch, b.pacer.Wait)
	b.found.MirrorRows, b.found.MirrorNewer, b.found.MirrorWhole = mirror.Rows, mirror.Newer, mirror.Complete
	if err := b.keep(err); err != nil {
		return err
	}
	if log.dir != nil {
		checkpoints := projections.NewCheckpoints(log.dir.Checkpoints(), projections.StoreOptions{Dir: log.dir.Store()})
		good, err := checkpoints.Check(b.pace(ctx))
		b.found.Checkpoints = good
		if err := b.keep(err); err != nil {
			return err
		}
	}
	return errors.Join(b.faults...)
}

// keep keeps a fault for the end and returns any other error. Nothing is kept
// where no scrub was asked for.
func (b *scrubbing) keep(err error) error {
	if errors.Is(err, projections.ErrNotTheLog) {
		err = fmt.Errorf("%w: %w", loop.ErrIntegrity, err)
	}
	if b.asked && errors.Is(err, loop.ErrIntegrity) {
		b.fault(err)
		return nil
	}
	return err
}

// compareRows compares every row of the running reducer with a replay up to the
// same block, by their digest.
func compareRows(live string, replayed state.Rows) error {
	digest := projections.NewRowsDigest()
	err := replayed.Scan([]byte{1}, []byte{0xFF}, false, func(key, value []byte) bool {
		digest.Add(key, value)
		return true
	})
	if err != nil {
		return err
	}
	if rows, sum := digest.Sum(); sum != live {
		return &audit.Fault{
			What: fmt.Sprintf("the %d rows of the log have the digest %s, those of the running reducer %s", rows, sum, live),
			Do:   "the store is derived, and the log is right: stop the reducer; `reducer verify --scrub --data` says which row differs, and `reducer replay` builds the store again",
		}
	}
	return nil
}

// copied is a log that is compared with its archive while it is read.
type copied struct {
	loop.Log
	dir     string
	archive *archive.Reader
	pace    func(bytes int) error
	fault   func(error)

	at     uint64 // block of the archive that was read last
	same   uint64 // blocks that both have
	next   func() (uint64, []byte, error, bool)
	failed bool // the archive is not compared any further
}

// Read implements [loop.Log].
func (l *copied) Read(ctx context.Context, from uint64, f func(seq uint64, block []byte) error) error {
	defer l.open(ctx, from)()
	return l.Log.Read(ctx, from, func(seq uint64, block []byte) error {
		if err := l.compare(seq, block); err != nil {
			return err
		}
		return f(seq, block)
	})
}

// open begins to read the archive from a block on.
func (l *copied) open(ctx context.Context, from uint64) (end func()) {
	type read struct {
		seq   uint64
		block []byte
		err   error
	}
	next, stop := iter.Pull(func(yield func(read) bool) {
		err := l.archive.Read(ctx, from, func(seq uint64, block []byte) error {
			if !yield(read{seq: seq, block: block}) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(read{err: err})
		}
	})
	l.next = func() (uint64, []byte, error, bool) {
		r, ok := next()
		return r.seq, r.block, r.err, ok
	}
	return stop
}

var errStopped = errors.New("stopped")

// compare compares a block of the log with that of the archive.
func (l *copied) compare(seq uint64, block []byte) error {
	for !l.failed && l.at < seq {
		at, have, err, ok := l.next()
		switch {
		case !ok: // the archive ends here; the rest is its lag
			l.failed = true
			return nil
		case err != nil:
			l.failed = true
			if !errors.Is(err, loop.ErrIntegrity) {
				return err
			}
			l.fault(err)
			return nil
		}
		if l.at = at; at < seq {
			continue // the log lacks it, which is found beside this
		}
		if err := l.pace(len(have)); err != nil {
			return err
		}
		if at > seq || !bytes.Equal(have, block) {
			l.failed = true
			l.fault(&audit.Fault{
				Block: seq, What: fmt.Sprintf("the archive %s has another one than the log", l.dir),
				Do: "keep both, and find out which is right: `reducer diff`, and `reducer verify --against` with heads that were kept",
			})
			return nil
		}
		l.same++
	}
	return nil
}

// rest reads what the archive has and the log has not shown. It is said whether
// an archive can stand in for a damaged log.
func (l *copied) rest(ctx context.Context, damaged bool) {
	info, err := l.archive.Info(ctx)
	if err == nil {
		err = l.archive.Read(ctx, l.at+1, func(_ uint64, block []byte) error { return l.pace(len(block)) })
	}
	switch {
	case err != nil && !l.failed:
		l.fault(err)
	case err == nil && damaged && !l.failed:
		l.fault(&audit.Fault{
			What: fmt.Sprintf("the archive %s is in order up to block %d", l.dir, info.LastSeq),
			Do:   fmt.Sprintf("make a new data directory from it: `reducer import %s --data NEW`", filepath.Clean(l.dir)),
		})
	case err == nil && !damaged && info.LastSeq > l.at && !l.failed:
		l.fault(&audit.Fault{
			Block: info.LastSeq, What: fmt.Sprintf("the archive %s has it, and the log ends at block %d", l.dir, l.at),
			Do: "the log was replaced by an older one, or has lost its end: restore it from the archive (`reducer import`)",
		})
	}
}

// print adds what was read beside the log.
func (b *scrubbed) print(table *ui.Table, blocks uint64) {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	if b.StoreRows > 0 {
		table.Row("store rows", number(b.StoreRows), "of the running reducer, compared by their digest")
	}
	if b.Archive == "" {
		table.Row("archive", "", "there is none that this command knows of: name it with --archive")
	} else {
		table.Row("archive", number(b.ArchiveBlocks), fmt.Sprintf("blocks in %s are the log's, byte for byte; %d are not there yet", b.Archive, blocks-b.ArchiveBlocks))
	}
	if !b.MirrorWhole {
		table.Row("mirror", "", "it does not say that it is complete: the next start compares every row")
	} else {
		table.Row("mirror rows", number(b.MirrorRows), fmt.Sprintf("of the KV bucket are the log's; %d changed meanwhile", b.MirrorNewer))
	}
	if b.Checkpoints > 0 {
		table.Row("checkpoints", strconv.Itoa(b.Checkpoints), "have the files that were written")
	}
}
