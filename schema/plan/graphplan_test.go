package plan_test

import (
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

func TestGraphPlanRefusesDescriptions(t *testing.T) {
	const (
		node  = "/document/nodes/0"
		lane  = "/document/executionLanes/0"
		bound = "/document/bounds"
	)
	testRefusals(t, schema.FormGraphPlan, []refusal{
		{"INVALID_JSON_VALUE", "/policies/stop" + strings.Repeat("/0", 255), []edit{{"/document/policies/stop", strings.Repeat("[", 255) + "1" + strings.Repeat("]", 255)}, {"/document/graph", "1"}}},
		{"INVALID_SHAPE", "", []edit{{"/document", "[]"}}},
		{"MISSING_FIELD", "/graph", []edit{{"/document/graph", ""}, {"/document/phases", ""}, {"/document/nodes", "1"}}},
		{"MISSING_FIELD", "/requirements", []edit{{"/document/requirements", ""}, {"/document/schemaVersion", "2"}}},
		{"INVALID_SHAPE", "/graph", []edit{{"/document/graph", "null"}, {"/document/phases", "1"}}},
		{"MISSING_FIELD", "/graph/definitionDigest", []edit{{"/document/graph/definitionDigest", ""}, {"/document/phases", "1"}}},
		{"INVALID_SHAPE", "/phases", []edit{{"/document/phases", "{}"}, {"/document/nodes", "{}"}}},
		{"INVALID_SHAPE", "/requestedPermissions", []edit{{"/document/requestedPermissions", "{}"}, {"/document/policies", "{}"}}},
		{"MISSING_FIELD", "/policies/action", []edit{{"/document/policies/action", ""}, {bound, "1"}}},
		{"INVALID_SHAPE", "/bounds", []edit{{bound, "1"}, {"/document/requirements", "1"}}},
		{"MISSING_FIELD", "/bounds/maxFanOut", []edit{{bound + "/maxFanOut", ""}}},
		{"INVALID_SHAPE", "/bounds/dispatches", []edit{{bound + "/dispatches", "[]"}}},
		{"MISSING_FIELD", "/bounds/dispatches/max", []edit{{bound + "/dispatches/max", ""}}},
		{"MISSING_FIELD", "/requirements/memory", []edit{{"/document/requirements/memory", ""}, {"/document/phases/0", "1"}}},
		{"INVALID_SHAPE", "/phases/0", []edit{{"/document/phases/0", "1"}, {node, "1"}}},
		{"INVALID_SHAPE", "/phases/1/nodeIds", []edit{{"/document/phases/1/nodeIds", "{}"}, {node, "1"}}},
		{"MISSING_FIELD", "/nodes/0/laneId", []edit{{node + "/laneId", ""}}},
		{"INVALID_SHAPE", "/edges/0", []edit{{"/document/edges/0", "null"}}},
		{"MISSING_FIELD", "/edges/1/target", []edit{{"/document/edges/1/target", ""}}},
		{"MISSING_FIELD", "/executionLanes/0/requested", []edit{{lane + "/requested", ""}}},
		{"INVALID_SHAPE", "/executionLanes/0/knownSubstitutions", []edit{{lane + "/knownSubstitutions", "null"}}},
		{"INVALID_SHAPE", "/requestedPermissions/0", []edit{{"/document/requestedPermissions/0", "1"}, {"/document/schemaVersion", "2"}}},
		{"INVALID_SCHEMA_VERSION", "/schemaVersion", []edit{{"/document/schemaVersion", "2"}, {"/document/graph/id", "1"}}},
		{"INVALID_SCHEMA_VERSION", "/schemaVersion", []edit{{"/document/schemaVersion", `"1"`}}},
		{"INVALID_ID", "/graph/id", []edit{{"/document/graph/id", "1"}, {"/document/graph/definitionVersion", "0"}}},
		{"INVALID_ID", "/graph/id", []edit{{"/document/graph/id", `"a\u0000b"`}}},
		{"INVALID_ID", "/graph/id", []edit{{"/document/graph/id", `"a\u3000"`}}},
		{"INVALID_VERSION", "/graph/definitionVersion", []edit{{"/document/graph/definitionVersion", "0"}, {"/document/graph/kind", "1"}}},
		{"INVALID_VERSION", "/graph/definitionVersion", []edit{{"/document/graph/definitionVersion", "9007199254740992"}}},
		{"INVALID_TEXT", "/graph/kind", []edit{{"/document/graph/kind", `"\u2003"`}, {"/document/graph/typeVersion", "0"}}},
		{"INVALID_VERSION", "/graph/typeVersion", []edit{{"/document/graph/typeVersion", "1.5"}}},
		{"INVALID_DIGEST", "/graph/definitionDigest", []edit{{"/document/graph/definitionDigest", `"sha256:00"`}}},
		{"INVALID_ID", "/phases/0/id", []edit{{"/document/phases/0/id", `""`}, {node + "/id", `""`}}},
		{"INVALID_ID", "/executionLanes/0/id", []edit{{lane + "/id", `" x"`}, {"/document/phases/0/nodeIds/0", "1"}}},
		{"INVALID_ID", "/phases/0/nodeIds/0", []edit{{"/document/phases/0/nodeIds/0", "1"}, {node + "/phaseId", "1"}}},
		{"INVALID_ID", "/nodes/0/phaseId", []edit{{node + "/phaseId", "null"}}},
		{"INVALID_ID", "/nodes/0/laneId", []edit{{node + "/laneId", `""`}}},
		{"INVALID_ID", "/edges/0/source", []edit{{"/document/edges/0/source", "1"}, {"/document/nodes/1/id", `"write"`}}},
		{"DUPLICATE_ID", "/phases/1", []edit{{"/document/phases/1/id", `"draft"`}, {"/document/nodes/1/id", `"write"`}}},
		{"DUPLICATE_ID", "/edges/1", []edit{{"/document/edges/1/id", `"e1"`}}},
		{"DUPLICATE_ID", "/executionLanes/1", []edit{{"/document/executionLanes", `[{"id":"writer","requested":1,"knownSubstitutions":[]},{"id":"writer","requested":1,"knownSubstitutions":[]}]`}}},
		{"INVALID_TEXT", "/requestedPermissions/0", []edit{{"/document/requestedPermissions/0/name", ""}, {"/document/phases/0/name", "1"}}},
		{"DUPLICATE_ID", "/requestedPermissions/1", []edit{{"/document/requestedPermissions/+", `{"name":"files.read"}`}}},
		{"INVALID_TEXT", "/phases/0/name", []edit{{"/document/phases/0/name", `" "`}, {"/document/phases/0/nodeIds", "[]"}}},
		{"DUPLICATE_ID", "/phases/1/nodeIds/2", []edit{{"/document/phases/1/nodeIds", `["read","decide","read"]`}}},
		{"UNKNOWN_NODE", "/phases/1/nodeIds", []edit{{"/document/phases/1/nodeIds", `["read","nobody"]`}}},
		{"INVALID_PHASE_ASSIGNMENT", "/phases", []edit{{"/document/phases/1/nodeIds", `["read"]`}, {node + "/phaseId", `"x"`}}},
		{"INVALID_PHASE_ASSIGNMENT", "/phases", []edit{{"/document/phases/0/nodeIds", `["write","read"]`}}},
		{"UNKNOWN_PHASE", "/nodes/0/phaseId", []edit{{node + "/phaseId", `"x"`}, {node + "/laneId", `"x"`}}},
		{"INVALID_PHASE_ASSIGNMENT", "/nodes/0/phaseId", []edit{{node + "/phaseId", `"judge"`}, {"/document/nodes/1/phaseId", `"x"`}}},
		{"UNKNOWN_LANE", "/nodes/1/laneId", []edit{{"/document/nodes/1/laneId", `"x"`}, {"/document/edges/0/source", `"x"`}}},
		{"UNKNOWN_NODE", "/edges/1", []edit{{"/document/edges/1/target", `"x"`}, {lane + "/requested", "1"}}},
		{"INVALID_SHAPE", "/executionLanes/0/requested", []edit{{lane + "/requested", "1"}}},
		{"MISSING_FIELD", "/executionLanes/0/requested/modelFamily", []edit{{lane + "/requested/modelFamily", ""}}},
		{"INVALID_TEXT", "/executionLanes/0/requested/model", []edit{{lane + "/requested/model", `"\n"`}}},
		{"INVALID_SHAPE", "/executionLanes/0/requested/tools", []edit{{lane + "/requested/tools", `"Read"`}}},
		{"INVALID_TEXT", "/executionLanes/0/requested/tools/0", []edit{{lane + "/requested/tools/0", "1"}}},
		{"DUPLICATE_ID", "/executionLanes/0/requested/tools/1", []edit{{lane + "/requested/tools", `["Read","Read"]`}}},
		{"INVALID_TEXT", "/executionLanes/0/knownSubstitutions/0/adapter", []edit{{lane + "/knownSubstitutions/0/adapter", `""`}}},
		{"MISSING_FIELD", "/requestedPermissions/0/scope", []edit{{"/document/requestedPermissions/0/scope", ""}, {bound + "/maxFanOut/kind", "1"}}},
		{"INVALID_SHAPE", "/bounds/maxFanOut", []edit{{bound + "/maxFanOut", "1"}}},
		{"MISSING_FIELD", "/bounds/maxFanOut/kind", []edit{{bound + "/maxFanOut", "{}"}}},
		{"MISSING_FIELD", "/bounds/maxConcurrency/value", []edit{{bound + "/maxConcurrency/value", ""}}},
		{"INVALID_BOUND", "/bounds/maxConcurrency/value", []edit{{bound + "/maxConcurrency/value", "-1"}}},
		{"INVALID_BOUND", "/bounds/maxConcurrency/value", []edit{{bound + "/maxConcurrency/value", "0.5"}}},
		{"INVALID_TEXT", "/bounds/maxFanOut/reason", []edit{{bound + "/maxFanOut/reason", `""`}}},
		{"INVALID_BOUND", "/bounds/dispatches", []edit{{bound + "/dispatches/min/value", "7"}, {"/document/requirements/memory", "1"}}},
		{"INVALID_REQUIREMENT", "/requirements/memory", []edit{{"/document/requirements/memory", `"some"`}, {"/admission", "1"}}},
	})
}

func TestGraphPlanRefusesResolutions(t *testing.T) {
	const (
		lane      = "/admission/executionLanes/0"
		preflight = "/admission/preflight"
	)
	testRefusals(t, schema.FormGraphPlan, []refusal{
		{"INVALID_JSON_VALUE", "/admission/package" + strings.Repeat("/0", 256), []edit{{"/admission/package", strings.Repeat("[", 257) + "1" + strings.Repeat("]", 257)}}},
		{"INVALID_SHAPE", "/admission", []edit{{"/admission", "7"}}},
		{"MISSING_FIELD", "/admission/package", []edit{{"/admission/package", ""}, {"/admission/executionLanes", "1"}}},
		{"INVALID_SHAPE", "/admission/admission", []edit{{"/admission/admission", "1"}, {"/admission/executionLanes", "1"}}},
		{"MISSING_FIELD", "/admission/admission/permissions", []edit{{"/admission/admission/permissions", ""}}},
		{"INVALID_SHAPE", "/admission/admission/permissions/1", []edit{{"/admission/admission/permissions/1", "1"}, {"/admission/executionLanes", "1"}}},
		{"INVALID_SHAPE", "/admission/executionLanes", []edit{{"/admission/executionLanes", "{}"}, {"/admission/package", "1"}}},
		{"INVALID_SHAPE", "/admission/executionLanes/0", []edit{{lane, "1"}}},
		{"MISSING_FIELD", "/admission/executionLanes/0/id", []edit{{lane + "/id", ""}}},
		{"INVALID_SHAPE", "/admission/executionLanes/0/fallbacks", []edit{{lane + "/fallbacks", "{}"}, {"/admission/package", "1"}}},
		{"INVALID_TEXT", "/admission/package/source", []edit{{"/admission/package/source", `""`}}},
		{"INVALID_TEXT", "/admission/package/version", []edit{{"/admission/package/version", "3"}}},
		{"MISSING_FIELD", "/admission/package/digest", []edit{{"/admission/package/digest", ""}}},
		{"PACKAGE_NOT_ADMITTED", "/admission/admission/package", []edit{{"/admission/package/version", `"3"`}, {lane + "/id", "1"}}},
		{"INVALID_TEXT", "/admission/executionLanes/0", []edit{{lane + "/id", "1"}}},
		{"DUPLICATE_ID", "/admission/executionLanes/1", []edit{{"/admission/executionLanes/+", `{"id":"writer","effective":1}`}}},
		{"INVALID_LANE_RESOLUTION", "/admission/executionLanes", []edit{{"/admission/executionLanes/+", `{"id":"other","effective":1}`}}},
		{"INVALID_LANE_RESOLUTION", "/admission/executionLanes", []edit{{lane + "/id", `"other"`}}},
		{"INVALID_SHAPE", "/executionLanes/0/effective", []edit{{lane + "/effective", "1"}}},
		{"MISSING_FIELD", "/executionLanes/0/effective/tools", []edit{{lane + "/effective/tools", ""}}},
		{"UNKNOWN_SUBSTITUTION", "/executionLanes/0/effective", []edit{{lane + "/effective/model", `"aurora-9"`}}},
		{"UNKNOWN_SUBSTITUTION", "/executionLanes/0/fallbacks/0", []edit{{lane + "/fallbacks/0/tools", `["Edit","Read"]`}}},
		{"DUPLICATE_SUBSTITUTION", "/executionLanes/0/fallbacks/0", []edit{{lane + "/effective/model", `"aurora-2"`}, {lane + "/effective/tools", `["Read","Edit"]`}}},
		{"INVALID_SHAPE", "/admission/preflight", []edit{{preflight, "null"}, {"/admission/admission/permissions", "[]"}}},
		{"MISSING_FIELD", "/admission/preflight/lanes", []edit{{preflight + "/lanes", ""}}},
		{"INVALID_BOUND", "/admission/preflight/timeoutMs", []edit{{preflight + "/timeoutMs", "0"}}},
		{"INVALID_BOUND", "/admission/preflight/timeoutMs", []edit{{preflight + "/timeoutMs", "2147483648"}}},
		{"INVALID_SHAPE", "/admission/preflight/lanes", []edit{{preflight + "/lanes", "{}"}}},
		{"MISSING_FIELD", "/admission/preflight/lanes/0/live", []edit{{preflight + "/lanes/0/live", ""}}},
		{"INVALID_TEXT", "/admission/preflight/lanes/0", []edit{{preflight + "/lanes/0/laneId", "1"}}},
		{"UNKNOWN_LANE", "/admission/preflight/lanes/0/laneId", []edit{{preflight + "/lanes/0/laneId", `"x"`}}},
		{"DUPLICATE_ID", "/admission/preflight/lanes/1", []edit{{preflight + "/lanes/+", `{"laneId":"writer","live":"skip","unsupportedStatic":"allow"}`}}},
		{"INVALID_REQUIREMENT", "/admission/preflight/lanes/0/live", []edit{{preflight + "/lanes/0/live", "true"}}},
		{"INVALID_REQUIREMENT", "/admission/preflight/lanes/0/unsupportedStatic", []edit{{preflight + "/lanes/0/unsupportedStatic", `"skip"`}}},
		{"MISSING_FIELD", "/admission/admission/permissions/1/scope", []edit{{"/admission/admission/permissions/1/scope", ""}}},
		{"INVALID_TEXT", "/admission/admission/permissions/0/name", []edit{{"/admission/admission/permissions/0/name", `" "`}}},
		{"DUPLICATE_PERMISSION", "/admission/admission/permissions/1", []edit{{"/admission/admission/permissions/1/name", `"files.read"`}}},
		{"PERMISSION_NOT_ADMITTED", "/requestedPermissions/0", []edit{{"/admission/admission/permissions", "[]"}, {"/params", "1"}}},
		{"PERMISSION_NOT_ADMITTED", "/requestedPermissions/0", []edit{{"/document/requestedPermissions/0/scope/paths/0", `"reports/*"`}}},
		{"INVALID_JSON_VALUE", "/permissions/requested/0/why" + strings.Repeat("/0", 253), []edit{{"/document/requestedPermissions/0/why", strings.Repeat("[", 253) + "1" + strings.Repeat("]", 253)}, {"/params", "1"}}},
		{"INVALID_JSON_VALUE", "", []edit{{"/params", "[]"}}},
		{"INVALID_JSON_VALUE", "/a" + strings.Repeat("/0", 256), []edit{{"/params", `{"a":` + strings.Repeat("[", 256) + "1" + strings.Repeat("]", 256) + "}"}}},
	})
}

func TestGraphPlanAccepts(t *testing.T) {
	testAccepted(t, schema.FormGraphPlan, [][]edit{
		{{"/admission/preflight", ""}, {"/params", ""}},
		{{"/admission/executionLanes/0/fallbacks", ""}},
		{{"/admission/executionLanes/0/fallbacks", "null"}},
		{{"/document/edges", "[]"}, {"/document/nodes/0/laneId", "null"}},
		{{"/document/edges/0/source", `"read"`}, {"/document/edges/0/target", `"read"`}},
		{{"/document/nodes", "[]"}, {"/document/phases", "[]"}, {"/document/edges", "[]"}},
		{{"/document/executionLanes/0/note", `{"effective":1}`}, {"/document/executionLanes/0/effective", `"mine"`}, {"/document/executionLanes/0/fallbacks", "7"}},
		{{"/document/graph/label", "1"}, {"/document/requirements/gpu", "false"}, {"/admission/admission/permissions/0/by", `"ops"`}},
		{{"/document/another", "1"}, {"/admission/another", "1"}, {"/admission/admission/another", "1"}, {"/admission/executionLanes/0/another", "1"}},
		{{"/document/bounds/dispatches/max", `{"kind":"unknown","reason":"x","value":-1}`}, {"/document/bounds/maxConcurrency/value", "0"}},
		{{"/document/graph/id", `"\u0085a b\u0085"`}},
		{{"/document/policies/stop", strings.Repeat("[", 255) + strings.Repeat("]", 255)}},
		{{"/params", "{}"}},
		{{"/params", `{"a":` + strings.Repeat("[", 255) + "1" + strings.Repeat("]", 255) + "}"}},
	})
}
