package auth

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// TestPublish: every subject is the service's, names a real type and the user's
// own principal, and the page in docs says what the roles may send.
func TestPublish(t *testing.T) {
	page, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range Roles() {
		list := strings.Join(Commands(role), ", ")
		if list == "" {
			list = "none"
		}
		if row := "| " + role + " | " + list + " |"; !strings.Contains(string(page), row) {
			t.Errorf("docs/security.md has no row %s", row)
		}
		for _, subject := range (User{Name: "a.b", Role: role, Contract: "c 1"}).Publish() {
			parts := strings.Split(subject, ".")
			if parts[1] == "submit" && (parts[2] != "c=201" || parts[3] != "a=2Eb" || !schema.IsCommandType(parts[4])) {
				t.Errorf("%s may publish %s", role, subject)
			}
			if parts[0] != "aiws" || parts[1] != "submit" && parts[1] != "q" {
				t.Errorf("%s may publish %s", role, subject)
			}
		}
	}
	if slices.Contains(Commands("agent"), "approve") {
		t.Error("an agent approves")
	}
}

func TestParseUser(t *testing.T) {
	if u, err := ParseUser("buyer:agent:c:1"); err != nil || u != (User{Name: "buyer", Role: "agent", Contract: "c:1"}) {
		t.Errorf("%+v, %v", u, err)
	}
	for _, bad := range []string{"", "a", ":agent", "a:king", "a:agent:"} {
		if _, err := ParseUser(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
