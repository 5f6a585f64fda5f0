package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// following runs f with a client that outlives a reducer which is started again.
func (s *source) following(f func(*client.Client) error) error {
	if s.stopped() {
		return exit.Errorf(exit.Usage, "--follow goes with a running reducer; leave --data out")
	}
	return s.connected(f, withoutServerErrors(), nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond))
}

// followed prints what is there and goes on with each change: both come from the
// bucket, in one reading, so that nothing is left out between them.
func (s *showing) followed(c *cobra.Command, key []string) error {
	if len(key) > 0 && s.contract == "" {
		return exit.Errorf(exit.Usage, "say with --contract which %s %q is followed", s.filter.Projection, key[0])
	}
	o := client.WatchOptions{Contract: s.contract, Projection: s.filter.Projection}
	if len(key) > 0 {
		o.Key = key[0]
	}
	show := showChange
	if cli.JSON(c) {
		show = jsonChange
	}
	return s.source.following(func(reducer *client.Client) error {
		if s.contract != "" {
			if err := s.checkContract(c.Context(), reducer); err != nil {
				return err
			}
		}
		for change, err := range reducer.Watch(c.Context(), o) {
			if err != nil {
				return err
			}
			wanted, err := s.wants(&change)
			if err != nil {
				return err
			}
			if !wanted {
				continue
			}
			if err := show(c, &change); err != nil {
				return err
			}
		}
		return nil
	})
}

// wants says whether a change passes the filters.
func (s *showing) wants(change *client.Change) (bool, error) {
	if change.Kind != client.Changed || s.filter.Run == "" && s.filter.State == "" {
		return true, nil
	}
	row, err := schema.ParseValue(change.Row)
	if err != nil {
		return false, fmt.Errorf("%s %q: %w", change.Projection, change.Key, err)
	}
	return is(row, "runId", s.filter.Run) && is(row, "state", s.filter.State), nil
}

// is says whether a member is as wanted; "" wants nothing.
func is(row schema.Value, member, want string) bool { return want == "" || cell(row, member) == want }

// Times of following the history.
const (
	followPause = 300 * time.Millisecond // between two looks
	followRetry = time.Second            // while the reducer does not answer
)

// followHistory gives the decisions after a command for ever, page by page, so
// that none is left out. A reducer that is started again is waited for.
func followHistory(ctx context.Context, reducer *client.Client, contract string, request wire.HistoryRequest, f func(*wire.Decided) error) error {
	request.Newest, request.Limit = false, wire.MaxPage
	for ctx.Err() == nil {
		page, err := reducer.HistoryPage(ctx, contract, request)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && away(err):
			sleep(ctx, followRetry)
			continue
		case err != nil:
			return err
		}
		for i := range page.Decisions {
			if err := f(&page.Decisions[i]); err != nil {
				return err
			}
		}
		if page.Next > 0 {
			request.After = page.Next
			continue
		}
		request.After = max(request.After, page.AsOf.Seq) // all up to there was looked at
		sleep(ctx, followPause)
	}
	return nil
}

// away: the reducer may answer later.
func away(err error) bool {
	var e *wire.Error
	return errors.Is(err, client.ErrNoReducer) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrDisconnected) ||
		errors.Is(err, nats.ErrConnectionReconnecting) || errors.As(err, &e) && e.Code.Temporary()
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
