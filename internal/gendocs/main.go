// Command gendocs writes the parts of docs that follow from code. Run it from
// the root of the repository, or give the root:
//
//	go run ./internal/gendocs
package main

import (
	"fmt"
	"os"

	"github.com/aiws-reducer/aiws-reducer/internal/doccheck"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := doccheck.Write(root); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}
