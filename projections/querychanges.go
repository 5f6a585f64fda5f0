package projections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// changes gives a page of the rows of a ledger in the KV mirror that changed, in
// the order in which they were written there. The bucket keeps the last value of
// each row and nothing for anybody who watches; neither does the service.
func (q *queries) changes(contract string, data []byte) (look, time.Duration, error) {
	p := changesPage{queries: q, contract: contract}
	if err := wire.Decode(data, &p.request); err != nil {
		return nil, 0, err
	}
	if err := p.read(); err != nil {
		return nil, 0, err
	}
	wait, err := waitMillis(p.request.Wait)
	return p.look, wait, err
}

// changesPage is one request; each look goes on where the one before was.
type changesPage struct {
	queries  *queries
	contract string
	request  wire.ChangesRequest
	filter   string // subjects of the bucket
	limit    int    // of changes
	since    uint64
	at       bucketPlace
	begun    bool // at is set
}

// bucketPlace is a place in the bucket. Sequences of its stream say something as
// long as one writer goes on: after a crash the stream may have lost its end, and
// gives out the same sequences again.
type bucketPlace struct {
	writer string // of the mirror's cursor
	seq    uint64 // all up to it was looked at
}

func (p bucketPlace) String() string { return strconv.FormatUint(p.seq, 10) + "-" + p.writer }

func parseBucketPlace(text string) (p bucketPlace, ok bool) {
	seq, writer, ok := strings.Cut(text, "-")
	if !ok {
		return p, false
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	return bucketPlace{writer: writer, seq: n}, err == nil
}

// read takes the request.
func (p *changesPage) read() (err error) {
	r := &p.request
	if p.limit, err = pageLimit(r.Limit); err != nil {
		return err
	}
	switch {
	case r.Projection != "" && !slices.Contains(wire.Mirrored, r.Projection):
		return wire.Errorf(wire.BadRequest, "there is no projection %q in the mirror; there are %s", r.Projection, strings.Join(wire.Mirrored, ", "))
	case r.Key != "" && r.Projection == "":
		return wire.Errorf(wire.BadRequest, "a key needs a projection")
	}
	p.filter, p.since = wire.Filter(p.contract, r.Projection), r.Since
	if r.Key != "" {
		p.filter = wire.BucketPrefix + wire.Key(p.contract, r.Projection, r.Key)
	}
	if r.After != "" {
		if p.at, p.begun = parseBucketPlace(r.After); !p.begun {
			return wire.Errorf(wire.BadRequest, "after is the next of an answer before, or left out")
		}
	}
	return nil
}

// look reads until it has a page, or has seen all there is.
func (p *changesPage) look(ctx context.Context) (answer any, empty bool, err error) {
	bucket, err := p.queries.bucketStream(ctx)
	if err != nil {
		return nil, false, wire.Errorf(wire.Unavailable, "the KV mirror: %v", err)
	}
	cursor, err := mirrorCursor(ctx, bucket, p.queries.o.Shard)
	if err != nil {
		return nil, false, err
	}
	if err := p.begin(ctx, bucket, &cursor); err != nil {
		return nil, false, err
	}
	page := wire.ChangesResponse{AsOf: wire.AsOf{Block: cursor.Block, Seq: cursor.Seq}, Changes: []wire.RowChange{}, More: true}
	limits := &p.queries.o.Limits
	for rows, bytes := limits.ScanRows, limits.Page; page.More && rows > 0 && bytes > 0 && len(page.Changes) < p.limit; {
		read, err := p.queries.readBucket(ctx, p.at.seq+1, p.limit-len(page.Changes), bytes, p.filter)
		if err != nil {
			return nil, false, err
		}
		page.More = read.more
		for _, m := range read.messages {
			rows--
			bytes -= len(m.data)
			p.at.seq = m.seq
			if change, ok := p.change(m); ok {
				page.Changes = append(page.Changes, change)
			}
		}
	}
	page.Next = p.at.String()
	return page, len(page.Changes) == 0 && !page.More, nil
}

// begin finds the place to read from: the beginning, where another writer has
// begun since the place was given.
func (p *changesPage) begin(ctx context.Context, bucket jetstream.Stream, cursor *wire.Cursor) error {
	if p.begun && p.at.writer == cursor.Writer {
		return nil
	}
	fresh := p.request.New && !p.begun
	p.at, p.begun = bucketPlace{writer: cursor.Writer}, true
	if !fresh {
		return nil
	}
	info, err := bucket.Info(ctx)
	if err != nil {
		return err
	}
	p.at.seq, p.since = info.State.LastSeq, max(p.since, cursor.Seq+1)
	return nil
}

// change is a message of the bucket; ok is false for what is not wanted.
func (p *changesPage) change(m bucketMessage) (c wire.RowChange, ok bool) {
	place, ok := wire.ParseKey(strings.TrimPrefix(m.subject, wire.BucketPrefix))
	if !ok {
		return c, false
	}
	if m.deleted {
		place = place.Named(p.contract, nil)
		return wire.RowChange{Deleted: true, Key: place.Key, Projection: place.Projection}, true
	}
	row, err := wire.ParseRow(m.data)
	if err != nil || row.Seq < p.since {
		return c, false // not a row: the mirror mends it
	}
	place = place.Named(p.contract, row.Row)
	return wire.RowChange{At: row.At, Block: row.Block, Key: place.Key, Projection: place.Projection, Row: row.Row, Seq: row.Seq}, true
}

// mirrorCursor reads the mirror's cursor; the zero value while there is none.
func mirrorCursor(ctx context.Context, bucket jetstream.Stream, shard int64) (cursor wire.Cursor, err error) {
	m, err := bucket.GetLastMsgForSubject(ctx, wire.BucketPrefix+wire.CursorKey(shard))
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && len(m.Data) == 0 {
		return cursor, nil
	}
	if err == nil {
		err = json.Unmarshal(m.Data, &cursor)
	}
	if err != nil {
		return cursor, fmt.Errorf("the mirror's cursor: %w", err)
	}
	return cursor, nil
}

func (q *queries) bucketStream(ctx context.Context) (jetstream.Stream, error) {
	q.openLog.Lock()
	defer q.openLog.Unlock()
	if q.bucket != nil {
		return q.bucket, nil
	}
	js, err := jetstream.New(q.nc)
	if err != nil {
		return nil, err
	}
	bucket, err := js.Stream(ctx, wire.BucketStream)
	if err == nil {
		q.bucket = bucket
	}
	return bucket, err
}

// bucketMessage is one write to the bucket.
type bucketMessage struct {
	seq     uint64
	subject string
	data    []byte
	deleted bool
}

// bucketRead is what one request to the bucket gave; more says that there is
// more after it.
type bucketRead struct {
	messages []bucketMessage
	more     bool
}

// maxBucketBatch is how many rows are read from the bucket at a time.
const maxBucketBatch = 256

// readBucket reads the first messages with subjects of a filter from a sequence
// on.
func (q *queries) readBucket(ctx context.Context, from uint64, count, bytes int, filter string) (read bucketRead, err error) {
	request, err := json.Marshal(map[string]any{
		"seq": from, "batch": min(count, maxBucketBatch), "max_bytes": bytes, "next_by_subj": filter,
	})
	if err != nil {
		return read, err
	}
	inbox := q.nc.NewInbox()
	sub, err := q.nc.SubscribeSync(inbox)
	if err != nil {
		return read, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection may be gone
	if err := q.nc.PublishRequest("$JS.API.DIRECT.GET."+wire.BucketStream, inbox, request); err != nil {
		return read, err
	}
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return read, fmt.Errorf("read the KV mirror: %w", err)
		}
		switch status := m.Header.Get("Status"); status {
		case "":
		case "404": // nothing there
			return read, nil
		case "204": // the end
			pending, err := strconv.ParseUint(m.Header.Get("Nats-Num-Pending"), 10, 64)
			read.more = pending > 0
			return read, err
		default:
			return read, fmt.Errorf("read the KV mirror: %s %s", status, m.Header.Get("Description"))
		}
		message, err := parseBucketMessage(m)
		if err != nil {
			return read, err
		}
		read.messages = append(read.messages, message)
	}
}

func parseBucketMessage(m *nats.Msg) (bucketMessage, error) {
	seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return bucketMessage{}, fmt.Errorf("read the KV mirror: a message without a sequence: %w", err)
	}
	return bucketMessage{
		seq: seq, subject: m.Header.Get("Nats-Subject"), data: m.Data, deleted: m.Header.Get(headerKVOperation) != "",
	}, nil
}
