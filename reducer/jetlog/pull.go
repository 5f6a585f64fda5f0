package jetlog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Sizes of one pull of the log.
const (
	logPullBlocks = 256
	logPullBytes  = 16 << 20 // more than any block
)

// consumerIdle is when the server removes a consumer that nobody pulls.
const consumerIdle = 5 * time.Minute

// newConsumer makes an ephemeral consumer that delivers everything from a
// sequence, in order, without acks, and keeps nothing on disk.
func newConsumer(ctx context.Context, c *Conn, stream string, from uint64) (name string, err error) {
	name = "aiws-" + nuid.Next()
	_, err = c.js.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
		Name:              name,
		Description:       "an AIWS reducer reads",
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       max(from, 1),
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: consumerIdle,
	})
	if err != nil {
		return "", fmt.Errorf("read stream %s from %d: %w", stream, from, wireError(err))
	}
	return name, nil
}

func pullSubject(stream, consumer string) string {
	return "$JS.API.CONSUMER.MSG.NEXT." + stream + "." + consumer
}

// deleteConsumer is a courtesy; the server removes the consumer by itself later.
func deleteConsumer(c *Conn, stream, consumer string) {
	if c.nc.IsConnected() {
		_ = c.nc.Publish("$JS.API.CONSUMER.DELETE."+stream+"."+consumer, nil)
	}
}

// puller reads a stream to its end, batch by batch.
type puller struct {
	conn             *Conn
	stream, consumer string
	inbox            string
	sub              *nats.Subscription
	pulls            int
	delivered        uint64 // the consumer's own count
}

func newPuller(ctx context.Context, c *Conn, stream string, from uint64) (*puller, error) {
	p := &puller{conn: c, stream: stream, inbox: c.nc.NewInbox()}
	var err error
	if p.sub, err = c.nc.SubscribeSync(p.inbox + ".*"); err != nil {
		return nil, fmt.Errorf("read stream %s: %w", stream, wireError(err))
	}
	if err = p.sub.SetPendingLimits(-1, -1); err == nil { // a pull is the limit
		p.consumer, err = newConsumer(ctx, c, stream, from)
	}
	if err != nil {
		_ = p.sub.Unsubscribe()
		return nil, err
	}
	return p, nil
}

func (p *puller) close() {
	_ = p.sub.Unsubscribe() // the connection may be gone
	deleteConsumer(p.conn, p.stream, p.consumer)
}

// pull asks for what is there and calls f for each message. more is false when
// the end was reached. no_wait makes the server answer at once when nothing is
// left, so that neither a gap nor a damaged file can hang it.
func (p *puller) pull(ctx context.Context, f func(seq uint64, data []byte) error) (more bool, err error) {
	p.pulls++
	reply := p.inbox + "." + strconv.Itoa(p.pulls)
	request := fmt.Appendf(nil, `{"batch":%d,"max_bytes":%d,"no_wait":true}`, logPullBlocks, logPullBytes)
	if err := p.conn.nc.PublishRequest(pullSubject(p.stream, p.consumer), reply, request); err != nil {
		return false, wireError(err)
	}
	for got := 0; got < logPullBlocks; {
		m, err := p.next(ctx)
		if err != nil {
			return false, err
		}
		if status := m.Header.Get("Status"); status != "" && len(m.Data) == 0 && m.Reply == "" {
			if m.Subject != reply {
				continue // of an earlier pull
			}
			return pullEnded(m)
		}
		seq, err := p.accept(m)
		if err != nil {
			return false, err
		}
		got++
		if err := f(seq, m.Data); err != nil {
			return false, err
		}
	}
	return true, nil
}

// readPatience is how long a pull may take to answer.
const readPatience = 30 * time.Second

func (p *puller) next(ctx context.Context) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	m, err := p.sub.NextMsgWithContext(ctx)
	return m, wireError(err)
}

func (p *puller) accept(m *nats.Msg) (seq uint64, err error) {
	at, err := parsePlace(m.Reply)
	if err != nil {
		return 0, err
	}
	if at.delivered != p.delivered+1 {
		return 0, fmt.Errorf("%w: %w: message %d of the consumer follows message %d", loop.ErrLost, errGap, at.delivered, p.delivered)
	}
	p.delivered = at.delivered
	return at.seq, nil
}

// pullEnded says what the status that ends a pull means: read on, the end, or
// an error.
func pullEnded(m *nats.Msg) (more bool, err error) {
	switch m.Header.Get("Status") {
	case "404": // no messages
		return false, nil
	case "408": // the time is over
		return true, nil
	case "409":
		if strings.HasPrefix(m.Header.Get("Description"), "Message Size Exceeds MaxBytes") {
			return true, nil
		}
	}
	return false, fmt.Errorf("%w: the server ended the reading: %s %s", loop.ErrLost, m.Header.Get("Status"), m.Header.Get("Description"))
}

// place is where a delivered message stands, as its reply subject says.
type place struct {
	seq       uint64 // in the stream
	delivered uint64 // by the consumer
	time      int64  // stream timestamp, nanoseconds
}

var (
	errGap          = errors.New("messages were lost on the way")
	errNotDelivered = errors.New("a message that is not from the consumer")
)

// parsePlace reads $JS.ACK.<stream>.<consumer>.<deliveries>.<seq>.<delivered>.<time>.<pending>,
// or the longer form with a domain and an account hash before the stream.
func parsePlace(reply string) (place, error) {
	var at place
	if !strings.HasPrefix(reply, "$JS.ACK.") {
		return at, errNotDelivered
	}
	tokens := strings.Count(reply, ".") + 1
	skip := 5
	switch {
	case tokens == 9:
	case tokens >= 11:
		skip = 7
	default:
		return at, errNotDelivered
	}
	rest := reply
	for range skip {
		_, rest, _ = strings.Cut(rest, ".")
	}
	seq, rest, _ := strings.Cut(rest, ".")
	delivered, rest, _ := strings.Cut(rest, ".")
	stamp, _, _ := strings.Cut(rest, ".")
	var err1, err2, err3 error
	at.seq, err1 = strconv.ParseUint(seq, 10, 64)
	at.delivered, err2 = strconv.ParseUint(delivered, 10, 64)
	at.time, err3 = strconv.ParseInt(stamp, 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil {
		return at, fmt.Errorf("%w: %w", errNotDelivered, err)
	}
	return at, nil
}
