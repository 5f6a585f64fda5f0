package pace

import (
	"context"
	"errors"
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
