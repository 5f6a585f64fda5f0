package projections

import (
	"strings"

	"github.com/nats-io/nats.go/micro"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// importedReply begins the reply subject that a server gives to a request from
// another account.
const importedReply = "_R_."

// onlyInboxes drops requests whose answer would go anywhere but to an inbox.
// The service may publish anywhere: a reply subject under aiws.cmd would put its
// answer into the inbox stream, as a command of whoever the subject names.
func onlyInboxes(handle func(micro.Request)) func(micro.Request) {
	return func(r micro.Request) {
		if isInbox(r.Reply()) {
			handle(r)
		}
	}
}

func isInbox(reply string) bool {
	return (strings.HasPrefix(reply, wire.ReplyPrefix) || strings.HasPrefix(reply, importedReply)) && !strings.ContainsAny(reply, "*> ")
}
