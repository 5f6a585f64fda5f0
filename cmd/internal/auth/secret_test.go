package auth

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"
	"golang.org/x/crypto/bcrypt"
)

func TestNewKey(t *testing.T) {
	public, seed, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := nkeys.FromSeed(seed)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pair.PublicKey(); err != nil || got != public || !nkeys.IsValidPublicUserKey(public) {
		t.Errorf("%s, %v: the seed is of %s", public, err, got)
	}
}

func TestNewPassword(t *testing.T) {
	hash, password, err := NewPassword()
	if err != nil {
		t.Fatal(err)
	}
	if err := bcrypt.CompareHashAndPassword([]byte(hash), password); err != nil || len(password) != 32 {
		t.Errorf("%d characters: %v", len(password), err)
	}
	if cost, err := bcrypt.Cost([]byte(hash)); err != nil || cost < 11 {
		t.Errorf("the cost is %d, %v", cost, err)
	}
	_, other, err := NewPassword()
	if err != nil || bytes.Equal(password, other) {
		t.Errorf("two passwords are equal, %v", err)
	}
}

// TestConfigHasNoSecrets: what init writes for the server gives nothing away.
func TestConfigHasNoSecrets(t *testing.T) {
	public, seed, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	hash, password, err := NewPassword()
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Reducer: public, Users: []User{{Name: "a\n}", Role: "agent", Hash: hash}, {Name: "b", Role: "observer", Public: public}}}
	text := c.String()
	if strings.Contains(text, string(seed)) || strings.Contains(text, string(password)) || !strings.Contains(text, hash) {
		t.Errorf("got %s", text)
	}
	if strings.Contains(text, "\n}\"") {
		t.Errorf("a name breaks out of its comment:\n%s", text)
	}
}
