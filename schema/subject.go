package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const (
	subjectPrefix = "aiws.cmd."
	unrouted      = "_unrouted" // the ledger of messages that belong to no open ledger; no contract may have its name
	maxID         = 256         // characters of an id
	maxToken      = 600         // bytes of an encoded id in a subject
	maxKVToken    = 200         // bytes of an encoded id in a KV key
	upperHex      = "0123456789ABCDEF"
)

// Subject is what the subject of a command message says: aiws.cmd.<contract>.<principal>.<type> (RULES 1).
type Subject struct{ Contract, Principal, Type string }

// ParseSubject reads the subject of a message. It answers false for one that is SUBJECT_INVALID, and then fills in what the
// decision record may still name: each of the three tokens that is valid by itself, in a subject of five tokens that begins
// aiws.cmd.
func ParseSubject(subject string) (Subject, bool) {
	rest, ok := strings.CutPrefix(subject, subjectPrefix)
	if !ok || strings.Count(rest, ".") != 2 {
		return Subject{}, false
	}
	contract, rest, _ := strings.Cut(rest, ".")
	principal, command, _ := strings.Cut(rest, ".")
	var s Subject
	s.Contract, ok = DecodeToken(contract)
	if p, valid := DecodeToken(principal); valid {
		s.Principal = p
	} else {
		ok = false
	}
	if IsCommandType(command) {
		s.Type = command
	} else {
		ok = false
	}
	return s, ok && s.Contract != unrouted
}

// String returns the subject that a publisher sends to.
func (s Subject) String() string {
	return subjectPrefix + EncodeToken(s.Contract) + "." + EncodeToken(s.Principal) + "." + s.Type
}

// EncodeToken writes an id as one token: every byte outside A-Z a-z 0-9 _ - becomes =XX.
func EncodeToken(id string) string {
	plain := 0
	for plain < len(id) && isTokenByte(id[plain]) {
		plain++
	}
	if plain == len(id) {
		return id
	}
	b := make([]byte, plain, len(id)+32)
	copy(b, id)
	for i := plain; i < len(id); i++ {
		if c := id[i]; isTokenByte(c) {
			b = append(b, c)
		} else {
			b = append(b, '=', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// DecodeToken returns the id that tok encodes. It answers false unless tok is the canonical encoding of an id, and at most
// 600 bytes.
func DecodeToken(tok string) (string, bool) {
	if len(tok) > maxToken {
		return "", false
	}
	return DecodeLongToken(tok)
}

// DecodeLongToken is DecodeToken without the bound on the token's length, which is for subjects: in the keys of documents any
// id has its token.
func DecodeLongToken(tok string) (string, bool) {
	id := tok
	if strings.IndexByte(tok, '=') >= 0 {
		id = unescapeToken(tok)
	}
	if !ValidID(id) || EncodeToken(id) != tok {
		return "", false
	}
	return id, true
}

// unescapeToken undoes =XX. A broken escape stays as it is, which no encoding of the result can equal.
func unescapeToken(tok string) string {
	b := make([]byte, 0, len(tok))
	for i := 0; i < len(tok); i++ {
		if tok[i] == '=' && i+2 < len(tok) {
			if c, err := hex.DecodeString(tok[i+1 : i+3]); err == nil {
				b = append(b, c[0])
				i += 2
				continue
			}
		}
		b = append(b, tok[i])
	}
	return string(b)
}

func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// KVToken writes an id for a key of the KV mirror: like EncodeToken, and where that takes more than 200 bytes, a hash of the
// id (RULES 12).
func KVToken(id string) string {
	tok := EncodeToken(id)
	if len(tok) <= maxKVToken {
		return tok
	}
	sum := sha256.Sum256([]byte(id))
	return "=sha256=" + hex.EncodeToString(sum[:])
}

// ValidID reports whether s is an id: valid UTF-8 of 1 to 256 code points, whichever they are.
func ValidID(s string) bool {
	return s != "" && utf8.ValidString(s) && isShort(s)
}

// isShort reports whether s has at most 256 code points.
func isShort(s string) bool { return len(s) <= maxID || utf8.RuneCountInString(s) <= maxID }

// ValidCommandID reports whether s may stand in the header Aiws-Command-Id: 1 to 128 visible ASCII characters that do not
// begin with seq-, which marks the ids we give ourselves.
func ValidCommandID(s string) bool {
	if len(s) < 1 || len(s) > 128 || strings.HasPrefix(s, "seq-") {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
