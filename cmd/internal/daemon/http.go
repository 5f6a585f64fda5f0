package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Bounds of the HTTP server: it answers monitors, and nobody may hold it up.
const (
	httpPatience = 5 * time.Second
	httpHeader   = 16 << 10
)

// startHTTP serves /metrics, /healthz and /readyz, if an address was given.
func (d *daemon) startHTTP(ctx context.Context) error {
	if d.o.HTTP == "" {
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", d.o.HTTP)
	if err != nil {
		return fmt.Errorf("--http %s: %w", d.o.HTTP, err)
	}
	server := &http.Server{
		Handler: d.handler(), ReadTimeout: httpPatience, WriteTimeout: 2 * httpPatience,
		IdleTimeout: time.Minute, MaxHeaderBytes: httpHeader,
	}
	d.o.Log.Info("metrics and health", "url", "http://"+listener.Addr().String())
	d.beside(ctx, "metrics and health", func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stop()
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return nil
}

func (d *daemon) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(d.metrics.registry(d), promhttp.HandlerOpts{Timeout: httpPatience}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, d.health.alive(), d.health)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, d.health.ready(), d.health)
	})
	return mux
}

// answer says how things are, on one line.
func answer(w http.ResponseWriter, good bool, h *health) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !good {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	fmt.Fprintln(w, h)
}
