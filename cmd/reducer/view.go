package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// column is one column of a table: a heading ("#" at its end: a number) and the
// path of the member that it shows.
type column struct{ title, path string }

// columns of each projection: what somebody looks for first. Times are members
// whose name says so, see cell.
var columns = map[string][]column{
	state.Runs: {
		{"run", "runId"}, {"state", "state"}, {"spent#", "spent"}, {"reserved#", "reserved"}, {"attempts#", "attempts"},
		{"unsettled#", "unsettled"}, {"plan", "planId"}, {"segment", "segmentId"}, {"epoch#", "epoch"}, {"updated", "updatedAt"},
	},
	state.Exposed: {
		{"scope", "scope"}, {"id", "id"}, {"subject", "subject"}, {"budget#", "budget|limit"}, {"reserved#", "reserved"}, {"spent#", "spent"},
		{"available#", "available"}, {"overrun#", "overrun"}, {"unknown#", "unknown"}, {"revoked", "revoked"},
	},
	state.Attempts: {
		{"attempt", "attemptId"}, {"state", "state"}, {"amount#", "amount"}, {"reserved#", "reserved"}, {"spent#", "spent"},
		{"run", "runId"}, {"operation", "operationId"}, {"number#", "number"}, {"grant", "grantId"}, {"subject", "subject"},
		{"disputed", "disputed"}, {"settled", "settledAt"},
	},
	state.Waits: {
		{"wait", "waitId"}, {"state", "state"}, {"kind", "kind"}, {"run", "runId"}, {"correlation", "correlation"},
		{"deadline", "deadline"}, {"created", "createdAt"}, {"satisfied", "satisfiedAt"},
	},
	state.Triggers: {
		{"trigger", "triggerId"}, {"revision", "revision"}, {"kind", "kind"}, {"action", "action"}, {"enabled", "enabled"},
		{"fired#", "fired"}, {"live#", "live"}, {"cursor", "cursor"}, {"last fired", "lastFiredAt"},
	},
	state.Missions: {
		{"contract", "contractId"}, {"mission", "missionId"}, {"state", "state"}, {"budget#", "budget"}, {"deadline", "deadline"}, {"now", "now"},
	},
	state.Grants: {
		{"grant", "grantId"}, {"subject", "subject"}, {"limit#", "limit"}, {"reserved#", "reserved"}, {"spent#", "spent"},
		{"available#", "available"}, {"parent", "parentId"}, {"revoked", "revoked"}, {"expires", "expiresAt"},
	},
	state.Approvals: {
		{"approval", "approvalId"}, {"state", "state"}, {"run", "runId"}, {"approver", "approver"}, {"used#", "used"}, {"uses#", "uses"},
		{"expires", "expiresAt"}, {"fingerprint", "fingerprint"},
	},
	state.Operations: {
		{"operation", "operationId"}, {"run", "runId"}, {"capability", "action.capability"}, {"resource", "action.resource"},
		{"attempts#", "attempts"}, {"applied#", "applied"}, {"newest", "newestAttemptId"}, {"by", "by"}, {"admitted", "admittedAt"},
	},
	state.Plans: {
		{"run", "runId"}, {"plan", "planId"}, {"form", "form"}, {"pinned#", "pinnedSequence"}, {"hash", "runPlanHash"},
	},
	state.Graphs: {
		{"graph", "graphId"}, {"revision", "revision"}, {"nodes#", "nodes"}, {"hash", "graphHash"},
	},
	state.Nodes: {
		{"run", "runId"}, {"node", "nodeId"}, {"state", "state"}, {"kind", "kind"}, {"ready", "ready"}, {"depends on", "dependsOn"},
		{"unsettled#", "unsettled"}, {"by", "by"}, {"completed", "completedAt"},
	},
	state.Assessments: {
		{"run", "runId"}, {"revision", "revision"}, {"decision", "decision"}, {"current", "current"}, {"stale", "stale"},
		{"invalidated", "invalidated"}, {"assessor", "assessor"}, {"authority", "authority"}, {"recorded", "recordedAt"},
	},
	state.Decisions: {
		{"seq#", "commandSeq"}, {"at", "at"}, {"type", "type"}, {"principal", "principal"}, {"outcome", "outcome"},
		{"code", "code"}, {"reason", "reason"}, {"events", "events"},
	},
}

// view shows documents: as JSON lines as they come, or as a table at the end.
type view struct {
	c          *cobra.Command
	projection string
	columns    []column
	many       bool      // several contracts
	table      *ui.Table // nil with --json
}

func newView(c *cobra.Command, projection string, many bool) *view {
	v := &view{c: c, projection: projection, columns: columns[projection], many: many && projection != state.Missions}
	if cli.JSON(c) {
		return v
	}
	var titles []string
	if v.many {
		titles = append(titles, "contract")
	}
	for _, column := range v.columns {
		titles = append(titles, column.title)
	}
	v.table = ui.NewTable(titles...)
	return v
}

// row shows one document of a list.
func (v *view) row(contract string, d *wire.Document) error {
	if v.table == nil {
		return v.json(contract, d)
	}
	value, err := schema.ParseValue(d.Row)
	if err != nil {
		return fmt.Errorf("%s %q: %w", v.projection, d.Key, err)
	}
	var cells []string
	if v.many {
		cells = append(cells, contract)
	}
	for _, column := range v.columns {
		cells = append(cells, cell(value, column.path))
	}
	v.table.Row(cells...)
	return nil
}

// end shows what was kept for the end.
func (v *view) end() error {
	if v.table == nil {
		return nil
	}
	return v.table.Write(v.c.OutOrStdout())
}

// whole shows one document with all its members.
func (v *view) whole(contract string, d *wire.Document) error {
	if v.table == nil {
		return v.json(contract, d)
	}
	value, err := schema.ParseValue(d.Row)
	if err != nil {
		return fmt.Errorf("%s %q: %w", v.projection, d.Key, err)
	}
	table := ui.NewTable("member", "value")
	for name := range value.Members() {
		table.Row(name, cell(value, name))
	}
	table.Row("", "")
	table.Row("changed by", fmt.Sprintf("command %d, block %d, %s", d.Seq, d.Block, timeCell(d.At)))
	return table.Write(v.c.OutOrStdout())
}

func (v *view) json(contract string, d *wire.Document) error {
	return ui.JSON(v.c.OutOrStdout(), shown{
		At: d.At, Block: d.Block, Contract: contract, Key: d.Key, Projection: v.projection, Seq: d.Seq, Value: d.Row,
	})
}

// cell is the text of a member of a document. A path may lead into an object
// with "." and name another member with "|".
func cell(value schema.Value, path string) string {
	for _, way := range strings.Split(path, "|") {
		member, ok := value, true
		name := ""
		for _, name = range strings.Split(way, ".") {
			if member, ok = member.Member(name); !ok {
				break
			}
		}
		if ok {
			return memberCell(name, member)
		}
	}
	return ""
}

func memberCell(name string, member schema.Value) string {
	text, isText := member.Str()
	switch {
	case isText && isTime(name):
		return timeCell(text)
	case isText:
		return text
	case member.Kind() == '[':
		var elements []string
		for element := range member.Elements() {
			elements = append(elements, memberCell("", element))
		}
		return strings.Join(elements, ", ")
	}
	switch member {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return string(member)
}

// isTime: the member holds milliseconds.
func isTime(name string) bool {
	switch name {
	case "at", "now", "deadline", "cursor", "notBefore":
		return true
	}
	return strings.HasSuffix(name, "At")
}

// timeCell shows milliseconds as a time, where a calendar has it.
func timeCell(text string) string {
	const year9999 = 253402300799999
	millis, err := strconv.ParseInt(text, 10, 64)
	if err != nil || millis > year9999 {
		return text
	}
	return cli.FormatMillis(millis)
}
