package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// Recover folds the log from the store's cursor to its end, and makes sure that
// nothing is ahead of the log: an older log under a newer store would answer
// "duplicate" for decisions that no longer exist (DESIGN 3, step 1).
func (t *Term) Recover(ctx context.Context) error {
	t.o.Status.set(PhaseRecovering, "reading the log")
	info, err := t.session.Log().Info(ctx)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	t.generation = info.Generation
	if info.Missing > 0 {
		return fmt.Errorf("%w: %d blocks between the first and the last of the log are missing, and nobody can have deleted them: restore it from the archive",
			ErrIntegrity, info.Missing)
	}
	t.o.Status.found(info)
	t.o.Status.moved(t.store.Cursor())
	if err := t.checkStore(ctx); err != nil && !mutate("nothing ahead") {
		return err
	}
	archived, err := t.checkArchive(ctx)
	if err != nil && !mutate("nothing ahead") {
		return err
	}
	if err := t.checkFollowers(ctx); err != nil && !mutate("nothing ahead") {
		return err
	}
	if err := t.foldTail(ctx, archived); err != nil {
		return err
	}
	return t.checkInbox(ctx)
}

// checkStore makes sure that the store's rows are of a block of this log.
func (t *Term) checkStore(ctx context.Context) error {
	cursor := t.store.Cursor()
	info, err := t.confirmAhead(ctx, cursor.LogSeq)
	if err != nil {
		return err
	}
	switch {
	case cursor.LogSeq > info.LastSeq:
		return t.ahead("the store holds block %d, the log ends at block %d", cursor.LogSeq, info.LastSeq)
	case cursor.LogSeq+1 < info.FirstSeq:
		return fmt.Errorf("%w: the log begins at block %d and the store ends at block %d: restore a checkpoint or the archive",
			ErrIntegrity, info.FirstSeq, cursor.LogSeq)
	case cursor.LogSeq > 0 && info.FirstSeq > info.LastSeq:
		return fmt.Errorf("%w: the log has lost all its blocks, the store ends at block %d: restore the log from the archive",
			ErrIntegrity, cursor.LogSeq)
	case cursor.LogSeq < info.FirstSeq || cursor.LogSeq == 0:
		return nil // the first block names the hash of the one before it
	}
	data, err := t.session.Log().Get(ctx, cursor.LogSeq)
	if errors.Is(err, ErrAbsent) {
		return fmt.Errorf("%w: block %d of the log cannot be read, and the log ends at block %d: restore it from the archive", ErrIntegrity, cursor.LogSeq, info.LastSeq)
	}
	if err != nil {
		return fmt.Errorf("recover: read block %d: %w", cursor.LogSeq, err)
	}
	if events.BlockHash(data) != cursor.BlockHash {
		return t.ahead("the store was folded from another block %d than the log has", cursor.LogSeq)
	}
	header, err := events.ParseHeader(data)
	if err != nil {
		return blockError(cursor.LogSeq, err)
	}
	return checkSetup(cursor.LogSeq, header, t.o.Shard, t.o.Shards, t.o.RulesVersion)
}

// confirmAhead returns what the log is. When something claims to be ahead of
// it, the leader of the stream is asked twice more before that is believed.
func (t *Term) confirmAhead(ctx context.Context, seq uint64) (LogInfo, error) {
	for asked := 1; ; asked++ {
		info, err := t.session.Log().Info(ctx)
		if err != nil {
			return info, fmt.Errorf("recover: %w", err)
		}
		if seq <= info.LastSeq || asked == 3 {
			return info, nil
		}
		select {
		case <-ctx.Done():
			return info, ctx.Err()
		case <-t.o.Clock.After(t.o.Limits.Retry):
		}
	}
}

// ahead is the error for something derived that the log does not explain.
func (t *Term) ahead(format string, args ...any) error {
	kind := ErrIntegrity
	if t.o.DiscardAhead {
		kind = ErrAhead
	}
	return fmt.Errorf("%w: "+format+": the log was replaced by an older or another one, or has lost its end: restore it from the archive "+
		"(reducer import), or from a copy as new as what follows it",
		append([]any{kind}, args...)...)
}

// checkArchive returns the last block of the archive. The archive is a copy of
// the log, so it is never dropped, whatever the durability switch says.
func (t *Term) checkArchive(ctx context.Context) (uint64, error) {
	if t.o.Archive == nil {
		return 0, nil
	}
	last, hash, err := t.o.Archive.Last()
	if err != nil {
		return 0, fmt.Errorf("archive: %w", err)
	}
	info, err := t.confirmAhead(ctx, last)
	if err != nil {
		return 0, err
	}
	if last > info.LastSeq {
		return 0, fmt.Errorf("%w: the archive holds block %d, the log ends at block %d: restore the log from the archive",
			ErrIntegrity, last, info.LastSeq)
	}
	if last < info.FirstSeq || last == 0 {
		return last, nil
	}
	data, err := t.session.Log().Get(ctx, last)
	switch {
	case errors.Is(err, ErrAbsent):
		return 0, fmt.Errorf("%w: block %d of the log cannot be read; the archive holds it", ErrIntegrity, last)
	case err != nil:
		return 0, fmt.Errorf("recover: read block %d: %w", last, err)
	case events.BlockHash(data) != hash:
		return 0, fmt.Errorf("%w: the archive holds another block %d than the log: it is of another log; move it away", ErrIntegrity, last)
	}
	return last, nil
}

func (t *Term) checkFollowers(ctx context.Context) error {
	for _, f := range t.o.Followers {
		seq, err := f.LogSeq(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		info, err := t.confirmAhead(ctx, seq)
		if err != nil {
			return err
		}
		if seq > info.LastSeq {
			return t.ahead("%s holds block %d, the log ends at block %d", f.Name(), seq, info.LastSeq)
		}
	}
	return nil
}

// checkInbox compares the folded log with the inbox: commands are purged only
// when the log has their decisions. Under DiscardAhead the log may have lost
// the last ones, and their publishers know that answers can be lost.
func (t *Term) checkInbox(ctx context.Context) error {
	for asked := 1; ; asked++ {
		info, err := t.session.Inbox().Info(ctx)
		if err != nil {
			return fmt.Errorf("recover: %w", err)
		}
		t.inbox.limits = info.Limits
		if info.FirstSeq <= t.last.CommandSeq+1 || mutate("nothing ahead") {
			return nil
		}
		if t.o.DiscardAhead {
			t.o.Log.Warn("the inbox begins after the log's end: decisions in between are lost",
				"logCommandSeq", t.last.CommandSeq, "inboxFirstSeq", info.FirstSeq)
			return nil
		}
		if asked == 3 {
			return t.inboxAhead(ctx, info)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.o.Clock.After(t.o.Limits.Retry):
		}
	}
}

// inboxAhead is the error for an inbox that begins after the folded log. Where
// the log has grown since, another reducer is at work and has purged the inbox.
func (t *Term) inboxAhead(ctx context.Context, info InboxInfo) error {
	_, err := t.session.Log().Get(ctx, t.last.LogSeq+1)
	switch {
	case err == nil:
		return errGrew
	case !errors.Is(err, ErrAbsent):
		return fmt.Errorf("recover: read block %d: %w", t.last.LogSeq+1, err)
	}
	return fmt.Errorf("%w: the inbox begins at command %d, the log ends at command %d: the log was replaced by an older one "+
		"or has lost its end, or commands were deleted by hand; if the log is known to be whole, delete the inbox stream and start again",
		ErrIntegrity, info.FirstSeq, t.last.CommandSeq)
}

// errGrew ends a term that read the log while somebody else was writing it.
var errGrew = fmt.Errorf("%w: the log grew while it was read; another reducer may be writing it", ErrLost)

// foldTail folds what the store does not have and archives what the archive
// does not have.
func (t *Term) foldTail(ctx context.Context, archived uint64) error {
	folder := NewFolder(t.store, t.o.CacheRows)
	folder.Shard, folder.Shards, folder.RulesVersion = t.o.Shard, t.o.Shards, t.o.RulesVersion
	folder.Folded = func(f *Folded) {
		t.o.Status.moved(f.Cursor)
		if t.o.Hooks.Folded != nil {
			t.o.Hooks.Folded(f)
		}
	}
	begin := folder.Cursor().LogSeq
	copier := newCopier(t.o.Archive, archived)
	from := begin
	if t.o.Archive != nil {
		from = min(from, archived)
	}
	err := ReadBlocks(ctx, t.session.Log(), from+1, func(b *ReadBlock) error {
		if b.Err != nil {
			return b.Err
		}
		if b.Seq > begin {
			if err := folder.FoldRead(ctx, t.session.Log(), b); err != nil {
				return err
			}
		}
		return copier.add(b)
	})
	if err == nil {
		err = copier.finish(folder.Cursor())
	}
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := folder.Commit(); err != nil {
		return err
	}
	t.last, t.state, t.decider = folder.Cursor(), folder.State(), t.newDecider()
	if err := t.checkEnd(ctx); err != nil {
		return err
	}
	if t.last.Generation > t.generation {
		return fmt.Errorf("%w: block %d is of generation %s, and the log stream is of the earlier %s: it is not the log that was restored last",
			ErrIntegrity, t.last.LogSeq, t.last.Generation, t.generation)
	}
	if t.o.Hooks.Recovered != nil {
		t.o.Hooks.Recovered(t.last, int(t.last.LogSeq-begin))
	}
	return nil
}

// checkEnd makes sure that reading the log came to its end: a damaged file can
// make a server end early, or pass over blocks, without an error.
func (t *Term) checkEnd(ctx context.Context) error {
	info, err := t.session.Log().Info(ctx)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	t.o.Status.found(info)
	if info.LastSeq <= t.last.LogSeq || mutate("end of the log") {
		return nil
	}
	_, err = t.session.Log().Get(ctx, t.last.LogSeq+1)
	switch {
	case err == nil:
		return errGrew
	case errors.Is(err, ErrAbsent):
		return fmt.Errorf("%w: the log ends at block %d, but block %d cannot be read: restore it from the archive",
			ErrIntegrity, info.LastSeq, t.last.LogSeq+1)
	}
	return fmt.Errorf("recover: read block %d: %w", t.last.LogSeq+1, err)
}

// Open purges the inbox up to the log, opens the doors to publishers and begins
// to read (DESIGN 3, step 2). The purge comes first, always: after a crash an
// inbox may have lost its end and would give out sequences again that the log
// already names, and the commands under them would be passed over.
func (t *Term) Open(ctx context.Context) error {
	inbox := t.session.Inbox()
	if mutate("doors first") {
		_ = t.session.OpenDoors(ctx) // the purge below is the same, but late
	}
	upTo := t.last.CommandSeq + 1
	if mutate("purge") {
		upTo = 1
	}
	if err := inbox.Purge(ctx, upTo); err != nil {
		return fmt.Errorf("purge the inbox: %w", err)
	}
	t.inbox.upTo, t.inbox.purged, t.inbox.last = t.last.CommandSeq, t.last.CommandSeq, t.o.Clock.Now()
	info, err := inbox.Info(ctx)
	if err != nil {
		return fmt.Errorf("purge the inbox: %w", err)
	}
	if info.LastSeq < t.last.CommandSeq && !mutate("purge") {
		return fmt.Errorf("%w: after a purge up to %d the inbox would still give out sequence %d",
			ErrIntegrity, t.last.CommandSeq, info.LastSeq+1)
	}
	if err := t.session.OpenDoors(ctx); err != nil {
		return fmt.Errorf("open to publishers: %w", err)
	}
	feed, err := inbox.Read(ctx, t.last.CommandSeq)
	if err != nil {
		return fmt.Errorf("read the inbox: %w", err)
	}
	t.feed = feed
	t.o.Status.set(PhaseReady, "")
	return nil
}
