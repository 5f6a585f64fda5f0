package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// kind is a kind of fault.
type kind struct {
	name  string
	does  string
	fits  func(*Setup) bool // nil: every world
	make  func(*rand.Rand, *Setup) Fault
	apply func(*world, *Fault)
}

func findKind(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	return nil
}

func isExternal(s *Setup) bool { return s.External }
func isAlways(s *Setup) bool   { return !s.Interval }

// oneOf chooses a word.
func oneOf(rng *rand.Rand, words ...string) string { return words[rng.IntN(len(words))] }

// spoils makes a fault that waits for the next operations of a kind.
func spoils(name, op, does string, words ...string) kind {
	return kind{
		name: name, does: does,
		make: func(rng *rand.Rand, _ *Setup) Fault {
			return Fault{How: oneOf(rng, words...), N: 1 + rng.IntN(3), Steps: 1 + rng.IntN(80)}
		},
		apply: func(w *world, f *Fault) { w.arm(op, f) },
	}
}

// kinds are all faults that there are. A script names them for ever; the order
// decides what a seed means.
var kinds = []kind{
	spoils("append", "log append", "the log stores the block and answers an error, stores it later, refuses it, or never sees it",
		"stored", "late", "refused", "dropped"),
	spoils("get", "log get", "reading a block back fails", "timeout"),
	spoils("info", "log info", "the log does not say what it holds, or an old leader says what it held", "timeout", "stale"),
	spoils("read", "log read", "reading the log breaks off", "timeout"),
	spoils("purge", "inbox purge", "a purge fails, or happens after its sender gave up", "refused", "late"),
	spoils("connect", "connect", "the server cannot be reached", "refused"),
	spoils("commit", "store commit", "a commit fails, is written and fails, or finds the store damaged", "lost", "written", "damaged"),
	spoils("open", "store open", "the store does not open, for now or for good", "error", "damaged"),
	spoils("archive", "archive", "the archive's disk fails", "error"),
	spoils("mirror", "mirror cursor", "the mirror's cursor cannot be read", "timeout"),
	spoils("unsent", "publish", "a client's command is lost on its way", "lost"),
	spoils("twice", "publish twice", "a client's command arrives twice", "twice"),
	spoils("unheard", "reply", "a reply is lost on its way", "lost"),
	spoils("unrefused", "puback", "a refusal by the inbox is lost on its way", "lost"),
	{
		name: "crash", does: "a reducer is killed; its disk has lost its last n commits; what it was sending may still arrive",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{Who: rng.IntN(s.Reducers), How: oneOf(rng, "flight", "drop", "undo", "zero"), N: rng.IntN(6), Steps: 1 + rng.IntN(60)}
		},
		apply: func(w *world, f *Fault) { w.crash(f) },
	},
	{
		name: "server", does: "the server is killed; the inbox has lost its last n commands, or undone a purge, or everything",
		fits: isExternal,
		make: func(rng *rand.Rand, _ *Setup) Fault {
			return Fault{How: oneOf(rng, "tail", "tail", "undo", "zero"), N: rng.IntN(8), Steps: 1 + rng.IntN(60)}
		},
		apply: func(w *world, f *Fault) { w.serverCrash(f) },
	},
	{
		name: "stop", does: "a reducer is told to stop",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{Who: rng.IntN(s.Reducers), Steps: 1 + rng.IntN(60)}
		},
		apply: func(w *world, f *Fault) {
			if p := w.machine(f).proc; p != nil && !p.reading {
				w.machine(f).plan(f.Steps)
				p.cancel()
			}
		},
	},
	{
		name: "pause", does: "a reducer stands still, and wakes up later",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{Who: rng.IntN(s.Reducers), Steps: 10 + rng.IntN(300)}
		},
		apply: func(w *world, f *Fault) { w.machine(f).paused = w.step + f.Steps },
	},
	{
		name: "disconnect", does: "a reducer loses its connection; what it was sending may still arrive",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{Who: rng.IntN(s.Reducers), How: oneOf(rng, "flight", "drop")}
		},
		apply: func(w *world, f *Fault) {
			if p := w.machine(f).proc; p != nil && p.session != nil {
				p.session.lose(f.How == "flight")
			}
		},
	},
	{
		name: "clock", does: "a clock jumps: an hour forward, or a day back",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{How: oneOf(rng, "hour", "day", "server-hour", "server-day", "right"), Who: rng.IntN(s.Reducers)}
		},
		apply: func(w *world, f *Fault) { w.jump(f) },
	},
	{
		name: "redeliver", does: "the inbox delivers its last n commands again",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{Who: rng.IntN(s.Reducers), N: 1 + rng.IntN(4)}
		},
		apply: func(w *world, f *Fault) {
			if p := w.machine(f).proc; p != nil && p.session != nil && len(p.session.feeds) > 0 {
				feed := p.session.feeds[0]
				feed.at -= min(feed.at, uint64(f.N))
			}
		},
	},
	{
		name: "gate", does: "a reducer's disk is full for a while",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{Who: rng.IntN(s.Reducers), Steps: 10 + rng.IntN(150)}
		},
		apply: func(w *world, f *Fault) { w.machine(f).gated = w.step + f.Steps },
	},
	{
		name: "full", does: "the server's disk is full for a while",
		make:  func(rng *rand.Rand, _ *Setup) Fault { return Fault{Steps: 10 + rng.IntN(150)} },
		apply: func(w *world, f *Fault) { w.server.full = w.step + f.Steps },
	},
	{
		name: "unreadable", does: "the next n reads of a store fail",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{Who: rng.IntN(s.Reducers), N: 1 + rng.IntN(2)}
		},
		apply: func(w *world, f *Fault) {
			if p := w.machine(f).proc; p != nil && p.store != nil {
				p.store.failing = f.N
			}
		},
	},
	{
		name: "delete", does: "a reducer is killed and the directory of its store deleted",
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{Who: rng.IntN(s.Reducers), Steps: 1 + rng.IntN(60)}
		},
		apply: func(w *world, f *Fault) {
			if w.logIsOlder() {
				return
			}
			w.crash(f)
			w.machine(f).disk = disk{}
		},
	},
	{
		name: "damage", does: "the log is damaged n blocks before its end, or replaced by an older copy",
		fits: isAlways,
		make: func(rng *rand.Rand, _ *Setup) Fault {
			return Fault{How: oneOf(rng, "flip", "skip", "cut", "swap", "older"), N: rng.IntN(4)}
		},
		apply: func(w *world, f *Fault) { w.spoil(f) },
	},
	{
		name: "restore", does: "a new generation of the log begins: with the same blocks, or exported and imported in blocks of n; a reducer may still work on the old one",
		fits: func(s *Setup) bool { return s.External && !s.Interval },
		make: func(rng *rand.Rand, s *Setup) Fault {
			return Fault{How: oneOf(rng, "told", "untold"), N: rng.IntN(6), Steps: 1 + rng.IntN(40)}
		},
		apply: func(w *world, f *Fault) { w.restore(f) },
	},
}

func (w *world) machine(f *Fault) *machine { return w.machines[f.Who%len(w.machines)] }

// crash kills a reducer, and the server with it where that is one process.
func (w *world) crash(f *Fault) {
	m := w.machine(f)
	m.crash(f, f.How == "flight")
	if !w.setup.External {
		w.server.crash(w.mild(f))
	}
}

func (w *world) serverCrash(f *Fault) {
	w.server.crash(w.mild(f))
	w.server.starts = w.step + max(f.Steps, 1)
}

// mild keeps the inbox whole while it may be what remembers.
func (w *world) mild(f *Fault) *Fault {
	if w.logIsOlder() {
		return &Fault{How: "tail"}
	}
	return f
}

// jump sets a clock, or sets all of them right.
func (w *world) jump(f *Fault) {
	m := w.machine(f)
	switch f.How {
	case "hour":
		m.offset += time.Hour
	case "day":
		m.offset -= 24 * time.Hour
	case "server-hour":
		w.server.offset += int64(time.Hour)
	case "server-day":
		w.server.offset -= int64(24 * time.Hour)
	case "right":
		w.server.offset = 0
		for _, m := range w.machines {
			m.offset = 0
		}
	}
}

// restore begins a new generation: with n 0 the blocks are restored as they are,
// else they are exported, and imported with n commands in a block. Then what was
// made of the old log is deleted. All reducers are stopped for it, except the
// second where it is untold.
func (w *world) restore(f *Fault) {
	if w.damage != nil || len(w.server.log) == 0 {
		return
	}
	for _, m := range w.machines {
		if f.How == "untold" && m.id > 0 {
			continue
		}
		m.crash(f, false)
		if f.N > 0 {
			m.disk, m.archive = disk{}, archive{}
		}
	}
	s := w.server
	s.generation = "g" + string(s.generation[1]+1)
	if f.N > 0 {
		s.oldest, s.mirror = s.generation, mirror{}
		s.log = regroup(s.log, s.generation, f.N)
		w.check.restart(s.log)
	}
	w.trace.add(w, "operator: the log is now %s, %d blocks", s.generation, len(s.log))
}

// regroup writes the decisions of a log into blocks of a new generation.
func regroup(log [][]byte, generation string, size int) [][]byte {
	var entries []events.Entry
	var like events.Header
	for _, data := range log {
		b, err := events.ParseBlock(data)
		if err != nil {
			panic(err)
		}
		like = b.Header
		entries = append(entries, b.Entries...)
	}
	like.Generation, like.Writer = generation, "import.0"
	like.PrevBlockHash = events.ZeroHash
	m := newModel(nil)
	var out [][]byte
	for chunk := range slices.Chunk(entries, size) {
		builder := events.NewBlock(like)
		for i := range chunk {
			m.state.Apply(&chunk[i].Message, chunk[i].Decision)
			builder.Add(&chunk[i].Message, chunk[i].Decision)
		}
		m.rows.Commit(m.state.Take(uint64(len(out) + 1)))
		m.state.Committed()
		data, hash := builder.Seal(m.state.Hash())
		like.PrevBlockHash = hexOf(hash)
		out = append(out, data)
	}
	return out
}
