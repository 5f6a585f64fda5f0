package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// stories are the data directories that the examples of docs/operators.md are
// of, made from the quickstart with its own times.
func stories(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(text))+"\n", "\n")
	revoke := `{"contract":"onboarding","principal":"finance","at":1767600780000,"command":{"type":"revokeGrant","grantId":"team-card"}}` + "\n"
	made := map[string]string{}
	for name, commands := range map[string][]string{"story": lines, "called": lines[:8], "revoked": append(slices.Clone(lines[:12]), revoke)} {
		made[name] = importedStory(t, strings.Join(commands, ""))
	}
	return made
}

// importedStory makes a data directory of a file.
func importedStory(t *testing.T, file string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if r := run(t, file, "reducer", "import", "-", "--data", dir); r.code != 0 {
		t.Fatal(r)
	}
	return dir
}

var (
	exampleBlock = regexp.MustCompile("(?s)```console of=(\\w+)\n\\$ reducer ([^\n]*)\n(.*?)```")
	anyAge       = regexp.MustCompile(`\s+\d+[dhms]\w*\b`) // of an attempt: it is another one each time
)

// settledAge puts something that stays in the place of ages and of how far cells
// are apart.
func settledAge(out string) string {
	lines := strings.Split(anyAge.ReplaceAllString(out, " AGE"), "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return strings.Join(lines, "\n")
}

// TestOperatorsPage: each example of docs/operators.md is what the command says
// of a stopped directory and of a running reducer.
func TestOperatorsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := exampleBlock.FindAllStringSubmatch(string(page), -1)
	if len(examples) < 7 {
		t.Fatalf("the page has %d examples", len(examples))
	}
	where := stories(t)
	check := func(flag string) {
		for _, x := range examples {
			name, command, want := x[1], x[2], x[3]
			got := must(t, 0, "reducer", append(strings.Fields(command), flag, where[name])...)
			if diff := cmp.Diff(settledAge(want), settledAge(got)); diff != "" {
				t.Errorf("reducer %s %s (-page +now):\n%s\n%s", command, flag, diff, got)
			}
		}
	}
	check("--data")
	if testing.Short() {
		return
	}
	for name, dir := range where {
		where[name] = serve(t, dir).url
	}
	check("--nats")
}

// TestWords: an event is told in words of its own, but for those about triggers
// alone.
func TestWords(t *testing.T) {
	var plain []string
	for _, kind := range events.Types {
		event := events.New(kind)
		text := words(event)
		if text == "" {
			t.Errorf("%s is told as nothing", kind)
		}
		if strings.HasPrefix(text, kind+" ") {
			plain = append(plain, kind)
		}
	}
	if diff := cmp.Diff([]string{"triggerCursorMoved", "triggerObserved", "triggerRegistered"}, plain); diff != "" {
		t.Errorf("told as they are written (-want +got):\n%s", diff)
	}
}

// A question that cannot be answered says what to ask instead.
func TestShowHints(t *testing.T) {
	data := stories(t)["story"]
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", exit.Usage, "name what to show: approvals, "},
		{"bills", exit.Usage, `"bills"; there are approvals, `},
		{"runs --state STUCK", exit.Usage, `no state "STUCK"; there are READY, `},
		{"runs nowhere", exit.Failure, "list what there is: reducer show runs --contract onboarding"},
		{"runs --contract other", exit.Failure, `no contract "other" is open; list those that are: reducer show missions`},
		{"waits --run nowhere", exit.Failure, "list those that are there: reducer show runs"},
		{"decisions --run nowhere", exit.Failure, "list those that are there: reducer show runs"},
		{"decisions --code NO_SUCH", exit.Usage, "docs/codes.md lists them"},
		{"decisions --outcome refused", exit.Usage, "there are accepted, rejected, duplicate"},
		{"decisions --type order", exit.Usage, `no command "order"; there are startRun, `},
		{"decisions --rejected --outcome accepted", exit.Usage, "exclude each other"},
		{"decisions 77", exit.Failure, "list what was: reducer show decisions --contract onboarding"},
		{"decisions first", exit.Usage, "no command sequence"},
		{"decisions --since yesterday", exit.Usage, "want a time as "},
		{"timeline", exit.Usage, "say with --run"},
		{"timeline --run nowhere", exit.Failure, "list those that are there: reducer show runs"},
		{"attempts --older-than 1m", exit.Usage, "--older-than goes with --unsettled"},
		{"attempts --unsettled --state APPLIED", exit.Usage, "there are PREPARED, DISPATCHED, UNKNOWN"},
		{"attempts --unsettled --run nowhere", exit.Failure, "list those that are there: reducer show runs"},
		{"grants nobody --subtree", exit.Failure, "list what there is: reducer show grants --contract onboarding"},
		{"changes decisions", exit.Usage, "there are approvals, "},
		{"changes --from 9 --to 3", exit.Usage, "--from 9 is after --to 3"},
		{"changes --from sometime", exit.Usage, "want a command sequence"},
		{"runs --follow", exit.Usage, "--follow goes with a running reducer"},
	} {
		r := run(t, "", "reducer", append(append([]string{"show"}, strings.Fields(c.args)...), "--data", data)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("show %s: %s", c.args, r)
		}
	}
}

// TestNobody: where no reducer answers, every command says what to do.
func TestNobody(t *testing.T) {
	nowhere := "nats://127.0.0.1:1"
	urls := []string{nowhere}
	if !testing.Short() {
		urls = append(urls, bareServer(t))
	}
	for _, url := range urls {
		for _, args := range []string{
			"show runs", "show decisions", "show timeline --run r", "show attempts --unsettled", "show changes", "show runs --follow",
			"status", "watch", "digest", "export", "plan --contract c --run r", "head",
		} {
			r := run(t, "", "reducer", append(strings.Fields(args), "--nats", url, "--timeout", "2s")...)
			if r.code != exit.Failure || !strings.Contains(r.stderr, "no reducer answers at "+url+"; start one with `reducer serve`") {
				t.Errorf("%s at %s: %s", args, url, r)
			}
		}
	}
}

// bareServer is a NATS server that no reducer has used.
func bareServer(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), MaxPayload: 8 << 20, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.ClientURL()
}

func TestCompletion(t *testing.T) {
	complete := func(args ...string) []string {
		words, _, _ := strings.Cut(must(t, 0, "reducer", append([]string{"__complete"}, args...)...), ":")
		return strings.Fields(words)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"show", "deci"}, "decisions"},
		{[]string{"show", "runs", "--state", "CANC"}, "CANCELING CANCELED"},
		{[]string{"show", "attempts", "--state", "UNK"}, "UNKNOWN"},
		{[]string{"show", "decisions", "--outcome", ""}, "accepted rejected duplicate"},
		{[]string{"show", "decisions", "--code", "BUDGET"}, "BUDGET_EXCEEDED"},
		{[]string{"show", "timeline", "--type", "re"}, "revokeGrant retry resume registerTrigger registerGraph"},
		{[]string{"show", "runs", "--nats", "nats://127.0.0.1:1", "--contract", ""}, ""},
		{[]string{"watch", "wa"}, "waits"},
	} {
		got := complete(c.args...)
		if c.args[1] == "deci" {
			got = got[:1] // what it is stands behind it
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %v, want %s", c.args, got, c.want)
		}
	}
	if testing.Short() {
		return
	}
	s := serve(t, stories(t)["story"])
	for _, c := range []struct{ args, want string }{
		{"show runs --nats " + s.url + " --contract on", "onboarding"},
		{"show runs --nats " + s.url + " --contract x", ""},
		{"show timeline --nats " + s.url + " --contract onboarding --run l", "laptop-for-kim"},
		{"watch --nats " + s.url + " --contract on", "onboarding"},
	} {
		if got := strings.Join(complete(strings.Fields(c.args)...), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.args, got, c.want)
		}
	}
}

// The figures of a subtree: each grant's own, and all below it.
func TestSubtree(t *testing.T) {
	text, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	at := 1767601200000
	more := func(principal, command string) string {
		at++
		return fmt.Sprintf(`{"contract":"onboarding","principal":%q,"at":%d,"command":%s}`+"\n", principal, at, command)
	}
	grant := `{"type":"grant","grant":{"id":%q,"subject":%q,"profile":"finite-v1","actions":["purchase"],"resources":["computer-shop"],"notBefore":"0","expiresAt":"4102444800000","limit":%q,"canDelegate":true,"depth":%q%s}}`
	file := lines[0] + more("finance", fmt.Sprintf(grant, "top", "lead", "1500", "3", "")) +
		more("lead", fmt.Sprintf(grant, "left", "buyer", "900", "2", `,"parentId":"top"`)) +
		more("lead", fmt.Sprintf(grant, "right", "buyer", "800", "2", `,"parentId":"top"`)) +
		more("buyer", fmt.Sprintf(grant, "leaf", "buyer", "500", "1", `,"parentId":"left"`)) +
		more("finance", fmt.Sprintf(grant, "aside", "buyer", "100", "1", "")) +
		more("buyer", `{"type":"startRun","runId":"r"}`) + more("buyer", `{"type":"transition","runId":"r","to":"RUNNING"}`)
	for i, use := range []struct{ grant, subject, amount string }{{"leaf", "buyer", "100"}, {"left", "buyer", "20"}, {"right", "buyer", "3"}} {
		action := fmt.Sprintf(`{"capability":"purchase","resource":"computer-shop","payload":{"n":%d},"preconditions":{}}`, i)
		fingerprint := strings.TrimSpace(run(t, action, "ingest", "fingerprint", "-").out)
		file += more("team-lead", fmt.Sprintf(`{"type":"approve","approval":{"id":"ok%d","runId":"r","approver":"team-lead","fingerprint":%q,"expiresAt":"4102444800000","uses":"1"}}`, i, fingerprint))
		file += more("buyer", fmt.Sprintf(`{"type":"admit","runId":"r","operationId":"o%d","attemptId":"a%d","grantId":%q,"subject":%q,"approvalId":"ok%d","amount":%q,"policy":"ALLOW","mandatoryChecksOk":true,"authorizationCheckedAt":"1767601200000","action":%s}`,
			i, i, use.grant, use.subject, i, use.amount, action))
	}
	file += more("buyer", `{"type":"dispatch","attemptId":"a0","policy":"ALLOW","mandatoryChecksOk":true,"authorizationCheckedAt":"1767601200000"}`)
	file += more("shop", `{"type":"settle","attemptId":"a0","effect":"CONFIRMED_APPLIED","actualCost":"70"}`)
	data := importedStory(t, file)
	type figures struct {
		Grant                                             string
		Depth                                             int
		Reserved, Spent, Remaining, OwnReserved, OwnSpent string
	}
	read := func(args ...string) (all []figures) {
		for line := range strings.Lines(must(t, 0, "reducer", append([]string{"show", "grants", "--subtree", "--json", "--data", data}, args...)...)) {
			var f figures
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatal(err)
			}
			all = append(all, f)
		}
		return all
	}
	want := []figures{
		{"top", 0, "23", "70", "1407", "0", "0"}, {"left", 1, "20", "70", "810", "20", "0"}, {"leaf", 2, "0", "70", "430", "0", "70"},
		{"right", 1, "3", "0", "797", "3", "0"},
	}
	if diff := cmp.Diff(want, read("top")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if all := read(); len(all) != 5 || all[0].Grant != "aside" {
		t.Errorf("all grants: %+v", all)
	}
	if out := must(t, 0, "reducer", "show", "grants", "--subtree", "--data", data); !strings.Contains(out, "all 5") || !strings.Contains(out, "\n    leaf ") {
		t.Errorf("as a tree:\n%s", out)
	}
}

// A timeline that is followed has every decision of the run once, in order, also
// when the reducer is killed meanwhile.
func TestFollowTimeline(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data)
	text, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	part := func(from, to int) string {
		name := filepath.Join(t.TempDir(), "part.jsonl")
		if err := os.WriteFile(name, []byte(strings.Join(lines[from:to], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	must(t, 0, "ingest", "--wait", "--nats", s.url, part(0, 4))
	var out proctest.Output
	c := exec.Command(program(t, "reducer"), "show", "timeline", "--run", "laptop-for-kim", "--follow", "--json", "--nats", s.url)
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	seen := func(count int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d decisions are seen", count), func() bool { return strings.Count(out.String(), "\n") >= count })
	}
	seen(2)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, part(4, 9))
	seen(7)
	s.kill()
	s = serve(t, data, "--listen", strings.TrimPrefix(s.url, "nats://"))
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, part(9, 19))
	seen(17)
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
	next := uint64(3)
	for line := range strings.Lines(out.String()) {
		var d struct{ Seq uint64 }
		if err := json.Unmarshal([]byte(line), &d); err != nil || d.Seq != next {
			t.Errorf("%v, command %d, want %d", err, d.Seq, next)
		}
		next++
	}
}
