package state

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// sum256 is a number modulo 2^256: the state hash is the sum of the hashes of
// all stored rows of the five named projections (DESIGN 2), so a row can be
// replaced without reading the others.
type sum256 [4]uint64 // least significant first

func sumOf(hash [sha256.Size]byte) sum256 {
	var s sum256
	for i := range s {
		s[i] = binary.BigEndian.Uint64(hash[sha256.Size-8*(i+1):])
	}
	return s
}

func (s sum256) bytes() [sha256.Size]byte {
	var out [sha256.Size]byte
	for i := range s {
		binary.BigEndian.PutUint64(out[sha256.Size-8*(i+1):], s[i])
	}
	return out
}

func (s sum256) add(o sum256) sum256 {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], o[i], carry)
	}
	return s
}

func (s sum256) sub(o sum256) sum256 {
	var borrow uint64
	for i := range s {
		s[i], borrow = bits.Sub64(s[i], o[i], borrow)
	}
	return s
}
