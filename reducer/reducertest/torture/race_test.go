//go:build race

package torture

// The programs look for races where the test does.
func init() { buildFlags = []string{"-race"} }
