package events_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// FuzzParseBlock: any bytes are a block or an error. A block that parses can be
// written again: the same messages and records.
func FuzzParseBlock(f *testing.F) {
	d, m := decisions(), messages()
	b := events.NewBlock(events.Header{RulesVersion: 1, Generation: "g", Writer: "w", Build: "b", Shards: 1, Time: "0", PrevBlockHash: events.ZeroHash})
	for _, outcome := range []string{"accepted", "rejected", "duplicate", "unrouted"} {
		b.Add(m[outcome], d[outcome])
	}
	data, _ := b.Seal([32]byte{})
	f.Add(data, false)
	f.Add(data[:len(data)/2], true)
	f.Add([]byte("{}\n"), true)
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		if mend { // a checksum that fits lets the fuzzer look further
			data = mended(data)
		}
		block, err := events.ParseBlock(data)
		if err != nil {
			return
		}
		again := events.NewBlock(block.Header)
		for i := range block.Entries {
			again.Add(&block.Entries[i].Message, block.Entries[i].Decision)
		}
		rebuilt, _ := again.Seal([32]byte{})
		second, err := events.ParseBlock(rebuilt)
		if err != nil {
			t.Fatalf("what was read does not read again: %v", err)
		}
		for i := range block.Entries {
			a, b := &block.Entries[i], &second.Entries[i]
			if a.Message.Seq != b.Message.Seq || a.Message.Time != b.Message.Time || a.Message.Subject != b.Message.Subject ||
				!bytes.Equal(a.Message.Body, b.Message.Body) || len(a.Message.IDs) != len(b.Message.IDs) {
				t.Fatalf("message %d reads back as another", a.Message.Seq)
			}
			if got, want := b.Decision.Append(nil), a.Decision.Append(nil); !bytes.Equal(got, want) {
				t.Fatalf("record reads back as another:\n%s\n%s", got, want)
			}
		}
	})
}

// mended writes the checksum of format 2 into the header of a block.
func mended(data []byte) []byte {
	i := bytes.IndexByte(data, '\n')
	at := bytes.Index(data, []byte(`"checksum":"`))
	if i < 0 || at < 0 || at > i || at+12+64 > i {
		return data
	}
	data = bytes.Clone(data)
	copy(data[at+12:], checksum(data[i+1:]))
	copy(data[at+12:], checksum(data[:i+1]))
	return data
}

// FuzzParseDecision: any bytes are a record or an error, and a record that
// parses is written again to the same.
func FuzzParseDecision(f *testing.F) {
	for _, record := range sampleRecords() {
		f.Add(record)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := events.ParseDecision(data)
		checkBothParsers(t, data, d, err)
		if err != nil {
			return
		}
		record := d.Append(nil)
		again, err := events.ParseDecision(record)
		if err != nil {
			t.Fatalf("what was read does not read again: %v\n%s\n%s", err, data, record)
		}
		if got := again.Append(nil); !bytes.Equal(got, record) {
			t.Fatalf("reads back as another:\n%s\n%s", record, got)
		}
		if d.CheckHash() != again.CheckHash() {
			t.Fatal("the hash is right once and wrong once")
		}
		again.Seal(again.Prev)
		if got, want := again.AppendBare(nil), d.AppendBare(nil); d.CheckHash() && !bytes.Equal(got, want) {
			t.Fatalf("events read back as others:\n%s\n%s", want, got)
		}
		for _, e := range d.Events {
			_ = events.Format(e)
		}
		_ = d.String()
	})
}

// checkBothParsers: whether a record is parsed as Append wrote it or by way of
// the reader of any JSON, it is the same record or the same error.
func checkBothParsers(tb testing.TB, data []byte, d *events.Decision, err error) {
	tb.Helper()
	other, otherErr := events.ParseAny(data)
	switch {
	case (err == nil) != (otherErr == nil) || err != nil && err.Error() != otherErr.Error():
		tb.Fatalf("%.2000q: %v, and by way of any JSON: %v", data, err, otherErr)
	case err == nil && !reflect.DeepEqual(d, other):
		tb.Fatalf("%.2000q is\n%+v, and by way of any JSON\n%+v", data, d, other)
	}
}

// TestParsersAgree compares both on the records of every event, whole and with
// bytes changed, dropped and repeated at every place.
func TestParsersAgree(t *testing.T) {
	check := func(data []byte) {
		d, err := events.ParseDecision(data)
		checkBothParsers(t, data, d, err)
	}
	for _, record := range sampleRecords() {
		check(record)
		for i := range record {
			check(slices.Delete(bytes.Clone(record), i, i+1))
			check(slices.Insert(bytes.Clone(record), i, record[i]))
			for _, c := range []byte(`"\\0 z,}` + "\x00\xff") {
				spoiled := bytes.Clone(record)
				spoiled[i] = c
				check(spoiled)
			}
		}
	}
}

// sampleRecords are the records of the sample decisions, and one of each sample
// of an event.
func sampleRecords() [][]byte {
	var records [][]byte
	for _, d := range decisions() {
		records = append(records, d.Append(nil))
	}
	for _, list := range samples {
		for _, e := range list {
			d := &events.Decision{
				Contract: "c", CommandSeq: 1, CommandID: "x", At: dec("1"), BodyHash: hash, Outcome: events.OutcomeAccepted,
				Events: []events.Event{e},
			}
			d.Seal(events.ZeroHash)
			records = append(records, d.Append(nil))
		}
	}
	return records
}
