package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestInit: with what init writes, over real connections, each user can do what
// its role needs and nothing of the list of attacks.
func TestInit(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := filepath.Join(t.TempDir(), "secrets")
	must(t, 0, "reducer", "init", dir, "--user", "buyer:agent:c1")
	must(t, 1, "reducer", "init", dir)
	must(t, 2, "reducer", "init", filepath.Join(dir, "x"), "--user", "a:king")
	for _, name := range []string{"nats.conf", "buyer.nk"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--nats-config", filepath.Join(dir, "nats.conf"))
	denied := make(chan error, 64)
	buyer := connectAs(t, s.url, "buyer", seedOf(t, dir, "buyer"), func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err })
	for _, subject := range []string{"aiws.q.c1.list", "aiws.q.status", "aiws.submit.c1.buyer.admit"} {
		if m, err := buyer.Request(subject, []byte("{}"), 30*time.Second); err != nil || len(m.Data) == 0 {
			t.Errorf("%s: %v", subject, err)
		}
	}
	refused := func(what string, f func() error) {
		t.Helper()
		if err := f(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-denied:
			if !strings.Contains(err.Error(), "ermissions") {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s was not refused", what)
		}
	}
	for _, subject := range []string{
		"aiws.cmd.c1.buyer.approve", "aiws.submit.c1.buyer.approve", "aiws.cmd.c1.approver.approve", "aiws.submit.c1.approver.approve",
		"aiws.cmd.c1.buyer.admit", "aiws.submit.c2.buyer.admit", "aiws.q.c2.list", "aiws.log.0.1", "$KV.aiws.c1.runs.r1",
		"$JS.API.STREAM.PURGE.AIWS_INBOX_0", "$JS.API.STREAM.DELETE.AIWS_LOG_0", "$JS.API.STREAM.UPDATE.AIWS_LOG_0",
		"$JS.API.STREAM.SNAPSHOT.AIWS_LOG_0", "$JS.API.STREAM.RESTORE.AIWS_LOG_0", "$JS.API.CONSUMER.CREATE.AIWS_LOG_0",
		"$JS.API.CONSUMER.CREATE.AIWS_INBOX_0", "$JS.API.CONSUMER.CREATE.KV_aiws.x.$KV.aiws.c2.>",
		"$JS.API.DIRECT.GET.KV_aiws.$KV.aiws.c2.runs.r", "$SYS.REQ.SERVER.PING", "$SRV.PING", "_INBOX.host.x",
	} {
		refused(subject, func() error { return buyer.PublishRequest(subject, "_INBOX.buyer.x", []byte("{}")) })
	}
	for _, subject := range []string{"_INBOX.>", "_INBOX.host.>", "aiws.>", "$KV.>"} {
		refused("subscribe "+subject, func() error { _, err := buyer.SubscribeSync(subject); return err })
	}
}
