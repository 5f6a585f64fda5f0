package loop

import (
	"fmt"
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
	task  string    // what the loop waits for, such as a commit of the store
	began time.Time // when it began to
	slow  time.Duration
	now   func() time.Time
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
	if s.task == "" || s.slow == 0 {
		return info
	}
	if took := s.now().Sub(s.began); took > s.slow && info.Reason == "" {
		info.Reason = fmt.Sprintf("%s takes %s", s.task, took.Round(time.Second))
		info.Since = s.began
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

func (s *Status) begin(task string) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.task, s.began = task, s.now()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.task = ""
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
