package logfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Identifier gives lines without an id one of their own, so that publishing a
// file again, or after more lines were added, repeats commands instead of
// sending new ones (DESIGN 4).
//
// The id depends on what the line publishes, its subject and its canonical body,
// and on how many equal lines stand before it; never on at, seq or layout.
type Identifier struct {
	seen map[[sha256.Size]byte]int
}

// ID gives the id for the next line of the file. It is a valid command id.
func (i *Identifier) ID(line *Line) string {
	if i.seen == nil {
		i.seen = map[[sha256.Size]byte]int{}
	}
	content := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s", len(line.Subject), line.Subject, len(line.Body), line.Body))
	i.seen[content]++
	sum := sha256.Sum256(fmt.Appendf(content[:], ":%d", i.seen[content]))
	return "line-" + hex.EncodeToString(sum[:])
}
