package projections

import "testing"

func TestIsInbox(t *testing.T) {
	for reply, want := range map[string]bool{
		"_INBOX.a.b": true, "_R_.x.y": true, "": false, "_INBOX": false, "_INBOXES.a": false, "_INBOX.*": false,
		"aiws.cmd.c1.approver.approve": false, "$JS.API.STREAM.DELETE.KV_aiws": false,
	} {
		if isInbox(reply) != want {
			t.Errorf("%q: an inbox is %v, want %v", reply, !want, want)
		}
	}
}
