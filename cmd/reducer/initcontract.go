package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/auth"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// contractFlags say what the contracts of init allow. What is not said is strict.
type contractFlags struct {
	ids         []string
	budget      string
	deadline    cli.Millis
	actions     []string
	resources   []string
	criteria    []string
	features    []string
	maxAttempts string
	age         time.Duration
}

const (
	firstContract    = "c1"           // where none is named
	contractLifetime = 24 * time.Hour // where no deadline is
)

func (f *contractFlags) add(flags *pflag.FlagSet) {
	f.deadline = -1
	flags.StringArrayVar(&f.ids, "contract", nil, "`ID` of a contract to open; may be repeated (default those of --user, else "+firstContract+")")
	flags.StringVar(&f.budget, "budget", "100", "`AMOUNT` that it may spend in all")
	flags.Var(&f.deadline, "deadline", "when it ends (default a day from now)")
	flags.StringArrayVar(&f.actions, "action", nil, "`CAPABILITY` that its operations may use; may be repeated (default none)")
	flags.StringArrayVar(&f.resources, "resource", nil, "`NAME` of a resource that its operations may touch; may be repeated (default none)")
	flags.StringArrayVar(&f.criteria, "criterion", []string{"delivered"}, "`NAME` of a criterion that is verified at the end; may be repeated")
	flags.StringArrayVar(&f.features, "feature", nil, "triggers or graphs, which it may use; may be repeated (default none)")
	flags.StringVar(&f.maxAttempts, "max-attempts", "1", "`COUNT` of attempts of an operation")
	flags.DurationVar(&f.age, "authorization-age", time.Minute, "how old the check of an authorization may be")
}

// commands are the contracts, and the lines that open them. The rules have
// accepted each line, as of now.
func (f *contractFlags) commands(users []auth.User, now time.Time) (contracts []string, lines []byte, err error) {
	terms, err := f.terms(now)
	if err != nil {
		return nil, nil, err
	}
	contracts = slices.Concat(f.ids, auth.Contracts(users))
	slices.Sort(contracts)
	contracts = slices.Compact(contracts)
	if len(contracts) == 0 {
		contracts = []string{firstContract}
	}
	for i, contract := range contracts {
		m := auth.Message(uint64(i)+1, now, auth.OpenContract(contract, users, terms))
		if err := tryOpen(m); err != nil {
			return nil, nil, fmt.Errorf("contract %q: %w", contract, err)
		}
		lines = logfile.Append(lines, m)
	}
	return contracts, lines, nil
}

func (f *contractFlags) terms(now time.Time) (*auth.Terms, error) {
	budget, err := schema.ParseDecimal(f.budget)
	if err != nil {
		return nil, fmt.Errorf("--budget %s: want digits without a leading zero", f.budget)
	}
	attempts, err := schema.ParseDecimal(f.maxAttempts)
	if err != nil {
		return nil, fmt.Errorf("--max-attempts %s: want digits without a leading zero", f.maxAttempts)
	}
	if f.age < 0 {
		return nil, fmt.Errorf("--authorization-age %s: want no less than 0", f.age)
	}
	deadline := f.deadline
	if !deadline.Given() {
		deadline = cli.Millis(now.Add(contractLifetime).UnixMilli())
	}
	return &auth.Terms{
		Budget: budget, Deadline: schema.DecimalOf(uint64(deadline)), Actions: f.actions, Resources: f.resources, Criteria: f.criteria,
		MaxAttempts: attempts, AuthorizationAge: f.age, Features: f.features,
	}, nil
}

// tryOpen asks the rules whether they accept a command to open a contract.
func tryOpen(m *events.Message) error {
	d := reducer.New().Step(state.New(state.NewMemory(), state.Cursor{}, 0), m)
	if d.Outcome == events.OutcomeAccepted {
		return nil
	}
	return fmt.Errorf("the rules refuse these terms: %s %s %s", d.Code, d.Pointer, d.Message)
}
