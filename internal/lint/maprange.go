package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// listed is what `go list` tells about one package.
type listed struct {
	ImportPath string
	Export     string // file with the compiler's export data
	GoFiles    []string
}

// MapRanges finds every loop over a map in the core. It type-checks those folders
// from source, with the compiler's export data for what they import: about as
// fast as a build that is already cached.
//
// One form is allowed: a loop whose body only collects keys for sorting is
// written slices.Sorted(maps.Keys(m)), which is no loop over a map.
func MapRanges(t *Tree) ([]Finding, error) {
	packages, err := goList(t.Root, t.patterns(coreFolders))
	if err != nil {
		return nil, err
	}
	exports := importer.ForCompiler(t.Fset, "gc", func(name string) (io.ReadCloser, error) {
		file := packages[name].Export
		if file == "" {
			return nil, fmt.Errorf("no export data for %s", name)
		}
		return os.Open(file)
	})
	var found []Finding
	for _, folder := range coreFolders {
		built := packages[path.Join(Module, folder)].GoFiles
		files := t.in(folder, built)
		if len(files) == 0 {
			continue
		}
		ranges, err := mapRanges(t, folder, files, exports)
		if err != nil {
			return nil, err
		}
		found = append(found, ranges...)
	}
	return found, nil
}

// patterns names those folders that hold Go files.
func (t *Tree) patterns(folders []string) []string {
	var names []string
	for _, folder := range folders {
		if slices.ContainsFunc(t.source(), func(f *File) bool { return f.Folder == folder }) {
			names = append(names, "./"+folder)
		}
	}
	return names
}

// in gives the files of folder that the build takes, by their base names.
func (t *Tree) in(folder string, built []string) []*File {
	return slices.DeleteFunc(t.source(), func(f *File) bool {
		return f.Folder != folder || !slices.Contains(built, path.Base(f.Name))
	})
}

func mapRanges(t *Tree, folder string, files []*File, imports types.Importer) ([]Finding, error) {
	syntax := make([]*ast.File, len(files))
	for i, f := range files {
		syntax[i] = f.Syntax
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: imports}
	if _, err := config.Check(path.Join(Module, folder), t.Fset, syntax, info); err != nil {
		return nil, fmt.Errorf("type-check %s: %w", folder, err)
	}
	var found []Finding
	for _, file := range files {
		for n := range ast.Preorder(file.Syntax) {
			if pos, ok := rangesOverMap(n, info); ok {
				found = append(found, t.finding(file, pos, "map-range",
					"map order reaches the outcome: range over slices.Sorted(maps.Keys(m))"))
			}
		}
	}
	return found, nil
}

// rangesOverMap: a range statement over a map, or over one of the unsorted
// iterators of package maps.
func rangesOverMap(n ast.Node, info *types.Info) (token.Pos, bool) {
	loop, ok := n.(*ast.RangeStmt)
	if !ok {
		return 0, false
	}
	if _, isMap := info.TypeOf(loop.X).Underlying().(*types.Map); isMap {
		return loop.Pos(), true
	}
	call, ok := loop.X.(*ast.CallExpr)
	if !ok {
		return 0, false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return 0, false
	}
	pkg, ok := selector.X.(*ast.Ident)
	unsorted := ok && pkg.Name == "maps" && slices.Contains([]string{"Keys", "Values", "All"}, selector.Sel.Name)
	return loop.Pos(), unsorted
}

// goList asks the go command for the packages that the patterns need, by import path.
func goList(root string, patterns []string) (map[string]listed, error) {
	packages := map[string]listed{}
	if len(patterns) == 0 {
		return packages, nil
	}
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,GoFiles"}, patterns...)
	command := exec.Command("go", args...)
	command.Dir = root
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaints.String())
	}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages[p.ImportPath] = p
	}
}
