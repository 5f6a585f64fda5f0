package plan

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// open parses one part of a source. base is the pointer at which the part stands; a text that is no JSON value of ours is a
// fault with the given reason.
func open(text, base, reason string) (*jsontree.Node, *Fault) {
	v, err := schema.ParseValue([]byte(text))
	if err == nil {
		return jsontree.Parse(v, base), nil
	}
	f := jsonFault(text, base, reason, maxLevels)
	if f == nil { // what jsonFault does not look for, such as depth
		f = &Fault{reason, base, err.Error()}
	}
	return nil, f
}

// maxLevels is more levels than any JSON text that we read can have.
const maxLevels = 10_000

// jsonFault returns what is wrong with the first bad value of a text. First means in the order in which ECMAScript visits the
// members of objects, as the vectors of graph-plan.v1 want it: names that are array indexes by number, then the others as
// they are written. Bad are values more than levels deep inside others, numbers that are not finite, strings and names that
// are not valid Unicode. A text that is no JSON at all, or repeats a name, has its fault where that shows.
func jsonFault(text, base, reason string, levels int) *Fault {
	w := walker{jsontext.NewDecoder(bytes.NewBufferString(text), jsontext.AllowInvalidUTF8(true)), levels}
	bad, err := w.value(0)
	if err == nil && strings.Trim(text[w.dec.InputOffset():], " \t\r\n") != "" {
		return &Fault{reason, base, "something follows the JSON value"}
	}
	var syntactic *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntactic):
		return &Fault{reason, base + string(syntactic.JSONPointer), syntactic.Err.Error()}
	case err != nil:
		return &Fault{reason, base, "the text ends too early"}
	case bad != nil:
		return &Fault{reason, base + bad.pointer, bad.message}
	}
	return nil
}

// walker reads a text value by value.
type walker struct {
	dec    *jsontext.Decoder
	levels int
}

// bad is the first bad value in some part of a text, with its pointer from there.
type bad struct{ pointer, message string }

// value reads one value that stands inside so many others.
func (w *walker) value(level int) (*bad, error) {
	kind := w.dec.PeekKind()
	if level > w.levels {
		return &bad{"", "is nested more than " + strconv.Itoa(w.levels) + " levels deep"}, w.dec.SkipValue()
	}
	switch kind {
	case '{':
		return w.object(level)
	case '[':
		return w.array(level)
	}
	raw, err := w.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	switch kind {
	case '"':
		if !isUnicode(raw) {
			return &bad{"", "is a string that is not valid Unicode"}, nil
		}
	case '0':
		if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
			return &bad{"", "is a number that is not finite"}, nil
		}
	}
	return nil, nil
}

func isUnicode(raw jsontext.Value) bool {
	_, err := jsontext.AppendUnquote(nil, raw)
	return err == nil
}

func (w *walker) array(level int) (*bad, error) {
	if _, err := w.dec.ReadToken(); err != nil {
		return nil, err
	}
	var first *bad
	for i := 0; w.dec.PeekKind() != ']'; i++ {
		found, err := w.value(level + 1)
		if err != nil {
			return nil, err
		}
		if found != nil && first == nil {
			found.pointer = "/" + strconv.Itoa(i) + found.pointer
			first = found
		}
	}
	_, err := w.dec.ReadToken()
	return first, err
}

func (w *walker) object(level int) (*bad, error) {
	if _, err := w.dec.ReadToken(); err != nil {
		return nil, err
	}
	var first *bad
	var rank memberRank
	for i := 0; w.dec.PeekKind() != '}'; i++ {
		name, found, err := w.member(level)
		if err != nil {
			return nil, err
		}
		if this := rankOf(name, i); found != nil && (first == nil || this.before(rank)) {
			found.pointer = "/" + jsontree.Token(name) + found.pointer
			first, rank = found, this
		}
	}
	_, err := w.dec.ReadToken()
	return first, err
}

func (w *walker) member(level int) (string, *bad, error) {
	raw, err := w.dec.ReadValue()
	if err != nil {
		return "", nil, err
	}
	chars, invalid := jsontext.AppendUnquote(nil, raw)
	found, err := w.value(level + 1)
	if invalid != nil {
		found = &bad{"", "has a name that is not valid Unicode"}
	}
	return string(chars), found, err
}

// memberRank is the place of a member among those of its object, as ECMAScript visits them.
type memberRank struct {
	group int // 0: the name is an array index
	at    uint64
}

func rankOf(name string, position int) memberRank {
	if len(name) <= 10 && (name == "0" || name != "" && name[0] != '0') {
		if i, err := strconv.ParseUint(name, 10, 32); err == nil && i < 1<<32-1 {
			return memberRank{0, i}
		}
	}
	return memberRank{1, uint64(position)}
}

func (m memberRank) before(o memberRank) bool {
	return cmp.Or(cmp.Compare(m.group, o.group), cmp.Compare(m.at, o.at)) < 0
}
