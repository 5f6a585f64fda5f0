package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Script is everything that a run depends on.
type Script struct {
	Seed  uint64
	World Setup
	// Faults are what goes wrong, by the step at which it does. Without any
	// the run is a fair day, in an order that the seed chooses.
	Faults []Fault
}

// Setup is the installation that is simulated.
type Setup struct {
	External bool // a server of its own; else it is part of the reducer's process
	Interval bool // the log may lose its end in a crash of the server (--sync interval)
	Reducers int  // 1, or 2 that do not know of each other (external only)
	Archive  bool
	Mirror   bool
	Clients  int
	Commands int // of each client
	Block    int // commands of a block at most
	MaxBytes int // of a block that the log takes; 0 is no bound
	Cap      int // commands of one subject in the inbox; 0 is no bound
	Cache    int // rows kept in memory; 0 is the default
}

// Fault is one thing that goes wrong at a step.
type Fault struct {
	At    int
	Kind  string
	How   string // a word that the kind knows
	Who   int    // which reducer, 0 or 1
	N     int    // how often, how many
	Steps int    // for how long
}

// Generate makes the script of a seed.
func Generate(seed uint64) Script {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := Script{Seed: seed, World: setup(rng)}
	last := 60 + s.World.Clients*s.World.Commands*12
	for range rng.IntN(14) {
		k := &kinds[rng.IntN(len(kinds))]
		if k.fits != nil && !k.fits(&s.World) {
			continue
		}
		f := k.make(rng, &s.World)
		f.Kind, f.At = k.name, 1+rng.IntN(last)
		s.Faults = append(s.Faults, f)
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return a.At - b.At })
	return s
}

func setup(rng *rand.Rand) Setup {
	w := Setup{
		External: rng.IntN(3) > 0,
		Interval: rng.IntN(10) == 0,
		Reducers: 1,
		Archive:  rng.IntN(2) == 0,
		Mirror:   rng.IntN(2) == 0,
		Clients:  1 + rng.IntN(5),
		Commands: 2 + rng.IntN(12),
		Block:    1 + rng.IntN(12),
	}
	if w.External && rng.IntN(2) == 0 {
		w.Reducers = 2
	}
	if w.Interval {
		w.Archive = false // what is ahead of the log is never dropped there
	}
	if rng.IntN(4) == 0 {
		w.MaxBytes = 8000
	}
	if rng.IntN(4) == 0 {
		w.Cap = 2 + rng.IntN(3)
	}
	if rng.IntN(3) == 0 {
		w.Cache = 1 + rng.IntN(8)
	}
	return w
}

// String writes the script as Parse reads it.
func (s *Script) String() string {
	var b strings.Builder
	w := &s.World
	fmt.Fprintf(&b, "world seed=%d mode=%s sync=%s reducers=%d clients=%d commands=%d block=%d",
		s.Seed, word(w.External, "external", "embedded"), word(w.Interval, "interval", "always"), w.Reducers, w.Clients, w.Commands, w.Block)
	for _, part := range []struct {
		name  string
		value int
	}{{"maxbytes", w.MaxBytes}, {"cap", w.Cap}, {"cache", w.Cache}} {
		if part.value != 0 {
			fmt.Fprintf(&b, " %s=%d", part.name, part.value)
		}
	}
	b.WriteString(word(w.Archive, " archive", ""))
	b.WriteString(word(w.Mirror, " mirror", ""))
	for i := range s.Faults {
		b.WriteByte('\n')
		b.WriteString(s.Faults[i].String())
	}
	return b.String()
}

func word(yes bool, then, otherwise string) string {
	if yes {
		return then
	}
	return otherwise
}

// String is the fault on one line.
func (f *Fault) String() string {
	line := fmt.Sprintf("at %d %s", f.At, f.Kind)
	if f.How != "" {
		line += " how=" + f.How
	}
	for _, part := range []struct {
		name  string
		value int
	}{{"who", f.Who}, {"n", f.N}, {"steps", f.Steps}} {
		if part.value != 0 {
			line += fmt.Sprintf(" %s=%d", part.name, part.value)
		}
	}
	return line
}

// Parse reads a script. Empty lines and lines that begin with # are passed over.
func Parse(text string) (Script, error) {
	var s Script
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		var err error
		switch words[0] {
		case "world":
			err = s.parseWorld(words[1:])
		case "at":
			err = s.parseFault(words[1:])
		default:
			err = fmt.Errorf("want world or at")
		}
		if err != nil {
			return s, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
		}
	}
	if s.World.Reducers == 0 {
		return s, fmt.Errorf("a script begins with a line world")
	}
	return s, nil
}

func (s *Script) parseWorld(words []string) error {
	w := &s.World
	numbers := map[string]*int{
		"reducers": &w.Reducers, "clients": &w.Clients, "commands": &w.Commands, "block": &w.Block,
		"maxbytes": &w.MaxBytes, "cap": &w.Cap, "cache": &w.Cache,
	}
	*w = Setup{Reducers: 1, Clients: 1, Commands: 4, Block: 8}
	for _, item := range words {
		name, value, _ := strings.Cut(item, "=")
		switch item {
		case "archive":
			w.Archive = true
		case "mirror":
			w.Mirror = true
		case "mode=embedded", "sync=always":
		case "mode=external":
			w.External = true
		case "sync=interval":
			w.Interval = true
		default:
			if name == "seed" {
				var err error
				if s.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
					return err
				}
				continue
			}
			if err := setNumber(numbers, name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Script) parseFault(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("want: at <step> <kind>")
	}
	f := Fault{Kind: words[1]}
	if findKind(f.Kind) == nil {
		return fmt.Errorf("there is no fault %s", f.Kind)
	}
	numbers := map[string]*int{"who": &f.Who, "n": &f.N, "steps": &f.Steps, "at": &f.At}
	if err := setNumber(numbers, "at", words[0]); err != nil {
		return err
	}
	for _, item := range words[2:] {
		name, value, _ := strings.Cut(item, "=")
		if name == "how" {
			f.How = value
			continue
		}
		if err := setNumber(numbers, name, value); err != nil {
			return err
		}
	}
	s.Faults = append(s.Faults, f)
	return nil
}

func setNumber(numbers map[string]*int, name, value string) error {
	into := numbers[name]
	if into == nil {
		return fmt.Errorf("there is no %s", name)
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return err
	}
	*into = n
	return nil
}
