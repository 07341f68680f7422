package mcphttp

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"interlock"
	"interlock/internal/mcpgateway"
)

// Credentials find out whose credential a request shows. Implementations are safe for concurrent use. They take what agents
// have, never what operators answer with. A refusal is an *interlock.Error; with that of an agent that is known and revoked its
// record comes back too. A refusal with a method Scope is for a genuine token that lacks those scopes.
type Credentials interface {
	// Bearer returns the agent a bearer token belongs to; certificate is the client's, if it showed one that was verified.
	Bearer(ctx context.Context, token string, certificate *x509.Certificate) (interlock.AgentRecord, error)
	// ByCertificate returns the agent a verified client certificate names.
	ByCertificate(ctx context.Context, certificate *x509.Certificate) (interlock.AgentRecord, error)
}

// who is who calls. Sessions are theirs alone.
type who struct{ agent, principal string }

func (c who) caller(connection string, shared bool) mcpgateway.Caller {
	return mcpgateway.Caller{Agent: c.agent, Principal: c.principal, Connection: connection, Shared: shared}
}

// errNobody is a request without a credential.
var errNobody = interlock.Errorf(interlock.CodeUnauthorized, "Authorization",
	"send one header: Authorization: Bearer and the agent's token")

// authenticate finds the agent a request comes from. A token in the address is none: addresses are logged.
func (h *Front) authenticate(r *http.Request) (interlock.AgentRecord, error) {
	var certificate *x509.Certificate
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		certificate = r.TLS.VerifiedChains[0][0]
	}
	values := r.Header["Authorization"]
	if len(values) == 0 && certificate != nil {
		return h.named(h.config.Credentials.ByCertificate(r.Context(), certificate))
	}
	if len(values) != 1 {
		return interlock.AgentRecord{}, errNobody
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return interlock.AgentRecord{}, errNobody
	}
	return h.named(h.config.Credentials.Bearer(r.Context(), strings.TrimSpace(token), certificate))
}

func (h *Front) named(record interlock.AgentRecord, err error) (interlock.AgentRecord, error) {
	if err == nil && record.ID == "" {
		err = interlock.Errorf(interlock.CodeUnauthorized, "Authorization", "unknown agent token")
	}
	return record, err
}

// unauthenticated answers a caller nobody knows (RFC 6750, 3.1). Only the use of a revoked credential leaves an event: anybody
// can send garbage, and garbage must not be able to fill the log.
func (h *Front) unauthenticated(w http.ResponseWriter, r *http.Request, record interlock.AgentRecord, err error) {
	if record.ID != "" {
		h.backend.Refuse(r.Context(), interlock.Requester{Agent: record.ID, Principal: record.Principal}, "gateway", err)
	}
	var refusal *interlock.Error
	var lacking interface{ Scope() string }
	switch {
	case errors.As(err, &lacking):
		w.Header().Set("WWW-Authenticate", h.challenge(r, `error="insufficient_scope"`, lacking.Scope()))
		say(w, http.StatusForbidden, err.Error())
	case errors.As(err, &refusal) && refusal.Code == interlock.CodeUnauthorized:
		fault := `error="invalid_token"`
		if refusal == errNobody {
			fault = ""
		}
		w.Header().Set("WWW-Authenticate", h.challenge(r, fault, strings.Join(h.config.Scopes, " ")))
		say(w, http.StatusUnauthorized, refusal.Error())
	case errors.As(err, &refusal) && refusal.Code == interlock.CodeUnavailable:
		h.logger.Warn("authenticating a client", "error", err.Error())
		w.Header().Set("Retry-After", "5")
		say(w, http.StatusServiceUnavailable, refusal.Error())
	default:
		h.logger.Error("authenticating a client", "error", err.Error())
		say(w, http.StatusInternalServerError, "the credential could not be looked up")
	}
}

// challenge is the value of WWW-Authenticate: where a client finds out whom to ask for a token (RFC 9728, 5.1).
func (h *Front) challenge(r *http.Request, fault, scope string) string {
	var parts []string
	if fault != "" {
		parts = append(parts, fault)
	}
	if scope != "" {
		parts = append(parts, `scope="`+quotable(scope)+`"`)
	}
	if len(h.config.Issuers) > 0 {
		parts = append(parts, `resource_metadata="`+quotable(h.origin(r)+metadataPath+h.outside)+`"`)
	}
	if len(parts) == 0 {
		return "Bearer"
	}
	return "Bearer " + strings.Join(parts, ", ")
}

// quotable leaves out what can't stand in a quoted string of a header.
func quotable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return -1
		}
		return r
	}, text)
}

// metadataPath is where a protected resource describes itself (RFC 9728, 3): by itself, or with the resource's path behind.
const metadataPath = "/.well-known/oauth-protected-resource"

func (h *Front) isMetadata(path string) bool {
	return path == metadataPath || path == metadataPath+h.config.Path || path == metadataPath+h.outside
}

// metadata says whose tokens are taken. Everybody may know.
func (h *Front) metadata(w http.ResponseWriter, r *http.Request) {
	if len(h.config.Issuers) == 0 {
		say(w, http.StatusNotFound, "no authorization server is configured; agents have tokens of their own")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		say(w, http.StatusMethodNotAllowed, "this path takes GET")
		return
	}
	text, err := json.Marshal(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
	}{h.resource(r), h.config.Issuers, h.config.Scopes, []string{"header"}, "Interlock gateway"})
	if err != nil {
		say(w, http.StatusInternalServerError, "the metadata could not be written")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "max-age=300")
	_, _ = w.Write(text) // a caller that went away has no answer to miss
}

// resource is the endpoint's own address.
func (h *Front) resource(r *http.Request) string {
	if h.config.URL != "" {
		return h.config.URL
	}
	return h.origin(r) + h.config.Path
}

// origin is the address of this server as clients reach it: the configured one, else the name they used, which was checked.
func (h *Front) origin(r *http.Request) string {
	if h.config.URL != "" {
		if at := strings.Index(h.config.URL, "://"); at >= 0 {
			host, _, _ := strings.Cut(h.config.URL[at+3:], "/")
			return h.config.URL[:at+3] + host
		}
	}
	return own(r)
}
