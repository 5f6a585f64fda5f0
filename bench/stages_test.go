package main

import (
	"context"
	"testing"
	"time"
)

// TestParts: what is measured as a part of the reducer takes the load and
// answers it, and ends when it is told to.
func TestParts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	for _, name := range []string{rulesTask, storeTask} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			urls, ended := make(chan string, 1), make(chan error, 1)
			go func() { ended <- partOn(ctx, name, t.TempDir(), func(url string) { urls <- url }) }()
			select {
			case url := <-urls:
				l, err := newLoad(url, mixedWork, 8, 1)
				if err != nil {
					t.Fatal(err)
				}
				err = l.fill(500)
				l.close()
				if err != nil {
					t.Error(err)
				}
			case err := <-ended:
				t.Fatal(err)
			}
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
