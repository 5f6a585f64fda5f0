package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// planning holds the flags of plan.
type planning struct {
	ingesting // where to publish, for whom, whether to wait
	form      string
	document  string // names of files; "" is none
	admission string
	identity  string
	params    string
	runID     string
	planID    string
	pin       bool
}

func newPlan() *cobra.Command {
	var p planning
	c := &cobra.Command{
		Use:   "plan",
		Short: "check a plan, print its hash, and pin it if asked",
		Long: "Plan checks a plan under the rules of its form, as a reducer would, and needs none for it. It prints the\n" +
			"runPlanHash that a pin of the plan would have, or everything that is wrong with it (exit code 1).\n\n" +
			"With --pin it publishes the plan as the pinPlan command of a run. What goes with a plan depends on its form:\n" +
			"kxm.run-plan.v2 needs --identity, execution-plan.v1 and graph-plan.v1 need --admission, graph-plan.v1 may have\n" +
			"--params. Files are JSON; - is standard input. Without --run a kxm.run-plan.v2 is checked for the run it names.",
		Example: cli.Example(
			"ingest plan --form execution-plan.v1 --document plan.json --admission registry.json",
			"ingest plan --form opaque --document notes.json --contract c1 --principal owner --run r1 --plan p1 --pin --wait",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := p.usage(); err != nil {
				return exit.With(exit.Usage, err)
			}
			return p.check(c)
		},
	}
	flags := c.Flags()
	flags.StringVar(&p.form, "form", "", "`FORM` of the plan: "+strings.Join(schema.Forms, ", "))
	flags.StringVar(&p.document, "document", "", "`FILE` with the plan")
	flags.StringVar(&p.admission, "admission", "", "`FILE` with what the host admits: capabilities, or the resolution of a graph")
	flags.StringVar(&p.identity, "identity", "", "`FILE` with what the host's record says of the run")
	flags.StringVar(&p.params, "params", "", "`FILE` with the params of the run")
	flags.StringVar(&p.runID, "run", "", "the `RUN` that the plan is for")
	flags.StringVar(&p.planID, "plan", "", "the id that the `PLAN` gets in the run")
	flags.BoolVar(&p.pin, "pin", false, "publish it; needs --contract, --principal, --run and --plan")
	flags.StringVar(&p.contract, "contract", "", "the `CONTRACT` of the run")
	flags.StringVar(&p.principal, "principal", "", "the `PRINCIPAL` that pins it")
	flags.BoolVar(&p.wait, "wait", false, "wait for the decision and print it; exit code 4 if it is a rejection")
	p.nats.Add(c)
	for _, name := range []string{"form", "document"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return c
}

// usage checks the flags against each other.
func (p *planning) usage() error {
	if !slices.Contains(schema.Forms, p.form) {
		return fmt.Errorf("--form %s: want one of %s", p.form, strings.Join(schema.Forms, ", "))
	}
	stdin := 0
	for _, name := range []string{p.document, p.admission, p.identity, p.params} {
		if name == "-" {
			stdin++
		}
	}
	if stdin > 1 {
		return errors.New("standard input can be one of the files")
	}
	for _, id := range []struct{ flag, value string }{
		{"contract", p.contract}, {"principal", p.principal}, {"run", p.runID}, {"plan", p.planID},
	} {
		if id.value == "" && p.pin {
			return fmt.Errorf("--pin needs --%s", id.flag)
		}
		if id.value != "" && !schema.ValidID(id.value) {
			return fmt.Errorf("--%s: an id has 1 to 256 characters", id.flag)
		}
	}
	if p.planID == events.PlanNone {
		return fmt.Errorf("--plan %s: that is the plan of a run that has none", p.planID)
	}
	if p.wait && !p.pin {
		return errors.New("--wait is for --pin")
	}
	return nil
}

// check reads the plan, tells what is wrong with it or its hash, and pins it.
func (p *planning) check(c *cobra.Command) error {
	command, problems, err := p.read(c)
	if err != nil {
		return err
	}
	if len(problems) == 0 {
		problems = judge(command)
	}
	if len(problems) > 0 {
		return printProblems(c, p.form, problems)
	}
	pin, fault := plan.Check(command)
	if fault != nil {
		panic("ingest: a plan without a fault is refused: " + fault.Error())
	}
	if err := p.print(c, command, &pin); err != nil || !p.pin {
		return err
	}
	return p.publish(c, command)
}

// publish sends the command as a file of one line would.
func (p *planning) publish(c *cobra.Command, command *schema.PinPlan) error {
	line := schema.AppendString([]byte(`{"contract":`), p.contract)
	line = schema.AppendString(append(line, `,"principal":`...), p.principal)
	line = append(schema.AppendRecord(append(line, `,"command":`...), command), '}')
	lines := func() *checker { return p.checker(strings.NewReader(string(line))) }
	if _, err := lines().checkFile(); err != nil {
		return fmt.Errorf("nothing was published: %w", err)
	}
	return p.send(c, lines(), 1)
}
