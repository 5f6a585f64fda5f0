package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Docs wants a comment on every exported identifier and on every package.
func Docs(t *Tree) ([]Finding, error) {
	var found []Finding
	documented := map[string]bool{}
	first := map[string]*File{}
	var folders []string
	for _, file := range t.source() {
		if first[file.Folder] == nil {
			first[file.Folder] = file
			folders = append(folders, file.Folder)
		}
		documented[file.Folder] = documented[file.Folder] || file.Syntax.Doc != nil
		for _, decl := range file.Syntax.Decls {
			found = append(found, t.docOf(file, decl)...)
		}
	}
	for _, folder := range folders {
		if !documented[folder] {
			found = append(found, t.finding(first[folder], first[folder].Syntax.Package, "doc",
				"package %s has no comment: say in doc.go what it is for and what it promises", folder))
		}
	}
	return found, nil
}

func (t *Tree) docOf(file *File, decl ast.Decl) []Finding {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && file.Syntax.Name.Name != "main" {
			return []Finding{t.undocumented(file, d.Name)}
		}
	case *ast.GenDecl:
		if d.Doc != nil && d.Tok != token.TYPE {
			return nil // one comment for the group
		}
		return t.docOfSpecs(file, d)
	}
	return nil
}

func (t *Tree) docOfSpecs(file *File, d *ast.GenDecl) []Finding {
	var found []Finding
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				found = append(found, t.undocumented(file, s.Name))
			}
		case *ast.ValueSpec:
			if s.Doc == nil && s.Comment == nil && s.Names[0].IsExported() {
				found = append(found, t.undocumented(file, s.Names[0]))
			}
		}
	}
	return found
}

func (t *Tree) undocumented(file *File, name *ast.Ident) Finding {
	return t.finding(file, name.Pos(), "doc", "%s is exported without a comment: state its contract in a sentence, or unexport it", name.Name)
}

// exportedReceiver: a method counts only where its type can be named outside.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// Prints bans output from libraries: only a command owns its standard streams
// and its exit code.
func Prints(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, file := range t.source() {
		if strings.HasPrefix(file.Folder, "cmd") || file.Syntax.Name.Name == "main" {
			continue
		}
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if name := callName(call); slices.Contains(printCalls, name) {
				found = append(found, t.finding(file, n.Pos(), "print",
					"%s in a library: return a value or an error, or write to an io.Writer or *slog.Logger that the caller gave", name))
			}
			return true
		})
	}
	return found, nil
}

var printCalls = []string{
	"fmt.Print", "fmt.Printf", "fmt.Println", "print", "println",
	"log.Print", "log.Printf", "log.Println", "log.Fatal", "log.Fatalf", "log.Fatalln", "os.Exit",
}

func callName(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		if pkg, ok := fun.X.(*ast.Ident); ok {
			return pkg.Name + "." + fun.Sel.Name
		}
	}
	return ""
}
