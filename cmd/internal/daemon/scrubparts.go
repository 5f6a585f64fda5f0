package daemon

import (
	"context"
	"errors"
	"log/slog"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/pace"
	"github.com/aiws-reducer/aiws-reducer/projections"
)

// The parts that are read through, by their names in metrics.
const (
	partLog     = "log"
	partArchive = "archive"
	partStore   = "store"
	partMirror  = "mirror"
)

// startScrub begins to read everything through, if it is to be read at all.
func (d *daemon) startScrub(ctx context.Context) {
	read := pace.New(d.o.ScrubRate).Wait // what all parts read together
	d.logScrub = &logScrub{open: d.openLog, end: d.cursor, read: read, retry: scrubRetry}
	d.scrub = &scrubber{retry: scrubRetry, log: d.o.Log, parts: []*part{{name: partLog, check: d.logScrub.check}}}
	if d.archive != nil {
		d.scrub.parts = append(d.scrub.parts, &part{name: partArchive, check: func(ctx context.Context) (int, error) {
			return d.archive.Scrub(ctx, func(bytes int) error { return read(ctx, bytes) })
		}})
	}
	store, mirror := &storeScrub{home: d.home, read: read}, &mirrorScrub{mirror: d.mirror, read: read, log: d.o.Log}
	d.scrub.parts = append(d.scrub.parts, &part{name: partStore, check: store.check}, &part{name: partMirror, check: mirror.check})
	if d.o.ScrubRate > 0 {
		d.beside(ctx, "reading everything through", d.scrub.run)
	}
}

// storeScrub reads the store. One that is damaged the loop sets aside and makes
// again, because the store says so itself from then on.
type storeScrub struct {
	home *projections.Home
	read func(ctx context.Context, bytes int) error
	last *projections.StoreError // that was counted
}

func (s *storeScrub) check(ctx context.Context) (mended int, err error) {
	err = s.home.Check(ctx, s.read)
	var failed *projections.StoreError
	if errors.As(err, &failed) && failed.Damaged() && failed != s.last {
		s.last = failed
		return 1, err
	}
	return 0, err
}

// mirrorScrub compares the KV mirror with the store. What differs, and is not on
// the way, is written again.
type mirrorScrub struct {
	mirror *projections.Mirror
	read   func(ctx context.Context, bytes int) error
	log    *slog.Logger
}

func (s *mirrorScrub) check(ctx context.Context) (mended int, err error) {
	for range 2 { // a fault is believed when it is seen twice
		var found projections.CheckedMirror
		found, err = s.mirror.Check(ctx, s.read)
		switch {
		case err == nil && found.Complete:
			return 0, nil
		case err == nil:
			return 0, errNotYet
		case !errors.Is(err, projections.ErrNotTheLog):
			return 0, err
		}
		wait(ctx, scrubRetry)
	}
	s.log.Error("the KV mirror was damaged: every row is compared with the store, and what differs is written again", "reason", err)
	s.mirror.Compare()
	return 1, errNotYet
}
