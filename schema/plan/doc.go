// Package plan checks the plans of runs and pins them. A pin freezes a plan: the canonical JSON of what was checked and its
// hash, which every later use computes again (Rehydrate). PLANS in docs/plans.md describes the forms; each has its file here,
// with its rules in the order in which they are checked:
//
//	runplan.go        kxm.run-plan.v2: the envelope; then runplan_plan.go, runplan_step.go, runplan_gates.go
//	executionplan.go  execution-plan.v1; executionplan_run.go is what a host needs to run one
//	graphplan.go      graph-plan.v1; graphplan_description.go and graphplan_resolution.go
//	opaque.go         any JSON document
//
// It is pure, and takes time in proportion to what it is given, however that is nested, named or repeated.
//
// To add a form: its name in package schema, a file with its check and the way back from its envelope, and a row in forms.
package plan
