package jetlog

import (
	"errors"
	"net/url"
	"strings"
)

// redacted is a list of server URLs for people to read: whatever stands before
// an @ may be a password or a token.
func redacted(urls string) string {
	servers := strings.Split(urls, ",")
	for i, server := range servers {
		at := strings.LastIndexByte(server, '@')
		if at < 0 {
			continue
		}
		scheme, _, found := strings.Cut(server[:at], "://")
		if !found {
			scheme = "nats"
		}
		servers[i] = strings.TrimSpace(scheme) + "://xxxxx@" + server[at+1:]
	}
	return strings.Join(servers, ",")
}

var errBadURL = errors.New("it is no valid URL; a password with / ? # @ or % needs them as %XX")

// withoutURL leaves out what a URL that cannot be parsed is quoted with.
func withoutURL(err error) error {
	var parsing *url.Error
	if errors.As(err, &parsing) {
		return errBadURL
	}
	return err
}
