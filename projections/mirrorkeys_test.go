package projections

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"
)

// lister gives keys as the client library does: it waits until each is taken,
// and looks whether it is to stop only then. It has ended when the channel is
// closed.
func lister(ctx context.Context, count int, silent bool) <-chan string {
	keys := make(chan string, 2)
	go func() {
		defer close(keys)
		for i := 0; i < count && ctx.Err() == nil; i++ {
			keys <- strconv.Itoa(i)
		}
		if silent {
			<-ctx.Done()
		}
	}()
	return keys
}

// TestTakeKeys: however the taking of keys ends, the lister has ended too.
func TestTakeKeys(t *testing.T) {
	failure := errors.New("no")
	for name, c := range map[string]struct {
		silent   bool // keys are missing at the end
		patience time.Duration
		failAt   int
		want     error
		taken    int
	}{
		"all":             {patience: time.Minute, failAt: -1, taken: 1000},
		"an error":        {patience: time.Minute, failAt: 10, want: failure, taken: 11},
		"some are silent": {silent: true, patience: time.Second, failAt: -1, want: errForgets, taken: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			keys, taken := lister(ctx, 1000, c.silent), 0
			err := takeKeys(keys, stop, c.patience, func(string) error {
				if taken++; taken == c.failAt+1 {
					return failure
				}
				return nil
			})
			if !errors.Is(err, c.want) || taken != c.taken {
				t.Errorf("%v after %d keys", err, taken)
			}
			select {
			case _, more := <-keys:
				if more {
					t.Error("the lister goes on")
				}
			default:
				t.Error("the lister waits")
			}
		})
	}
}
