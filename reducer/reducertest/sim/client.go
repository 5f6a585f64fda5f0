package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// packet is a message on its way to or from a client.
type packet struct {
	what   string
	arrive func()
}

// deliver lets one packet arrive; the network keeps no order.
func (w *world) deliver() {
	i := w.rng.IntN(len(w.net))
	p := w.net[i]
	w.net = slices.Delete(w.net, i, i+1)
	w.trace.add(w, "%s", p.what)
	p.arrive()
}

// client publishes its commands and sends each again under the same id until it
// hears what became of it, or finds out by asking.
type client struct {
	w         *world
	name      string
	principal string // two clients may have the same
	todo      []*order
	begins    int64 // time of the first one
	window    int   // commands that may be open at a time
	open      []*order
	done      []*order
}

// order is one command of a client.
type order struct {
	c        *client
	n        int
	contract string // as in the subject; "" where the subject is none
	subject  string
	ids      []string
	body     []byte
	sent     int
	again    int64 // time at which the client does something about it again
	unrouted int   // answers that are not final
	answer   *answer
}

// answer is what a client heard of a command.
type answer struct {
	seq     uint64
	outcome string
	code    string
}

func (o *order) id() string {
	if len(o.ids) == 1 {
		return o.ids[0]
	}
	return ""
}

func (o *order) String() string { return fmt.Sprintf("%s/%d", o.c.name, o.n) }

// fill opens the next commands.
func (c *client) fill() {
	for len(c.open) < c.window && len(c.todo) > 0 {
		o := c.todo[0]
		c.todo = c.todo[1:]
		c.open = append(c.open, o)
		o.again = max(c.w.now, c.begins) + int64(c.w.rng.IntN(300))*int64(time.Millisecond)
	}
}

func (c *client) nextTimer() (due int64) {
	c.fill()
	for _, o := range c.open {
		if due == 0 || o.again < due {
			due = o.again
		}
	}
	return due
}

func (c *client) fireTimers(now int64) {
	for _, o := range slices.Clone(c.open) {
		if o.answer == nil && o.again <= now {
			o.attempt()
		}
	}
}

// attempt sends the command, or after the first time perhaps asks for it.
func (o *order) attempt() {
	w := o.c.w
	o.again = w.now + int64(time.Second) + int64(w.rng.IntN(3000))*int64(time.Millisecond)
	if o.sent > 0 && o.id() != "" && w.rng.IntN(3) == 0 {
		o.lookUp()
		return
	}
	o.sent++
	w.stats.Sent++
	if w.spoiled("publish") != nil {
		return
	}
	times := 1
	if w.spoiled("publish twice") != nil {
		times = 2
	}
	for range times {
		w.net = append(w.net, packet{what: fmt.Sprintf("%s: publish %d arrives", o, o.sent), arrive: o.publish})
	}
}

// publish is the arrival at the server.
func (o *order) publish() {
	w := o.c.w
	taken, err := w.server.publish(o.subject, o.ids, o.body, "_INBOX."+o.String())
	if !taken || err == nil || w.spoiled("puback") != nil {
		return // a PubAck tells nothing that the client may rely on
	}
	w.net = append(w.net, packet{what: fmt.Sprintf("%s: refused: %v", o, err), arrive: func() {
		o.again = w.now + int64(w.rng.IntN(2000))*int64(time.Millisecond)
	}})
}

// lookUp asks a running reducer for the decision on the id. Finding nothing
// says nothing.
func (o *order) lookUp() {
	w := o.c.w
	m := w.machines[w.rng.IntN(len(w.machines))]
	if m.proc == nil || m.isPaused() || m.proc.store == nil || m.proc.store.failing > 0 {
		return
	}
	s := m.proc.store
	receipt, ok := state.New(s.rows, s.cursor, 0).Receipt(o.contract, o.c.principal, o.id())
	if !ok {
		return
	}
	w.trace.add(w, "%s: finds decision %d", o, receipt.CommandSeq)
	w.check.found(o, &receipt)
	o.settle(&answer{seq: receipt.CommandSeq, outcome: string(receipt.Outcome), code: string(receipt.Code)})
}

// repliesPort sends decisions to clients.
type repliesPort struct{ s *session }

// Reply implements [loop.Replies]: it returns at once, and the packet may be lost.
func (r repliesPort) Reply(subject string, record []byte, final bool) {
	p := r.s.p
	w := p.m.w
	w.mu.Lock()
	dead := p.dead || r.s.lost
	w.mu.Unlock()
	if dead {
		return
	}
	o := w.orderOf(subject)
	if o == nil {
		return
	}
	w.check.replied(p, o, record, final)
	w.mu.Lock()
	defer w.mu.Unlock()
	p.replies = append(p.replies, packet{what: fmt.Sprintf("%s: hears %.8s", o, hashOf(record)), arrive: func() {
		if w.spoiled("reply") == nil {
			o.hear(record, final)
		}
	}})
}

func (w *world) orderOf(subject string) *order {
	name, found := strings.CutPrefix(subject, "_INBOX.")
	if !found {
		return nil
	}
	for _, c := range w.clients {
		for _, list := range [][]*order{c.open, c.done, c.todo} {
			for _, o := range list {
				if o.String() == name {
					return o
				}
			}
		}
	}
	return nil
}

// hear takes a reply. One that is not final counts when the client has tried
// often enough.
func (o *order) hear(record []byte, final bool) {
	if !final && o.unrouted < 2 {
		o.unrouted++
		return
	}
	var d struct {
		CommandSeq uint64
		Outcome    string
		Code       string
	}
	if err := json.Unmarshal(record, &d); err != nil {
		o.c.w.violated("record", "%s hears no record: %v", o, err)
		return
	}
	o.settle(&answer{seq: d.CommandSeq, outcome: d.Outcome, code: d.Code})
}

func (o *order) settle(a *answer) {
	if o.answer != nil {
		return
	}
	o.answer = a
	o.c.w.stats.Answered++
	o.c.open = slices.DeleteFunc(o.c.open, func(x *order) bool { return x == o })
	o.c.done = append(o.c.done, o)
}

func (c *client) unanswered() string {
	if len(c.open) > 0 {
		return fmt.Sprintf("%s has no answer, sent %d times", c.open[0], c.open[0].sent)
	}
	if len(c.todo) > 0 {
		return fmt.Sprintf("%s is not sent", c.todo[0])
	}
	return ""
}

// hire makes the clients and what they are going to say.
func (w *world) hire(rng *rand.Rand) {
	host := newClient(w, "host", 1+rng.IntN(3))
	for i := range opening("") {
		for _, contract := range contracts {
			host.say(contract, opening(contract)[i])
		}
	}
	w.clients = append(w.clients, host)
	for i := range w.setup.Clients {
		c := newClient(w, fmt.Sprintf("w%d", i+1), 1+rng.IntN(3))
		if rng.IntN(4) == 0 {
			c.principal = "w1" // whose ids it uses too
		}
		if rng.IntN(6) > 0 { // the others begin before there is a ledger
			c.begins = began + 2*int64(time.Second)
		}
		c.plan(rng, w.setup)
		w.clients = append(w.clients, c)
	}
}

func newClient(w *world, name string, window int) *client {
	return &client{w: w, name: name, principal: name, window: window}
}
