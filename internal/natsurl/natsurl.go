// Package natsurl shows the URLs of NATS servers to people without what they
// log in with.
package natsurl

import (
	"errors"
	"net/url"
	"strings"
)

// Redacted is a list of server URLs, with commas between, without passwords and
// tokens: whatever stands before an @ may be one.
func Redacted(urls string) string {
	servers := strings.Split(urls, ",")
	for i, server := range servers {
		server = strings.TrimSpace(server)
		servers[i] = server
		at := strings.LastIndexByte(server, '@')
		if at < 0 {
			continue
		}
		scheme, _, found := strings.Cut(server[:at], "://")
		if !found {
			scheme = "nats"
		}
		servers[i] = scheme + "://xxxxx@" + server[at+1:]
	}
	return strings.Join(servers, ",")
}

var errBad = errors.New("it is no valid URL; a password with / ? # @ or % needs them as %XX")

// Without leaves out of an error of connecting the URL that cannot be parsed,
// which it quotes whole; other errors stay as they are.
func Without(err error) error {
	var parsing *url.Error
	if errors.As(err, &parsing) {
		return errBad
	}
	return err
}
