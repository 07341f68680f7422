package mcpaql

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock"
)

// Tokens finds the unrevoked agent a bearer token belongs to. For a token that is known and revoked it returns the record
// beside the error.
type Tokens interface {
	Agent(ctx context.Context, token string) (interlock.AgentRecord, error)
}

// callerKey is the key of a request's caller in its context.
type callerKey struct{}

// Handler serves the protocol over HTTP to agents with a bearer token. It keeps no protocol session: an execution is a
// handle, held against the token's agent on each call, so that any of several servers' clients may come and go. Origin and
// host are for the code that mounts it to check.
func (s *Server) Handler(tokens Tokens) http.Handler {
	protocol := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		c, ok := r.Context().Value(callerKey{}).(Caller)
		if !ok {
			return nil
		}
		return s.clientOf(c).server
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true,
		MaxRequestBodyBytes: int64(4*s.config.Limits.Request + 64<<10)})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record, err := s.authenticate(r, tokens)
		if err != nil {
			s.unauthenticated(w, r, record, err)
			return
		}
		c := Caller{Agent: record.ID, Principal: record.Principal, Connection: "http:" + record.ID}
		protocol.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// clientOf returns the protocol server of a caller. There are at most as many as registered agents.
func (s *Server) clientOf(c Caller) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.clients[c.Agent]
	if known == nil || known.caller != c {
		known = &client{caller: c, server: s.protocolServer(c)}
		s.clients[c.Agent] = known
	}
	return known
}

// authenticate finds the agent a request's token belongs to.
func (s *Server) authenticate(r *http.Request, tokens Tokens) (interlock.AgentRecord, error) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return interlock.AgentRecord{}, interlock.Errorf(interlock.CodeUnauthorized, "Authorization",
			"send one header: Authorization: Bearer and the agent's token")
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return interlock.AgentRecord{}, interlock.Errorf(interlock.CodeUnauthorized, "Authorization",
			"send Bearer and the agent's token")
	}
	record, err := tokens.Agent(r.Context(), token)
	if err == nil && record.ID == "" {
		err = interlock.Errorf(interlock.CodeUnauthorized, "Authorization", "unknown agent token")
	}
	return record, err
}

// unauthenticated answers a caller nobody knows. Only the use of a revoked token leaves an event: anybody can send garbage,
// and garbage must not be able to fill the log.
func (s *Server) unauthenticated(w http.ResponseWriter, r *http.Request, record interlock.AgentRecord, err error) {
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		s.config.Logger.Error("looking up a token", "error", err.Error())
		failure := failed(err)
		writeFailure(w, failure.Code.Status(), failure)
		return
	}
	if record.ID != "" {
		s.config.Backend.Refuse(r.Context(), interlock.Requester{Agent: record.ID, Principal: record.Principal}, "mcp", err)
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	writeFailure(w, http.StatusUnauthorized,
		&Failure{Code: CodePermissionDenied, Message: "Permission denied: " + refusal.Error()})
}

// writeFailure sends a failure outside the protocol, with the status of its class.
func writeFailure(w http.ResponseWriter, status int, failure *Failure) {
	text, err := encode(Result{Error: failure})
	if err != nil {
		status, text = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text) // a caller that went away has no answer to miss
}
