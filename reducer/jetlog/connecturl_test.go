package jetlog

import (
	"context"
	"strings"
	"testing"
	"time"
)

// TestConnectKeepsSecrets: no error of a connection shows what the URL logs in
// with, not even one about the URL.
func TestConnectKeepsSecrets(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, url := range []string{
		"nats://bob:hunter2@127.0.0.1:1",
		"nats://hunter2@127.0.0.1:1",
		"bob:hunter2@127.0.0.1:1",
		"nats://bob:hunter2@127.0.0.1:1,nats://bob:hunter2@127.0.0.1:2",
		"nats://bob:hunter2/x@127.0.0.1:1",
		"nats://bob:hunter2%zz@127.0.0.1:1",
		"nats://bob:hunter2@x@127.0.0.1:1",
	} {
		_, err := Connect(ctx, ConnectOptions{URL: url})
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
