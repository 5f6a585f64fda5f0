package torture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Clients and the ledgers that they share.
const (
	clients = 4
	ledgers = 2
)

// client sends files of commands, one after another, each again and again until
// every command has its answer.
type client struct {
	w      *world
	number int
	rng    *rand.Rand
	worker *workload.Worker
	files  int
}

// startClients opens the ledgers and lets the clients work until stop, which
// waits for their answers.
func (w *world) startClients() (stop func()) {
	ended := make(chan struct{})
	var all sync.WaitGroup
	for i := range ledgers {
		c := w.client(clients + i)
		if err := c.finish(workload.Open(workload.Ledger(i)), 1); err != nil {
			w.t.Fatal(err)
		}
	}
	for i := range clients {
		c := w.client(i)
		all.Go(func() {
			if err := c.work(ended); err != nil {
				w.t.Error(err)
			}
		})
	}
	return func() {
		close(ended)
		all.Wait()
	}
}

func (w *world) client(number int) *client {
	return &client{
		w: w, number: number, rng: rand.New(rand.NewPCG(*seed, uint64(100+number))),
		worker: workload.NewWorker(workload.Ledger(number%ledgers), number),
	}
}

// work sends files until the end: some of them by two processes at once.
func (c *client) work(ended <-chan struct{}) error {
	for {
		select {
		case <-ended:
			return nil
		default:
		}
		var commands []workload.Command
		for range 50 + c.rng.IntN(400) {
			commands = append(commands, c.worker.Next())
		}
		senders := 1
		if c.rng.IntN(4) == 0 {
			senders = 2
		}
		if err := c.finish(commands, senders); err != nil {
			return err
		}
	}
}

// finish sends the commands until each is answered, by so many processes at once.
func (c *client) finish(commands []workload.Command, senders int) error {
	c.files++
	name := filepath.Join(c.w.dir, fmt.Sprintf("client-%d-%d.jsonl", c.number, c.files))
	if err := os.WriteFile(name, file(commands), 0o666); err != nil {
		return err
	}
	c.w.ask(commands)
	defer c.w.sends(name)()
	errs := make(chan error, senders)
	for range senders {
		dies := c.rng.IntN(5) == 0
		after := time.Duration(c.rng.IntN(300)) * time.Millisecond
		go func() { errs <- c.send(name, len(commands), dies, after) }()
	}
	var failed error
	for range senders {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	if missing := c.w.unanswered(commands); missing > 0 {
		return fmt.Errorf("%s: ingest is done, and %d commands have no answer", name, missing)
	}
	return os.Remove(name)
}

// send runs ingest until it has all answers. The first one may be killed.
func (c *client) send(name string, commands int, dies bool, after time.Duration) error {
	for began, try := time.Now(), 0; ; try++ {
		p, err := startProcess("ingest", exec.Command(c.w.programs.path("ingest"), "--wait", "--json", "--timeout", "20s", "--nats", c.w.url(), name))
		if err != nil {
			return err
		}
		if dies && try == 0 && !p.waits(after) {
			p.kill()
			c.w.figures.count(func(f *figures) { f.clientsKilled++ })
		}
		<-p.ended
		if err := c.w.hear(p.out.String()); err != nil {
			return err
		}
		c.w.figures.count(func(f *figures) {
			f.sent += commands
			if try > 0 {
				f.resent += commands
			}
		})
		const rejected = 4
		switch {
		case p.code == 0, p.code == rejected:
			return nil
		case p.code != 1 && p.code != -1:
			return fmt.Errorf("ingest %s ended with %d: %s", name, p.code, p.stderr.String())
		case time.Since(began) > patience:
			return fmt.Errorf("ingest %s has no answers after %d tries: %s", name, try, p.stderr.String())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// file is the commands as ingest reads them.
func file(commands []workload.Command) []byte {
	var lines []byte
	for i, c := range commands {
		lines = logfile.Append(lines, &events.Message{Seq: uint64(i + 1), Subject: c.Subject, IDs: []string{c.ID}, Body: c.Body})
	}
	return lines
}

// ask notes what is sent.
func (w *world) ask(commands []workload.Command) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range commands {
		if id := identityOf(c); !w.asked[id] {
			w.asked[id] = false
		}
	}
}

func identityOf(c workload.Command) identity {
	s, ok := schema.ParseSubject(c.Subject)
	if !ok {
		panic("torture: the workload has no such subjects: " + c.Subject)
	}
	return identity{s.Principal, c.ID}
}

func (w *world) unanswered(commands []workload.Command) (missing int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range commands {
		if !w.asked[identityOf(c)] {
			missing++
		}
	}
	return missing
}

// hear takes the answers that an ingest printed. One that was killed may leave
// half a line.
func (w *world) hear(out string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(out) {
		record, whole := strings.CutSuffix(line, "\n")
		if !whole {
			return nil
		}
		d, err := events.ParseDecision([]byte(record))
		if err != nil {
			return fmt.Errorf("an answer that is no decision: %w: %s", err, record)
		}
		if before, ok := w.answers[d.CommandSeq]; ok && before != record {
			return fmt.Errorf("command %d has two answers:\n%s\n%s", d.CommandSeq, before, record)
		}
		id := identity{d.Principal, d.CommandID}
		if _, ok := w.asked[id]; !ok {
			return fmt.Errorf("an answer to what nobody asked: %s", record)
		}
		w.answers[d.CommandSeq], w.asked[id] = record, true
	}
	return nil
}
