package jetlog

import (
	"strings"

	"github.com/nats-io/nats.go"
)

// Headers of commands and replies (DESIGN 4).
const (
	HeaderCommandID = "Aiws-Command-Id"
	HeaderReply     = "Aiws-Reply"
	HeaderFinal     = "Aiws-Final" // of a reply: false when the same id may be decided later
)

const (
	replyPrefix   = "_INBOX."
	maxReplyBytes = 256
)

// replyTo is the subject that a command's decision goes to, or "". The reducer
// may publish anywhere, so a command must not tell it where: only inboxes of
// clients, and no wildcard.
func replyTo(header nats.Header) string {
	values := header[HeaderReply]
	if len(values) != 1 {
		return ""
	}
	subject := values[0]
	if len(subject) > maxReplyBytes || !strings.HasPrefix(subject, replyPrefix) || !isPublishSubject(subject) {
		return ""
	}
	return subject
}

// isPublishSubject: tokens without wildcards, spaces or control characters, none empty.
func isPublishSubject(subject string) bool {
	for token := range strings.SplitSeq(subject, ".") {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == '*' || r == '>' || r == 0x7F }) {
			return false
		}
	}
	return true
}

type replies struct{ conn *Conn }

// Reply implements [loop.Replies]: the payload is the decision record.
func (r replies) Reply(subject string, record []byte, final bool) {
	m := &nats.Msg{Subject: subject, Data: record, Header: nats.Header{HeaderFinal: {"true"}}}
	if !final {
		m.Header[HeaderFinal] = []string{"false"}
	}
	_ = r.conn.nc.PublishMsg(m) // who hears nothing asks again; a lost connection ends the term
}
