package doctor

import (
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// Reducer judges what a running reducer says of itself. logEnd is the last block
// of the log, build and rules are ours.
func (r *Report) Reducer(s *wire.StatusResponse, logEnd uint64, build string, rules int64) {
	switch {
	case !s.Ready:
		r.wrong("reducer", "see the reason; nothing that was answered is lost", "it takes no commands: %s, %s", s.Phase, s.Reason)
	default:
		r.fine("reducer", "it takes commands, and has decided up to command %d", s.AsOf.Seq)
	}
	if lag := behind(s.AsOf.Block, logEnd); lag > lagBlocks {
		r.wrong("store", "wait; if it does not catch up, see its log", "it is %d blocks behind the log", lag)
	}
	if s.Build != build {
		r.note("build", "use the same build on both sides, or mind that they may decide differently", "the reducer is build %s, this is %s", s.Build, build)
	}
	if s.RulesVersion != rules {
		r.note("rules", "verify with the reducer's own build", "the reducer decides by rules version %d, this build by %d", s.RulesVersion, rules)
	}
	r.mirror(s.Mirror, s.AsOf.Block)
	r.Archive(s.Archive)
	r.checkpoint(s.Checkpoint, s.AsOf.Block)
	if s.FreeBytes > 0 {
		r.Space("data directory of the reducer", s.FreeBytes)
	}
}

// lagBlocks is how far something may be behind for a moment.
const lagBlocks = 1000

func behind(at, end uint64) uint64 { return end - min(at, end) }

func (r *Report) mirror(m *wire.MirrorStatus, block uint64) {
	switch {
	case m == nil:
	case m.Error != "":
		r.wrong("KV mirror", "subscribers see old values meanwhile; the error says what to mend", "it does not work: %s", m.Error)
	case m.Phase == "comparing":
		r.note("KV mirror", "wait: after an unclean stop every row is compared", "it is comparing its rows with the store")
	case behind(m.AsOf.Block, block) > lagBlocks:
		r.wrong("KV mirror", "subscribers see old values; look at the load of the server", "it is %d blocks behind", behind(m.AsOf.Block, block))
	default:
		r.fine("KV mirror", "it is %s, up to block %d", m.Phase, m.AsOf.Block)
	}
}

// Archive judges the second copy of the log.
func (r *Report) Archive(a *wire.ArchiveStatus) {
	switch {
	case a == nil:
		r.note("archive", "serve with --archive and a directory on another disk", "there is no second copy of the log: a damaged disk loses all decisions")
	case a.Error != "":
		r.wrong("archive", "decisions go on without it, and it catches up by itself when the cause is gone", "it is %d blocks behind, and it is not written: %s", a.Lag, a.Error)
	case a.Missing > 0:
		r.wrong("archive", "it is mended from the log by itself; look at the disk of "+a.Dir, "%d of its blocks were damaged and are written again", a.Missing)
	case a.Lag > lagBlocks:
		r.wrong("archive", "look at the disk of "+a.Dir, "it is %d blocks behind the log", a.Lag)
	default:
		r.fine("archive", "it has all blocks up to %d in %s", a.Block, a.Dir)
	}
}

func (r *Report) checkpoint(c *wire.CheckpointStatus, block uint64) {
	const many = 100_000
	switch {
	case c == nil:
	case c.Error != "":
		r.wrong("checkpoint", "the error says what to mend; without checkpoints a damaged store is built again from the whole log", "the last one was not made: %s", c.Error)
	case behind(c.AsOf.Block, block) > many:
		r.note("checkpoint", "make one: reducer checkpoint", "the newest one is %d blocks old: a damaged store takes long to be built again", behind(c.AsOf.Block, block))
	case c.Made == "":
		r.fine("checkpoint", "there is none yet; the log is short")
	default:
		r.fine("checkpoint", "of block %d, made %s", c.AsOf.Block, c.Made)
	}
}

// Bounds of free space: below the first a reducer stops to decide, below the
// second somebody should make room.
const (
	stopsBelow = 128 << 20
	lowBelow   = 2 << 30
)

// Space judges the free bytes of a place.
func (r *Report) Space(place string, free uint64) {
	switch {
	case free < stopsBelow:
		r.wrong("disk", "make room", "%d MiB are free for the %s: nothing is decided below %d MiB", free>>20, place, stopsBelow>>20)
	case free < lowBelow:
		r.wrong("disk", "make room", "%d MiB are free for the %s", free>>20, place)
	default:
		r.fine("disk", "%d GiB are free for the %s", free>>30, place)
	}
}

// Directory is a directory of ours on this machine.
type Directory struct {
	Name    string
	Mode    uint32 // permission bits
	Free    uint64 // 0: not known
	Remains []string
}

// Directory judges a directory: who else may read or write in it, and what was
// left there.
func (r *Report) Directory(d *Directory) {
	about := "directory " + d.Name
	switch {
	case d.Mode&0o022 != 0:
		r.wrong(about, "chmod -R go-w "+d.Name, "others on this machine may write in it (mode %04o): they can change the log", d.Mode)
	case d.Mode&0o007 != 0:
		r.note(about, "chmod -R o-rwx "+d.Name, "everybody on this machine may read it (mode %04o), and all commands are in it", d.Mode)
	default:
		r.fine(about, "mode %04o", d.Mode)
	}
	for _, name := range d.Remains {
		r.note(about, "find out why (docs/damage.md), look at it if you want to, then delete it", "%s was set aside because it was damaged", name)
	}
	if d.Free > 0 {
		r.Space("directory "+d.Name, d.Free)
	}
}

// Age is the time since a stamp, not below zero.
func Age(now, stamp time.Time) time.Duration { return max(0, now.Sub(stamp)) }
