package jetlog_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// daemonEnv names the data directory for a child process that is to be killed.
const daemonEnv = "AIWS_TEST_DAEMON"

// flushEvery is short for the store to be on disk when a child is killed.
var flushEvery = 50 * time.Millisecond

var streams = jetlog.Streams{Generation: "g1"}

type stores struct{ *projections.Home }

func (s stores) Open() (loop.Store, error) {
	store, err := s.Home.Open()
	if err != nil {
		return nil, err
	}
	return store, nil
}

// serve runs a whole reducer on a data directory until ctx ends. ready gets the
// server's address.
func serve(ctx context.Context, path string, ready func(url string)) error {
	dir, err := jetlog.OpenDir(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := jetlog.StartServer(jetlog.ServerOptions{Dir: dir, Listen: "127.0.0.1:0", Log: log})
	if err != nil {
		return err
	}
	defer server.Stop()
	return loop.Run(ctx, loop.Options{
		Connect: func(ctx context.Context) (loop.Session, error) {
			if sick := server.Healthy(); sick != nil {
				log.Warn("starting the server again", "reason", sick)
				if err := server.Restart(); err != nil {
					return nil, err
				}
			}
			conn, err := server.Connect(ctx, jetlog.ConnectOptions{})
			if err != nil {
				return nil, err
			}
			return jetlog.NewSession(ctx, conn, streams, func() error {
				err := server.OpenDoors()
				ready(server.URL())
				return err
			})
		},
		Stores:       stores{projections.NewHome(projections.StoreOptions{Dir: dir.Store(), FlushEvery: flushEvery, Log: log})},
		NewDecider:   func() loop.Decider { return reducer.New() },
		RulesVersion: reducer.RulesVersion,
		Log:          log,
		Status:       daemonStatus,
		Limits:       loop.Limits{Append: time.Second},
	})
}

// daemonStatus is what a reducer in this process says about itself.
var daemonStatus = loop.NewStatus()

// TestDaemon is no test: it is the child process of TestKill.
func TestDaemon(t *testing.T) {
	path := os.Getenv(daemonEnv)
	if path == "" {
		t.Skip("runs in a child process")
	}
	err := serve(context.Background(), path, func(url string) { fmt.Println("ready", url) })
	fmt.Fprintln(os.Stderr, "ended:", err)
	os.Exit(loop.ExitCode(err))
}

// child is a running reducer.
type child struct {
	cmd *exec.Cmd
	url string
}

func startChild(t *testing.T, path string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDaemon$")
	cmd.Env = append(os.Environ(), daemonEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // of a test that failed
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
			return &child{cmd, url}
		}
	}
	t.Fatalf("the child ended: %v", cmd.Wait())
	return nil
}

func (c *child) kill(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait() // it was killed
}

const openBody = `{"contract":{"actions":["purchase"],"aiwsEdition":"0.4","budget":"1000","criteria":["done"],"deadline":"4102444800000",` +
	`"features":[],"id":"c1","maxAttempts":"3","maxAuthorizationAgeMs":"1000","missionId":"m","profile":"finite-v1","requiresApproval":false,` +
	`"resources":["shop"]},"type":"openContract"}`

// clients send commands until each is answered, and keep the answers.
type clients struct {
	mu      sync.Mutex
	answers map[string][]byte // command id to the first decision heard
	repeats int
}

// command number n: the contract, then runs.
func command(n int) (id, subject, body string) {
	id = fmt.Sprintf("id-%d", n)
	if n == 0 {
		return id, "aiws.cmd.c1.alice.openContract", openBody
	}
	return id, "aiws.cmd.c1.alice.startRun", fmt.Sprintf(`{"runId":"run-%d","type":"startRun"}`, n)
}

// ask sends a command until there is an answer, on whatever server there is.
func (c *clients) ask(ctx context.Context, nc *nats.Conn, n int) error {
	id, subject, body := command(n)
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe()
	m := &nats.Msg{Subject: subject, Data: []byte(body), Header: nats.Header{jetlog.HeaderCommandID: {id}, jetlog.HeaderReply: {inbox}}}
	if _, err := js.PublishMsg(ctx, m); err != nil {
		return err
	}
	answer, err := sub.NextMsgWithContext(ctx)
	if err != nil {
		return err
	}
	d, err := events.ParseDecision(answer.Data)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.Outcome == events.OutcomeDuplicate {
		c.repeats++
	}
	if c.answers[id] == nil {
		c.answers[id] = answer.Data
	}
	return nil
}

// sendAll asks with several clients at once for the commands that have no
// answer, until ctx ends or all have one.
func (c *clients) sendAll(ctx context.Context, url string, from, to int) {
	nc, err := nats.Connect(url, nats.MaxReconnects(0))
	if err != nil {
		return
	}
	defer nc.Close()
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for n := range numbers {
				ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
				_ = c.ask(ctx, nc, n) // it is asked again
				cancel()
			}
		})
	}
	for n := from; n < to && ctx.Err() == nil; n++ {
		id, _, _ := command(n)
		c.mu.Lock()
		known := c.answers[id] != nil
		c.mu.Unlock()
		if !known {
			numbers <- n
		}
	}
	close(numbers)
	workers.Wait()
}

// submit sends count commands, with so many unanswered at a time.
func submit(tb testing.TB, nc *nats.Conn, submitters, from, count int) {
	tb.Helper()
	inbox := nc.NewInbox()
	var sent, answered atomic.Int64
	done := make(chan struct{})
	send := func() {
		n := sent.Add(1)
		if n > int64(count) {
			return
		}
		id, subject, body := command(from + int(n) - 1)
		m := &nats.Msg{Subject: subject, Data: []byte(body), Header: nats.Header{jetlog.HeaderCommandID: {id}, jetlog.HeaderReply: {inbox}}}
		if err := nc.PublishMsg(m); err != nil {
			tb.Error(err)
		}
	}
	sub, err := nc.Subscribe(inbox, func(*nats.Msg) {
		if answered.Add(1) == int64(count) {
			close(done)
		}
		send()
	})
	if err != nil {
		tb.Fatal(err)
	}
	defer sub.Unsubscribe()
	for range submitters {
		send()
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		tb.Fatalf("%d of %d commands were answered", answered.Load(), count)
	}
}

// TestKill: a reducer that is killed again and again, now and then without its
// store, answers every command in the end; what it answered is on the log,
// byte for byte, and each command id is decided once.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills child processes")
	}
	path := t.TempDir()
	c := &clients{answers: map[string][]byte{}}
	const commands = 3000
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	first := startChild(t, path)
	c.sendAll(ctx, first.url, 0, 1)
	first.kill(t)
	for kill := range 6 {
		if kill%3 == 2 {
			if err := os.RemoveAll(path + "/store"); err != nil {
				t.Fatal(err)
			}
		}
		running := startChild(t, path)
		load, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.sendAll(load, running.url, 0, commands)
		}()
		time.Sleep(time.Duration(30+40*kill) * time.Millisecond)
		running.kill(t)
		stop()
		<-done
	}
	last := startChild(t, path)
	for len(c.answers) < commands && ctx.Err() == nil {
		c.sendAll(ctx, last.url, 0, commands)
	}
	last.kill(t)
	checkAnswers(ctx, t, path, c, commands)
}

// checkAnswers holds what clients heard against the log, and the store against
// a replay of it.
func checkAnswers(ctx context.Context, t *testing.T, path string, c *clients, commands int) {
	t.Helper()
	off, err := jetlog.OpenOffline(ctx, path, streams, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close()
	replayed, err := projections.OpenStore(projections.StoreOptions{Dir: t.TempDir() + "/store"})
	if err != nil {
		t.Fatal(err)
	}
	defer replayed.Close()
	records := map[string][]byte{} // by command id and sequence
	decided := map[string]int{}
	folder := loop.NewFolder(replayed, 0)
	folder.Folded = func(f *loop.Folded) {
		for _, d := range f.Decisions {
			records[d.CommandID+fmt.Sprint(" ", d.CommandSeq)] = d.Append(nil)
			if d.Outcome != events.OutcomeDuplicate {
				decided[d.CommandID]++
			}
		}
	}
	if err := fold(ctx, off.Log, folder); err != nil {
		t.Fatal(err)
	}
	for id, answer := range c.answers {
		d, err := events.ParseDecision(answer)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(records[id+fmt.Sprint(" ", d.CommandSeq)], answer) {
			t.Errorf("%s was answered otherwise than the log says", id)
		}
	}
	for id, times := range decided {
		if times != 1 {
			t.Errorf("%s was decided %d times", id, times)
		}
	}
	if len(c.answers) != commands || len(decided) != commands {
		t.Errorf("%d answers, %d decided, want %d", len(c.answers), len(decided), commands)
	}
	t.Logf("%d answers, %d of them duplicates, %d blocks", len(c.answers), c.repeats, folder.Cursor().LogSeq)
	checkStore(ctx, t, path, off.Log, folder.Cursor())
}

// checkStore folds what the killed reducer's own store is behind, and compares.
func checkStore(ctx context.Context, t *testing.T, path string, log loop.Log, replayed state.Cursor) {
	t.Helper()
	own, err := projections.OpenStore(projections.StoreOptions{Dir: path + "/store"})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	folder := loop.NewFolder(own, 0)
	if err := fold(ctx, log, folder); err != nil {
		t.Fatal(err)
	}
	if own.Cursor() != replayed {
		t.Errorf("the store came to %+v, a replay to %+v", own.Cursor(), replayed)
	}
}

// fold folds the log from where the folder is to its end.
func fold(ctx context.Context, log loop.Log, folder *loop.Folder) error {
	err := loop.ReadBlocks(ctx, log, folder.Cursor().LogSeq+1, func(b *loop.ReadBlock) error {
		if b.Err != nil {
			return b.Err
		}
		return folder.FoldParsed(b.Seq, b.Block, len(b.Data))
	})
	if err != nil {
		return err
	}
	return folder.Commit()
}

// TestFinalReply: a refusal that may still turn out otherwise says so.
func TestFinalReply(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an embedded server")
	}
	ctx, cancel := context.WithCancel(t.Context())
	urls, ended := make(chan string, 1), make(chan error, 1)
	path := t.TempDir()
	go func() { ended <- serve(ctx, path, func(url string) { urls <- url }) }()
	nc, err := nats.Connect(<-urls)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for i, c := range []struct {
		n              int
		final, outcome string
	}{{1, "false", "rejected"}, {0, "true", "accepted"}, {1, "true", "accepted"}, {1, "true", "duplicate"}} {
		id, subject, body := command(c.n)
		inbox := nc.NewInbox()
		sub, err := nc.SubscribeSync(inbox)
		if err != nil {
			t.Fatal(err)
		}
		m := &nats.Msg{Subject: subject, Data: []byte(body), Header: nats.Header{jetlog.HeaderCommandID: {id}, jetlog.HeaderReply: {inbox}}}
		if err := nc.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
		answer, err := sub.NextMsg(10 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var record struct{ Outcome string }
		if err := json.Unmarshal(answer.Data, &record); err != nil {
			t.Fatal(err)
		}
		if got := answer.Header.Get(jetlog.HeaderFinal); got != c.final || record.Outcome != c.outcome {
			t.Errorf("step %d: final %s, %s; want %s, %s", i, got, record.Outcome, c.final, c.outcome)
		}
	}
	start := time.Now()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("stopping took %s", took)
	}
}
