package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// after is a command that is sent after what init wrote, and what becomes of it.
type after struct {
	principal, command, code string // no code: accepted
	later                    time.Duration
}

// TestInitContract: the contract that init writes opens, lets through what it is
// for, and refuses what it forbids, each with the code of its rule.
func TestInitContract(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	must(t, 0, "reducer", "init", dir, "--user", "buyer:agent:c1", "--user", "stranger:agent:c2",
		"--action", "purchase", "--resource", "shop", "--budget", "50")
	file, err := os.ReadFile(filepath.Join(dir, "open-contract.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	opened := folded(t, string(file))
	if len(opened) != 2 || opened[0].Contract != "c1" || opened[1].Contract != "c2" {
		t.Fatalf("%s", file)
	}
	first, _, _ := strings.Cut(string(file), "\n")
	line := schema.Value(first)
	at, _ := line.Member("at")
	now, err := strconv.ParseInt(string(at), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	cases := strictCases(now)
	var text bytes.Buffer
	fmt.Fprintln(&text, first)
	for i, c := range cases {
		fmt.Fprintf(&text, `{"contract":"c1","principal":%q,"at":%d,"seq":%d,"command":%s}`+"\n", c.principal, now+c.later.Milliseconds(), i+2, c.command)
	}
	for i, d := range append(opened[:1], folded(t, text.String())[1:]...) {
		want := after{principal: opener, command: "openContract"}
		if i > 0 {
			want = cases[i-1]
		}
		if string(d.Code) != want.code || (d.Outcome == events.OutcomeAccepted) != (want.code == "") {
			t.Errorf("%s %s: %s %s %s, want %q", want.principal, want.command, d.Outcome, d.Code, d.Message, want.code)
		}
	}
}

// opener is who opens contracts.
const opener = "host"

// folded folds lines.
func folded(t *testing.T, lines string) (all []*events.Decision) {
	t.Helper()
	r := run(t, lines, "reducer", "fold", "-")
	if r.code != 0 {
		t.Fatalf("fold: %s", r)
	}
	for text := range strings.Lines(r.out) {
		d, err := events.ParseDecision([]byte(strings.TrimSpace(text)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// strictCases are a purchase under the contract, and around each step of it what
// must not be.
func strictCases(now int64) []after {
	const checked = `"policy":"ALLOW","mandatoryChecksOk":true,"authorizationCheckedAt":`
	action := func(capability, resource string) string {
		return `{"capability":"` + capability + `","resource":"` + resource + `","payload":{},"preconditions":{}}`
	}
	admit := func(n int, subject, action, amount, approval string, at int64) string {
		return fmt.Sprintf(`{"type":"admit","runId":"r","operationId":"o%d","attemptId":"t%d","grantId":"g","subject":%q,"action":%s,"amount":%q,%s"%d"%s}`,
			n, n, subject, action, amount, checked, at, approval)
	}
	grant := fmt.Sprintf(`{"type":"grant","grant":{"id":"g","subject":"buyer","profile":"finite-v1","actions":["purchase"],"resources":["shop"],`+
		`"notBefore":"0","expiresAt":"%d","limit":"50","canDelegate":false,"depth":"0"}`, now+time.Hour.Milliseconds())
	approve := func(id, approver string) string {
		return fmt.Sprintf(`{"type":"approve","approval":{"id":%q,"runId":"r","approver":%q,"fingerprint":%q,"expiresAt":"%d","uses":"2"}}`,
			id, approver, fingerprint(action("purchase", "shop")), now+time.Hour.Milliseconds())
	}
	approved := `,"approvalId":"a"`
	buy := action("purchase", "shop")
	return []after{
		{"buyer", `{"type":"startRun","runId":"r"}`, "PRINCIPAL_NOT_ALLOWED", 0},
		{"host", `{"type":"startRun","runId":"r"}`, "", 0},
		{"host", `{"type":"activatePlan","runId":"r","planId":"p","expectedPlan":"none"}`, "PLAN_NOT_PINNED", 0},
		{"host", `{"type":"transition","runId":"r","to":"RUNNING"}`, "", 0},
		{"buyer", admit(1, "buyer", buy, "10", "", now), "PLAN_NOT_PINNED", 0},
		{"agent", `{"type":"pinPlan","runId":"r","planId":"p","form":"opaque","document":{}}`, "PRINCIPAL_NOT_ALLOWED", 0},
		{"host", `{"type":"pinPlan","runId":"r","planId":"p","form":"opaque","document":{}}`, "", 0},
		{"host", `{"type":"activatePlan","runId":"r","planId":"p","expectedPlan":"none"}`, "", 0},
		{"buyer", grant + "}", "PRINCIPAL_NOT_ALLOWED", 0},
		{"host", grant + `,"context":{"actor":"host","decisionClass":"MODEL","policyRevision":"1"}}`, "DECISION_CLASS_FORBIDDEN", 0},
		{"host", grant + "}", "", 0},
		{"buyer", admit(1, "buyer", buy, "10", "", now), "APPROVAL_REQUIRED", 0},
		{"buyer", approve("a", "buyer"), "PRINCIPAL_NOT_ALLOWED", 0},
		{"host", approve("a", "host"), "PRINCIPAL_NOT_ALLOWED", 0},
		{"approver", approve("a", "buyer"), "PRINCIPAL_MISMATCH", 0},
		{"approver", approve("a", "approver"), "", 0},
		{"stranger", admit(1, "buyer", buy, "10", approved, now), "PRINCIPAL_NOT_ALLOWED", 0},
		{"agent", admit(1, "buyer", buy, "10", approved, now), "PRINCIPAL_MISMATCH", 0},
		{"buyer", admit(1, "buyer", action("sell", "shop"), "10", approved, now), "ACTION_NOT_ALLOWED", 0},
		{"buyer", admit(1, "buyer", action("purchase", "bank"), "10", approved, now), "RESOURCE_NOT_ALLOWED", 0},
		{"buyer", admit(1, "buyer", buy, "10", approved, now), "AUTHORIZATION_STALE", 61 * time.Second},
		{"buyer", admit(1, "buyer", buy, "10", approved, now+120_000), "AUTHORIZATION_IN_FUTURE", 62 * time.Second},
		{"buyer", admit(1, "buyer", buy, "51", approved, now+60_000), "BUDGET_EXCEEDED", 62 * time.Second},
		{"buyer", admit(1, "buyer", buy, "10", approved, now+60_000), "", 62 * time.Second},
		{"buyer", fmt.Sprintf(`{"type":"dispatch","attemptId":"t1",%s"%d"}`, checked, now+60_000), "", 62 * time.Second},
		{"buyer", `{"type":"settle","attemptId":"t1","effect":"CONFIRMED_NOT_APPLIED","actualCost":"0"}`, "", 62 * time.Second},
		{"buyer", fmt.Sprintf(`{"type":"retry","operationId":"o1","attemptId":"t2","amount":"10",%s"%d"}`, checked, now+60_000), "ATTEMPTS_EXHAUSTED", 62 * time.Second},
		{"buyer", `{"type":"missionState","state":"SUSPENDED"}`, "PRINCIPAL_NOT_ALLOWED", 62 * time.Second},
		{"host", `{"type":"attachGraph","runId":"r","graphId":"g"}`, "FEATURE_DISABLED", 62 * time.Second},
		{"host", `{"type":"startRun","runId":"s"}`, "CONTRACT_EXPIRED", 24 * time.Hour},
	}
}

// fingerprint is that of an action (RULES 1).
func fingerprint(action string) string {
	canonical, err := schema.Canonical([]byte(action))
	if err != nil {
		return ""
	}
	return schema.HashOf(canonical)
}

// TestInitTerms: terms that make no sense are a usage error, and nothing is
// written.
func TestInitTerms(t *testing.T) {
	for _, args := range [][]string{
		{"--budget", "01"}, {"--budget", "-1"}, {"--max-attempts", "x"}, {"--authorization-age", "-1s"}, {"--deadline", "2020-01-01T00:00:00Z"},
		{"--action", "a", "--action", "a"}, {"--feature", "magic"}, {"--contract", ""}, {"--contract", strings.Repeat("x", 257)},
		{"--user", "a:agent:" + strings.Repeat("x", 257)}, {"--user", strings.Repeat("x", 257) + ":agent"}, {"--user", "host:agent"},
	} {
		dir := filepath.Join(t.TempDir(), "secrets")
		must(t, 2, "reducer", append([]string{"init", dir}, args...)...)
		if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) > 0 {
			t.Errorf("%v left %v, %v", args, entries, err)
		}
	}
}
