package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/auth"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// rolesPage is the table of docs/security.md: what each role may send.
func rolesPage(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z]+) \| (.*) \|$`).FindAllStringSubmatch(string(text), -1) {
		if row[1] != "role" {
			roles[row[1]] = regexp.MustCompile(`[a-z]+[A-Za-z]*`).FindAllString(strings.Replace(row[2], "none", "", 1), -1)
		}
	}
	return roles
}

// refusals collects what the server lets a user not do.
type refusals struct {
	mu  sync.Mutex
	all map[string]bool
}

var quotedSubject = regexp.MustCompile(`"([^"]+)"`)

func (r *refusals) hear(_ *nats.Conn, _ *nats.Subscription, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name := quotedSubject.FindStringSubmatch(err.Error()); name != nil && strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
		r.all[name[1]] = true
	}
}

func (r *refusals) sorted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.all))
}

// TestInitRoles: over real connections each user of init sends the commands that
// docs/security.md says, as itself and about its contract, and nothing else:
// every type of command, as everybody, on either way in; and nothing of the
// server's own.
func TestInitRoles(t *testing.T) {
	page := rolesPage(t)
	if got := slices.Sorted(maps.Keys(page)); !slices.Equal(got, auth.Roles()) {
		t.Fatalf("docs/security.md has the roles %v, there are %v", got, auth.Roles())
	}
	dir := filepath.Join(t.TempDir(), "secrets")
	contracts := map[string]string{"buyer": "c1"}
	users := map[string]string{"buyer": "agent"}
	args := []string{"init", dir, "--user", "buyer:agent:c1"}
	for _, role := range auth.Roles() {
		only := "only-" + role
		users[role], users[only], contracts[only] = role, role, "c1"
		args = append(args, "--user", only+":"+role+":c1")
	}
	must(t, 0, "reducer", args...)
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--nats-config", filepath.Join(dir, "nats.conf"))
	for user, role := range users {
		t.Run(user, func(t *testing.T) {
			heard := &refusals{all: map[string]bool{}}
			nc := connectAs(t, s.url, user, seedOf(t, dir, user), heard.hear)
			want := map[string]bool{}
			publish := func(subject string, allowed bool) {
				if err := nc.PublishRequest(subject, "_INBOX."+user+".void", []byte("{}")); err != nil {
					t.Fatal(err)
				}
				if !allowed {
					want[subject] = true
				}
			}
			for subject, allowed := range commandsOf(user, page[role], contracts[user]) {
				publish(subject, allowed)
			}
			for _, subject := range serversOwn {
				publish(subject, false)
			}
			for _, subject := range []string{"_INBOX.>", "_INBOX.*.x", ">", "aiws.>", "$KV.>", "$JS.>", "_INBOX.host2.>", "_R_.>"} {
				if _, err := nc.SubscribeSync(subject); err != nil {
					t.Fatal(err)
				}
				want[subject] = true
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
			refused := slices.Sorted(maps.Keys(want))
			// What was refused is told beside the answers. What was let through is
			// seen when all of it came.
			deadline := time.Now().Add(patience)
			for len(heard.sorted()) < len(refused) && time.Now().Before(deadline) {
				time.Sleep(10 * time.Millisecond)
			}
			if got := heard.sorted(); !slices.Equal(got, refused) {
				t.Errorf("let through: %v\nrefused against docs/security.md: %v", without(refused, got), without(got, refused))
			}
		})
	}
}

func without(list, other []string) (left []string) {
	for _, one := range list {
		if !slices.Contains(other, one) {
			left = append(left, one)
		}
	}
	return left
}

// commandsOf are the subjects of every command type on both ways in, as oneself
// and as others, about two contracts; true where a user may publish there.
func commandsOf(user string, types []string, contract string) map[string]bool {
	subjects := map[string]bool{}
	for _, kind := range append(slices.Clone(schema.CommandTypes), "unknownType") {
		for _, about := range []string{"c1", "c2"} {
			for _, as := range []string{user, "somebody", "host=20"} {
				subjects["aiws.cmd."+about+"."+as+"."+kind] = false
				subjects["aiws.submit."+about+"."+as+"."+kind] = as == user && slices.Contains(types, kind) && (contract == "" || contract == about)
			}
		}
	}
	return subjects
}

// serversOwn are subjects that nobody but the reducer may publish to.
var serversOwn = []string{
	"aiws.log.0.1", "aiws.log.0.x", "aiws.cmd", "$KV.aiws.c1.runs.r1", "$KV.aiws._cursor.0",
	"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.LIST", "$JS.API.STREAM.CREATE.X", "$JS.API.STREAM.INFO.AIWS_LOG_0",
	"$JS.API.STREAM.PURGE.AIWS_INBOX_0", "$JS.API.STREAM.DELETE.AIWS_LOG_0", "$JS.API.STREAM.UPDATE.AIWS_LOG_0",
	"$JS.API.STREAM.MSG.DELETE.AIWS_LOG_0", "$JS.API.STREAM.MSG.GET.AIWS_LOG_0", "$JS.API.DIRECT.GET.AIWS_LOG_0",
	"$JS.API.STREAM.SNAPSHOT.AIWS_LOG_0", "$JS.API.STREAM.RESTORE.AIWS_LOG_0", "$JS.API.STREAM.LEADER.STEPDOWN.AIWS_LOG_0",
	"$JS.API.CONSUMER.CREATE.AIWS_LOG_0", "$JS.API.CONSUMER.CREATE.AIWS_INBOX_0.x", "$JS.API.CONSUMER.DURABLE.CREATE.AIWS_LOG_0.x",
	"$JS.API.CONSUMER.DELETE.AIWS_INBOX_0.x", "$JS.API.CONSUMER.MSG.NEXT.AIWS_INBOX_0.x", "$JS.API.CONSUMER.PAUSE.AIWS_INBOX_0.x",
	"$JS.API.DIRECT.GET.KV_aiws.$KV.aiws.c2.runs.r", "$JS.API.CONSUMER.CREATE.KV_aiws.x.$KV.aiws.c2.>", "$JS.API.ACCOUNT.PURGE.G",
	"$JS.ACK.AIWS_INBOX_0.x.1.1.1.1.1", "$JS.FC.AIWS_INBOX_0.x.y", "$SYS.REQ.SERVER.PING", "$SRV.PING", "$SRV.INFO.aiws",
	"_INBOX.other.x", "_R_.x", "aiws.q.heads", "aiws.q.digest", "aiws.q.contracts", "aiws.q.checkpoint", "aiws.q.rows",
}
