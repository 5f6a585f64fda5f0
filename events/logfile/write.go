package logfile

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Append appends m as a line, newline included, so that reading it gives the same
// decisions: raw where the body is not the canonical JSON of a command, subject
// where it does not parse.
func Append(dst []byte, m *events.Message) []byte {
	command := isCommand(m.Body)
	commandType := ""
	if command {
		member, _ := schema.Value(m.Body).Member("type")
		commandType, _ = member.Str()
	}
	dst = appendSubject(append(dst, '{'), m.Subject, commandType)
	dst = appendIDs(dst, m.IDs)
	dst = strconv.AppendInt(append(dst, `,"at":`...), max(0, m.Time/events.NanosPerMilli), 10)
	dst = strconv.AppendUint(append(dst, `,"seq":`...), m.Seq, 10)
	dst = append(dst, ',')
	if command {
		dst = append(append(dst, `"command":`...), m.Body...)
	} else {
		dst = appendBytes(dst, "raw", string(m.Body))
	}
	return append(dst, "}\n"...)
}

// AppendDecided appends m as Append does, with the decision record that was
// recorded for it as the line's last member. A Reader takes such lines where its
// Decisions is set.
func AppendDecided(dst []byte, m *events.Message, record []byte) []byte {
	dst = bytes.TrimSuffix(Append(dst, m), []byte("}\n"))
	return append(append(append(dst, `,"decision":`...), record...), "}\n"...)
}

// isCommand: the body is the canonical JSON of a command of the schema.
func isCommand(body []byte) bool {
	canonical, err := schema.Canonical(body)
	if err != nil || !bytes.Equal(canonical, body) {
		return false
	}
	_, fault := schema.Decode(body)
	return fault == nil
}

// appendSubject leaves the type out where the command says the same.
func appendSubject(dst []byte, subject, commandType string) []byte {
	s, ok := schema.ParseSubject(subject)
	if !ok {
		return appendBytes(dst, "subject", subject)
	}
	dst = schema.AppendString(append(dst, `"contract":`...), s.Contract)
	dst = schema.AppendString(append(dst, `,"principal":`...), s.Principal)
	if s.Type != commandType {
		dst = schema.AppendString(append(dst, `,"type":`...), s.Type)
	}
	return dst
}

func appendIDs(dst []byte, ids []string) []byte {
	if ids == nil {
		return dst
	}
	dst = append(dst, ',')
	switch {
	case slices.ContainsFunc(ids, func(id string) bool { return !utf8.ValidString(id) }):
		return appendList(append(dst, `"idsBase64":`...), ids, appendBase64)
	case len(ids) == 1:
		return schema.AppendString(append(dst, `"id":`...), ids[0])
	}
	return appendList(append(dst, `"ids":`...), ids, schema.AppendString)
}

func appendList(dst []byte, values []string, element func([]byte, string) []byte) []byte {
	dst = append(dst, '[')
	for i, value := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = element(dst, value)
	}
	return append(dst, ']')
}

// appendBytes writes a member in text, or in base64 under the longer name where
// the value is not UTF-8.
func appendBytes(dst []byte, name, value string) []byte {
	dst = append(append(dst, '"'), name...)
	if utf8.ValidString(value) {
		return schema.AppendString(append(dst, `":`...), value)
	}
	return appendBase64(append(dst, `Base64":`...), value)
}

func appendBase64(dst []byte, value string) []byte {
	dst = base64.StdEncoding.AppendEncode(append(dst, '"'), []byte(value))
	return append(dst, '"')
}
