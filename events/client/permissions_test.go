package client_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// buyer is the user of docs/clients.md; agent may not touch JetStream.
const users = `
authorization {users: [
  {user: host, password: p}
  {user: buyer, password: p, permissions: {
    publish: [
      "aiws.cmd.c1.buyer.*", "aiws.q.c1.*", "$JS.API.STREAM.INFO.KV_aiws",
      "$JS.API.CONSUMER.CREATE.KV_aiws.*.$KV.aiws.c1.>", "$JS.API.CONSUMER.MSG.NEXT.KV_aiws.*",
      "$JS.API.CONSUMER.DELETE.KV_aiws.*", "$JS.API.DIRECT.GET.KV_aiws.$KV.aiws.c1.>"
    ]
    subscribe: ["_INBOX.>"]
  }}
  {user: agent, password: p, permissions: {publish: ["aiws.submit.c1.agent.*", "aiws.q.c1.*"], subscribe: ["_INBOX.>"]}}
]}`

func TestPermissions(t *testing.T) {
	ctx := integration(t)
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(ctx, t, t.TempDir(), clienttest.Options{Config: file})
	host := connect(t, r.URL, client.Options{Principal: "host"}, nats.UserInfo("host", "p"))
	submit(ctx, t, host, "c1", openContract("c1"))
	submit(ctx, t, host, "c2", openContract("c2"), &schema.StartRun{RunID: "r2"})

	for user, c := range map[string]*client.Client{
		"buyer": connect(t, r.URL, client.Options{Principal: "buyer"}, nats.UserInfo("buyer", "p")),
		"agent": connect(t, r.URL, client.Options{Principal: "agent"}, nats.UserInfo("agent", "p")),
	} {
		t.Run(user, func(t *testing.T) {
			began := time.Now()
			submit(ctx, t, c, "c1", &schema.StartRun{RunID: "run of " + user})
			if _, err := c.Get(ctx, "c1", "runs", "run of "+user); err != nil {
				t.Error(err)
			}
			if _, err := c.Get(ctx, "c2", "runs", "r2"); !errors.Is(err, client.ErrNotPermitted) {
				t.Errorf("read another contract: %v", err)
			}
			for _, command := range []client.Command{
				{Contract: "c1", Principal: "host", Body: &schema.StartRun{RunID: "x"}},
				{Contract: "c2", Body: &schema.StartRun{RunID: "x"}},
			} {
				if _, err := c.Submit(ctx, command); !errors.Is(err, client.ErrNotPermitted) {
					t.Errorf("%+v: %v", command, err)
				}
			}
			for contract, want := range map[string]bool{"c1": true, "c2": false, "": false} {
				rows, failed := 0, error(nil)
				for _, err := range c.Watch(ctx, client.WatchOptions{Contract: contract, Once: true}) {
					rows, failed = rows+1, err
				}
				if want && (failed != nil || rows == 0) || !want && !errors.Is(failed, client.ErrNotPermitted) {
					t.Errorf("watch %q: %d rows, %v", contract, rows, failed)
				}
			}
			for contract, want := range map[string]bool{"c1": true, "c2": false, "": false} {
				entries, failed := 0, error(nil)
				for _, err := range c.Read(ctx, client.ReadOptions{Contract: contract}) {
					entries, failed = entries+1, err
				}
				if want && (failed != nil || entries < 2) || !want && failed == nil {
					t.Errorf("read %q: %d decisions, %v", contract, entries, failed)
				}
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
