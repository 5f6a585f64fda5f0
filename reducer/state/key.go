package state

import (
	"encoding/binary"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The kinds of row: the first byte of a key. Bytes on disk, for ever.
const (
	kindTerms        = 'C' // contract -> contract and policy, immutable
	kindLedger       = 'L' // contract -> now, chain head, mission
	kindExposure     = 'E' // contract -> figures of the contract
	kindRun          = 'R' // contract, run
	kindSegment      = 's' // contract, run, segment -> mark
	kindWorker       = 'k' // contract, run, principal -> mark
	kindPlan         = 'P' // contract, run, plan
	kindGrantTerms   = 'g' // contract, grant -> the grant as issued, immutable
	kindGrant        = 'G' // contract, grant -> figures of the grant
	kindApproval     = 'A' // contract, approval
	kindOperation    = 'O' // contract, operation
	kindAction       = 'o' // contract, operation -> canonical action, immutable
	kindAttempt      = 'T' // contract, attempt
	kindReport       = 'x' // contract, attempt, effect, cost -> mark
	kindUnresolved   = 'F' // contract, run, fingerprint -> operation
	kindWait         = 'W' // contract, wait
	kindPendingWait  = 'w' // contract, run, deadline, wait: ordered set, TIMER waits left out
	kindVerification = 'V' // contract, run, revision
	kindDependent    = 'd' // contract, run, dependent run: ordered set
	kindTriggerTerms = 't' // contract, trigger -> the trigger as registered, immutable
	kindTrigger      = 'U' // contract, trigger -> figures of the trigger
	kindFiring       = 'f' // contract, trigger, ordinal -> time
	kindEvent        = 'e' // contract, trigger, event id -> content hash
	kindGraph        = 'H' // contract, graph -> canonical graph and hash, immutable
	kindNode         = 'N' // contract, run, node
	kindReceipt      = 'c' // ledger, principal, command id -> decision
	kindDecision     = 'q' // ledger, commandSeq -> decision
	kindDue          = 'D' // time, contract, what, id: ordered set over all ledgers
)

// A key is the kind, then parts in which 00 is written 00 FF, each ended by
// 00 01. Keys so sort by their parts, byte by byte.
func appendPart(dst []byte, part string) []byte {
	for i := range len(part) {
		dst = append(dst, part[i])
		if part[i] == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0x00, 0x01)
}

// appendKey appends a key of the kind with its parts.
func appendKey(dst []byte, kind byte, parts ...string) []byte {
	dst = append(dst, kind)
	for _, part := range parts {
		dst = appendPart(dst, part)
	}
	return dst
}

var errKey = fmt.Errorf("%w: key", ErrRow)

// splitPart returns the first part of key and what follows it.
func splitPart(key string) (part, rest string, err error) {
	var unescaped []byte
	for i, from := 0, 0; i+1 < len(key); i++ {
		if key[i] != 0 {
			continue
		}
		switch key[i+1] {
		case 0xFF:
			unescaped = append(unescaped, key[from:i+1]...)
			i++
			from = i + 1
		case 0x01:
			if unescaped == nil {
				return key[:i], key[i+2:], nil
			}
			return string(append(unescaped, key[from:i]...)), key[i+2:], nil
		default:
			return "", "", errKey
		}
	}
	return "", "", errKey
}

// splitKey returns all parts of a key after its kind.
func splitKey(key string) ([]string, error) {
	if key == "" {
		return nil, errKey
	}
	parts := make([]string, 0, 4)
	for rest := key[1:]; rest != ""; {
		part, next, err := splitPart(rest)
		if err != nil {
			return nil, err
		}
		parts, rest = append(parts, part), next
	}
	return parts, nil
}

// sequencePart writes a sequence so that keys sort by its value.
func sequencePart(seq uint64) string {
	return string(binary.BigEndian.AppendUint64(nil, seq))
}

// decimalPart writes a number so that keys sort by its value: the number of
// digits (two bytes), then the digits.
func decimalPart(d schema.Decimal) string {
	digits := d.String()
	return string(append(binary.BigEndian.AppendUint16(nil, uint16(len(digits))), digits...))
}

// after is the smallest key beyond all keys that begin with prefix.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] != 0xFF {
			end[i]++
			return end[:i+1]
		}
	}
	return nil
}
