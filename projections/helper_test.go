package projections

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

var noSync = pebble.NoSync

// toggle switches an injected fault.
type toggle struct{ on atomic.Bool }
