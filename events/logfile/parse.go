package logfile

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Bounds of the two numbers: a stamp in nanoseconds fits an int64, a sequence a
// JSON number that every reader keeps exact.
const (
	maxAt  = math.MaxInt64 / events.NanosPerMilli
	maxSeq = 1<<53 - 1
)

// memberNames are all names of the format.
var memberNames = []string{
	"contract", "principal", "type", "subject", "subjectBase64", "id", "ids", "idsBase64", "at", "seq",
	"command", "raw", "rawBase64",
}

// decisionMember is the one name more that a line of an export with decisions has.
const decisionMember = "decision"

// object is a line's JSON object, its values unread.
type object map[string]jsontext.Value

// parse resolves the text of one line.
func (r *Reader) parse(text []byte) (*Line, error) {
	o, err := readObject(text, r.Decisions)
	if err != nil {
		return nil, err
	}
	line := &Line{Decision: o[decisionMember]}
	commandType, err := o.body(line)
	if err != nil {
		return nil, err
	}
	if line.Subject, err = r.subject(o, commandType); err != nil {
		return nil, err
	}
	if line.IDs, err = o.ids(); err != nil {
		return nil, err
	}
	return line, o.position(line)
}

// readObject splits the line into its members. The JSON library refuses repeated
// names and text that is not UTF-8.
func readObject(text []byte, decisions bool) (object, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if d.PeekKind() != '{' {
		return nil, syntaxFault(d, "not a JSON object")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, jsonFault(err)
	}
	o := object{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, jsonFault(err)
		}
		name := token.String()
		if !slices.Contains(memberNames, name) && (name != decisionMember || !decisions) {
			return nil, fault(pointer(name), "unknown member")
		}
		value, err := d.ReadValue()
		if err != nil {
			return nil, jsonFault(err)
		}
		o[name] = value.Clone()
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, jsonFault(err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fault("", "more than one JSON value on the line")
	}
	return o, nil
}

// syntaxFault prefers the decoder's own error, where there is one.
func syntaxFault(d *jsontext.Decoder, otherwise string) error {
	if _, err := d.ReadToken(); err != nil {
		return jsonFault(err)
	}
	return fault("", "%s", otherwise)
}

func jsonFault(err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fault(string(syntactic.JSONPointer), "not valid JSON: %v (byte %d)", syntactic.Err, syntactic.ByteOffset)
	}
	return fault("", "not valid JSON: %v", err)
}

// body fills in the body and gives the command's type, "" where it has none.
func (o object) body(line *Line) (string, error) {
	name, err := o.oneOf("command", "raw", "rawBase64")
	switch {
	case err != nil:
		return "", err
	case name == "command":
		return o.command(line)
	}
	line.Raw = true
	text, err := o.bytes(name)
	line.Body = []byte(text)
	return "", err
}

func (o object) command(line *Line) (string, error) {
	body, err := schema.Canonical(o["command"])
	if err != nil {
		var f *schema.Fault
		if errors.As(err, &f) {
			return "", fault("/command"+f.Pointer, "%s; give a body that is not valid as raw", f.Message)
		}
		return "", fault("/command", "%v", err)
	}
	line.Body = body
	value := schema.Value(body)
	if value.Kind() != '{' {
		return "", nil
	}
	member, _ := value.Member("type")
	text, _ := member.Str()
	return text, nil
}

// subject makes the line's subject from its parts, or takes the one it gives.
func (r *Reader) subject(o object, commandType string) (string, error) {
	if o["subject"] != nil || o["subjectBase64"] != nil {
		return o.givenSubject()
	}
	s := schema.Subject{Contract: r.Contract, Principal: r.Principal, Type: commandType}
	for _, part := range []struct {
		name string
		into *string
	}{{"contract", &s.Contract}, {"principal", &s.Principal}, {"type", &s.Type}} {
		if o[part.name] != nil {
			text, err := o.text(part.name)
			if err != nil {
				return "", err
			}
			*part.into = text
		} else if *part.into == "" {
			return "", fault(pointer(part.name), "is missing: a message has a contract, a principal and a type")
		}
	}
	return s.String(), nil
}

func (o object) givenSubject() (string, error) {
	for _, name := range []string{"contract", "principal", "type"} {
		if o[name] != nil {
			return "", fault(pointer(name), "the line gives its subject whole")
		}
	}
	name, err := o.oneOf("subject", "subjectBase64")
	if err != nil {
		return "", err
	}
	return o.bytes(name)
}

// ids gives the values of the header.
func (o object) ids() ([]string, error) {
	if o["id"] == nil && o["ids"] == nil && o["idsBase64"] == nil {
		return nil, nil
	}
	name, err := o.oneOf("id", "ids", "idsBase64")
	if err != nil {
		return nil, err
	}
	if name == "id" {
		id, err := o.text(name)
		return []string{id}, err
	}
	return o.texts(name)
}

// position fills in at and seq.
func (o object) position(line *Line) error {
	if o["at"] != nil {
		at, err := o.integer("at", 0, maxAt)
		if err != nil {
			return err
		}
		line.At = &at
	}
	if o["seq"] == nil {
		return nil
	}
	seq, err := o.integer("seq", 1, maxSeq)
	line.Seq = uint64(seq)
	return err
}

// oneOf gives the one name of names that the line has.
func (o object) oneOf(names ...string) (string, error) {
	there := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return o[name] == nil })
	switch len(there) {
	case 0:
		return "", fault(pointer(names[0]), "is missing: a line has one of %s", strings.Join(names, ", "))
	case 1:
		return there[0], nil
	}
	return "", fault(pointer(there[1]), "the line has %s too, and may have one of them", there[0])
}

func (o object) text(name string) (string, error) {
	return unquote(pointer(name), o[name])
}

// bytes reads a member in text, or in base64 where its name says so.
func (o object) bytes(name string) (string, error) {
	text, err := o.text(name)
	if err != nil || !strings.HasSuffix(name, "Base64") {
		return text, err
	}
	return decode(pointer(name), text)
}

func (o object) texts(name string) ([]string, error) {
	if o[name].Kind() != '[' {
		return nil, fault(pointer(name), "want an array of strings")
	}
	list, err := schema.ParseValue(o[name])
	if err != nil {
		return nil, fault(pointer(name), "%v", err)
	}
	texts := []string{}
	for element := range list.Elements() {
		place := pointer(name) + "/" + strconv.Itoa(len(texts))
		text, err := unquote(place, jsontext.Value(element))
		if err == nil && strings.HasSuffix(name, "Base64") {
			text, err = decode(place, text)
		}
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

func (o object) integer(name string, low, high int64) (int64, error) {
	n, err := strconv.ParseInt(string(o[name]), 10, 64)
	if err != nil || n < low || n > high {
		return 0, fault(pointer(name), "want an integer from %d to %d", low, high)
	}
	return n, nil
}

func unquote(place string, value jsontext.Value) (string, error) {
	if value.Kind() != '"' {
		return "", fault(place, "want a string")
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", fault(place, "%v", err)
	}
	return string(text), nil
}

// decode reads base64 that our own writer could have written.
func decode(place, text string) (string, error) {
	if strings.ContainsAny(text, "\r\n") {
		return "", fault(place, "base64 with a line break")
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", fault(place, "%v", err)
	}
	return string(data), nil
}

func pointer(name string) string {
	return string(jsontext.Pointer("").AppendToken(name))
}
