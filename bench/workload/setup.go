package workload

import (
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Open returns the commands that open a ledger: its contract and a grant.
func Open(ledger string) []Command {
	s := &script{prefix: "open"}
	s.add(owner, &schema.OpenContract{Contract: contract(contractMark)})
	s.add(owner, &schema.IssueGrant{Grant: schema.Grant{
		ID: team, Subject: agent, Profile: schema.Profile, Actions: []string{"purchase", "read"}, Resources: []string{"shop", "warehouse"},
		ExpiresAt: far, Limit: schema.MustDecimal("1" + strings.Repeat("0", 29)), CanDelegate: true, Depth: schema.DecimalOf(2),
	}})
	w := &Worker{contract: ledger, id: ledger, steps: s.steps}
	return []Command{w.Next(), w.Next()}
}

func contract(id string) schema.Contract {
	return schema.Contract{
		ID: id, MissionID: "mission", Budget: schema.MustDecimal("1" + strings.Repeat("0", 30)),
		Deadline: far, Criteria: []string{"delivered", "invoice-matches"},
		Actions: []string{"purchase", "refund", "read"}, Resources: []string{"shop", "bank", "warehouse"},
		MaxAttempts: schema.DecimalOf(3), MaxAuthorizationAgeMs: far, Features: []string{"triggers", "graphs"},
	}
}

// setup registers what a worker's runs use: a graph, a trigger on events, and
// one on a schedule, which fires once.
func setup() []step {
	s := &script{prefix: "s"}
	s.add(owner, &schema.RegisterGraph{Graph: schema.Graph{ID: baseMark + "-g", Revision: "1", Nodes: []schema.Node{
		{ID: "desks", Kind: "TASK", Config: value(`{"capability":"purchase"}`)},
		{ID: "lamps", Kind: "TASK", DependsOn: []string{"desks"}, Config: value(`{"capability":"purchase"}`)},
		{ID: "chairs", Kind: "TASK", DependsOn: []string{"lamps"}, Config: value(`{"capability":"purchase"}`)},
		{ID: "end", Kind: "END", DependsOn: []string{"chairs"}, Config: value(`{}`)},
	}}, Context: context(owner, 20)})
	s.add(owner, &schema.RegisterTrigger{Trigger: onOrder(), Context: context(owner, 20)})
	s.add(owner, &schema.RegisterTrigger{Trigger: onSchedule(), Context: context(owner, 20)})
	s.add(clock, tick())
	return s.steps
}

func onOrder() schema.Trigger {
	return schema.Trigger{
		ID: baseMark + "-e", Revision: "1", Kind: "EVENT", Source: "shop", EventType: "order", ContractID: contractMark,
		Action: "START_RUN", Enabled: true, ExpiresAt: far, MaxAgeMs: far, MaxConcurrent: schema.DecimalOf(100),
		RateLimit: schema.DecimalOf(100), RateWindowMs: schema.DecimalOf(1000), MaxDepth: schema.DecimalOf(3),
		Filter: &schema.Filter{Field: "kind", Equals: value(`"order"`)},
	}
}

// onSchedule has a single slot, which every tick finds due until one took it.
func onSchedule() schema.Trigger {
	return schema.Trigger{
		ID: baseMark + "-s", Revision: "1", Kind: "SCHEDULED", Source: "clock", EventType: "hour", ContractID: contractMark,
		Action: "START_RUN", Enabled: true, NotBefore: checked, ExpiresAt: checked.Add(schema.DecimalOf(1)), MaxAgeMs: far,
		MaxConcurrent: schema.DecimalOf(100), RateLimit: schema.DecimalOf(100), RateWindowMs: schema.DecimalOf(1000), MaxDepth: schema.DecimalOf(3),
		Schedule: &schema.Schedule{StartMs: checked, IntervalMs: schema.DecimalOf(3_600_000), CatchUp: "LATEST", MaxCatchUp: schema.DecimalOf(1)},
	}
}
