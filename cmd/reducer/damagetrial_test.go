package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// What a reducer made of damage.
type outcome string

const (
	refused  outcome = "refused"  // it stopped with exit code 3, and said what and what to do
	healed   outcome = "healed"   // it said so, and served what it served before
	harmless outcome = "harmless" // it served what it served before: nobody reads these bits
	silent   outcome = "silent"   // anything else: a defect
)

// damageKind is a kind of file, and how it is damaged.
type damageKind struct {
	name    string // in the table
	files   string // pattern, in the history's directory
	without string // directories that are deleted too, so that the file is needed
	derived bool   // it must never be refused
	inbox   bool   // commands that wait may be lost with it
}

var damageKinds = []damageKind{
	{name: "log, full files of the server (compressed), store present", files: "data/jetstream/*/streams/AIWS_LOG_0/msgs/full.blk"},
	{name: "log, full files of the server (compressed), store deleted", files: "data/jetstream/*/streams/AIWS_LOG_0/msgs/full.blk", without: "store,checkpoints"},
	{name: "log, last file of the server, store present", files: "data/jetstream/*/streams/AIWS_LOG_0/msgs/last.blk"},
	{name: "log, last file of the server, store deleted", files: "data/jetstream/*/streams/AIWS_LOG_0/msgs/last.blk", without: "store,checkpoints"},
	{name: "log, index of the server (index.db)", files: "data/jetstream/*/streams/AIWS_LOG_0/msgs/index.db"},
	{name: "log, description (meta.inf, meta.sum)", files: "data/jetstream/*/streams/AIWS_LOG_0/meta.*"},
	{name: "inbox, all files", files: "data/jetstream/*/streams/AIWS_INBOX_0/**", inbox: true},
	{name: "KV mirror, all files", files: "data/jetstream/*/streams/KV_aiws/**", derived: true},
	{name: "store, tables (sst)", files: "data/store/*.sst", derived: true},
	{name: "store, MANIFEST", files: "data/store/MANIFEST-*", derived: true},
	{name: "store, OPTIONS", files: "data/store/OPTIONS-*", derived: true},
	{name: "store, write-ahead log and markers", files: "data/store/{*.log,marker.*}", derived: true},
	{name: "checkpoint, all files, store deleted", files: "data/checkpoints/*/*", without: "store", derived: true},
	{name: "checkpoint, description, store deleted", files: "data/checkpoints/*.json", without: "store", derived: true},
	{name: "archive, segments", files: "archive/*.seg", derived: true},
	{name: "archive, HEAD", files: "archive/HEAD", derived: true},
}

// damagePatience is for a machine that does much else.
const damagePatience = 3 * time.Minute

// trial damages a copy of a history in one way and sees what a reducer does.
type trial struct {
	kind   *damageKind
	file   string // in the history's directory
	what   string
	flip   bool
	change func(content []byte) []byte // nil deletes the file
}

func (x *trial) String() string { return x.what + " of " + x.file }

// run runs a trial. The error says what is wrong with the outcome.
func (x *trial) run(t *testing.T, h *history, dir string) (outcome, error) {
	if err := x.prepare(h, dir); err != nil {
		return silent, err
	}
	s, err := startQuietly(t, filepath.Join(dir, "data"), filepath.Join(dir, "archive"))
	if err != nil {
		return silent, err
	}
	defer s.end()
	if !s.untilReady() {
		if !s.hasEnded() {
			return silent, fmt.Errorf("it neither serves nor stops: %s", s.stderr)
		}
		return x.judgeEnd(s)
	}
	if err := x.ask(t, h, s); err != nil {
		if s.hasEnded() {
			return x.judgeEnd(s)
		}
		return silent, fmt.Errorf("%w; it said: %s", err, s.stderr)
	}
	if code := s.terminate(); code != 0 {
		return x.judgeEnd(s)
	}
	if err := x.judgeLog(t, h, filepath.Join(dir, "data")); err != nil {
		return silent, err
	}
	if saysSo.MatchString(s.stderr.String()) {
		return healed, nil
	}
	return harmless, nil
}

// saysSo is how a reducer tells that something was damaged and is made again.
var saysSo = regexp.MustCompile(`set aside|was damaged|is damaged|mended|restored from a checkpoint`)

func (x *trial) prepare(h *history, dir string) error {
	if err := os.CopyFS(dir, os.DirFS(h.root)); err != nil {
		return err
	}
	for name := range strings.SplitSeq(x.kind.without, ",") {
		if name == "" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, "data", name)); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, x.file)
	if x.change == nil {
		return os.Remove(path)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, x.change(content), 0o600)
}

// ask asks a reducer that is ready for everything that damage could have
// changed, and lets it decide.
func (x *trial) ask(t *testing.T, h *history, s *quiet) error {
	last := h.last()
	if err := s.until("what waited is decided", func() bool {
		seq := s.status(t).AsOf.Seq
		return seq >= last+waitingInside || x.kind.inbox && seq >= last
	}); err != nil {
		return err
	}
	var digest result
	if err := s.until("the digest can be read", func() bool { // not while a damaged store is being made again
		digest = run(t, "", "reducer", "digest", "--nats", s.url)
		return digest.code == 0
	}); err != nil {
		return err
	}
	if !x.kind.inbox && !strings.HasPrefix(digest.out, h.digest) {
		return fmt.Errorf("the digest is %s, it should be %s", digest, h.digest)
	}
	// The first decision is given, or, where its block cannot be read, the duplicate.
	if d, err := s.submit(t, keptID); err != nil || d.Hash != h.kept.Hash && (d.Outcome != events.OutcomeDuplicate || d.Of != h.kept.CommandSeq) {
		return fmt.Errorf("a command of before is answered with %s, %w; it was %s", d, err, h.kept)
	}
	if d, err := s.submit(t, "new"); err != nil || !d.Accepted() {
		return fmt.Errorf("a new command: %s, %w", d, err)
	}
	if err := s.until("log, archive, store and mirror were read through", func() bool {
		now := s.status(t)
		return readThrough(now.Scrub) && now.Archive != nil && now.Archive.Lag == 0 && now.Archive.Missing == 0 &&
			now.Mirror.Phase == "live" && now.Mirror.AsOf == now.AsOf
	}); err != nil {
		return err
	}
	var r result
	if err := s.until("verify goes through", func() bool { // code 1: a damaged store is being made again
		r = run(t, "", "reducer", "verify", "--scrub", "--rate", "0", "--nats", s.url)
		return r.code != 1
	}); err != nil {
		return err
	}
	if r.code != 0 {
		return fmt.Errorf("verify --scrub: %s", r)
	}
	return nil
}

// readThrough says whether everything was read through and found in order.
func readThrough(s *wire.ScrubStatus) bool {
	return s != nil && s.Passed != "" && s.Archive != "" && s.Store != "" && s.Mirror != ""
}

// judgeEnd judges a reducer that has ended by itself.
func (x *trial) judgeEnd(s *quiet) (outcome, error) {
	said := s.stderr.String()
	switch {
	case s.code != exit.Integrity:
		return silent, fmt.Errorf("it ended with %d: %s", s.code, said)
	case x.kind.derived:
		return refused, fmt.Errorf("it does not heal by itself: %s", said)
	case !namesIt.MatchString(said) || !saysWhat.MatchString(said):
		return refused, fmt.Errorf("it does not say what is damaged, or what to do: %s", said)
	}
	return refused, nil
}

var (
	namesIt  = regexp.MustCompile(`block \d+|blocks of|blocks between|no log|the log in|the inbox|all its blocks`)
	saysWhat = regexp.MustCompile(`restore|reducer import|delete`)
)

// judgeLog makes sure that the log has what it had, byte for byte, and after
// it only commands that were sent.
func (x *trial) judgeLog(t *testing.T, h *history, data string) error {
	got, err := readBlocks(t, data)
	if err != nil {
		return err
	}
	if len(got) < len(h.blocks) {
		return fmt.Errorf("the log has %d blocks, it had %d", len(got), len(h.blocks))
	}
	for i, block := range h.blocks {
		if !bytes.Equal(block, got[i]) {
			return fmt.Errorf("block %d is another one", i+1)
		}
	}
	for _, data := range got[len(h.blocks):] {
		block, err := events.ParseBlock(data)
		if err != nil {
			return err
		}
		for i := range block.Entries {
			m, d := &block.Entries[i].Message, block.Entries[i].Decision
			id := regexp.MustCompile(`^\{"runId":"(waiting-[abc]|kept|new)","type":"startRun"\}$`).FindSubmatch(m.Body)
			if id == nil || (d.Outcome == events.OutcomeDuplicate) != (string(id[1]) == keptID) || d.Outcome == events.OutcomeRejected {
				return fmt.Errorf("command %d was never sent so, or is decided wrongly: %s %s", m.Seq, m.Body, d)
			}
		}
	}
	return nil
}

func (h *history) last() uint64 {
	header, err := events.ParseHeader(h.blocks[len(h.blocks)-1])
	if err != nil {
		panic(err) // it was read before
	}
	return header.LastCommandSeq
}

// readBlocks is blocksOf for a directory that may not open.
func readBlocks(t *testing.T, name string) (blocks [][]byte, err error) {
	log, err := openDirectory(t.Context(), name)
	if err != nil {
		return nil, err
	}
	defer log.close()
	err = log.Read(t.Context(), 1, func(_ uint64, block []byte) error {
		blocks = append(blocks, bytes.Clone(block))
		return nil
	})
	return blocks, err
}

// quiet is a reducer serve whose end is no failure of the test.
type quiet struct {
	served
}

func startQuietly(t *testing.T, data, archive string) (*quiet, error) {
	s := &quiet{served{t: t, data: data, out: &proctest.Output{}, stderr: &proctest.Output{}, ended: make(chan struct{})}}
	c := exec.Command(program(t, "reducer"), "serve", "--data", data, "--archive", archive, "--listen", "127.0.0.1:0", "--scrub-rate", "1GiB")
	c.Stdout, c.Stderr = s.out, s.stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	s.process = c.Process
	go func() {
		_ = c.Wait() // the state says it
		s.code = c.ProcessState.ExitCode()
		close(s.ended)
	}()
	return s, nil
}

func (s *quiet) hasEnded() bool {
	select {
	case <-s.ended:
		return true
	case <-time.After(50 * time.Millisecond): // an answer that broke off comes a little before the end
		return false
	}
}

// untilReady waits until it takes commands, or has ended.
func (s *quiet) untilReady() bool {
	for deadline := time.Now().Add(damagePatience); !s.hasEnded() && time.Now().Before(deadline); {
		if _, rest, ok := strings.Cut(s.out.String(), "ready "); ok {
			s.url, _, ok = strings.Cut(rest, "\n")
			return ok
		}
	}
	return false
}

// until waits for something to be true, as long as the reducer runs.
func (s *quiet) until(what string, f func() bool) error {
	for deadline := time.Now().Add(damagePatience); !f(); {
		if s.hasEnded() {
			return errors.New("it ended")
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it never came true that %s", what)
		}
	}
	return nil
}

func (s *quiet) terminate() int {
	_ = s.process.Signal(syscall.SIGTERM) // one that has ended has its code
	<-s.ended
	return s.code
}

func (s *quiet) end() {
	_ = s.process.Kill()
	<-s.ended
}
