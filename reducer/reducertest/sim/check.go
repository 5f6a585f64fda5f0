package sim

import (
	"bytes"
	"errors"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// rules are the promises of DESIGN 3 that a run may break, by a short name. The
// same list is in docs/simulation.md.
var rules = map[string]string{
	"block":            "a block on the log is whole, chained, and after the one before; generations never fall",
	"fabricated":       "a command on the log is one that came in, as it came in",
	"ledger chain":     "the records of a ledger are chained, and their hashes are right",
	"one decision":     "an id has one decision that is no duplicate, and its duplicates name it",
	"dispatched twice": "an attempt is dispatched once",
	"decide again":     "deciding the log again gives the same bytes and the same state hash",
	"too early":        "what is answered is on the log at that moment, exactly so",
	"wrong answer":     "what a client hears, or finds when it asks, is the decision on its command",
	"lost answer":      "what a client was told is on the log at the end",
	"archive":          "the archive is a copy of the log",
	"store":            "the rows of a store are the fold of the log up to its cursor",
	"mirror":           "at the end the mirror is where the log is",
	"ahead":            "nothing derived is ahead of the log",
	"dropped":          "the inbox drops a command only when it is decided",
	"sequence reused":  "no publisher is given a sequence that the log names",
	"other bytes":      "what a term has sent for a block it sends unchanged",
	"fenced":           "a reducer that found another's block in the place of its own sends nothing any more",
	"opened":           "no term opens on a log that it must refuse",
	"older log":        "nothing is appended to an older log",
	"exit":             "a reducer ends for a reason that there is",
	"panic":            "no reducer panics",
	"stuck":            "a reducer that is cut off from everything ends",
	"liveness":         "once the faults are over everybody comes to rest, and every client has its answers",
	"record":           "a reply is a decision record",
}

// checker holds everything that happens against the rules. It reads blocks by
// itself and shares no code with package loop.
type checker struct {
	w       *world
	lastSeq uint64 // last command that the log decides
	model   *model

	came      map[uint64][]*message // commands that the inbox had under a sequence
	sent      map[string][]byte     // what a writer sent for a block
	tooLarge  map[string]bool       // of these, what the log would not take
	forgotten map[uint64]bool       // commands whose decisions an unsynced log lost
}

func newChecker(w *world) *checker {
	return &checker{
		w: w, model: newModel(w), came: map[uint64][]*message{}, sent: map[string][]byte{}, tooLarge: map[string]bool{},
		forgotten: map[uint64]bool{},
	}
}

// issued notes a command that came in.
func (c *checker) issued(m *message) {
	copied := *m
	c.came[m.Seq] = append(c.came[m.Seq], &copied)
}

// appended checks a block that the log just stored.
func (c *checker) appended(block []byte) {
	if h, _, _ := readHeader(block); h.Generation != c.w.server.generation {
		c.w.violated("block", "a block of generation %s is appended to a log of %s", h.Generation, c.w.server.generation)
	}
	c.model.append(block)
	c.lastSeq = c.model.lastSeq
}

// restart reads the whole log again, after it has become another one.
func (c *checker) restart(log [][]byte) {
	c.model = newModel(c.w)
	for _, block := range log {
		c.model.append(block)
	}
	c.lastSeq = c.model.lastSeq
}

// forget notes blocks that the log loses, which is allowed.
func (c *checker) forget(blocks [][]byte) {
	for _, block := range blocks {
		h, _, _ := readHeader(block)
		for seq := h.First; seq <= h.Last; seq++ {
			c.forgotten[seq] = true
		}
	}
}

// sending checks an append before it is sent: the same term may send other
// bytes for a block only after the log refused the first as too large.
func (c *checker) sending(s *session, last uint64, block []byte) {
	p := s.p
	if p.isDead() {
		return
	}
	h, _, _ := readHeader(block)
	if p.fenced {
		c.w.violated("fenced", "%s sends block %d after it found another's in the place of its own", p.name, last+1)
	}
	s.sent = last + 1
	key := h.Writer + " " + h.PrevBlockHash
	limit := c.w.setup.MaxBytes
	c.w.mu.Lock()
	before, again := c.sent[key]
	c.sent[key] = block
	c.w.mu.Unlock()
	if again && !bytes.Equal(before, block) && (limit == 0 || len(before) <= limit) {
		c.w.violated("other bytes", "%s sends block %d again with other bytes", p.name, last+1)
	}
	if processOf(h.Writer) != p.name {
		c.w.violated("other bytes", "%s sends a block of %s", p.name, h.Writer)
	}
}

// readBack notes that a process found another's block where it has sent its own
// in the same term.
func (c *checker) readBack(s *session, seq uint64, block []byte) {
	if h, _, whole := readHeader(block); whole && seq == s.sent && processOf(h.Writer) != s.p.name {
		s.p.fenced = true
	}
}

// replied checks a reply when it is sent.
func (c *checker) replied(p *process, o *order, record []byte, final bool) {
	e := c.model.find(record)
	switch {
	case e == nil:
		c.w.violated("too early", "%s tells %s a decision that is not on the log: %s", p.name, o, record)
	case !e.answers(o):
		c.w.violated("wrong answer", "%s tells %s the decision on another command: %s", p.name, o, record)
	case final == e.unrouted:
		c.w.violated("wrong answer", "%s tells %s that final is %t: %s", p.name, o, final, record)
	}
}

// found checks what a client was told when it asked.
func (c *checker) found(o *order, r *state.Receipt) {
	e := c.model.first[idKey{o.contract, o.c.principal, o.id()}]
	if c.w.setup.Interval {
		return // a store may be of blocks that the log has lost
	}
	if e == nil || e.seq != r.CommandSeq || e.outcome != string(r.Outcome) || e.code != string(r.Code) || e.bodyHash != r.BodyHash {
		c.w.violated("wrong answer", "%s finds decision %d %s %s under its id, the log has %+v", o, r.CommandSeq, r.Outcome, r.Code, e)
	}
}

// stored checks the rows of a store whenever they are written or opened.
func (c *checker) stored(s *store) {
	seq := s.cursor.LogSeq
	if c.w.setup.Interval || c.otherGeneration(s) || c.w.damage != nil {
		return
	}
	if seq >= uint64(len(c.model.sums)) {
		c.w.violated("ahead", "the store of %s is at block %d, the log ends at %d", s.p.name, seq, len(c.model.sums)-1)
		return
	}
	if s.sum != c.model.sums[seq] {
		c.w.violated("store", "the rows of %s at block %d are not what the log folds to", s.p.name, seq)
	}
}

func (c *checker) otherGeneration(s *store) bool {
	return s.cursor.LogSeq > 0 && s.cursor.Generation < c.w.server.oldest
}

// archived checks a block that is copied to the archive: it is on the log, and
// all before it are. One that still works on an old generation is let alone.
func (c *checker) archived(m *machine, seq uint64, block []byte) {
	log := c.w.server.log
	if h, _, _ := readHeader(block); h.Generation < c.w.server.oldest {
		return
	}
	if seq > uint64(len(log)) || !slices.EqualFunc(m.archive.blocks, log[:seq], bytes.Equal) {
		c.w.violated("archive", "r%d archives block %d, and its archive is no copy of the log", m.id+1, seq)
	}
}

func (c *checker) mirrored() {
	if at := c.w.server.mirror.seq; !c.w.setup.Interval && at > uint64(len(c.w.server.log)) {
		c.w.violated("ahead", "the mirror is at block %d, the log ends at %d", at, len(c.w.server.log))
	}
}

// dropped checks a command that the inbox drops.
func (c *checker) dropped(m *message) {
	if m.reused || c.forgotten[m.Seq] {
		return
	}
	if e := c.model.entries[m.Seq]; e == nil || !e.is(m) {
		c.w.violated("dropped", "the inbox drops command %d (%s), which the log does not decide", m.Seq, m.Subject)
	}
}

// refusal checks, when a term begins to look at the log, that something is ahead
// of it only where the world has made it so.
func (c *checker) refusal(s *session) {
	if s.refuse == "" || c.w.damage != nil {
		return
	}
	if !s.p.m.outdated() {
		c.w.violated("ahead", "%s begins: %s", s.p.name, s.refuse)
	}
}

// exited checks why a process ended.
func (c *checker) exited(p *process) {
	switch err := p.err; {
	case errors.Is(err, errPanic):
		c.w.violated("panic", "%s: %v", p.name, err)
	case errors.Is(err, loop.ErrFenced):
		if !c.otherWriter(p) {
			c.w.violated("exit", "%s ends as fenced, and nobody else has written: %v", p.name, err)
		}
	case errors.Is(err, loop.ErrIntegrity), errors.Is(err, loop.ErrConfig):
		if !c.mayRefuse(p) {
			c.w.violated("exit", "%s ends, and nothing is wrong with the log: %v", p.name, err)
		}
	case err == nil && p.ctx.Err() == nil:
		c.w.violated("exit", "%s ends without being told to", p.name)
	case errors.Is(err, loop.ErrTooLarge):
		c.w.violated("exit", "%s: %v", p.name, err)
	}
}

// mayRefuse says whether the process had a reason to refuse the log: it is
// damaged, or it was, or it became another one while the process was looking.
func (c *checker) mayRefuse(p *process) bool {
	s := p.session
	return c.w.damage != nil || p.m.outdated() || s != nil && (s.refuse != "" || s.damaged || s.generation != c.w.server.generation)
}

// otherWriter says whether a block was written by another process while p ran.
func (c *checker) otherWriter(p *process) bool {
	for i := len(c.w.server.log) - 1; i >= 0; i-- {
		h, _, _ := readHeader(c.w.server.log[i])
		if processOf(h.Writer) != p.name {
			return true
		}
	}
	return false
}

// step checks what must hold after every step.
func (c *checker) step() {
	w := c.w
	if w.setup.Interval || w.damage != nil {
		return
	}
	for _, m := range w.machines {
		if m.outdated() {
			continue
		}
		if at, _ := m.disk.cursor(); at > uint64(len(w.server.log)) {
			w.violated("ahead", "the store of r%d is at block %d, the log ends at %d", m.id+1, at, len(w.server.log))
		}
	}
	if w.server.inbox.first() > c.lastSeq+1 {
		w.violated("ahead", "the inbox begins at %d, the log ends at command %d", w.server.inbox.first(), c.lastSeq)
	}
}

// final checks the world at its end: everybody is content and agrees.
func (c *checker) final() {
	w := c.w
	for _, client := range w.clients {
		for _, o := range client.done {
			c.answered(o)
		}
	}
	if w.setup.Mirror {
		if at := w.server.mirror; at.seq != uint64(len(w.server.log)) || at.hash != c.model.lastHash {
			w.violated("mirror", "at the end the mirror is at block %d %s, the log at %d %s", at.seq, at.hash, len(w.server.log), c.model.lastHash)
		}
	}
	complete := false
	for _, m := range w.machines {
		at, hash := m.disk.cursor()
		complete = complete || at == uint64(len(w.server.log)) && hash == c.model.lastHash
	}
	if !complete {
		w.violated("store", "at the end no store is at the log's end")
	}
}

// answered checks that what a client was told stands on the log.
func (c *checker) answered(o *order) {
	if c.forgotten[o.answer.seq] {
		return
	}
	e := c.model.entries[o.answer.seq]
	if e == nil || e.outcome != o.answer.outcome || e.code != o.answer.code {
		c.w.violated("lost answer", "%s was told %+v, the log has %+v", o, *o.answer, e)
		return
	}
	if !e.answers(o) && (idKey{e.contract, e.principal, e.id}) != (idKey{o.contract, o.c.principal, o.id()}) {
		c.w.violated("lost answer", "%s was told %+v, which is the decision on %s", o, *o.answer, e.message.Subject)
	}
}
