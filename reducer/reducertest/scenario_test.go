package reducertest_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

const scenarios = "../../testdata/scenarios"

// TestScenarios runs every story. With -rewrite it accepts what they print:
// read each line of the difference.
func TestScenarios(t *testing.T) {
	for _, path := range files(t) {
		name, _ := filepath.Rel(scenarios, path)
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			reducertest.RunScenario(t, path)
		})
	}
}

func files(t *testing.T) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(scenarios, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".txt") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	return paths
}
