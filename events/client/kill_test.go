package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
)

// workerURL makes this test program a worker process.
const workerURL = "AIWS_TEST_WORKER"

func TestMain(m *testing.M) {
	if url := os.Getenv(workerURL); url != "" {
		if err := worker(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func worker(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	nc, err := nats.Connect(url)
	if err != nil {
		return err
	}
	defer nc.Close()
	return work(ctx, nc)
}

// TestKills: worker processes order in a shop, which takes every call as a new
// order, and are killed at any moment. Each order is made once, and each is on
// the ledger.
func TestKills(t *testing.T) {
	ctx := integration(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host"})
	openShop(ctx, t, c)
	nc, err := nats.Connect(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var s shop
	s.serve(t, nc)
	rng, killed := rand.New(rand.NewPCG(4, 4)), 0
	for range 200 {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), workerURL+"="+r.URL)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			checkShop(ctx, t, c, &s)
			t.Logf("%d workers were killed", killed)
			return
		case <-time.After(time.Duration(20+rng.IntN(60+10*killed)) * time.Millisecond):
			killed++
			_ = cmd.Process.Kill()
			<-done
		}
	}
	t.Fatal("no worker came to an end")
}
