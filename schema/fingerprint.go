package schema

import (
	"crypto/sha256"
	"encoding/hex"
)

// Fingerprint identifies an action: "sha256:" and the hash of its canonical JSON (RULES 1).
func Fingerprint(a *Action) string {
	return HashOf(AppendRecord(make([]byte, 0, 512), a))
}

// HashOf returns "sha256:" and the lower-case hex SHA-256 of a canonical text.
func HashOf(canonical []byte) string {
	const prefix = "sha256:"
	sum := sha256.Sum256(canonical)
	var text [len(prefix) + 2*sha256.Size]byte
	copy(text[:], prefix)
	hex.Encode(text[len(prefix):], sum[:])
	return string(text[:])
}
