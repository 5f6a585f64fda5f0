package doctor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Server is what was found out about a NATS server.
type Server struct {
	URL         string // for people
	Loopback    bool   // it was reached there
	Version     string
	Tested      string // the version that this build was made with
	MaxPayload  int64
	MinPayload  int64
	NeedsLogin  bool
	TLS         bool
	Ahead       time.Duration // its clock, of ours
	User        string
	Permissions *Permissions // of the user; nil: it may do everything
	Sync        string       // always, interval; "" where that cannot be seen
	Embedded    bool
}

// Permissions of a user to publish.
type Permissions struct {
	Allow []string `json:"allow"`
	Deny  []string `json:"deny"`
}

// Bounds of what clocks may differ by.
const (
	clockDiffers = 2 * time.Second
	clockStalls  = 10 * time.Minute // a stamp that far ahead stalls the shard
)

// Server judges a server.
func (r *Report) Server(s *Server, shard int64, generation string) {
	r.version(s)
	if s.MaxPayload < s.MinPayload {
		r.wrong("max_payload", "set max_payload: 8MB in the server's configuration",
			"the server takes messages of %d bytes, a reducer needs %d", s.MaxPayload, s.MinPayload)
	}
	r.sync(s)
	r.access(s)
	r.permissions(s, shard, generation)
	ahead := s.Ahead.Abs().Round(100 * time.Millisecond)
	switch {
	case ahead >= clockStalls:
		r.wrong("clock", "set both clocks right with NTP; commands that come meanwhile keep their wrong times",
			"the server's clock and this one differ by %s: commands stamped more than %s ahead of the reducer's clock are not decided", ahead, clockStalls)
	case ahead >= clockDiffers:
		r.note("clock", "set both clocks right with NTP", "the server's clock and this one differ by %s: deadlines are judged by the server's", ahead)
	default:
		r.fine("clock", "the server's clock and this one differ by %s", ahead)
	}
}

func (r *Report) version(s *Server) {
	if older(s.Version, s.Tested) {
		r.wrong("server", "use nats-server "+s.Tested+" or later",
			"nats-server %s at %s is older than %s, which this build was tested with", s.Version, s.URL, s.Tested)
		return
	}
	r.fine("server", "nats-server %s at %s", s.Version, s.URL)
}

// older compares versions by their first three numbers.
func older(a, b string) bool {
	return slices.Compare(numbers(a), numbers(b)) < 0
}

func numbers(version string) []int {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // what is no number is 0
		all = append(all, n)
	}
	return all
}

func (r *Report) sync(s *Server) {
	switch s.Sync {
	case "always":
		r.fine("fsync", "a decision is on disk before it is answered (--sync always)")
	case "interval":
		r.wrong("fsync", "serve with --sync always, or accept the loss and keep an archive on another machine",
			"a power failure may take the answered decisions of the last minutes with it (--sync interval)")
	default:
		r.note("fsync", "see to it that jetstream { sync_interval: always } stands in the configuration of every server, or that the log has three replicas in different places",
			"whether the server writes to disk before it acknowledges cannot be seen from here")
	}
}

func (r *Report) access(s *Server) {
	const do = "give each kind of client a user with permissions of its own, and TLS (docs/operations.md, reducer init)"
	switch {
	case !s.NeedsLogin && s.Loopback:
		r.note("access", do, "nobody has to log in: whoever reaches %s on this machine may send any command in anybody's name, and delete the log", s.URL)
	case !s.NeedsLogin:
		r.wrong("access", do, "nobody has to log in: whoever reaches %s may send any command in anybody's name, and delete the log", s.URL)
	case !s.TLS && !s.Loopback:
		r.wrong("access", "set tls { ... } in the server's configuration", "the connection to %s is not encrypted", s.URL)
	default:
		r.fine("access", "clients of %s have to log in", s.URL)
	}
}

// permissions says what the user of this check may do that few should.
func (r *Report) permissions(s *Server, shard int64, generation string) {
	if !s.NeedsLogin {
		return // said already
	}
	u := User{Publish: s.Permissions, Subscribe: &Permissions{Deny: []string{">"}}} // who asks cannot see the other half
	may := u.may(shard, cmp.Or(generation, "x"))
	if len(may) == 0 {
		r.fine("permissions", "the user %s may not touch the log or the inbox but by commands", s.User)
		return
	}
	r.note("permissions", "if this is not the user of the reducer or of an operator, take these rights away: a log that is deleted is only in the archive",
		"the user %s may %s", s.User, strings.Join(may, ", "))
}

// may says whether publishing to a subject is allowed.
func (p *Permissions) may(subject string) bool {
	if p == nil {
		return true
	}
	matches := func(pattern string) bool { return Matches(pattern, subject) }
	return (len(p.Allow) == 0 || slices.ContainsFunc(p.Allow, matches)) && !slices.ContainsFunc(p.Deny, matches)
}

// Matches says whether a NATS pattern covers a subject.
func Matches(pattern, subject string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range want {
		switch {
		case token == ">":
			return len(have) > i
		case i >= len(have) || token != "*" && token != have[i]:
			return false
		}
	}
	return len(want) == len(have)
}
