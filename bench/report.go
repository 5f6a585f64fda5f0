package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// write writes the results of a whole run.
func write(path string, results []result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Results of `make bench`\n\n")
	fmt.Fprintf(&b, "%s, %s, %s/%s, %d processors, %s.\n\n", time.Now().UTC().Format("2006-01-02 15:04 MST"),
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor())
	b.WriteString("Each ratio compares medians of rounds that were measured in turn in this one run; 1.00 or more meets\n" +
		"a target of 1.00. Machines differ and are noisy: compare ratios, not figures of two runs.\n\n")
	b.WriteString("| measurement | ratio | target | met | figures |\n|---|---|---|---|---|\n")
	for _, r := range results {
		met := "yes"
		if r.ratio < r.target {
			met = "no"
		}
		fmt.Fprintf(&b, "| %s | %.2f | %.2f | %s | %s |\n", r.name, r.ratio, r.target, met, r.what)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.SplitSeq(string(info), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
