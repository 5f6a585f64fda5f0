// Package pace keeps long reading from taking a disk for itself.
package pace

import (
	"context"
	"sync"
	"time"
)

// Pacer lets so many bytes pass in a second, whoever reads them. It is safe for
// concurrent use.
type Pacer struct {
	rate int64

	mu    sync.Mutex
	began time.Time
	bytes int64
}

// New returns a pacer for a rate in bytes a second; 0 is no limit.
func New(rate int64) *Pacer { return &Pacer{rate: rate, began: time.Now()} }

// shortest is a pause worth making.
const shortest = 10 * time.Millisecond

// Wait is called after reading n bytes and waits as long as the rate asks for,
// or until ctx ends.
func (p *Pacer) Wait(ctx context.Context, n int) error {
	if p.rate <= 0 {
		return ctx.Err()
	}
	ahead := p.ahead(n)
	if ahead < shortest {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(ahead):
		return nil
	}
}

// ahead counts n bytes and returns by how much the reading is too fast.
func (p *Pacer) ahead(n int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += int64(n)
	due := time.Duration(float64(p.bytes) / float64(p.rate) * float64(time.Second))
	ahead := due - time.Since(p.began)
	if ahead < -time.Second { // slower than allowed: what was not used is not saved up
		p.began, p.bytes = time.Now(), 0
	}
	return ahead
}
