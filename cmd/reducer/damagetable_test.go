package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

var (
	damageOffsets = flag.Int("damage.offsets", 2, "offsets of each kind of file at which TestDamage flips a bit; half as many cuts, twice as many files deleted at most")
	damageWorkers = flag.Int("damage.workers", 4, "trials of TestDamage at a time")
	damageDoc     = flag.String("damage.doc", "", "file to write the table of docs/damage.md to")
)

// TestDamage flips bits in, cuts and deletes each kind of file of a copy of a
// history, and starts a reducer on it. Nothing wrong is ever served or appended.
// docs/damage.md has the table of a long run.
func TestDamage(t *testing.T) {
	program(t, "reducer")
	h := makeHistory(t)
	trials := plan(t, h)
	work := make(chan *trial)
	var wait sync.WaitGroup
	var mu sync.Mutex
	table := damageTable{}
	for range *damageWorkers {
		wait.Go(func() {
			for x := range work {
				dir, err := os.MkdirTemp("", "damage-*")
				if err != nil {
					t.Error(err)
					continue
				}
				result, err := x.run(t, h, dir)
				mu.Lock()
				table.add(x, result)
				mu.Unlock()
				if err != nil {
					t.Errorf("%s: %s: %s: %v", x.kind.name, x, result, err)
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n, x := range trials {
		if deadline, ok := t.Deadline(); ok && time.Until(deadline) < 40*time.Second {
			t.Logf("%d of %d trials were made before -timeout", n, len(trials))
			break
		}
		work <- x
	}
	close(work)
	wait.Wait()
	t.Logf("\n%s", table)
	if *damageDoc != "" {
		if err := os.WriteFile(*damageDoc, []byte(table.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// plan makes the trials: for each kind of file flips spread over all its files,
// with the ends of each, cuts, and each file deleted.
func plan(t *testing.T, h *history) []*trial {
	t.Helper()
	var trials []*trial
	for i := range damageKinds {
		kind := &damageKinds[i]
		files := filesOf(t, h.root, kind.files)
		for n := range *damageOffsets {
			file := files[n%len(files)]
			size := sizeOf(t, filepath.Join(h.root, file))
			if size == 0 {
				continue
			}
			at := place(n/len(files), max(1, *damageOffsets/len(files)), size)
			bit := n % 8
			trials = append(trials, &trial{
				kind: kind, file: file, flip: true, what: fmt.Sprintf("bit %d of byte %d", bit, at),
				change: func(content []byte) []byte { content[at] ^= 1 << bit; return content },
			})
			if n%2 == 0 {
				trials = append(trials, &trial{
					kind: kind, file: file, what: fmt.Sprintf("cut to %d bytes", at),
					change: func(content []byte) []byte { return content[:at] },
				})
			}
		}
		for _, file := range files[:min(len(files), 2**damageOffsets)] {
			trials = append(trials, &trial{kind: kind, file: file, what: "deletion"})
		}
	}
	// Mixed, so that a run that is cut short has tried every kind.
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	return trials
}

// place spreads n of count offsets over a file, its ends first.
func place(n, count, size int) int {
	ends := []int{0, size - 1, 1, size - 2, min(8, size-1), max(0, size-9)}
	if n < len(ends) {
		return min(max(0, ends[n]), size-1)
	}
	return (n*size/count + 7*n) % size
}

// filesOf lists the files of a pattern: ** is everything below, {a,b} is either,
// last.blk is the file that is written to, and full.blk are those before it.
func filesOf(t *testing.T, root, pattern string) []string {
	t.Helper()
	if before, rest, ok := strings.Cut(pattern, "{"); ok {
		either, after, _ := strings.Cut(rest, "}")
		var all []string
		for _, one := range strings.Split(either, ",") {
			all = append(all, filesOf(t, root, before+one+after)...)
		}
		return all
	}
	dir, name := filepath.Split(pattern)
	ofServer := name == "last.blk" || name == "full.blk"
	if ofServer || name == "**" {
		pattern = dir
	}
	found, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	var all []string
	for _, path := range found {
		err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && d.Name() != "LOCK" && (!ofServer || filepath.Ext(path) == ".blk") {
				relative, _ := filepath.Rel(root, path)
				all = append(all, relative)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !ofServer {
		return all
	}
	slices.SortFunc(all, func(a, b string) int { return number(a) - number(b) })
	if last := len(all) - 1; name == "last.blk" {
		all = all[last:]
	} else if all = all[:last]; last < 2 {
		t.Fatalf("the log has %d full files", last)
	}
	return all
}

func number(blk string) int {
	n, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(blk), ".blk"))
	return n
}

func sizeOf(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

// damageTable counts the outcomes for each kind.
type damageTable map[string]*damageRow

type damageRow struct {
	flips, cuts, deleted int
	ended                map[outcome]int
}

func (d damageTable) add(x *trial, result outcome) {
	row := d[x.kind.name]
	if row == nil {
		row = &damageRow{ended: map[outcome]int{}}
		d[x.kind.name] = row
	}
	switch {
	case x.flip:
		row.flips++
	case x.change == nil:
		row.deleted++
	default:
		row.cuts++
	}
	row.ended[result]++
}

// String is the table in Markdown.
func (d damageTable) String() string {
	var out strings.Builder
	out.WriteString("| file | flips | cuts | deleted | detected | healed | refused | harmless | silent |\n|---|---|---|---|---|---|---|---|---|\n")
	sum := damageRow{ended: map[outcome]int{}}
	line := func(name string, r *damageRow) {
		e := r.ended
		fmt.Fprintf(&out, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", name, r.flips, r.cuts, r.deleted,
			e[healed]+e[refused], e[healed], e[refused], e[harmless], e[silent])
	}
	for i := range damageKinds {
		row := d[damageKinds[i].name]
		if row == nil {
			continue
		}
		line(damageKinds[i].name, row)
		sum.flips, sum.cuts, sum.deleted = sum.flips+row.flips, sum.cuts+row.cuts, sum.deleted+row.deleted
		for result, n := range row.ended {
			sum.ended[result] += n
		}
	}
	line("all", &sum)
	return out.String()
}

// status is zero while it does not answer.
func (s *quiet) status(t *testing.T) (answer wire.StatusResponse) {
	t.Helper()
	if r := run(t, "", "reducer", "status", "--json", "--nats", s.url); r.code == 0 {
		_ = json.Unmarshal([]byte(r.out), &answer) // what is no answer says nothing
	}
	return answer
}

// submit starts the run that is named as the command is.
func (s *quiet) submit(t *testing.T, id string) (client.Decision, error) {
	t.Helper()
	nc, err := nats.Connect(s.url)
	if err != nil {
		return client.Decision{}, err
	}
	defer nc.Close()
	c, err := client.New(nc, client.Options{})
	if err != nil {
		return client.Decision{}, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), damagePatience)
	defer cancel()
	d, err := c.Submit(ctx, client.Command{Contract: "onboarding", Principal: "buyer", ID: id, Body: &schema.StartRun{RunID: id}})
	var rejected *client.Rejection
	if errors.As(err, &rejected) { // the caller looks at the decision
		err = nil
	}
	return d, err
}
