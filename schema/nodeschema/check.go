package nodeschema

import (
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The limits of one validation.
const (
	MaxWork        = 500_000   // JSON values in the schema times bytes of the instance
	MaxPatternWork = 5_000_000 // instructions of the patterns times bytes of the instance
)

// TooLarge is the reason of a Failure that is about the limits: nothing was validated.
const TooLarge = "too-large"

// Failure says why a schema refuses an instance. Pointer is a place in the instance. Reason is TooLarge or "".
type Failure struct{ Pointer, Reason, Message string }

// Error gives place and message on one line.
func (f *Failure) Error() string {
	if f.Pointer == "" {
		return f.Message
	}
	return "at " + f.Pointer + ": " + f.Message
}

// Check returns why the schema refuses the instance, or nil: it is valid. Of several failures it is the same one every time.
func (s *Schema) Check(instance schema.Value) *Failure {
	if what := s.tooLarge(len(instance)); what != "" {
		return &Failure{"", TooLarge, "too large to validate: schema and instance have " + what}
	}
	var failure *jsonschema.ValidationError
	if !errors.As(s.compiled.Validate(decode(instance)), &failure) {
		return nil
	}
	pointer, message := explain(failure)
	return &Failure{pointer, "", message}
}

func (s *Schema) tooLarge(bytes int) string {
	switch {
	case s.cost.values*bytes > MaxWork:
		return fmt.Sprintf("%d values times %d bytes exceed %d", s.cost.values, bytes, MaxWork)
	case s.cost.steps*bytes > MaxPatternWork:
		return fmt.Sprintf("%d pattern instructions times %d bytes exceed %d", s.cost.steps, bytes, MaxPatternWork)
	}
	return ""
}

// Work estimates what validating an instance of so many bytes takes, in the unit of MaxWork: values times bytes.
func (s *Schema) Work(bytes int) int {
	return s.cost.values*bytes + s.cost.steps*bytes/(MaxPatternWork/MaxWork)
}

// BuildWork estimates in the same unit what compiling the schema took.
func (s *Schema) BuildWork() int {
	c := &s.cost
	return c.bytes + 50*c.schemas + c.schemas*c.schemas/100 + c.places/2 + 2*c.steps + c.parsing/2
}

// Size estimates how many bytes of memory the schema takes.
func (s *Schema) Size() int {
	c := &s.cost
	return 30*c.bytes + 1000*c.schemas + 2*c.places + 50*c.steps + 10*c.parsing
}
