package pace

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestPacer(t *testing.T) {
	began := time.Now()
	p := New(1 << 20)
	for range 1000 { // many small pieces count as much as a few large ones
		if err := p.Wait(t.Context(), 100<<10/1000); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took < 80*time.Millisecond {
		t.Errorf("100 KiB at 1 MiB a second took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Wait(ctx, 1<<30); !errors.Is(err, context.Canceled) {
		t.Errorf("it waits for ever: %v", err)
	}
	if err := New(0).Wait(t.Context(), 1<<40); err != nil {
		t.Error(err)
	}
}

// Two readers share one rate.
func TestPacerOfTwo(t *testing.T) {
	began := time.Now()
	p := New(1 << 20)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for range 500 {
				if err := p.Wait(t.Context(), 100<<10/1000); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
	if took := time.Since(began); took < 80*time.Millisecond {
		t.Errorf("100 KiB at 1 MiB a second took %s", took)
	}
}
