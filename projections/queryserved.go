package projections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// asked are the questions that are waited for, and submit, which comes after all else.
var asked = []wire.Endpoint{wire.Get, wire.List, wire.Decision, wire.Plan, wire.History, wire.ListUnsettled, wire.Contracts, wire.Status, wire.Digest, wire.Heads, wire.MakeCheckpoint, wire.Rows, wire.Submit}

// UntilServed waits until a query service that was just started answers every
// question.
func UntilServed(ctx context.Context, conn *nats.Conn) error {
	subject, err := micro.ControlSubject(micro.InfoVerb, wire.Service, "")
	if err != nil {
		return fmt.Errorf("the query service: %w", err)
	}
	for {
		m, err := conn.RequestWithContext(ctx, subject, nil)
		switch {
		case err == nil && servesAll(m.Data):
			return nil
		case err != nil && !errors.Is(err, nats.ErrNoResponders):
			return fmt.Errorf("the query service does not begin: %w", err)
		}
		time.Sleep(time.Millisecond)
	}
}

func servesAll(info []byte) bool {
	var service micro.Info
	if err := json.Unmarshal(info, &service); err != nil {
		return false
	}
	for _, endpoint := range asked {
		if !slices.ContainsFunc(service.Endpoints, func(e micro.EndpointInfo) bool { return e.Name == string(endpoint) }) {
			return false
		}
	}
	return true
}
