package projections

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// mark is a row's place in the order in which rows are written.
type mark struct {
	seq uint64
	key string // of the row
}

func (m mark) compare(o mark) int {
	return cmp.Or(cmp.Compare(m.seq, o.seq), cmp.Compare(m.key, o.key))
}

// compareRows is how many rows are compared with the bucket by one request. The
// server answers at most 1,024.
const compareRows = 256

// catchUp brings the bucket to what the store is now: with compare set every
// row is compared and what should not be there is removed, otherwise the rows
// that changed after the cursor are written.
//
// A store holds more rows than memory should, and they have to be written in
// the order of their sequences. So it takes the first of them, in that order,
// writes them, and looks again from there, in the store as it is by then: a row
// that changed meanwhile has moved to the end.
func (s *mirrorSession) catchUp(compare bool) error {
	s.m.setInfo(mirrorComparing, s.cursor, nil)
	s.m.follow(true)
	if compare {
		if err := s.removeStale(); err != nil {
			return err
		}
	}
	from := mark{seq: s.cursor.Seq, key: "\xff"} // beyond every key: the kinds of rows are letters
	for {
		next, cursor, err := s.catchUpFrom(from, compare)
		if err != nil {
			return err
		}
		if next == nil {
			return s.advance(cursor)
		}
		from = *next
	}
}

// catchUpFrom writes the first rows after a mark. next is nil when these were
// the last; the bucket is then as the cursor says.
func (s *mirrorSession) catchUpFrom(from mark, compare bool) (next *mark, at state.Cursor, err error) {
	v, err := s.m.o.View()
	if err != nil {
		return nil, at, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	reader := state.NewReader(v)
	marks, more, err := firstRows(s.ctx, reader, from, s.m.o.Limits.Sort)
	if err != nil {
		return nil, at, err
	}
	for chunk := range slices.Chunk(marks, compareRows) {
		if s.stopping() {
			return nil, at, errStopping
		}
		rows, err := rowsAt(state.NewReader(v), v, chunk)
		if err == nil && compare {
			rows, err = s.different(rows)
			for i := range rows {
				if rows[i].seq <= s.before {
					s.wrong++
				}
			}
		}
		if err == nil {
			err = s.write(rows)
		}
		if err != nil {
			return nil, at, err
		}
	}
	if !more {
		return nil, v.Cursor(), nil
	}
	return &marks[len(marks)-1], v.Cursor(), nil
}

// firstRows returns the first limit rows after a mark, in order; more says that
// there are others.
func firstRows(ctx context.Context, reader *state.Reader, from mark, limit int) (marks []mark, more bool, err error) {
	var bound *mark // rows beyond it are not among the first
	err = reader.ScanMirrored(func(key []byte, changed state.Meta) bool {
		if changed.CommandSeq < from.seq || bound != nil && changed.CommandSeq > bound.seq {
			more = more || changed.CommandSeq >= from.seq
			return ctx.Err() == nil
		}
		m := mark{changed.CommandSeq, string(key)}
		if m.compare(from) <= 0 {
			return ctx.Err() == nil
		}
		marks = append(marks, m)
		if len(marks) >= 2*limit {
			slices.SortFunc(marks, mark.compare)
			marks, more, bound = marks[:limit], true, &marks[limit-1]
		}
		return ctx.Err() == nil
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, false, err
	}
	slices.SortFunc(marks, mark.compare)
	if len(marks) > limit {
		marks, more = marks[:limit], true
	}
	return marks, more, nil
}

func rowsAt(reader *state.Reader, v *View, marks []mark) ([]mirrorRow, error) {
	rows := make([]mirrorRow, 0, len(marks))
	for _, m := range marks {
		value, err := v.Get([]byte(m.key))
		if err != nil {
			return nil, err
		}
		d, ok, err := reader.Mirrored([]byte(m.key), value)
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, rowOf(d))
		}
	}
	return rows, nil
}

// different leaves the rows that the bucket has otherwise, or not at all.
func (s *mirrorSession) different(rows []mirrorRow) ([]mirrorRow, error) {
	have, err := s.current(rows)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(r mirrorRow) bool {
		value, ok := have[r.key]
		return ok && bytes.Equal(value, r.value)
	}), nil
}

// current reads the values of keys from the bucket: one request, as many
// messages as there are keys with a value, and a status at the end.
func (s *mirrorSession) current(rows []mirrorRow) (map[string][]byte, error) {
	have := make(map[string][]byte, len(rows))
	if len(rows) == 0 {
		return have, nil
	}
	request := struct {
		MultiLast []string `json:"multi_last"`
		Batch     int      `json:"batch"`
	}{Batch: len(rows)}
	for _, r := range rows {
		request.MultiLast = append(request.MultiLast, wire.BucketPrefix+r.key)
	}
	data, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.m.o.Limits.Answer)
	defer cancel()
	if err := s.nc.PublishRequest("$JS.API.DIRECT.GET."+wire.BucketStream, s.inbox, data); err != nil {
		return nil, err
	}
	for {
		m, err := s.acks.NextMsgWithContext(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the bucket: %w", err)
		}
		switch status := m.Header.Get("Status"); {
		case status == "204" || status == "404": // the end; none at all
			return have, nil
		case status != "":
			return nil, fmt.Errorf("read the bucket: %s %s", status, m.Header.Get("Description"))
		case m.Header.Get(headerKVOperation) == "":
			have[m.Header.Get("Nats-Subject")[len(wire.BucketPrefix):]] = m.Data
		}
	}
}

// removeStale deletes the keys that no row of the store stands behind.
func (s *mirrorSession) removeStale() (err error) {
	v, err := s.m.o.View()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	stale, hashed, err := s.suspects(v)
	if err != nil {
		return err
	}
	s.wrong += len(stale)
	if len(hashed) > 0 && s.m.o.Shards == 1 {
		if err := knownHashes(state.NewReader(v), v, hashed); err != nil {
			return err
		}
		for key := range hashed {
			stale = append(stale, mirrorRow{key: key})
		}
	}
	return s.write(stale)
}

// suspects lists the keys of the bucket that have no row, and those that do not
// say which row they are of.
func (s *mirrorSession) suspects(v *View) (stale []mirrorRow, hashed map[string]bool, err error) {
	hashed = map[string]bool{}
	err = s.eachKey(func(key string) error {
		place, ok := wire.ParseKey(key)
		switch {
		case !ok: // a cursor
			return nil
		case place.ContractHashed || place.KeyHashed:
			hashed[key] = true
			return nil
		}
		if rowKey, ok := state.MirroredKey(place.Projection, place.Contract, place.Key); ok {
			if value, err := v.Get(rowKey); value != nil || err != nil {
				return err
			}
		}
		ours, err := s.ours(v, place.Contract)
		if ours {
			stale = append(stale, mirrorRow{key: key})
		}
		return err
	})
	return stale, hashed, err
}

// ours says whether rows of a contract are this shard's to delete: all of them
// where no other shard writes the bucket.
func (s *mirrorSession) ours(v *View, contract string) (bool, error) {
	if s.m.o.Shards == 1 {
		return true, nil
	}
	key, _ := state.MirroredKey(state.Missions, contract, contract)
	value, err := v.Get(key)
	return value != nil, err
}

// eachKey calls f for each key of the bucket that is not deleted.
func (s *mirrorSession) eachKey(f func(key string) error) error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	bucket, err := s.js.KeyValue(ctx, wire.Bucket)
	if err != nil {
		return fmt.Errorf("list the bucket's keys: %w", err)
	}
	keys, err := bucket.ListKeys(ctx)
	if err != nil {
		return fmt.Errorf("list the bucket's keys: %w", err)
	}
	err = takeKeys(keys.Keys(), cancel, s.m.o.Limits.Answer, func(key string) error {
		if s.stopping() {
			return errStopping
		}
		return f(key)
	})
	return cmp.Or(err, context.Cause(s.ctx))
}

// takeKeys calls f for each key of a lister. After an error it stops the lister,
// and takes what that still has to give: it waits for somebody to do so.
func takeKeys(keys <-chan string, stop func(), patience time.Duration, f func(key string) error) error {
	defer func() {
		stop()
		for range keys { // it closes them when it has stopped
		}
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case key, more := <-keys:
			if !more {
				return nil
			}
			if err := f(key); err != nil {
				return err
			}
			late.Reset(patience)
		case <-late.C:
			return errForgets
		}
	}
}

// errForgets: the server counts keys that it does not give. A damaged file makes
// it do so.
var errForgets = errors.New("the server does not give all keys of the bucket")

var errStopping = errors.New("stopping")

// minHashed is the shortest id that a key of the bucket has as a hash: encoded
// it takes over 200 bytes, three for each byte at most.
const minHashed = 67

// knownHashes takes the keys of the store's rows out of hashed.
func knownHashes(reader *state.Reader, v *View, hashed map[string]bool) error {
	var failed error
	err := reader.ScanMirrored(func(key []byte, _ state.Meta) bool {
		if len(key) < minHashed {
			return true
		}
		var value []byte
		if value, failed = v.Get(key); failed != nil {
			return false
		}
		var d *state.Document
		var ok bool
		if d, ok, failed = reader.Mirrored(key, value); ok {
			delete(hashed, wire.Key(d.Contract, d.Projection, d.Key))
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}
