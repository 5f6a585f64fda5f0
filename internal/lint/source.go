package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the module path, the prefix of every import of our own.
const Module = "github.com/aiws-reducer/aiws-reducer"

// Finding is one broken rule at one place.
type Finding struct {
	File string // slash-separated, relative to the root
	Line int
	Rule string
	Text string // what is wrong and what to write instead
}

// String prints the finding as compilers do, so that editors can jump to it.
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Rule, f.Text)
}

// File is one parsed Go file.
type File struct {
	Name   string // slash-separated, relative to the root
	Folder string // its directory, "." for the root
	Test   bool
	Syntax *ast.File
}

// Tree is the source under one root.
type Tree struct {
	Root  string
	Fset  *token.FileSet
	Files []*File
	Texts []string // files that are prose, scripts or configuration
}

// textNames are the files that people read besides Go: they obey the rules on
// words (left-over notes, machine paths) and no others.
var textNames = []string{".md", ".sh", ".yml", ".yaml", "Makefile", "run", "go.mod"}

// Load parses every Go file under root, testdata folders left out.
func Load(root string) (*Tree, error) {
	t := &Tree{Root: root, Fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(root, name)
		}
		return t.add(name)
	})
	return t, err
}

func skipFolder(root, name string) error {
	switch filepath.Base(name) {
	case ".git", "bin", "testdata":
		if name != root {
			return fs.SkipDir
		}
	}
	return nil
}

func (t *Tree) add(name string) error {
	rel, err := filepath.Rel(t.Root, name)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	if slices.ContainsFunc(textNames, func(end string) bool { return strings.HasSuffix(rel, end) }) {
		t.Texts = append(t.Texts, rel)
	}
	if path.Ext(rel) != ".go" {
		return nil
	}
	t.Texts = append(t.Texts, rel)
	syntax, err := parser.ParseFile(t.Fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Files = append(t.Files, &File{
		Name:   rel,
		Folder: path.Dir(rel),
		Test:   strings.HasSuffix(rel, "_test.go"),
		Syntax: syntax,
	})
	return nil
}

// source gives the files that are no tests; the rules about design look at them.
func (t *Tree) source() []*File {
	return slices.DeleteFunc(slices.Clone(t.Files), func(f *File) bool { return f.Test })
}

func (t *Tree) line(pos token.Pos) int { return t.Fset.Position(pos).Line }

func (t *Tree) finding(f *File, pos token.Pos, rule, format string, args ...any) Finding {
	return Finding{File: f.Name, Line: t.line(pos), Rule: rule, Text: fmt.Sprintf(format, args...)}
}

func (t *Tree) read(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(name)))
	return string(text), err
}

func importPath(spec *ast.ImportSpec) string {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(fmt.Sprintf("lint: the parser let an import path through: %v", err))
	}
	return name
}
