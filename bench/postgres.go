package main

import (
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/bench/postgres"
)

// postgresName is the measurement whose results stand apart.
const postgresName = "postgres"

// postgresLoads are how PostgreSQL gets the commands. Those of the reducer are
// as many in flight.
var postgresLoads = []postgres.Load{
	{Connections: 1, Batch: 1}, {Connections: 32, Batch: 1}, {Connections: 1, Batch: 100}, {Connections: 1, Batch: 1000},
}

var attemptsInFlight = []int{1, 32, 1024}

// measurePostgres does the same attempts, in 1,000 ledgers, here and on
// PostgreSQL, in turn.
func measurePostgres(p plan) (_ *finding, err error) {
	c, err := postgres.Start()
	if errors.Is(err, postgres.ErrMissing) {
		return nil, fmt.Errorf("%w: %w", errSkipped, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	version, err := c.Version()
	if err != nil {
		return nil, err
	}
	mine, theirs := make([][]*loaded, len(attemptsInFlight)), make([][]postgres.Measured, len(postgresLoads))
	for range p.rounds {
		for i, n := range attemptsInFlight {
			m, err := loadOnce(p, serve, attemptWork, n, 1000)
			if err != nil {
				return nil, err
			}
			mine[i] = append(mine[i], m)
		}
		for i, l := range postgresLoads {
			l.Span = p.span
			m, err := c.Measure(l)
			if err != nil {
				return nil, err
			}
			theirs[i] = append(theirs[i], m)
		}
	}
	return comparison(version, mine, theirs), nil
}

func comparison(version string, mine [][]*loaded, theirs [][]postgres.Measured) *finding {
	s := section{
		title: "Attempts here and on PostgreSQL " + version,
		text: "Each command is an admit, a dispatch or a settle, decided once and on disk before it is answered; 1,000 ledgers.\n" +
			"Latency of the reducer is the median, of PostgreSQL the average of a transaction.",
		head: []string{"", "commands/s", "latency"},
	}
	ours, postgres := make([]float64, len(mine)), make([]float64, len(theirs))
	for i, rounds := range mine {
		m := middle(rounds)
		ours[i] = m.rate
		s.rows = append(s.rows, []string{fmt.Sprintf("reducer, %d in flight", attemptsInFlight[i]), fmt.Sprintf("%.0f", m.rate), short(m.latency.quantile(0.5))})
	}
	for i, rounds := range theirs {
		postgres[i] = medianRate(rounds)
		l := postgresLoads[i]
		name := fmt.Sprintf("PostgreSQL, connections: %d, one transaction per command", l.Connections)
		if l.Batch > 1 {
			name = fmt.Sprintf("PostgreSQL, connections: %d, %d commands in a transaction, set-based", l.Connections, l.Batch)
		}
		s.rows = append(s.rows, []string{name, fmt.Sprintf("%.0f", postgres[i]), short(rounds[len(rounds)/2].Latency)})
	}
	batch := max(postgres[2], postgres[3])
	return &finding{sections: []section{s}, results: []result{
		{name: "postgres-1", ratio: ours[0] / postgres[0], target: 1,
			what: fmt.Sprintf("one in flight %.0f/s, PostgreSQL with one connection %.0f/s", ours[0], postgres[0])},
		{name: "postgres-32", ratio: ours[1] / postgres[1], target: 4,
			what: fmt.Sprintf("32 in flight %.0f/s, PostgreSQL with 32 connections %.0f/s", ours[1], postgres[1])},
		{name: "postgres-batch", ratio: ours[2] / batch, target: 3,
			what: fmt.Sprintf("1,024 in flight %.0f/s, PostgreSQL with its best batches %.0f/s", ours[2], batch)},
	}}
}

func medianRate(rounds []postgres.Measured) float64 {
	var rates []float64
	for _, m := range rounds {
		rates = append(rates, m.PerSecond)
	}
	return median(rates)
}
