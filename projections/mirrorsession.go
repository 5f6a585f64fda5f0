package projections

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Headers of the bucket's messages.
const (
	headerKVOperation   = "KV-Operation"
	headerExpectSeq     = "Nats-Expected-Last-Subject-Sequence"
	headerExpectSubject = "Nats-Expected-Last-Subject-Sequence-Subject"

	kvDelete = "DEL"
)

// Sizes of what is sent before its acknowledgements are read.
const (
	windowRows  = 512
	windowBytes = 1 << 20
)

// manyRows is how many rows of one step make a busy time.
const manyRows = 16

// maxReaderMissions bounds what a reader keeps: what a ledger was opened with,
// for each mission it has shown.
const maxReaderMissions = 4096

// mirrorSession writes the bucket over one connection, as long as nobody else
// claims the cursor.
type mirrorSession struct {
	m       *Mirror
	ctx     context.Context // ends with the connection
	stop    <-chan struct{} // the mirror is to stop
	nc      *nats.Conn
	js      jetstream.JetStream
	inbox   string // gets acknowledgements
	acks    *nats.Subscription
	compare bool   // the bucket may be anything: compare every row
	clean   bool   // the writer before stopped in good order
	before  uint64 // last command that the writer before has mirrored, if it did
	wrong   int    // rows of up to it that comparing has written again

	cursor   wire.Cursor
	revision uint64 // of the cursor in the bucket: the fence

	reader   *state.Reader // of what the rows alone do not say
	missions int           // that it has shown
}

// mirrorRow is one write to the bucket; without a value the key is deleted.
type mirrorRow struct {
	seq   uint64
	key   string
	value []byte
}

// begin connects, makes the bucket where it is missing, and claims the cursor:
// from here on a writer before this one changes nothing more.
func (m *Mirror) begin(ctx context.Context, stop <-chan struct{}) (*mirrorSession, error) {
	nc, err := m.o.Connect(ctx)
	if err != nil {
		return nil, err
	}
	ctx, lost := context.WithCancelCause(ctx)
	nc.SetDisconnectErrHandler(func(_ *nats.Conn, err error) {
		lost(fmt.Errorf("the KV mirror lost its connection: %w", cmp.Or(err, nats.ErrConnectionClosed)))
	})
	if !nc.IsConnected() {
		lost(nats.ErrConnectionClosed)
	}
	s := &mirrorSession{m: m, ctx: ctx, stop: stop, nc: nc, inbox: nc.NewInbox()}
	if err := s.open(); err != nil {
		nc.Close()
		return nil, fmt.Errorf("the KV mirror: %w", err)
	}
	return s, nil
}

func (s *mirrorSession) open() (err error) {
	if s.js, err = jetstream.New(s.nc); err != nil {
		return err
	}
	if s.acks, err = s.nc.SubscribeSync(s.inbox); err != nil {
		return err
	}
	s.newReader()
	ctx, cancel := context.WithTimeout(s.ctx, s.m.o.Limits.Answer)
	defer cancel()
	damaged, err := s.claimed(ctx)
	if err != nil || !damaged {
		return err
	}
	ctx, end := context.WithTimeout(s.ctx, s.m.o.Limits.Answer)
	defer end()
	return s.replaceBucket(ctx)
}

// claimed claims the cursor, and says whether the bucket is damaged: it forgets
// what it takes, or the server answers questions about it and no write, not even
// when asked again in another session. Of a damaged file it can do either.
func (s *mirrorSession) claimed(ctx context.Context) (damaged bool, err error) {
	err = s.claim(ctx)
	if errors.Is(err, errUnanswered) && s.ctx.Err() == nil && s.m.unanswered.Add(1) > 1 {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	s.m.unanswered.Store(0)
	return s.forgets(ctx)
}

// replaceBucket deletes a damaged bucket and makes it anew.
func (s *mirrorSession) replaceBucket(ctx context.Context) error {
	s.m.o.Log.Error("the bucket of the KV mirror is damaged: it was deleted and is made again from the store", "stream", wire.BucketStream)
	if err := s.js.DeleteStream(ctx, wire.BucketStream); err != nil {
		return fmt.Errorf("delete the damaged bucket: %w", err)
	}
	s.cursor = wire.Cursor{}
	return s.claim(ctx)
}

// remake makes a damaged bucket anew and fills it.
func (s *mirrorSession) remake(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.m.o.Limits.Answer)
	defer cancel()
	if err := s.replaceBucket(ctx); err != nil {
		return err
	}
	return s.catchUp(true)
}

// forgets says whether the bucket does not have the cursor that was just
// written: a damaged file can make the server lose what it takes. One that has
// a later cursor is another writer's, which this one's next write notices.
func (s *mirrorSession) forgets(ctx context.Context) (bool, error) {
	bucket, err := s.js.Stream(ctx, wire.BucketStream)
	if err != nil {
		return false, err
	}
	last, err := bucket.GetLastMsgForSubject(ctx, s.m.cursorSubject())
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read the cursor: %w", err)
	}
	return last.Sequence < s.revision, nil
}

// claim makes the bucket where it is missing and writes the cursor.
func (s *mirrorSession) claim(ctx context.Context) error {
	if err := s.ensureBucket(ctx); err != nil {
		return err
	}
	found, revision, err := s.m.readCursor(ctx, s.js)
	if err != nil {
		return err
	}
	s.revision = revision
	if s.clean = found != nil && found.Clean; s.clean {
		s.before = found.Seq
	}
	s.compare = !s.clean || !s.m.compared.Load()
	claim := wire.Cursor{V: wire.RowVersion, Generation: s.m.o.Generation(), Writer: nuid.Next()}
	if s.compare {
		return s.writeCursor(claim, kvDelete)
	}
	claim.Block, claim.Seq = found.Block, found.Seq
	return s.writeCursor(claim, "")
}

func (s *mirrorSession) close() { s.nc.Close() }

// stopping says whether the mirror is to stop.
func (s *mirrorSession) stopping() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

func (s *mirrorSession) newReader() {
	s.reader, s.missions = state.NewReader(viewRows{s.m.o.View}), 0
}

// viewRows reads the store as it is at each moment.
type viewRows struct{ view func() (*View, error) }

// Get implements [state.Rows].
func (r viewRows) Get(key []byte) (value []byte, err error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return v.Get(key)
}

// Scan implements [state.Rows].
func (r viewRows) Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) (err error) {
	v, err := r.view()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return v.Scan(lower, upper, reverse, f)
}

// ensureBucket makes the stream beneath the bucket, or checks that the one there
// is can be one.
func (s *mirrorSession) ensureBucket(ctx context.Context) error {
	bucket, err := s.js.Stream(ctx, wire.BucketStream)
	switch {
	case err == nil:
		have := bucket.CachedInfo().Config
		return checkBucket(&have)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		_, err = s.js.CreateStream(ctx, bucketConfig(s.m.o.Replicas))
	}
	return err
}

// bucketConfig is that of an ordinary bucket but for what client libraries do
// not set: it need not be on disk before an acknowledgement, and nobody may
// roll it up.
func bucketConfig(replicas int) jetstream.StreamConfig {
	config := jetstream.StreamConfig{
		Name:              wire.BucketStream,
		Description:       "AIWS rows, derived from the decision log",
		Subjects:          []string{wire.BucketPrefix + ">"},
		Storage:           jetstream.FileStorage,
		Replicas:          replicas,
		MaxMsgsPerSubject: 1,
		MaxMsgs:           -1,
		MaxBytes:          -1,
		MaxMsgSize:        -1,
		MaxConsumers:      -1,
		Discard:           jetstream.DiscardNew,
		Duplicates:        100 * time.Millisecond,
		AllowDirect:       true,
		DenyDelete:        true,
	}
	if replicas == 1 {
		config.PersistMode = jetstream.AsyncPersistMode
	}
	return config
}

// checkBucket refuses a bucket that forgets rows, or that rows come into from
// elsewhere.
func checkBucket(have *jetstream.StreamConfig) error {
	fault := ""
	switch {
	case len(have.Subjects) != 1 || have.Subjects[0] != wire.BucketPrefix+">":
		fault = fmt.Sprintf("has the subjects %q", have.Subjects)
	case have.MaxAge != 0 || have.MaxMsgs > 0 || have.Discard != jetstream.DiscardNew:
		fault = "forgets rows (an age, a number of messages, or its discard policy)"
	case !have.AllowDirect || have.Sealed || have.NoAck:
		fault = "cannot be read directly, or takes nothing"
	case have.Mirror != nil || len(have.Sources) > 0 || have.SubjectTransform != nil:
		fault = "has other sources than the reducer"
	}
	if fault == "" {
		return nil
	}
	return fmt.Errorf("stream %s %s; delete it, it is made again from the log", wire.BucketStream, fault)
}

func (m *Mirror) cursorSubject() string { return wire.BucketPrefix + wire.CursorKey(m.o.Shard) }

// readCursor returns the cursor in the bucket, nil when there is none that says
// something about this log, and its revision.
func (m *Mirror) readCursor(ctx context.Context, js jetstream.JetStream) (*wire.Cursor, uint64, error) {
	bucket, err := js.Stream(ctx, wire.BucketStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	message, err := bucket.GetLastMsgForSubject(ctx, m.cursorSubject())
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the cursor: %w", err)
	}
	var c wire.Cursor
	err = json.Unmarshal(message.Data, &c)
	if message.Header.Get(headerKVOperation) != "" || err != nil || c.V != wire.RowVersion {
		return nil, message.Sequence, nil
	}
	if generation := m.o.Generation(); generation != "" && c.Generation != generation {
		return nil, message.Sequence, nil
	}
	return &c, message.Sequence, nil
}

// writeCursor moves the cursor, never back; with an operation it removes it.
func (s *mirrorSession) writeCursor(c wire.Cursor, operation string) error {
	if c.Block < s.cursor.Block {
		panic(fmt.Sprintf("mirror: the cursor would go from block %d back to %d", s.cursor.Block, c.Block))
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	m := s.message(s.m.cursorSubject(), data)
	delete(m.Header, headerExpectSubject)
	if operation != "" {
		m.Data, m.Header[headerKVOperation] = nil, []string{operation}
	}
	revision, err := s.publish([]*nats.Msg{m})
	if err != nil {
		return fmt.Errorf("write the cursor: %w", err)
	}
	s.cursor, s.revision = c, revision
	return nil
}

// message is a write to the bucket, good only while the cursor is as this
// session wrote it.
func (s *mirrorSession) message(subject string, data []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: data, Reply: s.inbox, Header: nats.Header{
		headerExpectSeq:     {strconv.FormatUint(s.revision, 10)},
		headerExpectSubject: {s.m.cursorSubject()},
	}}
}

// errUnanswered: the server said nothing to a write for a long time.
var errUnanswered = errors.New("the server does not answer")

// publish sends messages and waits for all their acknowledgements. It returns
// the sequence of the last one.
func (s *mirrorSession) publish(messages []*nats.Msg) (uint64, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.m.o.Limits.Answer)
	defer cancel()
	for _, m := range messages {
		if err := s.nc.PublishMsg(m); err != nil {
			return 0, err
		}
	}
	var ack struct {
		Seq   uint64          `json:"seq"`
		Error json.RawMessage `json:"error"`
	}
	for i := range messages {
		m, err := s.acks.NextMsgWithContext(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w: %w", errUnanswered, err)
		}
		if err != nil {
			return 0, err
		}
		if i+1 < len(messages) && len(m.Data) > 0 && !bytes.Contains(m.Data, []byte(`"error"`)) {
			continue
		}
		if err := json.Unmarshal(m.Data, &ack); err != nil || ack.Error != nil {
			return 0, fmt.Errorf("the bucket did not take %s: %s %s", messages[i].Subject, m.Header.Get("Status"), m.Data)
		}
	}
	return ack.Seq, nil
}

// write puts rows into the bucket, in the order of their sequences.
func (s *mirrorSession) write(rows []mirrorRow) error {
	slices.SortFunc(rows, func(a, b mirrorRow) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.key, b.key))
	})
	var window []*nats.Msg
	bytes := 0
	for i, row := range rows {
		m := s.message(wire.BucketPrefix+row.key, row.value)
		if row.value == nil {
			m.Header[headerKVOperation] = []string{kvDelete}
		}
		window = append(window, m)
		bytes += len(row.value)
		if len(window) < windowRows && bytes < windowBytes && i+1 < len(rows) {
			continue
		}
		if _, err := s.publish(window); err != nil {
			return err
		}
		window, bytes = window[:0], 0
	}
	return nil
}

// row makes the write of a changed row; ok is false when nothing is mirrored.
func (s *mirrorSession) row(key, value []byte) (row mirrorRow, ok bool, err error) {
	if s.missions >= maxReaderMissions {
		s.newReader()
	}
	d, ok, err := s.reader.Mirrored(key, value)
	if err != nil || !ok {
		return row, false, err
	}
	if d.Projection == state.Missions {
		s.missions++
	}
	return rowOf(d), true, nil
}

func rowOf(d *state.Document) mirrorRow {
	return mirrorRow{
		seq: d.Meta.CommandSeq, key: wire.Key(d.Contract, d.Projection, d.Key),
		value: wire.AppendRow(nil, d.Meta.CommandSeq, d.Meta.LogSeq, d.Meta.At, d.Value),
	}
}

// step writes the blocks that wait: each row once, as the last of them has it.
// It returns how many rows it wrote.
func (s *mirrorSession) step() (int, error) {
	blocks, behind := s.m.take()
	for len(blocks) > 0 && blocks[0].cursor.LogSeq <= s.cursor.Block {
		blocks = blocks[1:] // the store had it when it was read
	}
	switch {
	case behind || len(blocks) > 0 && blocks[0].cursor.LogSeq != s.cursor.Block+1:
		return 0, s.catchUp(false)
	case len(blocks) == 0:
		return 0, nil
	}
	newest := map[string][]byte{}
	for _, b := range blocks {
		for _, c := range b.changes {
			newest[string(c.Key)] = c.Value
		}
	}
	rows := make([]mirrorRow, 0, len(newest))
	for key, value := range newest {
		if value == nil {
			return 0, fmt.Errorf("row %q was removed: no row of a mirrored projection ever is", key)
		}
		row, ok, err := s.row([]byte(key), value)
		if err != nil {
			return 0, err
		}
		if ok {
			rows = append(rows, row)
		}
	}
	if err := s.write(rows); err != nil {
		return 0, err
	}
	return len(rows), s.advance(blocks[len(blocks)-1].cursor)
}

// restFor is how often the time that writing took passes before the next, within
// the limits: under load decisions need the processors more.
const restFor = 12

// gather waits a little after many rows were written, which took so long: under
// load the same rows change again and again, and only the last of them is
// written.
func (s *mirrorSession) gather(took time.Duration) {
	select {
	case <-s.stop:
	case <-s.ctx.Done():
	case <-time.After(min(max(s.m.o.Limits.Gather, restFor*took), s.m.o.Limits.Oldest)):
	}
}

func (s *mirrorSession) advance(c state.Cursor) error {
	next := s.cursor
	next.Block, next.Seq, next.Generation = c.LogSeq, c.CommandSeq, c.Generation
	return s.writeCursor(next, "")
}

// finish says that nothing is amiss. What is not done in time the next start
// finds out.
func (s *mirrorSession) finish() error {
	last := s.cursor
	last.Clean = true
	return s.writeCursor(last, "")
}
