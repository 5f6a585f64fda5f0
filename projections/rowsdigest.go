package projections

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// RowsDigest is the digest of all rows in the order of their keys: the SHA-256
// of keys and values, each behind its length in eight bytes. Two stores with the
// same digest are the same, row by row.
type RowsDigest struct {
	sum  hash.Hash
	rows uint64
}

// NewRowsDigest is the digest of no rows.
func NewRowsDigest() *RowsDigest { return &RowsDigest{sum: sha256.New()} }

// Add adds the next row.
func (d *RowsDigest) Add(key, value []byte) {
	d.rows++
	for _, part := range [][]byte{key, value} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		d.sum.Write(length[:]) // a hash takes everything
		d.sum.Write(part)
	}
}

// Sum is the number of rows and the digest, in hex.
func (d *RowsDigest) Sum() (rows uint64, digest string) {
	return d.rows, hex.EncodeToString(d.sum.Sum(nil))
}
