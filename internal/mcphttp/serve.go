package mcphttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"interlock/internal/ledger"
)

// Serve serves clients on a listener, with TLS if it is configured, until ctx ends. Then it takes nothing new, lets what is under
// way finish within Limits.Drain, and ends all sessions. It returns nil after such a stop and an error when the listener fails.
func (h *Front) Serve(ctx context.Context, listener net.Listener, secure *tls.Config) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: h.limits.ReadHeader,
		IdleTimeout:       idleConnection,
		MaxHeaderBytes:    max(h.limits.Header-headerSlack, 1),
		ErrorLog:          slog.NewLogLogger(h.logger.Handler(), slog.LevelWarn),
		TLSConfig:         secure,
		ConnContext:       withVisit,
	}
	listener = newDoorway(listener, h.limits, h.logger)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	var sweeping sync.WaitGroup
	sweeping.Go(func() { h.Tend(serving) })
	failed := make(chan error, 1)
	go func() {
		if secure != nil {
			failed <- server.ServeTLS(listener, "", "")
			return
		}
		failed <- server.Serve(listener)
	}()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	}
	stop()
	h.quiesce()
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), h.limits.Drain)
	defer cancel()
	switch shutdown := server.Shutdown(draining); {
	case errors.Is(shutdown, context.DeadlineExceeded): // a server that answers nothing must not keep us from stopping
		h.logger.Warn("requests were under way for longer than a stop waits and were cut off", "waited", h.limits.Drain.String())
		h.Close()
		err = errors.Join(err, server.Close())
	case shutdown != nil:
		err = errors.Join(err, fmt.Errorf("draining: %w", shutdown), server.Close())
	}
	h.Close()
	sweeping.Wait()
	return err
}

// headerSlack is what net/http reads beyond MaxHeaderBytes before it refuses.
const headerSlack = 4096

// Tend looks after the sessions until ctx ends, for a front behind another's server.
func (h *Front) Tend(ctx context.Context) {
	var sweeping sync.WaitGroup
	defer sweeping.Wait()
	sweeping.Go(func() { every(ctx, sweepSessions, func() { h.Sweep(ctx) }) })
	every(ctx, max(h.limits.Slow/2, time.Millisecond), h.primeSlow)
}

func every(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do()
		}
	}
}

// Sweep ends sessions nobody has used for long, and those of agents that have been revoked since, and drops what was kept of
// streams for long enough.
func (h *Front) Sweep(ctx context.Context) {
	standing, err := h.backend.Ground(ctx, h.agentRefs()...)
	if err != nil {
		h.logger.Warn("reading the agents", "error", err.Error()) // what they send next is held against them anyhow
	}
	now := h.now()
	var over []*httpSession
	h.mu.Lock()
	look := func(s *httpSession) {
		revoked := standing.Agents[s.who.agent].Revoked
		if s.active == 0 && now.Sub(s.used) > h.limits.Idle || !revoked.IsZero() && !now.Before(revoked) {
			over = append(over, s)
		}
	}
	maps.DeleteFunc(h.begun, func(_ string, b begun) bool { return b.until(now) == 0 })
	sessions := slices.Collect(maps.Values(h.sessions))
	for _, s := range sessions {
		look(s)
	}
	for _, s := range h.shared {
		look(s)
	}
	h.mu.Unlock()
	for _, s := range sessions {
		s.forget(now)
	}
	h.endAll(over)
}

// agentRefs names the agents that have a session.
func (h *Front) agentRefs() (refs []ledger.Ref) {
	h.mu.Lock()
	defer h.mu.Unlock()
	named := map[string]bool{}
	for _, sessions := range []iter.Seq[*httpSession]{maps.Values(h.sessions), maps.Values(h.shared)} {
		for s := range sessions {
			if !named[s.who.agent] {
				named[s.who.agent] = true
				refs = append(refs, ledger.Ref{Kind: ledger.Agent, Key: s.who.agent})
			}
		}
	}
	return refs
}

// endAll ends sessions beside each other: a server that is slow to go must not keep the others.
func (h *Front) endAll(sessions []*httpSession) {
	var ending sync.WaitGroup
	for _, s := range sessions {
		ending.Go(func() { h.end(s) })
	}
	ending.Wait()
}

// Quiesce takes no more requests and ends the streams that would never end by themselves.
func (h *Front) Quiesce() { h.quiesce() }

func (h *Front) quiesce() []*httpSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	var all []*httpSession
	for _, s := range h.sessions {
		all = append(all, s)
	}
	for _, s := range h.shared {
		all = append(all, s)
	}
	for _, s := range all {
		s.stop()
	}
	return all
}

// Close takes no more requests, cancels what is under way and ends every session.
func (h *Front) Close() { h.endAll(h.quiesce()) }
