//go:build mutants

package loop

import (
	"context"
	"sync"
)

// Mutant names the safety step that is switched off in this build, for a test
// that must then fail: see Mutants. Never run a reducer of this build.
var Mutant string

// Mutants are the steps that can be switched off, each with what is done instead.
var Mutants = map[string]string{
	"fence":          "an append goes to the end of the log, wherever that is",
	"publish ahead":  "a block is sent before the one before it is known to be stored",
	"one batch":      "the cursor is committed in a batch of its own, before the rows",
	"read back":      "after an uncertain append any block in its place is taken for it",
	"purge":          "a term does not purge the inbox before it opens it",
	"doors first":    "publishers are let in before the purge",
	"nothing ahead":  "what is ahead of the log is not looked for",
	"reply early":    "a reply is sent before its block is stored",
	"chain":          "the hash of the block before is not compared",
	"end of the log": "nobody looks whether reading the log came to its end",
	"earlier terms":  "a late block of this process is taken for another writer's",
	"step down":      "a reducer that is fenced begins another term",
	"pass over":      "a command that was decided is decided again when it comes again",
}

func mutate(step string) bool { return step == Mutant }

// sentAhead are blocks that were sealed and sent before their time, by the term
// that will send them once more when their time has come.
var sentAhead sync.Map

// publishAhead sends the open block while the one before is under way.
func (t *Term) publishAhead() {
	if t.open == nil || t.write == nil {
		return
	}
	b := t.seal()
	sentAhead.Store(t, b)
	t.o.Go(func() {
		ctx, cancel := context.WithTimeout(t.grace, t.o.Limits.Append)
		defer cancel()
		_ = t.session.Log().Append(ctx, b.cursor.LogSeq-1, b.data)
	})
}

// sealedAhead returns the block that was sent ahead, if any, and else b.
func (t *Term) sealedAhead(b *block) *block {
	if early, ok := sentAhead.LoadAndDelete(t); ok {
		return early.(*block)
	}
	return b
}
