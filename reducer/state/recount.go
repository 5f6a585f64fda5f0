package state

import "crypto/sha256"

// HashOf computes the state hash of rows anew, from every row that it covers
// (DESIGN 2, stateHash version 1). It is what a State that folded the log to
// there has kept; if not, the rows are not what the log says.
func HashOf(rows Rows) ([sha256.Size]byte, error) {
	var sum sum256
	var failed error
	r := NewReader(rows)
	for _, kind := range mirroredKinds {
		if mirrored[kind].projection == Missions {
			continue // no named projection
		}
		prefix := []byte{kind}
		err := rows.Scan(prefix, after(prefix), false, func(key, value []byte) bool {
			doc, ok, err := r.Mirrored(key, value)
			if failed = err; err == nil && ok {
				sum = sum.add(sumOf(sha256.Sum256(doc.AppendLine(nil))))
			}
			return err == nil
		})
		if err == nil {
			err = failed
		}
		if err != nil {
			return [sha256.Size]byte{}, err
		}
	}
	return sum.bytes(), nil
}
