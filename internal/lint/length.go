package lint

import (
	"bufio"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// maxFunctionLines is the limit of one function, signature and braces included.
// Test functions are free: a long table reads better whole.
const maxFunctionLines = 60

// ratchetFile lists the functions that are longer for now, "folder.name lines" a
// line. It may only shrink.
const ratchetFile = "internal/lint/long_functions.txt"

// FunctionLengths reports functions over the limit that the ratchet does not
// excuse, and ratchet lines that excuse more than is needed.
func FunctionLengths(t *Tree, ratchet string) ([]Finding, error) {
	excused, err := parseRatchet(ratchet)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, file := range t.source() {
		for _, decl := range file.Syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := file.Folder + "." + functionName(f)
			lines := t.line(f.End()) - t.line(f.Pos()) + 1
			limit := max(maxFunctionLines, excused[name])
			if lines > limit {
				found = append(found, t.finding(file, f.Pos(), "length", "%s has %d lines, %d are the limit: name a part of it and take it out", name, lines, limit))
			}
			if excused[name] == lines {
				delete(excused, name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(excused)) {
		found = append(found, Finding{File: ratchetFile, Line: 1, Rule: "length",
			Text: fmt.Sprintf("%s no longer has %d lines: take the line out or lower it; the list only shrinks", name, excused[name])})
	}
	return found, nil
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return receiverName(f.Recv.List[0].Type) + "." + f.Name.Name
}

func receiverName(typ ast.Expr) string {
	switch x := typ.(type) {
	case *ast.StarExpr:
		return receiverName(x.X)
	case *ast.IndexExpr:
		return receiverName(x.X)
	case *ast.IndexListExpr:
		return receiverName(x.X)
	case *ast.Ident:
		return x.Name
	}
	return "?"
}

func parseRatchet(text string) (map[string]int, error) {
	excused := map[string]int{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var name string
		var count int
		if _, err := fmt.Sscanf(line, "%s %d", &name, &count); err != nil {
			return nil, fmt.Errorf("%s: %q: want a function and its lines: %w", ratchetFile, line, err)
		}
		excused[name] = count
	}
	return excused, lines.Err()
}
