package jetlog

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// serverLog passes what the server says on to slog, and keeps what it would
// end the process for.
type serverLog struct {
	log *slog.Logger

	mu    sync.Mutex
	cause error
}

func (l *serverLog) say(level func(string, ...any), format string, v []any) {
	level(strings.TrimSpace(fmt.Sprintf(format, v...)), "from", "nats-server")
}

// Noticef implements server.Logger. A start is dozens of notices.
func (l *serverLog) Noticef(format string, v ...any) { l.say(l.log.Debug, format, v) }

// Warnf implements server.Logger.
func (l *serverLog) Warnf(format string, v ...any) { l.say(l.log.Warn, format, v) }

// Errorf implements server.Logger.
func (l *serverLog) Errorf(format string, v ...any) { l.say(l.log.Error, format, v) }

// Debugf implements server.Logger.
func (l *serverLog) Debugf(format string, v ...any) { l.say(l.log.Debug, format, v) }

// Tracef implements server.Logger.
func (l *serverLog) Tracef(format string, v ...any) { l.say(l.log.Debug, format, v) }

// Fatalf implements server.Logger. It must not end the process: who started
// the server does what is right.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil {
		l.cause = errors.New(strings.TrimSpace(fmt.Sprintf(format, v...)))
	}
}

func (l *serverLog) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

func (l *serverLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cause = nil
}
