package daemon

import (
	"regexp"
	"testing"
)

// semVer is the form that semver.org gives, and that a NATS service is held to.
var semVer = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$`)

func TestSemantic(t *testing.T) {
	for build, want := range map[string]string{
		"v1.2.3": "1.2.3",
		"v0.0.0-20261201013000-abcdef012345+dirty": "0.0.0-20261201013000-abcdef012345+dirty",
		"devel-abcdef012345-dirty":                 "0.0.0-build-devel-abcdef012345-dirty",
		"unknown":                                  "0.0.0-build-unknown",
		"":                                         "0.0.0-build-",
		"v1.2":                                     "0.0.0-build-v1-2",
	} {
		got := semantic(build)
		if got != want || !semVer.MatchString(got) {
			t.Errorf("%q is %q, want %q", build, got, want)
		}
	}
}
