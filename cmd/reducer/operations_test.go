package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOperationsPage runs the walk-throughs of docs/operations.md, one after the
// other in one directory, with the real programs on a free port.
func TestOperationsPage(t *testing.T) {
	bin := filepath.Dir(program(t, "reducer"))
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts := shellFences(string(page))
	if len(scripts) < 8 {
		t.Fatalf("%d walk-throughs were found", len(scripts))
	}
	dir, path := t.TempDir(), onFreePort(t, bin)
	commands, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "quickstart.jsonl"), commands, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		c := exec.CommandContext(t.Context(), shell, "-euo", "pipefail", "-c", s.text)
		c.Dir, c.WaitDelay = dir, 10*time.Second
		c.Env = append(os.Environ(), "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", s.title, err, out)
		}
	}
}

// walkThrough is a fence of sh under a heading.
type walkThrough struct{ title, text string }

func shellFences(page string) (found []walkThrough) {
	title, inside := "", false
	for line := range strings.Lines(page) {
		switch {
		case inside && strings.HasPrefix(line, "```"):
			inside = false
		case inside:
			found[len(found)-1].text += line
		case strings.HasPrefix(line, "#"):
			title = strings.TrimSpace(line)
		case strings.TrimSpace(line) == "```sh":
			inside, found = true, append(found, walkThrough{title: title})
		}
	}
	return found
}

// onFreePort is a directory with programs that are those of bin, but for the
// address where none is given: the page has the one that everybody has. It waits
// for nobody longer than it must: what the shell starts in the background is the
// program itself.
func onFreePort(t *testing.T, bin string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"reducer", "ingest"} {
		text := fmt.Sprintf("#!/bin/sh\ncase \"$1 $*\" in\nserve*) exec %[1]s/%[2]s \"$@\" --listen %[3]s ;;\n"+
			"*--data*|*--version*) exec %[1]s/%[2]s \"$@\" ;;\n*) exec %[1]s/%[2]s \"$@\" --nats nats://%[3]s ;;\nesac\n", bin, name, address)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
