package reducertest

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Generator makes up messages, one after another, from one seed. It looks at the
// state to send what makes sense there, so that its logs get somewhere: runs
// that work, graphs that end, chains of grants, triggers that catch up. Every
// now and then it changes something at random, sends something twice, or sends
// what is no command at all.
type Generator struct {
	// Noise is how many of a hundred commands are spoilt.
	Noise int

	graphs  bool // most runs get a graph, and most work is for its nodes
	rng     *rand.Rand
	state   *state.State
	now     int64 // milliseconds
	seq     uint64
	count   int
	ledgers []*memory
	recent  []*events.Message
}

// memory is what the generator remembers of one ledger: ids, in order.
type memory struct {
	contract  string
	open      bool
	terms     *state.Terms
	runs      []string
	grants    []string
	approvals []string
	ops       []string
	attempts  []string
	waits     []string
	triggers  []string
	graphs    []string
	events    []schema.TriggerEvent
	revisions map[string][]string // by run
}

// NewGenerator returns a generator for a state that starts empty.
func NewGenerator(seed uint64, s *state.State) *Generator {
	g := &Generator{Noise: 12, rng: rand.New(rand.NewPCG(seed, 1)), state: s, now: 1_000_000}
	g.graphs = g.chance(50)
	for _, contract := range []string{"alpha", "béta="}[:1+g.rng.IntN(2)] {
		contract += strconv.FormatUint(seed, 10)
		g.ledgers = append(g.ledgers, &memory{contract: contract, revisions: map[string][]string{}})
	}
	return g
}

// Use makes the generator look at another state of the same log.
func (g *Generator) Use(s *state.State) { g.state = s }

// At sets the clock of the next message, in milliseconds: for a reducer that
// stamps its messages itself.
func (g *Generator) At(now int64) { g.now = now }

// Next returns the next message.
func (g *Generator) Next() *events.Message {
	g.pass()
	g.seq += uint64(1 + g.rng.IntN(2))
	if len(g.recent) > 0 && g.chance(4) {
		return g.again()
	}
	l := g.ledgers[g.rng.IntN(len(g.ledgers))]
	if g.chance(1) {
		return g.garbage(l)
	}
	command, principal := g.command(l)
	if g.chance(g.Noise) {
		principal = g.spoil(l, command, principal)
	}
	return g.message(l, command, principal)
}

// Learn tells the generator what came of its message.
func (g *Generator) Learn(m *events.Message, d *events.Decision) {
	if len(g.recent) < 50 {
		g.recent = append(g.recent, m)
	} else {
		g.recent[g.rng.IntN(len(g.recent))] = m
	}
	for _, l := range g.ledgers {
		if l.contract == d.Contract {
			for _, e := range d.Events {
				l.learn(g.state, e)
			}
		}
	}
}

func (l *memory) learn(s *state.State, e events.Event) {
	switch e := e.(type) {
	case *events.ContractOpened:
		l.open, l.terms = true, s.Terms(l.contract)
	case *events.RunStarted:
		l.runs = append(l.runs, e.RunID)
	case *events.GrantIssued:
		l.grants = append(l.grants, e.Grant.ID)
	case *events.ApprovalRecorded:
		l.approvals = append(l.approvals, e.Approval.ID)
	case *events.OperationAdmitted:
		l.ops = append(l.ops, e.OperationID)
	case *events.AttemptPrepared:
		l.attempts = append(l.attempts, e.AttemptID)
	case *events.WaitCreated:
		l.waits = append(l.waits, e.WaitID)
	case *events.TriggerRegistered:
		l.triggers = append(l.triggers, e.Trigger.ID)
	case *events.GraphRegistered:
		l.graphs = append(l.graphs, e.Graph.ID)
	case *events.VerificationRecorded:
		l.revisions[e.RunID] = append(l.revisions[e.RunID], e.Revision)
	}
}

func (g *Generator) message(l *memory, command schema.Command, principal string) *events.Message {
	subject := schema.Subject{Contract: l.contract, Principal: principal, Type: command.Type()}
	m := &events.Message{
		Seq: g.seq, Time: g.now*events.NanosPerMilli + g.rng.Int64N(events.NanosPerMilli),
		Subject: subject.String(), Body: schema.AppendRecord(nil, command),
	}
	switch {
	case g.chance(4):
	case len(g.recent) > 0 && g.chance(2):
		m.IDs = g.recent[g.rng.IntN(len(g.recent))].IDs
	default:
		m.IDs = []string{"k" + strconv.FormatUint(g.seq, 10)}
	}
	return m
}

// again sends a recent message once more, at a new place of the stream.
func (g *Generator) again() *events.Message {
	m := *g.recent[g.rng.IntN(len(g.recent))]
	m.Seq, m.Time = g.seq, g.now*events.NanosPerMilli
	return &m
}

// pass lets time go by: mostly a little, sometimes much, sometimes backwards.
func (g *Generator) pass() {
	switch n := g.rng.IntN(100); {
	case n < 60:
		g.now += int64(g.rng.IntN(10))
	case n < 75:
		g.now += int64(g.rng.IntN(200))
	case n < 78:
		g.now += int64(g.rng.IntN(3000))
	case n < 81:
		g.now -= int64(g.rng.IntN(300))
	}
}

// command chooses what to do next in a ledger.
func (g *Generator) command(l *memory) (schema.Command, string) {
	if !l.open && !g.chance(5) {
		return g.openContract(l), "owner"
	}
	mission := g.state.Ledger(l.contract).Mission
	if mission == events.MissionSuspended && g.chance(20) {
		return &schema.MissionState{State: events.MissionOpen}, "owner"
	}
	if len(l.grants) == 0 {
		return g.grant(l)
	}
	if g.graphs && len(l.graphs) < 2 {
		return g.graph(l)
	}
	if g.graphs && len(l.runs) > 0 && g.chance(40) {
		return g.work(l)
	}
	n := g.rng.IntN(1000)
	for _, choice := range choices {
		if n < choice.weight {
			return choice.make(g, l)
		}
		n -= choice.weight
	}
	return g.work(l)
}

// choices are the kinds of things to do, in parts of a thousand.
var choices = []struct {
	weight int
	make   func(g *Generator, l *memory) (schema.Command, string)
}{
	{120, (*Generator).settle},
	{60, (*Generator).startRun},
	{60, (*Generator).grant},
	{15, (*Generator).revoke},
	{60, (*Generator).approve},
	{60, (*Generator).resume},
	{30, (*Generator).join},
	{70, (*Generator).assess},
	{30, (*Generator).trigger},
	{60, (*Generator).fire},
	{15, (*Generator).graph},
	{3, (*Generator).missionState},
}

func (g *Generator) chance(percent int) bool { return g.rng.IntN(100) < percent }

func (g *Generator) pick(list ...string) string {
	if len(list) == 0 {
		return "none"
	}
	return list[g.rng.IntN(len(list))]
}

// late picks from a list, the newest ones rather than the old.
func (g *Generator) late(list []string) string {
	if len(list) > 6 && g.chance(80) {
		list = list[len(list)-6:]
	}
	return g.pick(list...)
}

// id makes a new id; a few are such as nobody expects.
func (g *Generator) id(prefix string) string {
	g.count++
	id := prefix + strconv.Itoa(g.count)
	if !g.chance(3) {
		return id
	}
	return id + g.pick("\x00", "é", " ", "/", "\"\\", "@7", "\U0001F980", "\uE000", ".*>", strings.Repeat("x", 256-len(id)))
}

func (g *Generator) amount() schema.Decimal {
	switch n := g.rng.IntN(100); {
	case n < 5:
		return schema.Decimal{}
	case n < 97:
		return schema.DecimalOf(uint64(g.rng.IntN(60)))
	case n < 99:
		return schema.DecimalOf(uint64(g.rng.IntN(3000)))
	}
	return schema.MustDecimal("9" + strings.Repeat("9", g.rng.IntN(100)))
}

// from is a time around now.
func (g *Generator) from(low, high int64) schema.Decimal {
	return schema.DecimalOf(uint64(max(0, g.now+low+g.rng.Int64N(high-low))))
}
