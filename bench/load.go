package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// loadCase is one comparison with the empty pipeline.
type loadCase struct {
	name       string
	submitters int
	ledgers    int
	target     float64
}

func loadCases(p plan) []loadCase {
	list := []loadCase{{"load-1", 1, 1, 0.8}, {"load-64", 64, 1, 0.7}, {"load-1024", 1024, 1, 0.5}}
	if !p.quick {
		list = append(list, loadCase{"load-1-ledgers", 1, 1000, 0.8}, loadCase{"load-64-ledgers", 64, 1000, 0.7}, loadCase{"load-1024-ledgers", 1024, 1000, 0.5})
	}
	return list
}

// measureLoad compares the reducer, end to end and with fsync on, with a
// pipeline that does the same I/O and decides nothing.
func measureLoad(p plan) (*finding, error) {
	costs := section{
		title: "Load: rate, latency and cost",
		text:  "Both sides in turn, medians of the rounds. Latency is from publishing a command to having its decision.",
		head:  []string{"measurement", "side", "decisions/s", "p50", "p99", "p99.9", "server CPU/command", "load generator CPU/command", "server's peak RSS"},
	}
	shape := section{
		title: "Load: histogram of latencies",
		text:  "Share of the reducer's decisions that came within the time.",
		head:  append([]string{"measurement"}, shapeHead()...),
	}
	f := &finding{}
	for _, c := range loadCases(p) {
		ours, empty, err := compare(p, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		f.results = append(f.results, result{
			name: c.name, target: c.target, ratio: ours.rate / empty.rate,
			what: fmt.Sprintf("%d in flight, %s: %.0f/s, the empty pipeline %.0f/s; p50 %s, p99 %s, p99.9 %s", c.submitters, ledgerCount(c.ledgers),
				ours.rate, empty.rate, short(ours.latency.quantile(0.5)), short(ours.latency.quantile(0.99)), short(ours.latency.quantile(0.999))),
		})
		costs.rows = append(costs.rows, ours.row(c.name, "reducer"), empty.row(c.name, "empty"))
		shape.rows = append(shape.rows, append([]string{c.name}, ours.shape()...))
	}
	f.sections = []section{costs, shape}
	return f, nil
}

func ledgerCount(n int) string {
	if n == 1 {
		return "1 ledger"
	}
	return strconv.Itoa(n) + " ledgers"
}

// compare measures both sides in turn.
func compare(p plan, c loadCase) (ours, empty *loaded, err error) {
	var mine, limit []*loaded
	for range p.rounds {
		side, err := loadOnce(p, emptyPipeline, mixedWork, c.submitters, c.ledgers)
		if err != nil {
			return nil, nil, fmt.Errorf("empty pipeline: %w", err)
		}
		limit = append(limit, side)
		if side, err = loadOnce(p, serve, mixedWork, c.submitters, c.ledgers); err != nil {
			return nil, nil, err
		}
		mine = append(mine, side)
	}
	return middle(mine), middle(limit), nil
}

// loaded is what load did to a server.
type loaded struct {
	rate    float64 // decisions per second
	latency histogram
	server  time.Duration // processor time per command
	client  time.Duration // the same of the load generator
	peak    float64       // MiB, the server's
}

// middle has the medians of rounds, and all of their latencies.
func middle(rounds []*loaded) *loaded {
	m := &loaded{}
	var rates, peaks []float64
	var servers, clients []time.Duration
	for _, r := range rounds {
		rates, peaks = append(rates, r.rate), append(peaks, r.peak)
		servers, clients = append(servers, r.server), append(clients, r.client)
		m.latency.merge(&r.latency)
	}
	m.rate, m.peak, m.server, m.client = median(rates), median(peaks), median(servers), median(clients)
	return m
}

func (l *loaded) row(name, side string) []string {
	return []string{
		name, side, fmt.Sprintf("%.0f", l.rate), short(l.latency.quantile(0.5)), short(l.latency.quantile(0.99)), short(l.latency.quantile(0.999)),
		short(l.server), short(l.client), fmt.Sprintf("%.0f MiB", l.peak),
	}
}

// steps of the histogram that is printed; powers of two of microseconds.
func shapeSteps() []time.Duration {
	var list []time.Duration
	for us := 256; us <= 131_072; us *= 2 {
		list = append(list, time.Duration(us)*time.Microsecond)
	}
	return list
}

func shapeHead() []string {
	var head []string
	for _, d := range shapeSteps() {
		head = append(head, short(d))
	}
	return head
}

func (l *loaded) shape() []string {
	var row []string
	for _, d := range shapeSteps() {
		row = append(row, strings.TrimSuffix(fmt.Sprintf("%.1f", 100*l.latency.below(d)), ".0")+"%")
	}
	return row
}

// short prints a time with about three digits.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	case d >= 100*time.Microsecond:
		return d.Round(time.Microsecond).String()
	}
	return d.Round(10 * time.Nanosecond).String()
}

// loadOnce puts load on a new server and says what it did.
func loadOnce(p plan, side begin, work work, submitters, ledgers int) (_ *loaded, err error) {
	dir, err := os.MkdirTemp(p.dir, "load-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	runtime.GC()            // one measurement does not pay for the one before
	s, err := side(p, filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	l, err := newLoad(s.url, work, submitters, ledgers)
	if err != nil {
		s.kill()
		return nil, err
	}
	measured, err := l.measure(s, p.span)
	l.close()
	return measured, errors.Join(err, s.stop())
}
