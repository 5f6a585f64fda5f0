package plan_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

const (
	write   = "/document/plan/steps/write"
	check   = "/document/plan/steps/check"
	publish = "/document/plan/steps/publish"
	tests   = "/document/gates/definitions/tests"
)

func TestRunPlanRefuses(t *testing.T) {
	testRefusals(t, schema.FormRunPlan, []refusal{
		{"envelope", "", []edit{{"/document", "null"}}},
		{"envelope", "", []edit{{"/document/runId", ""}}},
		{"envelope", "", []edit{{"/document/gates", ""}, {"/document/schema", "1"}}},
		{"envelope", "/extra", []edit{{"/document/extra", "1"}, {"/document/schema", "1"}}},
		{"schema", "/schema", []edit{{"/document/schema", `"kxm.run-plan.v1"`}, {"/document/runId", `""`}}},
		{"identity", "/runId", []edit{{"/document/runId", `"run-8"`}}},
		{"identity", "/projectId", []edit{{"/document/projectId", `""`}, {"/identity/projectId", `""`}}},
		{"identity", "/homeRuntimeId", []edit{{"/document/homeRuntimeId", "null"}, {"/identity/homeRuntimeId", "null"}}},
		{"identity", "/homeRuntimeId", []edit{{"/document/homeRuntimeId", `"x"`}}},
		{"identity", "/identity/workflowId", []edit{{"/identity/workflowId", "1"}}},
		{"identity", "/workflowId", []edit{{"/identity/workflowId", `"x"`}}},
		{"identity", "/identity", []edit{{"/identity", "null"}}},
		{"identity", "/identity", []edit{{"/identity/revisions", ""}}},
		{"identity", "/identity/runId", []edit{{"/identity/runId", `"run-7"`}}},
		{"revisions", "/revisions", []edit{{"/document/revisions", "[]"}}},
		{"revisions", "/revisions", []edit{{"/document/revisions/memory", ""}}},
		{"revisions", "/revisions/other", []edit{{"/document/revisions/other", `"x"`}}},
		{"revisions", "/revisions/memory", []edit{{"/document/revisions/memory", `""`}, {"/identity/revisions/memory", `""`}}},
		{"revisions", "/revisions/config", []edit{{"/document/revisions/config", `"x"`}}},
		{"revisions", "/identity/revisions", []edit{{"/identity/revisions", `"x"`}}},
		{"revisions", "/identity/revisions/other", []edit{{"/identity/revisions/other", `"x"`}}},
		{"revisions", "/identity/revisions/toolPolicy", []edit{{"/identity/revisions/toolPolicy", "7"}}},
		{"projectLimits", "/projectLimits", []edit{{"/document/projectLimits", `"x"`}}},
		{"projectLimits", "/projectLimits", []edit{{"/document/projectLimits", "{}"}}},
		{"projectLimits", "/projectLimits/more", []edit{{"/document/projectLimits/more", "1"}}},
		{"projectLimits", "/projectLimits/maxConcurrentRuns", []edit{{"/document/projectLimits/maxConcurrentRuns", "0"}}},
		{"projectLimits", "/projectLimits/maxConcurrentRuns", []edit{{"/document/projectLimits/maxConcurrentRuns", "1.5"}}},
		{"projectLimits", "/projectLimits/maxConcurrentRuns", []edit{{"/document/projectLimits/maxConcurrentRuns", `"1"`}}},
		{"projectLimits", "/projectLimits/maxAgentTimeMs", []edit{{"/document/projectLimits/maxAgentTimeMs", "null"}}},
		{"projectLimits", "/projectLimits/maxAgentTimeMs", []edit{{"/document/projectLimits/maxAgentTimeMs", "-1"}}},

		{"plan", "/plan", []edit{{"/document/plan", "7"}}},
		{"plan", "/plan", []edit{{"/document/plan/coordinator", ""}}},
		{"plan", "/plan/more", []edit{{"/document/plan/more", "1"}}},
		{"plan", "/plan/schema", []edit{{"/document/plan/schema", `"kxm.compiled-workflow.v2"`}, {"/document/plan/order", "1"}}},
		{"plan", "/plan/order", []edit{{"/document/plan/order", `"write"`}}},
		{"plan", "/plan/order/0", []edit{{"/document/plan/order", "[1]"}}},
		{"plan", "/plan/order/0", []edit{{"/document/plan/order/+", `"nothing"`}, {write + "/kind", "1"}}},
		{"plan", "/plan/order/1", []edit{{"/document/plan/order/+", `"write"`}}},
		{"plan", "/plan/order", []edit{{"/document/plan/order/3", ""}}},
		{"plan", "/plan/steps", []edit{{"/document/plan/steps", "[]"}}},
		{"plan", "/plan/entryStepId", []edit{{"/document/plan/entryStepId", `"nothing"`}, {"/document/plan/limits", "1"}}},
		{"plan", "/plan/entryStepId", []edit{{"/document/plan/order", "[]"}, {"/document/plan/steps", "{}"}}},
		{"plan", "/plan/limits", []edit{{"/document/plan/limits", "null"}}},
		{"plan", "/plan/limits/more", []edit{{"/document/plan/limits/more", "1"}}},
		{"plan", "/plan/limits/maxTransitions", []edit{{"/document/plan/limits/maxTransitions", "0"}}},
		{"plan", "/plan/limits/maxRunDurationMs", []edit{{"/document/plan/limits/maxRunDurationMs", "null"}}},
		{"plan", "/plan/limits/maxModelCost", []edit{{"/document/plan/limits/maxModelCost", "0"}}},
		{"plan", "/plan/limits/maxModelCost", []edit{{"/document/plan/limits/maxModelCost", "-1e-9"}}},
		{"plan", "/plan/limits/maxModelCost", []edit{{"/document/plan/limits/maxModelCost", `"1"`}}},
		{"plan", "/plan/limits/currency", []edit{{"/document/plan/limits/currency", `""`}}},
		{"plan", "/plan/requirePlanHash", []edit{{"/document/plan/requirePlanHash", "{}"}}},
		{"plan", "/plan/requirePlanHash/0", []edit{{"/document/plan/requirePlanHash/+", `"nothing"`}}},
		{"plan", "/plan/workflowId", []edit{{"/document/plan/workflowId", `""`}, {"/document/plan/coordinator", `""`}}},
		{"plan", "/plan/sourcePath", []edit{{"/document/plan/sourcePath", "null"}}},
		{"plan", "/plan/coordinator", []edit{{"/document/plan/coordinator", `""`}}},
		{"plan", "/plan/transitionBudget", []edit{{"/document/plan/transitionBudget", "0"}}},
		{"plan", "/plan/hasBackEdges", []edit{{"/document/plan/hasBackEdges", "1"}}},
		{"plan", "/plan/planHash/stageId", []edit{{"/document/plan/planHash/stageId", `"nothing"`}}},
		{"plan", "/plan/planHash/evidenceKey", []edit{{"/document/plan/planHash/evidenceKey", `"nothing"`}}},
		{"plan", "/plan/reproOracle", []edit{{"/document/plan/reproOracle", "null"}}},
		{"plan", "/plan/reproOracle/evidenceKey", []edit{{"/document/plan/reproOracle", `{"stageId":"check","evidenceKey":"patch"}`}}},
		{"plan", "/plan/reproOracle/more", []edit{{"/document/plan/reproOracle", `{"stageId":"write","evidenceKey":"patch","more":1}`}}},
	})
}

func TestRunPlanRefusesSteps(t *testing.T) {
	testRefusals(t, schema.FormRunPlan, []refusal{
		{"step", "/plan/steps/write", []edit{{write, "1"}}},
		{"step", "/plan/steps/write/kind", []edit{{write + "/kind", `"human"`}, {write + "/more", "1"}}},
		{"step", "/plan/steps/write", []edit{{write + "/kind", ""}}},
		{"step", "/plan/steps/write", []edit{{write + "/agent", ""}}},
		{"step", "/plan/steps/check", []edit{{check + "/expect", ""}}},
		{"step", "/plan/steps/write/signal", []edit{{write + "/signal", `"x"`}}},
		{"step", "/plan/steps/write/agent", []edit{{write + "/kind", `"approval"`}}},
		{"step", "/plan/steps/write/id", []edit{{write + "/id", `"check"`}}},
		{"step", "/plan/steps/write/id", []edit{{write + "/id", `""`}, {write + "/outcomes", "1"}}},
		{"step", "/plan/steps/write/outcomes", []edit{{write + "/outcomes", "1"}}},
		{"step", "/plan/steps/write/outcomes/1", []edit{{write + "/outcomes", `["passed","passed"]`}}},
		{"step", "/plan/steps/write/outcomes", []edit{{write + "/outcomes", `["passed","failed"]`}}},
		{"step", "/plan/steps/write/transitions", []edit{{write + "/outcomes", `["passed"]`}}},
		{"step", "/plan/steps/write/transitions", []edit{{write + "/transitions", "[]"}}},
		{"step", "/plan/steps/write/transitions", []edit{{write + "/transitions/passed", ""}, {write + "/transitions/other", "1"}}},
		{"step", "/plan/steps/write/transitions/passed", []edit{{write + "/transitions/passed", "1"}}},
		{"step", "/plan/steps/write/transitions/passed/to", []edit{{write + "/transitions/passed/to", `"both"`}}},
		{"step", "/plan/steps/write/transitions/passed/maxTransitions", []edit{{write + "/transitions/passed", `{"to":"both","maxTransitions":0}`}}},
		{"step", "/plan/steps/write/transitions/passed/terminalStatus", []edit{{write + "/transitions/passed/terminalStatus", `"failed"`}}},
		{"step", "/plan/steps/write/transitions/passed/edge", []edit{{write + "/transitions/passed/edge", `"sideways"`}, {write + "/transitions/passed/target", "1"}}},
		{"step", "/plan/steps/write/transitions/passed/target", []edit{{write + "/transitions/passed/target", `""`}}},
		{"step", "/plan/steps/write/transitions/failed/terminalStatus", []edit{{write + "/transitions/failed/terminalStatus", `"done"`}}},
		{"step", "/plan/steps/write/repositories", []edit{{write + "/repositories", "[]"}}},
		{"step", "/plan/steps/write/repositories/site", []edit{{write + "/repositories/site", `"admin"`}, {write + "/index", "-1"}}},
		{"step", "/plan/steps/write/index", []edit{{write + "/index", "-1"}}},
		{"step", "/plan/steps/write/index", []edit{{write + "/index", "1e-3"}}},
		{"step", "/plan/steps/write/description", []edit{{write + "/description", "null"}}},
		{"step", "/plan/steps/write/instructions", []edit{{write + "/instructions", "7"}}},
		{"step", "/plan/steps/write/maxAttempts", []edit{{write + "/maxAttempts", "0"}}},
		{"step", "/plan/steps/write/timeoutMs", []edit{{write + "/timeoutMs", "null"}}},
		{"step", "/plan/steps/write/safeSpeculation", []edit{{write + "/safeSpeculation", "0"}}},
		{"step", "/plan/steps/write/tools", []edit{{write + "/tools", "null"}}},
		{"step", "/plan/steps/write/secrets", []edit{{write + "/secrets", "{}"}}},
		{"step", "/plan/steps/write/secrets/0", []edit{{write + "/secrets/+", "[]"}}},
		{"step", "/plan/steps/write/requiredEvidence", []edit{{write + "/requiredEvidence", "{}"}}},
		{"step", "/plan/steps/write/requiredEvidence/0", []edit{{write + "/requiredEvidence/+", "{}"}}},
		{"step", "/plan/steps/write/requiredEvidence/0/kind", []edit{{write + "/requiredEvidence/0/kind", `"x"`}, {write + "/requiredEvidence/0/key", `""`}}},
		{"step", "/plan/steps/write/requiredEvidence/0/key", []edit{{write + "/requiredEvidence/0/key", `""`}}},
		{"step", "/plan/steps/write/requiredEvidence/0/minimum", []edit{{write + "/requiredEvidence/0/minimum", "0"}}},
		{"step", "/plan/steps/write/requiredEvidence/0/reusableAcrossAttempts", []edit{{write + "/requiredEvidence/0/reusableAcrossAttempts", "null"}}},
		{"step", "/plan/steps/write/requiredEvidence/0/more", []edit{{write + "/requiredEvidence/0/more", "1"}}},
		{"step", "/plan/steps/write/requiredEvidence/0/producerPolicy", []edit{{write + "/requiredEvidence/0/producerPolicy", "null"}}},
		{"step", "/plan/steps/write/requiredEvidence/0/producerPolicy/acceptedStatuses", []edit{{write + "/requiredEvidence/0/producerPolicy/acceptedStatuses", `["passed","failed"]`}}},
		{"step", "/plan/steps/write/requiredEvidence/0/producerPolicy/acceptedStatuses", []edit{{write + "/requiredEvidence/0/producerPolicy/acceptedStatuses", `"passed"`}}},
		{"step", "/plan/steps/write/requiredEvidence/0/producerPolicy/degradation", []edit{{write + "/requiredEvidence/0/producerPolicy/degradation", "{}"}}},
		{"step", "/plan/steps/write/requiredEvidence/0/producerPolicy/degradation/minimumProducers", []edit{{write + "/requiredEvidence/0/producerPolicy/degradation", `{"minimumProducers":0}`}}},
		{"step", "/plan/steps/write/requiredEvidence/0/producerPolicy/minimumProducers", []edit{{write + "/requiredEvidence/0/producerPolicy/minimumProducers", "0"}}},
		{"step", "/plan/steps/write/requiredEvidence/0/producerPolicy/eligibleAgents/0", []edit{{write + "/requiredEvidence/0/producerPolicy/eligibleAgents/0", "1"}}},
		{"step", "/plan/steps/write/requiresPlanHash", []edit{{write + "/requiresPlanHash", `"yes"`}}},
		{"step", "/plan/steps/write/assignments", []edit{{write + "/assignments", "[]"}}},
		{"step", "/plan/steps/write/assignments/more", []edit{{write + "/assignments/more", "1"}}},
		{"step", "/plan/steps/write/assignments/distinctBy/0", []edit{{write + "/assignments/distinctBy", `["agent"]`}, {write + "/assignments/allowedAgents", "1"}}},
		{"step", "/plan/steps/write/assignments/allowedAgents", []edit{{write + "/assignments/allowedAgents", "1"}, {write + "/assignments/minimum", "0"}}},
		{"step", "/plan/steps/write/assignments/minimum", []edit{{write + "/assignments/minimum", "0"}}},
		{"step", "/plan/steps/write/assignments/maxAttemptsPerAssignment", []edit{{write + "/assignments/maxAttemptsPerAssignment", "null"}}},
		{"step", "/plan/steps/write/assignments/maxWriteRepositories", []edit{{write + "/assignments/maxWriteRepositories", "0"}}},
		{"step", "/plan/steps/write/join", []edit{{write + "/join", "{}"}}},
		{"step", "/plan/steps/write/join/strategy", []edit{{write + "/join/strategy", `"most"`}}},
		{"step", "/plan/steps/publish/join/minimumPassed", []edit{{publish + "/join/minimumPassed", "0"}}},
		{"step", "/plan/steps/publish/join/cancelRemaining", []edit{{publish + "/join/cancelRemaining", "null"}}},
		{"step", "/plan/steps/write/agent", []edit{{write + "/agent", `""`}}},
		{"step", "/plan/steps/check/expect", []edit{{check + "/expect", `"maybe"`}, {check + "/gate", `""`}}},
		{"step", "/plan/steps/check/gate", []edit{{check + "/gate", `""`}}},
		{"step", "/plan/steps/publish/signal", []edit{{publish + "/signal", `""`}}},
		{"step", "/plan/steps/publish/signal", []edit{{publish + "/signal", `""`}, {"/document/plan/entryStepId", "1"}}},
	})
}

func TestRunPlanRefusesGates(t *testing.T) {
	testRefusals(t, schema.FormRunPlan, []refusal{
		{"gates", "/gates", []edit{{"/document/gates", "[]"}}},
		{"gates", "/gates", []edit{{"/document/gates/registry", ""}}},
		{"gates", "/gates/more", []edit{{"/document/gates/more", "1"}}},
		{"gates", "/gates/registry", []edit{{"/document/gates/registry", "null"}, {"/document/gates/definitions", "{}"}}},
		{"gates", "/gates/registry", []edit{{"/document/gates/registry", "[]"}}},
		{"gates", "/gates/registry/schema", []edit{{"/document/gates/registry/schema", `"x"`}}},
		{"gates", "/gates/registry/hash", []edit{{"/document/gates/registry/hash", `"sha256:4B"`}}},
		{"gates", "/gates/registry/hash", []edit{{"/document/gates/registry/hash", quote("sha256:" + strings.Repeat("A", 64))}}},
		{"gates", "/gates/registry/hash", []edit{{"/document/gates/registry/hash", quote("sha256:" + strings.Repeat("a", 64) + "\n")}}},
		{"gates", "/gates/controlRoot/repositoryId", []edit{{"/document/gates/controlRoot/repositoryId", `"site"`}, {"/document/gates/definitions", "1"}}},
		{"gates", "/gates/controlRoot/projectKey", []edit{{"/document/gates/controlRoot/projectKey", `""`}}},
		{"gates", "/gates/definitions", []edit{{"/document/gates/definitions", "[]"}}},
		{"gates", "/gates/definitions", []edit{{"/document/gates/definitions", "{}"}}},
		{"gates", "/gates/definitions", []edit{{"/document/gates/definitions", "{}"}, {check + "/gate", `"toString"`}}},
		{"gates", "/gates/definitions/stray", []edit{{"/document/gates/definitions/stray", `"broken"`}, {tests, "1"}}},
		{"gates", "/gates/definitions/tests", []edit{{tests, "1"}}},
		{"gates", "/gates/definitions/tests", []edit{{tests, "{}"}}},
		{"step", "/plan/steps/write/transitions/passed", []edit{{write + "/transitions/passed", `{"maxTransitions":0}`}}},
		{"gates", "/gates/definitions/tests/kind", []edit{{tests + "/kind", `"script"`}}},
		{"gates", "/gates/definitions/tests/cwd", []edit{{tests, `{"kind":"reserved","cwd":"control"}`}}},
		{"gates", "/gates/definitions/tests", []edit{{tests + "/argv", ""}}},
		{"gates", "/gates/definitions/tests/timeoutMs", []edit{{tests + "/timeoutMs", "0"}}},
		{"gates", "/gates/definitions/tests/timeoutMs", []edit{{tests + "/timeoutMs", "2147483648"}}},
		{"gates", "/gates/definitions/tests/timeoutMs", []edit{{tests + "/timeoutMs", "1.5"}}},
		{"gates", "/gates/definitions/tests/cwd", []edit{{tests + "/cwd", "null"}}},
		{"gates", "/gates/definitions/tests/cwd", []edit{{tests + "/cwd", `"site"`}}},
	})
	for _, argv := range []string{`[]`, `"make"`, `[1]`, `[""]`, `["make",""]`, `["a\u0000"]`, `["."]`, `[".."]`, `["./make"]`, `["bin/make"]`, `["a\\b"]`, `["/a\\b"]`} {
		testOneRefusal(t, "gates", edit{tests + "/argv", argv})
	}
	testOneRefusal(t, "gates", edit{tests + "/argv", "[" + strings.Repeat(`"a",`, 64) + `"a"]`})
	testOneRefusal(t, "gates", edit{tests + "/argv", quote2("make", strings.Repeat("x", 4097))})
	testOneRefusal(t, "gates", edit{tests + "/argv", quote2("make", strings.Repeat("😀", 2049))})
}

func quote2(a, b string) string { return "[" + quote(a) + "," + quote(b) + "]" }

func testOneRefusal(t *testing.T, reason string, e edit) {
	t.Helper()
	if _, f := plan.CheckSource(apply(t, source(t, schema.FormRunPlan), e)); f == nil || f.Reason != reason {
		t.Errorf("%s with %.100s: %v", e.at, e.text, f)
	}
}

func TestRunPlanAccepts(t *testing.T) {
	testAccepted(t, schema.FormRunPlan, [][]edit{
		{{write + "/index", "1.2e1"}, {write + "/maxAttempts", "1e300"}, {write + "/timeoutMs", "-0"}, {check + "/index", "0"}},
		{{write + "/description", `""`}, {write + "/instructions", `""`}, {"/document/plan/sourcePath", `""`}},
		{{write + "/model", "null"}, {write + "/tools", "{}"}, {write + "/secrets", "[{}]"}},
		{{write + "/kind", `"moa"`}},
		{{write + "/transitions/passed/target", `"nowhere"`}, {"/document/plan/hasBackEdges", "false"}, {"/document/plan/transitionBudget", "1"}},
		{{"/document/plan/order", `["publish","sign-off","check","write"]`}},
		{{write + "/outcomes", "[]"}, {write + "/transitions", "{}"}},
		{{write + "/assignments/minimum", "9"}, {write + "/assignments/maximum", "1"}},
		{{write + "/requiredEvidence/0/producerPolicy/degradation", `{"minimumProducers":1}`}},
		{{"/document/plan/planHash", ""}, {"/document/plan/requirePlanHash", `["write","write"]`}, {"/document/plan/limits", "{}"}},
		{{"/document/plan/limits/maxModelCost", "1e-300"}},
		{{tests + "/argv", `["/usr/bin/make","","x"]`}, {tests + "/argv/1", `" "`}},
		{{tests + "/argv", quote2("make", strings.Repeat("😀", 2048))}, {tests + "/timeoutMs", "2147483647"}, {tests + "/cwd", ""}},
		{{tests, `{"kind":"reserved"}`}},
		{{tests, `{"kind":"artifacts-exist","paths":["a","b/c.txt"]}`}},
		{{tests, ""}, {"/document/gates/definitions/toString", `{"kind":"reserved"}`}, {check + "/gate", `"toString"`}},
		{{check + "/kind", `"approval"`}, {check + "/gate", ""}, {check + "/expect", ""}, {tests, ""}, {"/document/gates/registry", "null"}},
		{{"/document/revisions/memory", `"m-1"`}, {"/identity/revisions/memory", `"m-1"`}},
	})
}

// TestPortablePaths is about the paths of artifacts, through the library's front door.
func TestPortablePaths(t *testing.T) {
	with := func(paths ...string) *plan.Fault {
		list := make([]string, len(paths))
		for i, path := range paths {
			list[i] = quote(path)
		}
		definition := `{"kind":"artifacts-exist","paths":[` + strings.Join(list, ",") + "]}"
		_, f := plan.CheckSource(apply(t, source(t, schema.FormRunPlan), edit{tests, definition}))
		return f
	}
	for _, path := range []string{
		"a", "a/b", "a.b/c.d", ".hidden", "a b", "...a", "été/😀", "x\x7fy", "con-fig", "com0", "com10", "com", "lpt", "lpt0", "auxiliary", "con1", "nul_", ".con", "a/.nul",
		"cloc\u212a$" /* the Kelvin sign */, "com⁴", "ConInput$", " a", "-", "~", "a'b", "%41", "CON\u00a0",
	} {
		if f := with("x", path); f != nil {
			t.Errorf("%q: %v", path, f)
		}
	}
	for _, path := range []string{
		"", ".", "..", "/a", "/", "a/", "a//b", "a/./b", "a/../b", "./a", "a/.", "a.", "a./b", "a ", "a /b", "b/a.", `a\b`, "c:", "c:x", "C:/x", "a:b",
		"a<b", "a>b", `a"b`, "a|b", "a?b", "a*b", "a\x00b", "a\x1fb", "a\nb", "a\tb",
		"con", "CON", "Con.txt", "con.tar.gz", "con .txt", "con  .x", "prn", "aux", "nul", "NUL.x", "com1", "COM9.log", "lpt1", "Lpt9", "com¹", "COM².x", "lpt³",
		"conin$", "CONOUT$", "clock$", "CLOCK$.x", "a/con", "con/a", "a/b/LPT1.txt/c",
	} {
		if f := with("x", path); f == nil || f.Reason != "gates" {
			t.Errorf("%q: %v", path, f)
		}
	}
	if f := with(); f == nil {
		t.Error("no paths are accepted")
	}
	if f := with("a", "b", "a"); f == nil || !strings.HasSuffix(f.Pointer, "/paths/2") {
		t.Errorf("a repeated path: %v", f)
	}
	var many []string
	for i := range 65 {
		many = append(many, "f"+strconv.Itoa(i))
	}
	if f := with(many[:64]...); f != nil {
		t.Errorf("64 paths: %v", f)
	}
	if f := with(many...); f == nil {
		t.Error("65 paths are accepted")
	}
}
