package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
)

// check holds what the clients heard against the log, and the log against
// itself, its store and its mirror: of the running reducer, and in embedded mode
// of the stopped directory too.
func (w *world) check() {
	running := []string{"--nats", w.url()}
	w.checkMirror(running)
	w.checkLog(running)
	if err := w.reducer.signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	if !w.reducer.waits(patience) || w.reducer.code != 0 {
		w.t.Errorf("the reducer did not stop in good order: %d\n%s", w.reducer.code, tail(w.reducer.stderr.String()))
	}
	w.looked(w.reducer)
	if w.mode == embedded {
		w.run("verify", "--data", w.data)
	}
}

// run runs a reducer command, which must end well.
func (w *world) run(args ...string) []byte {
	out, code := w.tries(args...)
	if code != 0 {
		w.t.Fatalf("reducer %q ended with %d: %s", args, code, out)
	}
	return out
}

// tries runs a reducer command and gives its exit code; what it says instead of
// an answer then is out.
func (w *world) tries(args ...string) (out []byte, code int) {
	c := exec.Command(w.programs.path("reducer"), args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if c.ProcessState == nil {
		w.t.Fatal(err)
	}
	if code = c.ProcessState.ExitCode(); code != 0 {
		out = stderr.Bytes()
	}
	return out, code
}

// mended checks in the middle, with damaged files about: the reducer may find
// its store damaged and make it again, and then its rows are right.
func (w *world) mended() {
	for end := time.Now().Add(patience); ; time.Sleep(time.Second) {
		out, code := w.tries("verify", "--scrub", "--nats", w.url())
		switch {
		case code == 0:
			return
		case code != 1 || time.Now().After(end):
			w.t.Fatalf("verify, with damaged files about, ended with %d: %s", code, out)
		}
	}
}

// checkMirror compares the log, decided again, with the rows of the store and
// with each row of the KV mirror. Nothing may be wrong with them at any time:
// the mirror may only not be done yet.
func (w *world) checkMirror(source []string) {
	var found struct {
		Commands uint64 `json:"commands"`
		Decided  uint64 `json:"decidedAgain"`
		Scrub    struct {
			StoreRows  uint64 `json:"storeRows"`
			MirrorRows uint64 `json:"mirrorRows"`
			Newer      uint64 `json:"mirrorRowsNotCompared"`
			Whole      bool   `json:"mirrorComplete"`
		} `json:"scrub"`
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Second) {
		out := w.run(append([]string{"verify", "--scrub", "--json"}, source...)...)
		if err := json.Unmarshal(out, &found); err != nil {
			w.t.Fatalf("verify: %v\n%s", err, out)
		}
		if found.Scrub.Whole && found.Scrub.Newer == 0 {
			break
		}
		if time.Now().After(end) {
			w.t.Fatalf("the mirror does not catch up: %s", out)
		}
	}
	if found.Decided != found.Commands || found.Scrub.StoreRows == 0 || found.Scrub.MirrorRows == 0 {
		w.t.Errorf("verify compared %+v", found)
	}
	w.figures.storeRows, w.figures.mirrorRows = found.Scrub.StoreRows, found.Scrub.MirrorRows
}

// checkLog exports the log and compares.
func (w *world) checkLog(source []string) {
	export := filepath.Join(w.dir, "export.jsonl")
	if err := os.WriteFile(export, w.run(append([]string{"export", "--decisions"}, source...)...), 0o666); err != nil {
		w.t.Fatal(err)
	}
	again := bytes.SplitAfter(w.run("fold", export), []byte("\n"))
	log, err := os.Open(export)
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close()
	reader := logfile.NewReader(log)
	reader.Decisions = true
	decided := map[identity]uint64{}
	var lines int
	for ; ; lines++ {
		m, record, err := reader.NextDecided()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if lines >= len(again) || !bytes.Equal(bytes.TrimSuffix(again[lines], []byte("\n")), record) {
			w.t.Fatalf("command %d is decided otherwise now: the log has\n%s", m.Seq, record)
		}
		w.checkRecord(m, record, decided)
	}
	w.checkAnswered(decided)
	w.figures.decisions, w.figures.answered, w.figures.commands = lines, len(w.answers), len(w.asked)
}

// checkRecord compares a record with what a client heard about it, and counts
// decisions that are no duplicates.
func (w *world) checkRecord(m *events.Message, record []byte, decided map[identity]uint64) {
	d, err := events.ParseDecision(record)
	if err != nil {
		w.t.Fatalf("command %d: %v", m.Seq, err)
	}
	if answer, ok := w.answers[m.Seq]; ok && answer != string(record) {
		w.t.Errorf("command %d: a client heard\n%s\nand the log has\n%s", m.Seq, answer, record)
	}
	if d.CommandSeq != m.Seq {
		w.t.Errorf("command %d has the decision of %d", m.Seq, d.CommandSeq)
	}
	id := identity{d.Principal, d.CommandID}
	first, ok := decided[id]
	switch {
	case d.Outcome == events.OutcomeDuplicate:
		w.figures.duplicates++
		if !ok || d.Of != first {
			w.t.Errorf("command %d repeats %d, and the decision on %v is that of %d", m.Seq, d.Of, id, first)
		}
	case ok:
		w.t.Errorf("%v has two decisions: those of commands %d and %d", id, first, m.Seq)
	default:
		decided[id] = m.Seq
	}
	delete(w.unheard(), m.Seq)
}

// unheard are the answers that were not found on the log yet.
func (w *world) unheard() map[uint64]bool {
	if w.lost == nil {
		w.lost = map[uint64]bool{}
		for seq := range w.answers {
			w.lost[seq] = true
		}
	}
	return w.lost
}

// checkAnswered: every command that was sent is answered and decided, and every
// answer is on the log.
func (w *world) checkAnswered(decided map[identity]uint64) {
	for id, answered := range w.asked {
		if !answered {
			w.t.Errorf("%v has no answer", id)
		}
		if _, ok := decided[id]; !ok {
			w.t.Errorf("%v has no decision", id)
		}
	}
	for seq := range w.unheard() {
		w.t.Errorf("the answer to command %d is not on the log: %s", seq, w.answers[seq])
	}
}
