package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// A sick server is not started again and again on a disk that is full, but when
// there is room.
func TestSickServerWaitsForRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a server")
	}
	dir, err := jetlog.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	full := errors.New("the disk is full")
	var room error
	d := &daemon{
		o:   Options{Listen: "127.0.0.1:0", Sync: jetlog.SyncAlways, Log: slog.New(slog.DiscardHandler)},
		dir: dir, space: func() error { return room },
	}
	defer d.stop()
	if err := d.startServer(); err != nil {
		t.Fatal(err)
	}
	d.server.Stop() // a server that stopped is as sick as can be
	room = full
	for range 3 {
		if err := d.startServer(); !errors.Is(err, full) || d.server.Healthy() == nil {
			t.Errorf("on a full disk: %v, server %v", err, d.server.Healthy())
		}
	}
	room = nil
	if err := d.startServer(); err != nil || d.server.Healthy() != nil {
		t.Errorf("when there is room: %v, server %v", err, d.server.Healthy())
	}
}

// The last look at a reducer that ends says why.
func TestEndedMetrics(t *testing.T) {
	for _, c := range []struct {
		err             error
		fenced, damaged int
	}{
		{nil, 0, 0},
		{fmt.Errorf("%w: by another", loop.ErrFenced), 1, 0},
		{fmt.Errorf("%w: block 3", loop.ErrIntegrity), 0, 1},
	} {
		m := newMetrics()
		m.ended(c.err)
		r := prometheus.NewRegistry()
		r.MustRegister(m.fenced, m.damaged)
		told := httptest.NewRecorder()
		promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(told, httptest.NewRequest("GET", "/metrics", nil))
		for _, want := range []string{fmt.Sprintf("\naiws_fenced %d\n", c.fenced), fmt.Sprintf("\naiws_integrity_fault %d\n", c.damaged)} {
			if !strings.Contains(told.Body.String(), want) {
				t.Errorf("%v: no %q in\n%s", c.err, want, told.Body)
			}
		}
	}
}
