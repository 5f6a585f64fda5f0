package logfile

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

func identify(t *testing.T, file string) []string {
	t.Helper()
	var ids []string
	var identifier Identifier
	r := NewReader(strings.NewReader(file))
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return ids
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, identifier.ID(line))
	}
}

func TestIdentifier(t *testing.T) {
	start := `{"contract":"c","principal":"p","command":{"type":"startRun","runId":"r"}}` + "\n"
	other := `{"contract":"c","principal":"q","command":{"type":"startRun","runId":"r"}}` + "\n"
	ids := identify(t, start+start+other)
	if ids[0] == ids[1] || ids[0] == ids[2] || ids[1] == ids[2] {
		t.Errorf("different commands share an id: %v", ids)
	}
	for _, id := range ids {
		if !schema.ValidCommandID(id) {
			t.Errorf("%s is no command id", id)
		}
	}
	// Layout, at, seq and lines added behind change nothing.
	same := `{"command": {"runId":"r", "type":"startRun"}, "seq":9, "at":5, "principal":"p","contract":"c"}` + "\n"
	if got := identify(t, same+start+other+start)[:3]; !cmp.Equal(ids, got) {
		t.Errorf("ids moved: %s", cmp.Diff(ids, got))
	}
}
