package auth

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/bcrypt"
)

// NewKey makes an nkey: its public half, which the server knows, and its seed.
func NewKey() (public string, seed []byte, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", nil, fmt.Errorf("make an nkey: %w", err)
	}
	if public, err = pair.PublicKey(); err != nil {
		return "", nil, fmt.Errorf("make an nkey: %w", err)
	}
	if seed, err = pair.Seed(); err != nil {
		return "", nil, fmt.Errorf("make an nkey: %w", err)
	}
	return public, seed, nil
}

// Cost is the logarithm of the rounds of a password's hash. Each login costs the
// server that much too, a tenth of a second or so.
const Cost = 11

// passwordBytes are the random bytes of a password.
const passwordBytes = 24

// NewPassword makes a random password of 32 characters, and its bcrypt hash, which
// the server knows.
func NewPassword() (hash string, password []byte, err error) {
	random := make([]byte, passwordBytes)
	_, _ = rand.Read(random) // it never fails
	password = base64.RawURLEncoding.AppendEncode(nil, random)
	sum, err := bcrypt.GenerateFromPassword(password, Cost)
	if err != nil {
		return "", nil, fmt.Errorf("hash a password: %w", err)
	}
	return string(sum), password, nil
}
