package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// sample has one command, "cat FILE|-", that needs the flag --why.
func sample() *cobra.Command {
	root := NewRoot("sample", "a sample", "", map[string]int64{"rules": 1})
	cat := &cobra.Command{
		Use:  "cat FILE|-",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := Open(c, args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			_, err = io.Copy(c.OutOrStdout(), file)
			return errors.Join(err, exit.Errorf(exit.Integrity, "torn"))
		},
	}
	cat.Flags().String("why", "", "a reason")
	if err := cat.MarkFlagRequired("why"); err != nil {
		panic(err)
	}
	root.AddCommand(cat)
	return root
}

func TestMainCodes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args        string
		code        int
		out, stderr string
	}{
		{"", 0, "a sample", ""},
		{"--help", 0, "a sample", ""},
		{"dog", 2, "", "Try 'sample --help'."},
		{"cat", 2, "", "Try 'sample cat --help'."},
		{"cat a", 2, "", `required flag(s) "why" not set`},
		{"cat --no a", 2, "", "unknown flag: --no"},
		{"cat --why x " + name, 3, "content", "sample: torn"},
		{"cat --why x -", 3, "standard input", "sample: torn"},
		{"cat --why x " + name + "-not", 1, "", "no such file"},
		{"--version", 0, "rules 1\n", ""},
		{"--version --json", 0, `"formats":{"rules":1}`, ""},
	} {
		root := sample()
		var out, stderr strings.Builder
		root.SetIn(strings.NewReader("standard input"))
		root.SetOut(&out)
		root.SetErr(&stderr)
		root.SetArgs(strings.Fields(c.args))
		code := Run(context.Background(), root)
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(stderr.String(), c.stderr) {
			t.Errorf("%q: code %d, want %d\nout: %s\nerr: %s", c.args, code, c.code, &out, &stderr)
		}
	}
}
