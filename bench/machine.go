package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// machine is the conditions of a run.
type machine struct {
	when      time.Time
	processor string
	kernel    string
	load      string        // load average before the run
	memory    string        // of the machine
	fsync     time.Duration // median of small appends to one file, each synced
}

// look looks at the machine; dir is on the disk that is going to be used.
func look(dir string) machine {
	m := machine{
		when: time.Now(), processor: field("/proc/cpuinfo", "model name"), memory: fmt.Sprintf("%.1f GiB", mebibytes(field("/proc/meminfo", "MemTotal"))/1024),
		kernel: firstLine("/proc/sys/kernel/osrelease"), load: firstLine("/proc/loadavg"),
	}
	if parts := strings.Fields(m.load); len(parts) >= 3 {
		m.load = strings.Join(parts[:3], " ")
	}
	m.fsync, _ = syncTime(dir) // 0 is printed: the run itself will say what ails the disk
	return m
}

func (m machine) String() string {
	return fmt.Sprintf("%s. %s %s/%s on %s; %d processors (%s), %s memory; load average before the run %s;\n"+
		"an append of 4 KiB to a file and its fsync take %s here (median of %d).\n\n",
		m.when.UTC().Format("2006-01-02 15:04 MST"), runtime.Version(), runtime.GOOS, runtime.GOARCH, m.kernel,
		runtime.NumCPU(), m.processor, m.memory, m.load, m.fsync.Round(time.Microsecond), syncs)
}

const unknown = "unknown"

// field is the value of the first line of a file that names it before a colon.
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return unknown
}

func firstLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return unknown
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// syncs is how many syncs are timed.
const syncs = 200

// syncTime is what an append to a file costs that is on disk when it returns.
func syncTime(dir string) (time.Duration, error) {
	file, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer file.Close() //nolint:errcheck // a temporary file
	var times []time.Duration
	block := make([]byte, 4<<10)
	for range syncs {
		began := time.Now()
		if _, err := file.Write(block); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
	}
	return median(times), nil
}
