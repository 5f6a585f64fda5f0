package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// startServer runs a NATS server, for everybody or for users with passwords. limit bounds the inbox, in
// messages; 0 is no limit; below 0 there is no inbox.
func startServer(t *testing.T, limit int64, users ...*server.User) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server")
	}
	o := &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	if len(users) > 0 {
		o.Users = append(users, &server.User{Username: "all", Password: "x"})
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	conn, err := nats.Connect(s.ClientURL(), nats.UserInfo("all", "x"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	stream, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	if limit >= 0 {
		_, err = stream.CreateStream(context.Background(), jetstream.StreamConfig{
			Name: "AIWS_INBOX_0", Subjects: []string{"aiws.cmd.>"}, MaxMsgs: limit, Discard: jetstream.DiscardNew,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return conn, stream
}

// answer decides what stands in the inbox: it rejects the principal mallory,
// repeats a rejection to carol, and stays silent to nobody.
func answer(t *testing.T, conn *nats.Conn, stream jetstream.JetStream) {
	t.Helper()
	consumer, err := stream.OrderedConsumer(context.Background(), "AIWS_INBOX_0", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	consuming, err := consumer.Consume(func(msg jetstream.Msg) {
		subject, _ := schema.ParseSubject(msg.Subject())
		d := events.Decision{
			Contract: subject.Contract, Principal: subject.Principal, Type: subject.Type, CommandSeq: 1,
			CommandID: msg.Headers().Get(wire.HeaderCommandID), BodyHash: strings.Repeat("0", 64),
			Outcome: events.OutcomeAccepted, Events: []events.Event{&events.RunStarted{RunID: "r"}},
		}
		switch subject.Principal {
		case "mallory":
			d.Outcome, d.Events, d.Code, d.Message = events.OutcomeRejected, nil, "PRINCIPAL_NOT_ALLOWED", "not her"
		case "carol":
			d.Outcome, d.Events, d.Of, d.OfOutcome, d.OfCode = events.OutcomeDuplicate, nil, 1, events.OutcomeRejected, "PRINCIPAL_NOT_ALLOWED"
		case "nobody":
			return
		}
		d.Seal(events.ZeroHash)
		reply := nats.NewMsg(msg.Headers().Get(wire.HeaderReply))
		reply.Data = d.Append(nil)
		reply.Header.Set(wire.HeaderFinal, fmt.Sprint(subject.Principal != "mallory"))
		if err := conn.PublishMsg(reply); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(consuming.Stop)
}

// ingest runs the command with a file of the lines.
func ingest(t *testing.T, lines []string, args ...string) (code int, out, stderr string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "commands.jsonl")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	var stdout, errout strings.Builder
	root.SetOut(&stdout)
	root.SetErr(&errout)
	root.SetArgs(append(args, name))
	err := root.Execute()
	if err != nil {
		fmt.Fprintln(&errout, err)
	}
	return exit.Code(err), stdout.String(), errout.String()
}

func start(principal string, n int) string {
	return fmt.Sprintf(`{"contract":"c","principal":%q,"command":{"type":"startRun","runId":"r%d"}}`, principal, n)
}

func TestPublishInOrder(t *testing.T) {
	conn, stream := startServer(t, 0)
	var lines []string
	const count = 2000 // several windows
	for n := range count {
		lines = append(lines, start("p", n))
	}
	for range 2 {
		code, out, stderr := ingest(t, lines, "--nats", conn.ConnectedUrl())
		if code != 0 || out != "2000 commands published\n" {
			t.Fatalf("code %d, %s%s", code, out, stderr)
		}
	}
	inbox, err := stream.Stream(context.Background(), "AIWS_INBOX_0")
	if err != nil {
		t.Fatal(err)
	}
	for n := range count {
		first, err1 := inbox.GetMsg(context.Background(), uint64(n+1))
		again, err2 := inbox.GetMsg(context.Background(), uint64(n+count+1))
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if want := fmt.Sprintf(`{"runId":"r%d","type":"startRun"}`, n); string(first.Data) != want {
			t.Errorf("message %d is %s", n+1, first.Data)
		}
		if id := first.Header.Get(wire.HeaderCommandID); id == "" || id != again.Header.Get(wire.HeaderCommandID) {
			t.Errorf("message %d: id %q, the second time %q", n+1, id, again.Header.Get(wire.HeaderCommandID))
		}
	}
}

func TestWait(t *testing.T) {
	conn, stream := startServer(t, 0)
	answer(t, conn, stream)
	url := []string{"--wait", "--nats", conn.ConnectedUrl()}

	code, out, stderr := ingest(t, []string{start("p", 1), "", start("q", 2)}, url...)
	want := "    1  startRun         p            accepted  runStarted\n    3  startRun         q            accepted  runStarted\n"
	if code != 0 || out != want {
		t.Errorf("code %d, %s%s", code, out, stderr)
	}
	code, out, _ = ingest(t, []string{start("p", 1), start("mallory", 2)}, url...)
	if code != exit.Rejected || !strings.Contains(out, "rejected  PRINCIPAL_NOT_ALLOWED  not her  (not final: the same id may be decided later)\n") {
		t.Errorf("a rejection: code %d, %s", code, out)
	}
	code, out, _ = ingest(t, []string{start("carol", 1)}, append(url, "--json")...)
	if code != exit.Rejected || !strings.HasPrefix(out, `{"at":"0","bodyHash":`) {
		t.Errorf("a repeated rejection: code %d, %s", code, out)
	}
	code, _, stderr = ingest(t, []string{start("nobody", 1), start("p", 2)}, append(url, "--timeout", "300ms")...)
	if code != exit.Failure || !strings.Contains(stderr, "no decision within 300ms for line 1") {
		t.Errorf("silence: code %d, %s", code, stderr)
	}
}

// Nothing of a file with a fault is published; a dry run publishes nothing at all.
func TestNothingPublished(t *testing.T) {
	conn, stream := startServer(t, 0)
	code, _, stderr := ingest(t, []string{start("p", 1), `{"contract":"c","principal":"p","command":{"type":"startRun","runId":7}}`}, "--nats", conn.ConnectedUrl())
	if code != exit.Failure || !strings.Contains(stderr, "nothing was published") || !strings.Contains(stderr, "line 2: /command/runId") {
		t.Errorf("code %d, %s", code, stderr)
	}
	code, out, _ := ingest(t, []string{start("p", 1)}, "--dry-run", "--nats", conn.ConnectedUrl())
	if code != exit.OK || out != "1 commands fine\n" {
		t.Errorf("code %d, %s", code, out)
	}
	inbox, err := stream.Stream(context.Background(), "AIWS_INBOX_0")
	if err != nil {
		t.Fatal(err)
	}
	if held := inbox.CachedInfo().State.Msgs; held != 0 {
		t.Errorf("the inbox holds %d messages", held)
	}
}

// A full inbox is waited for.
func TestFullInbox(t *testing.T) {
	conn, stream := startServer(t, 1)
	inbox, err := stream.Stream(context.Background(), "AIWS_INBOX_0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(200 * time.Millisecond)
		_ = inbox.Purge(context.Background())
	}()
	code, out, stderr := ingest(t, []string{start("p", 1), start("p", 2)}, "--nats", conn.ConnectedUrl())
	if code != 0 || out != "2 commands published\n" || !strings.Contains(stderr, "the inbox is full, waiting") {
		t.Errorf("code %d, %s%s", code, out, stderr)
	}
}

// Where the inbox fills up again and again, the order is that of the file all the
// same, and nothing is left out or stored twice.
func TestFullInboxOrder(t *testing.T) {
	conn, stream := startServer(t, 2*maxInFlight)
	var lines []string
	const count = 3000
	for n := range count {
		lines = append(lines, start("p", n))
	}
	inbox, err := stream.Stream(t.Context(), "AIWS_INBOX_0")
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := stream.OrderedConsumer(t.Context(), "AIWS_INBOX_0", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	stored := make(chan string, count)
	consuming, err := consumer.Consume(func(msg jetstream.Msg) {
		stored <- string(msg.Data())
		if meta, err := msg.Metadata(); err == nil && meta.Sequence.Stream%100 == 0 {
			_ = inbox.Purge(context.Background(), jetstream.WithPurgeSequence(meta.Sequence.Stream))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer consuming.Stop()
	code, out, stderr := ingest(t, lines, "--nats", conn.ConnectedUrl(), "--timeout", "30s")
	if code != 0 || out != "3000 commands published\n" {
		t.Fatalf("code %d, %s%s", code, out, stderr)
	}
	for n := range count {
		select {
		case got := <-stored:
			if want := fmt.Sprintf(`{"runId":"r%d","type":"startRun"}`, n); got != want {
				t.Fatalf("message %d is %s", n+1, got)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%d of %d were stored", n, count)
		}
	}
}

// A user who may publish as one principal and may not ask about the inbox gets
// everything in, and is told soon what it may not.
func TestRestrictedUser(t *testing.T) {
	conn, stream := startServer(t, 0, &server.User{Username: "p", Password: "x", Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{"aiws.cmd.c.p.*"}}, Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
	}})
	url := strings.Replace(conn.ConnectedUrl(), "nats://", "nats://p:x@", 1)
	code, out, stderr := ingest(t, []string{start("p", 1), start("p", 2), start("p", 3)}, "--nats", url)
	if code != 0 || out != "3 commands published\n" {
		t.Errorf("code %d, %s%s", code, out, stderr)
	}
	code, _, stderr = ingest(t, []string{start("p", 4), start("q", 5)}, "--nats", url)
	if code != exit.Failure || !strings.Contains(stderr, "1 of 2 published") || !strings.Contains(stderr, "line 2: publish to aiws.cmd.c.q.startRun") {
		t.Errorf("code %d, %s", code, stderr)
	}
	if info, err := stream.Stream(t.Context(), "AIWS_INBOX_0"); err != nil || info.CachedInfo().State.Msgs != 4 {
		t.Errorf("the inbox: %v, %v", info, err)
	}
}

func TestNoInbox(t *testing.T) {
	conn, _ := startServer(t, -1)
	code, _, stderr := ingest(t, []string{start("p", 1)}, "--nats", conn.ConnectedUrl())
	if code != exit.Failure || !strings.Contains(stderr, "no reducer answers at "+conn.ConnectedUrl()+"; start one with `reducer serve`") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

func TestFingerprint(t *testing.T) {
	run := func(in string, args ...string) (string, error) {
		root := newRoot()
		var out strings.Builder
		root.SetIn(strings.NewReader(in))
		root.SetOut(&out)
		root.SetArgs(append([]string{"fingerprint", "-"}, args...))
		err := root.Execute()
		return out.String(), err
	}
	action := ` {"resource":"shop","capability":"purchase","preconditions":{},"payload":{"item":"desk","count":4.0}}`
	want := "sha256:1579bd731dbb9e3cbc4a7d3c0a9c53443546845ba957812c7c24f266711287bc"
	if got, err := run(action); err != nil || got != want+"\n" {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := run(action, "--json"); err != nil || got != `{"fingerprint":"`+want+`"}`+"\n" {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := run(`{"capability":"purchase"}`); err == nil {
		t.Errorf("half an action has the fingerprint %s", got)
	}
	if got, err := run(strings.Replace(action, "4.0", "9007199254740993", 1)); err == nil {
		t.Errorf("an inexact action has the fingerprint %s", got)
	}
}
