package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// Serve serves the network door and the local door on their listeners (either may be nil), and the agents' door on
// further ones, until ctx ends. Then it takes nothing new, lets what is under way finish within Limits.Drain, and closes. It
// returns nil after such a stop and an error when a listener fails.
func (s *Server) Serve(ctx context.Context, networkListener, localListener net.Listener, agentsListeners ...net.Listener) error {
	doors := map[net.Listener]http.Handler{}
	if networkListener != nil {
		doors[networkListener] = s.Handler()
	}
	if localListener != nil {
		doors[localListener] = s.LocalHandler()
	}
	for _, listener := range agentsListeners {
		doors[listener] = s.handler(agents)
	}
	if len(doors) == 0 {
		return errors.New("httpapi: there is nothing to listen on")
	}
	failed := make(chan error, len(doors))
	var servers []*http.Server
	for listener, handler := range doors {
		server := s.httpServer(handler)
		servers = append(servers, server)
		go func() { failed <- server.Serve(listener) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	}
	s.end()
	return errors.Join(err, s.drain(servers))
}

func (s *Server) httpServer(handler http.Handler) *http.Server {
	limits := s.config.Limits
	return &http.Server{
		Handler:           handler,
		ConnContext:       withPeer,
		ReadHeaderTimeout: limits.ReadHeader,
		ReadTimeout:       limits.Read,
		WriteTimeout:      limits.Write,
		IdleTimeout:       limits.Idle,
		MaxHeaderBytes:    max(limits.Header-headerSlack, 1),
		ErrorLog:          slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelWarn),
	}
}

// headerSlack is what net/http reads beyond MaxHeaderBytes before it refuses.
const headerSlack = 4096

// drain stops every door at once: were they stopped one after another, the later ones would take new requests until the
// last request at the first is answered.
func (s *Server) drain(servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Limits.Drain)
	defer cancel()
	failures := make([]error, len(servers))
	var stopping sync.WaitGroup
	for i, server := range servers {
		stopping.Go(func() {
			if err := server.Shutdown(ctx); err != nil {
				failures[i] = errors.Join(fmt.Errorf("draining: %w", err), server.Close())
			}
		})
	}
	stopping.Wait()
	return errors.Join(failures...)
}
