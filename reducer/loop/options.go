package loop

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Options are what a term works with. Fields that say so may be left out.
type Options struct {
	// Connect makes the session of the next term, and whatever that needs.
	Connect func(ctx context.Context) (Session, error)
	Stores  Stores

	NewDecider    func() Decider // one for each state, so that nothing dropped is remembered
	RulesVersion  int64          // of the deciders
	Build         string
	Shard, Shards int64 // shard Shard of Shards; Shards 0 is one shard
	CacheRows     int   // rows kept in memory; 0 is the state's default

	Archive   Archive    // optional
	Followers []Follower // optional

	// DiscardAhead is for --sync interval only: what is ahead of the log is
	// dropped and built again instead of being an integrity error.
	DiscardAhead bool

	// Gate says why nothing may be appended now (no disk space, say), or
	// nil. While it objects the loop holds. Optional.
	Gate func() error

	Status *Status      // optional; written by the loop
	Hooks  Hooks        // optional
	Log    *slog.Logger // optional

	Limits Limits // zero fields get their defaults

	Clock     Clock         // optional; the wall clock
	NewWriter func() string // optional; a new ULID for each term
	Go        func(func())  // optional; runs f beside the loop, a goroutine
}

// Limits are the loop's times and sizes.
type Limits struct {
	BlockCommands int           // commands of a block, 1,024
	BlockBytes    int           // bytes of a block, 900 KiB; a larger decision forms a block alone
	Append        time.Duration // one try of an append or a read-back, 5 s
	AppendTries   int           // tries before the term ends, 3
	Retry         time.Duration // pause between tries and between terms, 1 s
	Ahead         time.Duration // how far a stamp may be ahead of the clock, 10 min
	Purge         time.Duration // how long decided commands stay in the inbox, 1 s
	Grace         time.Duration // for the block that is being written when the loop stops, 3 s
	Slow          time.Duration // a commit or an append that takes longer is reported, 3 s
}

// Hooks let others see what happens. They are called on the loop's goroutine,
// so they must not wait.
type Hooks struct {
	// Folded is called for each block whose rows are in the store.
	Folded func(*Folded)
	// Recovered is called when a term has folded the log to its end.
	Recovered func(cursor state.Cursor, blocks int)
}

// Folded is one block after it was folded into the store. Nothing in it may be
// changed.
type Folded struct {
	Cursor    state.Cursor
	Messages  []events.Message
	Decisions []*events.Decision
	Changes   []state.Change
	Bytes     int  // of the block
	Replayed  bool // read from the log, not decided now

	// How long it took; zero when replayed.
	Decide, Append, Fold time.Duration
}

func (l Limits) withDefaults() Limits {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	if l.BlockCommands == 0 {
		l.BlockCommands = events.MaxBlockCommands
	}
	if l.BlockBytes == 0 {
		l.BlockBytes = events.MaxBlockBytes
	}
	if l.AppendTries == 0 {
		l.AppendTries = 3
	}
	set(&l.Append, 5*time.Second)
	set(&l.Retry, time.Second)
	set(&l.Ahead, 10*time.Minute)
	set(&l.Purge, time.Second)
	set(&l.Grace, 3*time.Second)
	set(&l.Slow, 3*time.Second)
	return l
}

func (o Options) withDefaults() (Options, error) {
	if o.Connect == nil || o.Stores == nil || o.NewDecider == nil {
		return o, errors.New("loop: Connect, Stores and NewDecider are needed")
	}
	o.Limits = o.Limits.withDefaults()
	if o.Shards == 0 {
		o.Shards = 1
	}
	if o.Status == nil {
		o.Status = NewStatus()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = wallClock{}
	}
	if o.NewWriter == nil {
		o.NewWriter = func() string { return ulid.Make().String() }
	}
	if o.Go == nil {
		o.Go = func(f func()) { go f() }
	}
	if o.Gate == nil {
		o.Gate = func() error { return nil }
	}
	return o, nil
}

type wallClock struct{}

func (wallClock) Now() time.Time                         { return time.Now() }
func (wallClock) After(d time.Duration) <-chan time.Time { return time.After(d) }
