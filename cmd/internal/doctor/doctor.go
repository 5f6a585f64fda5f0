// Package doctor judges an installation: it takes what was found out about it
// and says in sentences what is wrong and how to mend it. It asks nobody itself,
// so that each judgement can be tested.
package doctor

import "fmt"

// Level says how bad a finding is.
type Level string

// The levels. Only Wrong makes the exit code 1.
const (
	Fine  Level = "fine"
	Note  Level = "note"  // worth knowing, or a choice that somebody should have made
	Wrong Level = "wrong" // must be mended
)

// Finding is one sentence about one thing.
type Finding struct {
	Level Level  `json:"level"`
	About string `json:"about"`
	What  string `json:"what"`
	Do    string `json:"do,omitempty"`
}

// Report is what was found, in the order of looking.
type Report []Finding

// Wrong says whether anything must be mended.
func (r Report) Wrong() int {
	n := 0
	for i := range r {
		if r[i].Level == Wrong {
			n++
		}
	}
	return n
}

func (r *Report) fine(about, what string, args ...any) {
	*r = append(*r, Finding{Level: Fine, About: about, What: fmt.Sprintf(what, args...)})
}

func (r *Report) note(about, do, what string, args ...any) {
	*r = append(*r, Finding{Level: Note, About: about, What: fmt.Sprintf(what, args...), Do: do})
}

func (r *Report) wrong(about, do, what string, args ...any) {
	*r = append(*r, Finding{Level: Wrong, About: about, What: fmt.Sprintf(what, args...), Do: do})
}
