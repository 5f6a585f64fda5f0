package jetlog

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Headers that the server acts on.
const (
	headerExpectLast   = "Nats-Expected-Last-Sequence" // the fence
	headerExpectStream = "Nats-Expected-Stream"
)

// Log is the decision log on its stream.
type Log struct {
	conn       *Conn
	stream     string
	subject    string
	generation string
}

var _ loop.Log = (*Log)(nil)

func newLog(conn *Conn, s Streams, generation string) *Log {
	return &Log{conn: conn, stream: s.LogName(), subject: s.logPrefix() + generation, generation: generation}
}

// OpenLog returns the existing log of a shard, for reading.
func OpenLog(ctx context.Context, conn *Conn, s Streams) (*Log, error) {
	generation, err := s.FindGeneration(ctx, conn)
	if isStreamNotFound(err) {
		return nil, fmt.Errorf("there is no decision log: no stream %s: %w", s.LogName(), err)
	}
	if err != nil {
		return nil, err
	}
	return newLog(conn, s, generation), nil
}

// Info implements [loop.Log]. The leader of the stream answers.
func (l *Log) Info(ctx context.Context) (loop.LogInfo, error) {
	stream, err := l.conn.js.Stream(ctx, l.stream)
	if err != nil {
		return loop.LogInfo{}, fmt.Errorf("stream %s: %w", l.stream, wireError(err))
	}
	state := stream.CachedInfo().State
	info := loop.LogInfo{FirstSeq: state.FirstSeq, LastSeq: state.LastSeq, Generation: l.generation}
	if state.Msgs == 0 {
		info.FirstSeq = state.LastSeq + 1
	}
	info.Missing = info.LastSeq + 1 - info.FirstSeq - state.Msgs
	return info, nil
}

// Append implements [loop.Log]. It is one message with the fence in its header,
// and without Nats-Msg-Id: a replicated stream answers "duplicate" for other
// bytes under the same id. The client library must not send it again by
// itself, so this is a plain request.
func (l *Log) Append(ctx context.Context, last uint64, block []byte) error {
	m := &nats.Msg{Subject: l.subject, Data: block, Header: nats.Header{
		headerExpectLast:   {strconv.FormatUint(last, 10)},
		headerExpectStream: {l.stream},
	}}
	answer, err := l.conn.nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.stream, wireError(err))
	}
	var ack struct {
		Stream    string    `json:"stream"`
		Seq       uint64    `json:"seq"`
		Duplicate bool      `json:"duplicate"`
		Error     *apiError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return fmt.Errorf("append to %s: not an answer of a stream: %w", l.stream, err)
	}
	switch {
	case ack.Error != nil:
		return fmt.Errorf("append to %s: %w: %w", l.stream, ack.Error.kind(), ack.Error)
	case ack.Stream != l.stream || ack.Seq != last+1 || ack.Duplicate:
		return fmt.Errorf("append to %s: expected sequence %d, the answer is %s", l.stream, last+1, answer.Data)
	}
	return nil
}

// Get implements [loop.Log]: a request that only the leader of the stream
// answers, never a direct get, which any replica may answer from the past.
func (l *Log) Get(ctx context.Context, seq uint64) ([]byte, error) {
	var got struct {
		Message struct {
			Seq  uint64 `json:"seq"`
			Data []byte `json:"data"`
		} `json:"message"`
	}
	if err := l.conn.api(ctx, "STREAM.MSG.GET."+l.stream, fmt.Sprintf(`{"seq":%d}`, seq), &got); err != nil {
		return nil, fmt.Errorf("read block %d: %w", seq, err)
	}
	if got.Message.Seq != seq {
		return nil, fmt.Errorf("read block %d: the answer is block %d", seq, got.Message.Seq)
	}
	return got.Message.Data, nil
}

// Read implements [loop.Log]. It ends when the server says that nothing is
// left, not at a sequence: a gap at the end would never be passed.
func (l *Log) Read(ctx context.Context, from uint64, f func(seq uint64, block []byte) error) error {
	p, err := newPuller(ctx, l.conn, l.stream, from)
	if err != nil {
		return err
	}
	defer p.close()
	for {
		more, err := p.pull(ctx, f)
		if err != nil {
			return fmt.Errorf("read %s: %w", l.stream, err)
		}
		if !more {
			return nil
		}
	}
}
