package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// problem is one thing that is wrong with a plan.
type problem struct {
	Code    string `json:"code"`             // of the rejection
	Reason  string `json:"reason,omitempty"` // of PLAN_INVALID
	In      string `json:"in"`               // which part: document, admission, identity, params, or the command
	Pointer string `json:"pointer"`          // in that part
	Message string `json:"message"`
}

// maxPart is the size of a file that is read at all. Layout does not count for
// the size of a command, so a file may be larger than one.
const maxPart = 16 << 20

// read makes the command of the files. Problems are those of the JSON in them.
func (p *planning) read(c *cobra.Command) (*schema.PinPlan, []problem, error) {
	command := &schema.PinPlan{Form: p.form, RunID: p.runID, PlanID: cmp.Or(p.planID, "plan")}
	var problems []problem
	for _, part := range []struct {
		in, name string
		into     *schema.Value
	}{
		{"document", p.document, &command.Document}, {"admission", p.admission, &command.Admission},
		{"identity", p.identity, &command.Identity}, {"params", p.params, &command.Params},
	} {
		if part.name == "" {
			continue
		}
		text, err := readPart(c, part.name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", part.in, err)
		}
		value, err := schema.Canonical(text) // as strictly as a reducer reads it
		var fault *schema.Fault
		if errors.As(err, &fault) {
			problems = append(problems, problem{Code: fault.Code, In: part.in, Pointer: jsontree.Shorten(fault.Pointer), Message: fault.Message})
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", part.in, err)
		}
		*part.into = schema.Value(value)
	}
	if command.RunID == "" {
		command.RunID = runOf(command)
	}
	return command, problems, nil
}

func readPart(c *cobra.Command, name string) ([]byte, error) {
	file, err := cli.Open(c, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPart+1))
	if err == nil && len(text) > maxPart {
		err = fmt.Errorf("%s is longer than %d MiB, and a command has at most %d KiB", name, maxPart>>20, schema.MaxBody>>10)
	}
	return text, err
}

// runOf is the run that a plan names, where its form names one.
func runOf(command *schema.PinPlan) string {
	if command.Form == schema.FormRunPlan {
		named, _ := command.Document.Member("runId")
		if id, ok := named.Str(); ok && schema.ValidID(id) {
			return id
		}
	}
	return "run"
}

// judge finds everything that is wrong with a command, in the order of the
// checks of a reducer.
func judge(command *schema.PinPlan) []problem {
	var problems []problem
	if size := len(schema.AppendRecord(nil, command)); size > schema.MaxBody {
		problems = append(problems, problem{Code: string(events.CodeBodyTooLarge), In: "command",
			Message: fmt.Sprintf("it has %d bytes, at most %d are allowed", size, schema.MaxBody)})
	}
	judged := *command
	unfit, missing := companions(&judged)
	problems = append(problems, unfit...)
	for _, found := range faults(&judged) {
		if !slices.Contains(missing, found.In) {
			problems = append(problems, found)
		}
	}
	return problems
}

// faults are those that the form's rules find, each with the part that it is in.
func faults(command *schema.PinPlan) []problem {
	withoutParams := *command
	withoutParams.Params = ""
	before := len(plan.All(&withoutParams)) // the faults of params come last
	var problems []problem
	for i, f := range plan.All(command) {
		found := problem{Code: string(events.CodePlanInvalid), Reason: f.Reason, In: "document", Pointer: f.Pointer, Message: f.Message}
		if i >= before {
			found.In = "params"
		}
		for _, in := range []string{"identity", "admission"} {
			// The reason of a member of the document with such a name is envelope.
			inside, ok := strings.CutPrefix(f.Pointer, "/"+in)
			if ok && f.Reason != "envelope" && (inside == "" || inside[0] == '/') {
				found.In, found.Pointer = in, inside
			}
		}
		problems = append(problems, found)
	}
	return problems
}

// companions compares what goes with a plan with what its form asks for. What is
// too much is taken away, what is missing is null from here on.
func companions(command *schema.PinPlan) (problems []problem, missing []string) {
	parts := map[string]*schema.Value{"/identity": &command.Identity, "/admission": &command.Admission, "/params": &command.Params}
	for {
		_, fault := schema.Decode(schema.AppendRecord(nil, command))
		if fault == nil {
			return problems, missing
		}
		problems = append(problems, problem{Code: fault.Code, In: "command", Pointer: jsontree.Shorten(fault.Pointer), Message: fault.Message})
		part := parts[fault.Pointer]
		switch {
		case part == nil:
			return problems, missing
		case *part == "":
			*part = "null"
			missing = append(missing, fault.Pointer[1:])
		default:
			*part = ""
		}
	}
}
