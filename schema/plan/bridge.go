// Package plan checks plan documents and pins them (PLANS).
//
// This file holds the form opaque only; it goes when the forms land (delete it then).
package plan

import "github.com/aiws-reducer/aiws-reducer/schema"

type Pin struct {
	Form, RunPlanHash, Envelope string
	Identity, Params            schema.Value
	ParamsHash                  string
}
type Fault struct{ Reason, Pointer, Message string }

func Check(c *schema.PinPlan) (Pin, *Fault) {
	return Pin{Form: c.Form, Envelope: string(c.Document), RunPlanHash: schema.HashOf([]byte(c.Document))}, nil
}
