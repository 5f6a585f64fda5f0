package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// What show prints of a running reducer and of its directory is the same.
func TestShow(t *testing.T) {
	data, _ := served19(t)
	s := serve(t, data)
	type shown struct {
		args string
		code int
		want string // in the output
		not  string
	}
	cases := []shown{
		{"runs --contract onboarding", 0, "RUN             STATE      SPENT", ""},
		{"attempts --contract onboarding --state APPLIED", 0, "laptop-2", "laptop-1"},
		{"attempts laptop-1 --contract onboarding", 0, "state         NOT_APPLIED", "laptop-2"},
		{"attempts laptop-1", 0, "changed by", ""}, // there is one contract only
		{"exposure contract/onboarding --json", 0, `"projection":"exposure","seq":14,"value":{"available":"0","budget":"1600"`, ""},
		{"decisions --outcome rejected --json", 0, `"code":"BUDGET_EXCEEDED"`, "contractOpened"},
		{"decisions --limit 2", 0, " 18  2", " 17  2"},
		{"missions", 0, "equip-kim  OPEN", ""},
		{"waits", 0, "WAIT  STATE", ""},
		{"attempts laptop-3", 1, "", ""},
		{"attempts laptop-1 --contract other", 1, "", ""},
		{"bills", 2, "", ""},
		{"runs --limit -1", 0, "laptop-for-kim", ""},
	}
	for _, projection := range state.Projections() {
		cases = append(cases, shown{projection, 0, columns[projection][0].title[:2], ""})
	}
	var running []result
	for _, c := range cases {
		running = append(running, run(t, "", "reducer", append([]string{"show", "--nats", s.url}, strings.Fields(c.args)...)...))
	}
	s.stop()
	for i, c := range cases {
		r := run(t, "", "reducer", append([]string{"show", "--data", data}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(strings.ToLower(r.out), strings.ToLower(c.want)) || c.not != "" && strings.Contains(r.out, c.not) {
			t.Errorf("show %s: %s", c.args, r)
		}
		if running[i].code != r.code || running[i].out != r.out {
			t.Errorf("show %s of a running reducer: %s\nof its directory: %s", c.args, running[i], r)
		}
	}
}

func TestStatus(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	var status wire.StatusResponse
	if err := json.Unmarshal([]byte(must(t, 0, "reducer", "status", "--json", "--nats", s.url)), &status); err != nil {
		t.Fatal(err)
	}
	if !status.Ready || status.AsOf.Seq != 19 || status.RulesVersion != 1 || status.Shards != 1 || status.Mirror == nil {
		t.Errorf("running: %+v", status)
	}
	if out := must(t, 0, "reducer", "status", "--nats", s.url); !strings.Contains(squeezed(out), "last command 19\n") {
		t.Errorf("running:\n%s", out)
	}
	s.stop()
	if out := must(t, 0, "reducer", "status", "--data", data); !strings.Contains(squeezed(out), "STATUS STOPPED") || !strings.Contains(squeezed(out), "last command 19\n") {
		t.Errorf("stopped:\n%s", out)
	}
}

// Time travel: the state after a command is what fold says after that many.
func TestReplayTo(t *testing.T) {
	data, _ := served19(t)
	export := must(t, 0, "reducer", "export", "--data", data)
	lines := strings.SplitAfter(strings.TrimSuffix(export, "\n"), "\n")
	for _, seq := range []int{0, 1, 7, 19, 100} {
		part := lines[:min(seq, len(lines))]
		want, err := command(t, strings.Join(part, ""), "fold", "--state", "--digest", "-")
		if err != nil {
			t.Fatal(err)
		}
		got := must(t, 0, "reducer", "replay", "--json", "--data", data, "--to", fmt.Sprint(seq))
		at := strings.Index(got, `{"commands":`)
		documents := strings.SplitAfter(want, "\n")[len(part):]
		if got[:at] != strings.Join(documents[:len(documents)-2], "") {
			t.Errorf("after %d:\n%s\nfold says:\n%s", seq, got, want)
		}
		digest := strings.TrimPrefix(documents[len(documents)-2], "{")
		if tail := got[at:]; !strings.HasPrefix(tail, fmt.Sprintf(`{"commands":%d,"lastCommand":%d,`, len(part), len(part))) || !strings.HasSuffix(tail, digest) {
			t.Errorf("after %d: %s, fold says %s", seq, tail, digest)
		}
	}
	before := must(t, 0, "reducer", "replay", "--json", "--data", data, "--at", "2026-01-01T00:00:00Z")
	if !strings.HasPrefix(before, `{"commands":0,`) {
		t.Errorf("before all:\n%s", before)
	}
	now := must(t, 0, "reducer", "replay", "--json", "--data", data, "--at", fmt.Sprint(time.Now().UnixMilli()))
	if !strings.Contains(now, `{"commands":19,`) {
		t.Errorf("now:\n%s", now)
	}
	if r := run(t, "", "reducer", "replay", "--data", data, "--to", "3", "--at", "5"); r.code != exit.Usage {
		t.Errorf("two moments: %s", r)
	}
}

func TestExport(t *testing.T) {
	data, _ := served19(t)
	for _, c := range []struct {
		args  string
		lines int
	}{{"", 19}, {"--from 5", 15}, {"--to 5", 5}, {"--from 5 --to 5", 1}, {"--from 20", 0}, {"--contract onboarding", 19}, {"--contract other", 0}, {"--decisions", 19}} {
		out := must(t, 0, "reducer", append([]string{"export", "--data", data}, strings.Fields(c.args)...)...)
		if got := strings.Count(out, "\n"); got != c.lines {
			t.Errorf("export %s: %d lines, want %d", c.args, got, c.lines)
		}
	}
}

// Any NATS client can watch the rows of a run.
func TestWatchBucket(t *testing.T) {
	s := serve(t, t.TempDir())
	conn, err := nats.Connect(s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.KeyValue(t.Context(), wire.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := bucket.Watch(t.Context(), "onboarding.runs.*")
	if err != nil {
		t.Fatal(err)
	}
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	eventually(t, "the run is seen completed", func() bool {
		select {
		case entry := <-watcher.Updates():
			return entry != nil && entry.Key() == "onboarding.runs.laptop-for-kim" && strings.Contains(string(entry.Value()), "COMPLETED")
		default:
			return false
		}
	})
}

// Watch shows what changes, and all there is with --since 0; SIGINT ends it.
func TestWatch(t *testing.T) {
	s := serve(t, t.TempDir())
	var out proctest.Output
	c := exec.Command(program(t, "reducer"), "watch", "runs", "--since", "0", "--nats", s.url)
	c.Stdout = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	eventually(t, "the run is seen completed", func() bool { return strings.Contains(out.String(), "run laptop-for-kim, state COMPLETED, spent 1665") })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Errorf("watch ends with %v", err)
	}
	if r := run(t, "", "reducer", "watch", "decisions"); r.code != exit.Usage || !strings.Contains(r.stderr, "cannot be watched") {
		t.Errorf("decisions: %s", r)
	}
}

// The scheduler resumes a run whose timer is over; without it nobody does.
func TestScheduler(t *testing.T) {
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--scheduler")
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	due := time.Now().Add(300 * time.Millisecond).UnixMilli()
	lines := strings.Join([]string{
		`{"type":"startRun","runId":"sleeper"}`,
		`{"type":"transition","runId":"sleeper","to":"RUNNING"}`,
		fmt.Sprintf(`{"type":"wait","runId":"sleeper","waitId":"w","kind":"TIMER","correlation":"c","deadline":"%d"}`, due),
	}, "\n")
	var file strings.Builder
	for line := range strings.Lines(lines) {
		fmt.Fprintf(&file, `{"contract":"onboarding","principal":"buyer","command":%s}`+"\n", strings.TrimSpace(line))
	}
	if r := run(t, file.String(), "ingest", "--wait", "--nats", s.url); r.code != 0 {
		t.Fatal(r)
	}
	eventually(t, "the timer is over", func() bool {
		return strings.Contains(must(t, 0, "reducer", "show", "waits", "--state", "SATISFIED", "--nats", s.url), "sleeper")
	})
	export := decisions(t, recorded(t, must(t, 0, "reducer", "export", "--decisions", "--from", "23", "--nats", s.url)))
	if len(export) == 0 || export[0].Principal != "scheduler" || export[0].Type != "resume" || export[0].Outcome != events.OutcomeAccepted {
		t.Errorf("the scheduler's decisions: %v", export)
	}
}

// The README's first command.
func TestDemo(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell")
	}
	program(t, "reducer")
	out, err := exec.Command("sh", "../../scripts/demo.sh", binaries.dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "the same digest") {
		t.Errorf("%v\n%s", err, out)
	}
}

// squeezed has one space where a table has many: how wide a column is depends on
// all rows.
func squeezed(table string) string { return regexp.MustCompile(` +`).ReplaceAllString(table, " ") }
