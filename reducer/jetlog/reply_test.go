package jetlog

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// TestReplyTo: the reducer may publish anywhere, so only an inbox of a client
// is taken for an address.
func TestReplyTo(t *testing.T) {
	long := "_INBOX." + strings.Repeat("x", maxReplyBytes-len("_INBOX."))
	for _, c := range []struct {
		values []string
		want   string
	}{
		{nil, ""},
		{[]string{"_INBOX.abc.1"}, "_INBOX.abc.1"},
		{[]string{long}, long},
		{[]string{long + "x"}, ""},
		{[]string{"_INBOX."}, ""},
		{[]string{"_INBOX"}, ""},
		{[]string{"_INBOX.a..b"}, ""},
		{[]string{"_INBOX.a.*"}, ""},
		{[]string{"_INBOX.a.>"}, ""},
		{[]string{"_INBOX.a b"}, ""},
		{[]string{"_INBOX.a\tb"}, ""},
		{[]string{"aiws.cmd.c1.bob.accept"}, ""},
		{[]string{"$JS.API.STREAM.DELETE.AIWS_LOG_0"}, ""},
		{[]string{"_INBOX.a", "_INBOX.b"}, ""},
	} {
		if got := replyTo(nats.Header{HeaderReply: c.values}); got != c.want {
			t.Errorf("%q: %q, want %q", c.values, got, c.want)
		}
	}
}

func TestParsePlace(t *testing.T) {
	want := place{seq: 12, delivered: 3, time: 1700000000000000001}
	for _, reply := range []string{
		"$JS.ACK.AIWS_LOG_0.aiws-x.1.12.3.1700000000000000001.5",
		"$JS.ACK._.hash.AIWS_LOG_0.aiws-x.1.12.3.1700000000000000001.5",
		"$JS.ACK.dom.hash.AIWS_LOG_0.aiws-x.1.12.3.1700000000000000001.5.random",
	} {
		if got, err := parsePlace(reply); err != nil || got != want {
			t.Errorf("%s: %+v, %v", reply, got, err)
		}
	}
	for _, reply := range []string{"", "_INBOX.x", "$JS.ACK.a.b.1.x.3.4.5", "$JS.ACK.a.b.1.2.3.4", "$JS.ACK.a.b.c.1.2.3.4.5"} {
		if got, err := parsePlace(reply); err == nil {
			t.Errorf("%q: %+v, want an error", reply, got)
		}
	}
}
