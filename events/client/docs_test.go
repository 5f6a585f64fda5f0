package client_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
)

// nodeModules names a directory in which the packages of docs/clients.md are
// installed.
const nodeModules = "AIWS_TEST_NODE_MODULES"

func clientsPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/clients.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func run(ctx context.Context, t *testing.T, dir, url, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "NATS_URL="+url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// natsCommands are the commands of the page that begin with nats, as a script.
func natsCommands(page string) string {
	var script []string
	open := false // the line before ends in a backslash
	for line := range strings.Lines(page) {
		command, indented := strings.CutPrefix(line, "    ")
		if !indented || !open && !strings.HasPrefix(command, "nats ") {
			continue
		}
		command = strings.TrimSuffix(command, "\n")
		open = strings.HasSuffix(command, `\`)
		if strings.HasPrefix(command, "nats kv watch") {
			command = "timeout 3 " + command + " || true"
		}
		script = append(script, strings.Replace(command, "nats sub ", "nats sub --count 1 ", 1))
		if strings.HasPrefix(command, "nats sub ") {
			script = append(script, "sleep 1")
		}
	}
	return "set -e\n" + strings.Join(script, "\n") + "\nwait\n"
}

// TestPageNats runs the commands of docs/clients.md with the real nats command.
func TestPageNats(t *testing.T) {
	ctx := integration(t)
	if _, err := exec.LookPath("nats"); err != nil {
		t.Skip("needs nats: go install github.com/nats-io/natscli/nats@v0.5.0")
	}
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	out := run(ctx, t, t.TempDir(), r.URL, "bash", "-c", natsCommands(clientsPage(t)))
	for _, want := range []string{
		`"type":"contractOpened"`, `"type":"runStarted"`, `"to":"RUNNING","type":"runTransitioned"`, "Aiws-Final: true",
		`"documents":[{`, `"changes":[{"at":`, `"decisions":[{"block":`, `"attempts":[]`, `"budget":"1600"`, `"commandId":"start-r1"`, `"ready":true`, "PUT aiws > c1.runs.r1: ",
		`"row":{"available":"1600"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the commands do not print %s", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestPageJavaScript runs the program of docs/clients.md under Node.
func TestPageJavaScript(t *testing.T) {
	ctx := integration(t)
	modules := os.Getenv(nodeModules)
	if modules == "" {
		t.Skipf("needs node, and %s=DIR where npm install @nats-io/transport-node @nats-io/jetstream @nats-io/kv was run", nodeModules)
	}
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host"})
	submit(ctx, t, c, "c1", openContract("c1"))
	_, block, found := strings.Cut(clientsPage(t), "```js\n")
	program, _, ended := strings.Cut(block, "```")
	if !found || !ended {
		t.Fatal("the page has no program")
	}
	file := filepath.Join(modules, "clients-page.mjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	out := run(ctx, t, modules, r.URL, "node", file)
	for _, want := range []string{"accepted  [ 'runStarted' ]", "[ 'js-", "command 2 READY"} {
		if !strings.Contains(out, want) {
			t.Errorf("the program does not print %s:\n%s", want, out)
		}
	}
}
