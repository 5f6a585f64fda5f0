//go:build unix

package jetlog_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// BenchmarkSpine is the way of a command from publish to reply, synced to disk,
// with so many submitters that each wait for their answer. b.N commands.
func BenchmarkSpine(b *testing.B) {
	flushEvery = 0 // the default
	for _, submitters := range []int{1, 64, 1024} {
		b.Run(fmt.Sprint(submitters), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			urls, ended := make(chan string, 1), make(chan error, 1)
			path := b.TempDir()
			go func() { ended <- serve(ctx, path, func(url string) { urls <- url }) }()
			nc, err := nats.Connect(<-urls)
			if err != nil {
				b.Fatal(err)
			}
			defer nc.Close()
			submit(b, nc, 1, 0, 1)
			before, blocks := cpuTime(b), daemonStatus.Info().LogSeq
			b.ResetTimer()
			submit(b, nc, submitters, 1, b.N)
			report(b, before)
			b.ReportMetric(float64(b.N)/float64(daemonStatus.Info().LogSeq-blocks), "commands/block")
			cancel()
			if err := <-ended; err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkRecover folds a log into an empty store. b.N is commands.
func BenchmarkRecover(b *testing.B) {
	flushEvery = 0
	path := b.TempDir()
	ctx, cancel := context.WithCancel(b.Context())
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- serve(ctx, path, func(url string) { urls <- url }) }()
	nc, err := nats.Connect(<-urls)
	if err != nil {
		b.Fatal(err)
	}
	submit(b, nc, 1, 0, 1)
	submit(b, nc, 1024, 1, b.N)
	nc.Close()
	cancel()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
	off, err := jetlog.OpenOffline(b.Context(), path, streams, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer off.Close()
	store, err := projections.OpenStore(projections.StoreOptions{Dir: b.TempDir() + "/store"})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	before := cpuTime(b)
	b.ResetTimer()
	if err := fold(b.Context(), off.Log, loop.NewFolder(store, 0)); err != nil {
		b.Fatal(err)
	}
	report(b, before)
}

// report adds what a command costs: the machine may be busy with other things,
// but processor time is ours.
func report(b *testing.B, before time.Duration) {
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-us/command")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
