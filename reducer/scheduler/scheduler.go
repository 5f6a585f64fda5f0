// Package scheduler is optional help for hosts: it publishes tickTrigger for
// scheduled triggers that are due and resume for TIMER waits that are due, as
// the principal "scheduler". The profile says that no timer service starts by
// itself, so it is off unless asked for.
//
// It is a client like any other and decides nothing: what it publishes is
// decided by the rules, and a second scheduler, or one that was restarted, does
// no harm, because the ids of its commands follow from what is due.
package scheduler

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"math/bits"
	"strconv"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Principal is who the scheduler publishes as.
const Principal = "scheduler"

// Rounds are bounded: what is left comes with the next one.
const maxPerRound = 1000

// Scheduler publishes what is due.
type Scheduler struct {
	// View runs f with a reader of a consistent view of the store.
	View func(f func(*state.Reader) error) error
	// Publish publishes a command; an error is logged and it is tried again
	// in a later round.
	Publish func(ctx context.Context, subject, commandID string, body []byte) error
	// Every is the pause between rounds; 0 is a second.
	Every time.Duration
	// Now is the clock; nil is the wall clock. No rule reads it.
	Now func() time.Time
	Log *slog.Logger // nil: none
}

// Run publishes what is due until ctx ends.
func (s *Scheduler) Run(ctx context.Context) {
	every := s.Every
	if every == 0 {
		every = time.Second
	}
	for {
		if err := s.Round(ctx); err != nil && ctx.Err() == nil && s.Log != nil {
			s.Log.Warn("scheduler: what is due was not published", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// Round publishes what is due now, once.
func (s *Scheduler) Round(ctx context.Context) error {
	commands, err := s.due()
	if err != nil {
		return err
	}
	for _, c := range commands {
		if err := s.Publish(ctx, c.subject, c.id, c.body); err != nil {
			return fmt.Errorf("publish %s: %w", c.subject, err)
		}
	}
	return nil
}

type command struct {
	subject, id string
	body        []byte
}

// due is what may be published now: no tick of a mission that is not open, no
// resume for a run that is over, as the rules would refuse them.
func (s *Scheduler) due() ([]command, error) {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	millis := schema.DecimalOf(uint64(max(now().UnixMilli(), 0)))
	var commands []command
	err := s.View(func(r *state.Reader) error {
		return r.Due(millis, func(d state.Due) bool {
			if c := commandFor(r.State(), d); c != nil {
				commands = append(commands, command{
					subject: schema.Subject{Contract: d.Contract, Principal: Principal, Type: c.Type()}.String(),
					id:      commandID(d, millis),
					body:    schema.AppendRecord(nil, c),
				})
			}
			return len(commands) < maxPerRound
		})
	})
	return commands, err
}

func commandFor(s *state.State, d state.Due) schema.Command {
	if d.What == state.DueWait {
		wait, ok := s.Wait(d.Contract, d.ID)
		if !ok {
			return nil
		}
		if run, _ := s.Run(d.Contract, wait.RunID); run.Terminal() {
			return nil
		}
		return &schema.Resume{WaitID: d.ID, Correlation: wait.Correlation}
	}
	ledger, terms := s.Ledger(d.Contract), s.Terms(d.Contract)
	if ledger.Mission != events.MissionOpen || !ledger.Now.Less(terms.Contract.Deadline) {
		return nil
	}
	return &schema.TickTrigger{TriggerID: d.ID}
}

// commandID follows from what is due, and changes as it stays due: a tick that
// was refused for a limit is sent again after one second, then after two, four
// and so on, from a minute on once a minute. A round, a restart or a second
// scheduler in between sends the same id, which is decided once.
func commandID(d state.Due, now schema.Decimal) string {
	sum := sha256.Sum256([]byte(d.Contract + "\x00" + d.What + "\x00" + d.ID))
	return d.What + "-" + hex.EncodeToString(sum[:16]) + "-" + d.At.String() + "-" + strconv.FormatUint(turn(d, now), 10)
}

const minuteMs = 60_000

func turn(d state.Due, now schema.Decimal) uint64 {
	overdue, _ := now.SubFloor(d.At).Uint64()
	if overdue >= minuteMs {
		return 6 + overdue/minuteMs
	}
	return uint64(bits.Len64(overdue / 1000))
}
