package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// Times of asking for what comes next.
const (
	serviceWait = 10 * time.Second // how long one question waits for something
	crowdedFor  = 10 * time.Second // how long none waits after one was told that too many do
	crowdedPace = time.Second      // between questions meanwhile
)

// turn goes over to the service where the server does not let this user read the
// stream.
func (w *watch) turn(err error) bool {
	if w.asking || w.client.o.Way != AnyWay || w.o.Contract == "" || !errors.Is(err, ErrNotPermitted) {
		return false
	}
	w.asking = true
	return true
}

// explain says what else there is where this user may not read the stream.
func (w *watch) explain(err error) error {
	if !w.asking && w.client.o.Way == AnyWay && errors.Is(err, ErrNotPermitted) {
		return fmt.Errorf("%w (this user may watch one contract at a time: name it)", err)
	}
	return err
}

// busy says that the service may answer later.
func busy(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code.Temporary()
}

// crowd says that the service lets no more questions wait, or takes none now.
func crowd(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && (e.Code == wire.Quota || e.Code == wire.Busy)
}

// ask reads page by page from the service, until the connection is lost. Between
// two pages nothing is kept for it.
func (w *watch) ask(ctx context.Context, yield func(Change, error) bool) (more bool, err error) {
	if w.o.Contract == "" {
		return true, errors.New("through the service one contract is watched: name it")
	}
	ctx, stop := w.client.whileConnected(ctx)
	defer stop()
	for {
		page, err := w.page(ctx)
		if err != nil {
			return true, err
		}
		for i := range page.Changes {
			change, wanted := w.changed(&page.Changes[i])
			if wanted && !yield(change, nil) {
				return false, nil
			}
		}
		w.after = page.Next
		if !page.More && !w.catchUp(yield) {
			return false, nil
		}
	}
}

// page asks for what comes next; once all that is there was given, it has the
// service wait for something.
func (w *watch) page(ctx context.Context) (page wire.ChangesResponse, err error) {
	request := wire.ChangesRequest{
		Projection: w.o.Projection, Key: w.o.Key, After: w.after, Since: w.since, New: w.o.New && !w.begun, Limit: wire.MaxPage,
	}
	waits := w.caught && time.Now().After(w.crowded)
	switch {
	case waits:
		request.Wait = serviceWait.Milliseconds()
	case w.caught:
		sleep(ctx, crowdedPace)
	}
	err = w.client.askFor(ctx, w.client.o.Request+time.Duration(request.Wait)*time.Millisecond, wire.Changes, w.o.Contract, request, &page)
	if waits && crowd(err) {
		w.crowded = time.Now().Add(crowdedFor)
		return w.page(ctx)
	}
	if err == nil && !w.begun {
		w.begun = true
		if w.o.New {
			w.since = max(w.since, page.AsOf.Seq+1) // also where the mirror begins anew
		}
	}
	return page, err
}

// changed is a change as the service tells it; wanted is false for what was given
// before.
func (w *watch) changed(r *wire.RowChange) (c Change, wanted bool) {
	c = Change{Contract: w.o.Contract, Projection: r.Projection, Key: r.Key}
	if r.Deleted {
		c.Kind = Deleted
		return c, w.caught
	}
	c.Seq, c.Block, c.At, c.Row = r.Seq, r.Block, r.At, r.Row
	return c, w.fresh(r.Seq, wire.Key(c.Contract, c.Projection, c.Key))
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
