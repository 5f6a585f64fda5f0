package lint

import (
	"slices"
	"strings"
)

// pureStd is all of the standard library that the deterministic core may import
// directly: nothing here reads a clock, a file, the network or a random source.
// Transitive imports are not compared, since fmt itself pulls in os.
var pureStd = []string{
	"bytes", "cmp", "crypto/sha256", "embed", "encoding/base64", "encoding/binary", "encoding/hex",
	"errors", "fmt", "hash/crc32", "iter", "maps", "math/big", "math/bits", "slices", "strconv",
	"strings", "unicode/utf16", "unicode/utf8",
}

// folderRule says what the files of one folder may import.
type folderRule struct {
	folder string
	pure   bool     // standard library: pureStd and std only
	std    []string // what this folder needs besides
	own    []string // our packages; below "" means every package of ours but reducertest
	others []string // module prefixes of third parties; nil means none, "" means any
}

// folderRules hold the one direction of imports:
// schema <- events <- reducer/state <- reducer <- reducer/loop <- cmd/reducer.
// A folder that is not listed may import what it likes, except reducertest.
var folderRules = []folderRule{
	{folder: "schema", pure: true, others: []string{"github.com/go-json-experiment/json"}},
	{folder: "schema/jsontree", pure: true, own: []string{"schema"}, others: []string{"github.com/go-json-experiment/json"}},
	{folder: "schema/plan", pure: true, own: []string{"schema", "schema/jsontree", "schema/nodeschema"}, others: []string{"github.com/go-json-experiment/json"}},
	// What a pattern costs shows in its syntax. The library builds it with regexp, which is RE2: linear and the same everywhere.
	{folder: "schema/nodeschema", pure: true, std: []string{"regexp/syntax"}, own: []string{"schema", "schema/jsontree"}, others: []string{"github.com/santhosh-tekuri/jsonschema/v6"}},
	{folder: "events", pure: true, own: []string{"schema"}},
	{folder: "events/logfile", own: []string{"schema", "events"}, others: []string{"github.com/go-json-experiment/json"}},
	{folder: "events/wire", own: []string{"schema"}},
	{folder: "events/wire/exchange", own: []string{"schema", "events/wire"}, others: []string{"github.com/nats-io/"}},
	{folder: "events/client", own: []string{"schema", "events", "events/wire", "events/wire/exchange"}, others: []string{"github.com/nats-io/", "github.com/oklog/ulid/v2"}},
	{folder: "reducer/state", pure: true, own: []string{"schema", "events"}},
	{folder: "reducer", pure: true, own: []string{"schema", "schema/plan", "schema/nodeschema", "events", "reducer/state"}},
	{folder: "reducer/outlook", own: []string{"schema", "events", "events/wire", "reducer/state", "reducer"}},
	{folder: "reducer/loop", own: []string{"schema", "schema/plan", "events", "reducer/state", "reducer"}, others: []string{"github.com/oklog/ulid/v2"}},
	{folder: "reducer/audit", own: []string{"schema", "schema/plan", "events", "reducer/state", "reducer", "reducer/loop"}},
	{folder: "reducer/scheduler", own: []string{"schema", "events", "reducer/state"}},
	{folder: "reducer/archive", own: []string{"schema", "events", "reducer/state", "reducer/loop", "internal/filelock"}},
	{folder: "reducer/transfer", own: []string{"schema", "events", "events/logfile", "reducer/state", "reducer", "reducer/loop"}, others: []string{"github.com/oklog/ulid/v2"}},
	{folder: "reducer/jetlog", own: []string{"schema", "events", "reducer/state", "reducer", "reducer/loop", "internal/filelock", "internal/natslogin", "internal/natsurl"}, others: []string{"github.com/nats-io/", "golang.org/x/sys"}},
	{folder: "projections", own: []string{"schema", "schema/plan", "events", "events/wire", "events/wire/exchange", "reducer/state"},
		others: []string{"github.com/cockroachdb/pebble/v2", "github.com/nats-io/", "github.com/prometheus/client_golang"}},
}

// testHarness is imported by tests only.
const testHarness = "reducer/reducertest"

// Imports checks the direct imports of every file that is no test.
func Imports(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, file := range t.source() {
		for _, spec := range file.Syntax.Imports {
			name := importPath(spec)
			if fault := importFault(file.Folder, name); fault != "" {
				found = append(found, t.finding(file, spec.Pos(), "import", "%s imports %s: %s", file.Folder, name, fault))
			}
		}
	}
	return found, nil
}

// importFault says why folder may not import name, or nothing.
func importFault(folder, name string) string {
	own, isOwn := strings.CutPrefix(name, Module+"/")
	if isOwn && own == testHarness && folder != testHarness {
		return "reducertest is for tests; move what you need into the package that owns it"
	}
	i := slices.IndexFunc(folderRules, func(r folderRule) bool { return r.folder == folder })
	if i < 0 {
		return ""
	}
	rule := folderRules[i]
	switch {
	case isOwn:
		return ownFault(rule, own)
	case isStd(name):
		return stdFault(rule, name)
	case !slices.ContainsFunc(rule.others, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		return "no third-party package but " + list(rule.others) + "; declare an interface here and implement it in the folder that owns the dependency"
	}
	return ""
}

func ownFault(rule folderRule, own string) string {
	if slices.Contains(rule.own, own) {
		return ""
	}
	return "imports point one way; of ours it may import " + list(rule.own) + ": pass the value in, or declare an interface here"
}

func stdFault(rule folderRule, name string) string {
	if !rule.pure || slices.Contains(pureStd, name) || slices.Contains(rule.std, name) {
		return ""
	}
	switch name {
	case "time":
		return "the core has no clock; take milliseconds as schema.Decimal from the message"
	case "sort":
		return "use slices.Sort, slices.SortFunc or slices.Sorted"
	case "encoding/json":
		return "it accepts repeated and other-case names; use schema.DecodeRecord and schema.AppendRecord"
	case "math/rand", "math/rand/v2", "crypto/rand":
		return "the core has no randomness; the edge stamps, the command carries"
	case "sync", "sync/atomic", "context", "os", "io", "log", "log/slog", "net", "net/http":
		return "the core does no I/O and has no goroutines; do it in reducer/loop or cmd and pass the result in"
	}
	return "not on the core's short list (internal/lint, pureStd); a wider list needs a decision note"
}

// isStd: the first element of a standard library path has no dot.
func isStd(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
