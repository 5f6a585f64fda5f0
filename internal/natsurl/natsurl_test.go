package natsurl

import (
	"errors"
	"fmt"
	"net/url"
	"testing"
)

func TestRedacted(t *testing.T) {
	for urls, want := range map[string]string{
		"nats://a:4222":                      "nats://a:4222",
		"nats://bob:pw@a:1, nats://b:2":      "nats://xxxxx@a:1,nats://b:2",
		"token@a:1":                          "nats://xxxxx@a:1",
		"tls://bob:p@w@a:1":                  "tls://xxxxx@a:1",
		" nats://bob:p/w@a:1 , b:pw@b:2":     "nats://xxxxx@a:1,nats://xxxxx@b:2",
		"nats://bob:pw%zz@a:1":               "nats://xxxxx@a:1",
		"nats://[::1]:4222,nats://t@[::1]:1": "nats://[::1]:4222,nats://xxxxx@[::1]:1",
	} {
		if got := Redacted(urls); got != want {
			t.Errorf("%q is shown as %q, want %q", urls, got, want)
		}
	}
}

func TestWithout(t *testing.T) {
	parsing := &url.Error{Op: "parse", URL: "nats://bob:pw%zz@a:1", Err: url.EscapeError("%zz")}
	if err := Without(fmt.Errorf("connect: %w", parsing)); !errors.Is(err, errBad) || err.Error() != errBad.Error() {
		t.Errorf("got %v", err)
	}
	other := errors.New("refused")
	if err := Without(other); err != other {
		t.Errorf("got %v", err)
	}
}
