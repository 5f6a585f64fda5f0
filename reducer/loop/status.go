package loop

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Phase is what the loop is doing.
type Phase string

// The phases. Only in PhaseReady are commands decided and answered.
const (
	PhaseStarting   Phase = "starting"   // connecting, opening the store
	PhaseRecovering Phase = "recovering" // folding the log's tail
	PhaseReady      Phase = "ready"
	PhaseHolding    Phase = "holding" // the log or the store takes nothing now
	PhaseStalled    Phase = "stalled" // a command's stamp is ahead of the clock
	PhaseStopped    Phase = "stopped"
)

// Info is a snapshot of a Status.
type Info struct {
	Phase      Phase
	Reason     string // why it is not ready; "" when it is
	Since      time.Time
	Generation string
	Writer     string // of the current term
	Terms      int    // terms begun
	LogSeq     uint64 // last block folded
	CommandSeq uint64 // last command folded
	LogEnd     uint64 // the log's end when the term began
}

// Ready says whether commands are decided now.
func (i Info) Ready() bool { return i.Phase == PhaseReady && i.Reason == "" }

// Status is what the loop tells the world about itself. It is safe for
// concurrent use.
type Status struct {
	mu    sync.Mutex
	info  Info
	tasks []*task // what the loop waits for, such as a commit of the store
	slow  time.Duration
	now   func() time.Time
}

type task struct {
	name  string
	began time.Time
}

// NewStatus returns the status of a loop that has not begun.
func NewStatus() *Status {
	return &Status{info: Info{Phase: PhaseStarting}, now: time.Now}
}

// Info returns the state of things now. A commit that hangs shows here, since
// a full disk makes the store wait without an error.
func (s *Status) Info() Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.info
	for _, t := range s.tasks {
		took := s.now().Sub(t.began)
		if s.slow > 0 && took > s.slow && info.Reason == "" {
			info.Reason, info.Since = fmt.Sprintf("%s takes %s", t.name, took.Round(time.Second)), t.began
		}
	}
	return info
}

func (s *Status) set(phase Phase, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.info.Phase == phase && s.info.Reason == reason {
		return
	}
	s.info.Phase, s.info.Reason, s.info.Since = phase, reason, s.now()
}

// begin notes that the loop waits for something, until end is called.
func (s *Status) begin(name string) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &task{name, s.now()}
	s.tasks = append(s.tasks, t)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tasks = slices.DeleteFunc(s.tasks, func(other *task) bool { return other == t })
	}
}

func (s *Status) moved(c state.Cursor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info.LogSeq, s.info.CommandSeq = c.LogSeq, c.CommandSeq
}

func (s *Status) newTerm(writer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info.Writer = writer
	s.info.Terms++
}

func (s *Status) found(log LogInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.info.LogEnd, s.info.Generation = log.LastSeq, log.Generation
}
