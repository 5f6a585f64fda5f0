package lint

import (
	"go/ast"
	"go/token"
	"slices"
)

// floatFree are the folders where outcomes are made: amounts are schema.Decimal
// there, counts are integers, and a float could round one host's answer away
// from another's.
var floatFree = []string{"reducer", "reducer/state"}

// Floats bans floating-point types and literals from the folders that decide.
func Floats(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, file := range t.source() {
		if !slices.Contains(floatFree, file.Folder) {
			continue
		}
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			if name := floatName(n); name != "" {
				found = append(found, t.finding(file, n.Pos(), "float", "%s: use schema.Decimal for amounts and int64 for counts", name))
			}
			return true
		})
	}
	return found, nil
}

func floatName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Ident:
		if slices.Contains([]string{"float32", "float64", "complex64", "complex128"}, n.Name) {
			return n.Name
		}
	case *ast.BasicLit:
		if n.Kind == token.FLOAT || n.Kind == token.IMAG {
			return n.Value
		}
	}
	return ""
}

// coreFolders are the deterministic folders: what they do may depend on nothing
// but their arguments, the order of a map included.
var coreFolders = []string{"schema", "schema/jsontree", "schema/plan", "schema/nodeschema", "events", "reducer", "reducer/state"}

// concurrencyExcused are the files where a channel is harmless, with the reason.
var concurrencyExcused = map[string]string{
	"schema/decode.go": "a free list of decoders; which of them is taken reaches no outcome",
}

// Concurrency bans goroutines, channels and select from the core.
func Concurrency(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, file := range t.source() {
		if !slices.Contains(coreFolders, file.Folder) || concurrencyExcused[file.Name] != "" {
			continue
		}
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType:
				found = append(found, t.finding(file, n.Pos(), "concurrency", "the core runs on its caller's goroutine: start it in reducer/loop or cmd"))
			}
			return true
		})
	}
	return found, nil
}
