package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// machine is where a reducer runs: what stays when its process ends.
type machine struct {
	w       *world
	id      int
	proc    *process // nil when none runs
	starts  int
	restart int // step at which the next process starts; 0: none is planned
	paused  int // step until which nothing moves
	gated   int // step until which the disk takes no block
	retired bool
	offset  time.Duration // of its clock

	disk    disk
	archive archive
}

// process is one run of the reducer. What it shows of itself while it runs is
// guarded by the world's mutex.
type process struct {
	m      *machine
	name   string
	ctx    context.Context
	cancel context.CancelFunc
	status *loop.Status

	parked  []*request
	timers  []*timer
	replies []packet
	derived []state.Cursor // blocks that the mirror does not have yet
	reading bool           // a goroutine hands on blocks of the log
	fenced  bool           // it found another's block in the place of its own
	dead    bool           // killed: it goes on, but reaches nothing any more
	ended   bool
	err     error

	session *session
	store   *store
}

func (m *machine) start() {
	w := m.w
	m.restart = 0
	m.starts++
	p := &process{m: m, name: fmt.Sprintf("r%d.%d", m.id+1, m.starts), status: loop.NewStatus()}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	m.proc = p
	w.stats.Starts++
	w.trace.add(w, "%s: starts", p.name)
	go func() {
		err := p.main()
		w.mu.Lock()
		defer w.mu.Unlock()
		p.ended, p.err = true, err
	}()
}

var errPanic = errors.New("panic")

// main is the process: what cmd/reducer does, without flags.
func (p *process) main() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, r, debug.Stack())
		}
	}()
	setup := p.m.w.setup
	o := loop.Options{
		Connect: p.connect, Stores: p, NewDecider: func() loop.Decider { return reducer.New() },
		RulesVersion: reducer.RulesVersion, Build: "sim", CacheRows: setup.Cache,
		DiscardAhead: setup.Interval,
		Gate:         p.gate,
		Status:       p.status,
		Hooks:        loop.Hooks{Recovered: p.recovered, Folded: p.folded},
		Limits:       loop.Limits{BlockCommands: setup.Block},
		Clock:        p, NewWriter: p.newWriter,
	}
	if setup.Archive {
		o.Archive = archivePort{p}
	}
	if setup.Mirror {
		o.Followers = []loop.Follower{mirrorPort{p}}
	}
	return loop.Run(p.ctx, o)
}

// newWriter names the process and its term.
func (p *process) newWriter() string {
	return fmt.Sprintf("%s.%d", p.name, p.status.Info().Terms+1)
}

// processOf is the process that a writer belongs to.
func processOf(writer string) string { return writer[:len(writer)-len(lastPart(writer))-1] }

func lastPart(writer string) string {
	for i := len(writer) - 1; i >= 0; i-- {
		if writer[i] == '.' {
			return writer[i+1:]
		}
	}
	return writer
}

func (p *process) gate() error {
	if p.m.gated > p.m.w.step && !p.isDead() {
		return errors.New("the disk is full")
	}
	return nil
}

func (p *process) isDead() bool {
	p.m.w.mu.Lock()
	defer p.m.w.mu.Unlock()
	return p.dead
}

// settle takes in what the process did since the last step; true: that made it
// go on.
func (m *machine) settle() bool {
	p := m.proc
	if p == nil {
		return false
	}
	p.sortParked()
	m.w.net = append(m.w.net, p.replies...)
	p.replies = nil
	if p.ended {
		m.exited(p)
		return true
	}
	return p.giveUp()
}

// giveUp ends requests whose context is over; true: there were some. An append
// may be on its way.
func (p *process) giveUp() (some bool) {
	for _, r := range slices.Clone(p.parked) {
		if r.ctx == nil || r.ctx.Err() == nil || r.executed {
			continue
		}
		if r.op == "log append" && p.m.w.rng.IntN(2) == 0 {
			p.m.w.server.later(1+p.m.w.rng.IntN(60), "an append of "+p.name, r.effect)
		}
		r.effect = nil
		r.fail(r.ctx.Err())
		p.unpark(r)
		some = true
	}
	return some
}

// exited is what systemd and the operator do when a process ends by itself.
func (m *machine) exited(p *process) {
	w := m.w
	w.trace.add(w, "%s: exit %d: %v", p.name, loop.ExitCode(p.err), p.err)
	w.stats.exit(p.err)
	m.leave()
	w.check.exited(p)
	m.disk.close()
	if !w.setup.External {
		w.server.stop(true)
	}
	if w.stopped || m.retired {
		return
	}
	m.restart = w.step + 10
	if errors.Is(p.err, loop.ErrFenced) && w.healed > 0 && m.id > 0 {
		m.retired, m.restart = true, 0 // the other one has it
	}
	if errors.Is(p.err, loop.ErrIntegrity) || errors.Is(p.err, loop.ErrConfig) {
		w.repair()
		if m.outdated() {
			m.disk, m.archive = disk{}, archive{}
			w.trace.add(w, "operator: the old store of r%d is deleted", m.id+1)
		}
	}
}

// outdated says whether what the machine has is of another log: nobody told it
// that the log was exported and imported.
func (m *machine) outdated() bool {
	oldest := m.w.server.oldest
	if g := m.disk.generation(); g != "" && g < oldest {
		return true
	}
	return m.archive.last() > 0 && m.archive.generation < oldest
}

// leave forgets a process that has ended.
func (m *machine) leave() {
	p := m.proc
	m.proc = nil
	if p.session != nil {
		p.session.Close()
	}
	p.m.w.mu.Lock()
	p.dead = true
	p.m.w.mu.Unlock()
	p.abort(errGone, func(*request) bool { return true })
	p.cancel()
}

// kill ends the process at once. It goes on for a moment, but reaches nothing.
func (m *machine) kill(why string) {
	p := m.proc
	if p == nil {
		return
	}
	w := m.w
	w.trace.add(w, "%s: killed: %s", p.name, why)
	m.leave()
	w.mu.Lock()
	timers := p.timers
	p.timers = nil
	w.mu.Unlock()
	for _, t := range timers {
		t.c <- time.Time{}
	}
	for _, s := range w.server.sessions {
		if s.p == p {
			for _, f := range s.feeds {
				f.signal()
			}
		}
	}
	w.settle()
	if !p.ended {
		w.violated("stuck", "%s does not end after it was cut off", p.name)
	}
}

// crash kills the process as kill -9 does: of what was written, the disk has a
// part. With appendArrives what it was sending still gets there.
func (m *machine) crash(f *Fault, appendArrives bool) {
	if m.proc != nil && m.proc.session != nil {
		m.proc.session.lose(appendArrives && m.w.setup.External)
	}
	m.kill("crash")
	m.disk.crash(f.N)
	m.archive.crash(f.N)
	m.paused = 0
	m.plan(f.Steps)
}

// plan lets the next process start some steps from now.
func (m *machine) plan(steps int) {
	if !m.w.stopped && !m.retired {
		m.restart = m.w.step + max(steps, 1)
	}
}

func (m *machine) happen() {
	if m.restart > 0 && m.restart <= m.w.step && m.proc == nil {
		m.start()
	}
}

func (m *machine) nextStep() int {
	next := int(^uint(0) >> 1)
	for _, step := range []int{m.restart, m.paused, m.gated} {
		if step > m.w.step {
			next = min(next, step)
		}
	}
	return next
}

func (m *machine) heal() {
	m.paused, m.gated, m.offset = 0, 0, 0
	if m.proc == nil {
		m.plan(1)
	}
}

func (m *machine) isPaused() bool { return m.paused > m.w.step }

// choices adds what this machine could do next. While it is paused only what
// it has asked of the server goes on.
func (m *machine) choices(choices []choice) []choice {
	p := m.proc
	if p == nil {
		return choices
	}
	for _, r := range p.parked {
		if m.isPaused() && (r.executed || r.session == nil) {
			continue
		}
		choices = append(choices, choice{weight: 8, do: func() { p.execute(r) }})
	}
	if m.isPaused() {
		return choices
	}
	if s := p.session; s != nil && !s.lost && len(s.feeds) > 0 {
		if f := s.feeds[len(s.feeds)-1]; f.undelivered() > 0 {
			choices = append(choices, choice{weight: 6, do: f.deliver})
		}
	}
	if len(p.derived) > 0 && m.w.server.up {
		choices = append(choices, choice{weight: 3, do: p.follow})
	}
	return choices
}

func (m *machine) nextTimer() int64 {
	if m.proc == nil || m.isPaused() || len(m.proc.timers) == 0 {
		return 0
	}
	return m.proc.timers[0].due
}

// fireTimer lets one timer go off that is due.
func (m *machine) fireTimer(now int64) bool {
	p := m.proc
	if due := m.nextTimer(); due == 0 || due > now {
		return false
	}
	m.w.mu.Lock()
	t := p.timers[0]
	p.timers = p.timers[1:]
	m.w.mu.Unlock()
	t.c <- time.Unix(0, now)
	return true
}

// leads says whether the process has folded the whole log. Of two reducers one
// may be behind: it finds out when it has something to write.
func (m *machine) leads() bool {
	return m.proc != nil && m.proc.store != nil && m.proc.store.cursor.LogSeq == uint64(len(m.w.server.log))
}

// busy says what the process has not done yet.
func (m *machine) busy() string {
	p := m.proc
	switch {
	case p == nil && m.restart > 0:
		return fmt.Sprintf("r%d is to start", m.id+1)
	case p == nil:
		return ""
	case len(p.parked) > 0:
		return fmt.Sprintf("%s waits for %s", p.name, p.parked[0].op)
	case len(p.derived) > 0:
		return fmt.Sprintf("the mirror of %s is behind", p.name)
	case p.session == nil || p.session.lost || len(p.session.feeds) == 0 || p.session.feeds[0].undelivered() > 0:
		return fmt.Sprintf("%s does not read", p.name)
	}
	return ""
}
