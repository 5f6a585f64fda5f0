package loop

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Session is one connection to the streams of a shard. A term works on one and
// ends with it; a session never comes back to life.
type Session interface {
	Inbox() Inbox
	Log() Log
	Replies() Replies
	// OpenDoors lets publishers reach the inbox. A session on a server that
	// was open all along does nothing.
	OpenDoors(ctx context.Context) error
	Close()
}

// Ailing may be implemented by a session that can find out by itself that it
// can do no more: an inbox that takes nothing shows nowhere else.
type Ailing interface {
	Err() error
}

// InboxInfo is what the inbox stream holds.
type InboxInfo struct {
	FirstSeq uint64 // of the first command; LastSeq + 1 when there is none
	LastSeq  uint64 // last sequence given out; the next command gets the one after
	Commands uint64
	Bytes    uint64
	Limits   InboxLimits
}

// InboxLimits are where the inbox turns publishers away; 0 is no limit.
type InboxLimits struct {
	Bytes      uint64
	PerSubject uint64
}

// Inbox is the queue of commands. It is a queue only: it may lose commands
// that were not decided, never the order of their sequences.
type Inbox interface {
	Info(ctx context.Context) (InboxInfo, error)
	// Purge drops all commands below seq and makes sure that no command will
	// ever get a sequence below seq.
	Purge(ctx context.Context, seq uint64) error
	// Read begins to read the commands after a sequence, in order.
	Read(ctx context.Context, after uint64) (Feed, error)
}

// Command is one command as it came in, and where its publisher waits.
type Command struct {
	events.Message
	Reply string // subject that gets the decision; "" when nobody waits
}

// Feed is the reading end of an inbox. Sequences ascend; gaps are legal.
type Feed interface {
	// Take returns at most limit commands that are here already. It never
	// waits. An error says that the feed is over.
	Take(limit int) ([]Command, error)
	// Wake has something to receive when there may be something to take.
	Wake() <-chan struct{}
	Close()
}

// LogInfo is what the log stream holds.
type LogInfo struct {
	FirstSeq   uint64 // of the first block; LastSeq + 1 when there is none
	LastSeq    uint64
	Missing    uint64 // blocks between the two that the stream says it does not have
	Generation string
}

// Log is the decision log. All reading is from the leader of the stream.
type Log interface {
	Info(ctx context.Context) (LogInfo, error)
	// Append stores block at sequence last + 1, or does not. A nil error
	// says that it is stored; any other says nothing, whatever it is
	// (ErrTooLarge tells why it may have been refused).
	Append(ctx context.Context, last uint64, block []byte) error
	// Get returns the block at seq; ErrAbsent if there is none.
	Get(ctx context.Context, seq uint64) ([]byte, error)
	// Read calls f for each block from seq to the end of the log as it is
	// when it gets there. The block is f's to keep. An error of f ends it.
	Read(ctx context.Context, from uint64, f func(seq uint64, block []byte) error) error
}

// Replies sends decisions to those who wait for them. It is best effort: who
// heard nothing asks again, and the log knows.
type Replies interface {
	Reply(subject string, record []byte, final bool)
}

// Store holds the rows and the cursor that says which block they are of.
type Store interface {
	state.Rows
	Cursor() state.Cursor
	// Commit writes changes and cursor in one batch: both are there after a
	// crash, or neither. It need not be durable, the log is.
	Commit(changes []state.Change, cursor state.Cursor) error
	// Err is what the store found wrong with itself, in the background too.
	Err() error
	Close() error
}

// Stores opens the store of a shard.
type Stores interface {
	Open() (Store, error)
	// SetAside moves a closed store out of the way and says where to; the
	// next Open makes an empty one.
	SetAside(reason error) (string, error)
}

// Archive is a second copy of the log (DESIGN 2). It may be behind, never ahead.
type Archive interface {
	// Last is the block that it ends with and that block's hash; 0 when it is empty.
	Last() (seq uint64, hash [sha256.Size]byte, err error)
	Append(seq uint64, block []byte) error
}

// Follower is something derived that keeps a cursor of its own, such as the KV
// mirror. It may be behind, never ahead.
type Follower interface {
	Name() string
	LogSeq(ctx context.Context) (uint64, error)
	// Discard drops what it holds, under --sync interval only.
	Discard(ctx context.Context) error
}

// Decider is the pure reducer: it decides a command and folds its own decision
// into the state.
type Decider interface {
	Step(s *state.State, m *events.Message) *events.Decision
}

// Clock is the reducer's own clock. No rule reads it (STYLE rule 3); it guards
// against bad stamps, says when to purge, and how long to wait.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}
