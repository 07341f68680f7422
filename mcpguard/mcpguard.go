// Package mcpguard puts Interlock into an MCP server written in Go: every call of a tool, and everything that is read through
// the server, is decided and recorded before the server's own code sees it.
//
//	guard, err := mcpguard.Open(ctx, mcpguard.Config{Name: "notes"})
//	defer guard.Close()
//	server.AddReceivingMiddleware(guard.Middleware())
//
// That is for servers of the official SDK. [Guard.Handler] does the same for any handler that speaks MCP over streamable HTTP.
// What is decided is what the gateway decides (see its manual); a server that is guarded so and is behind a gateway as well
// is decided about twice.
package mcpguard

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"time"

	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/config"
	"interlock/internal/mcpgateway"
)

// Config says whose calls are decided and where that is recorded. Only Name is required.
type Config struct {
	// Name is what the server is called in decisions: its tool t is Name.t. Letters, digits, - and _.
	Name string
	// Home is the directory of the store, the keys and the settings. Empty: as the interlock command finds it.
	Home string
	// Agent is who clients act as where Caller is nil. Empty: Name.
	Agent string
	// Caller says who sends a request, by its HTTP headers; nil headers where there are none. An error refuses the request.
	// What a client says of itself elsewhere never counts.
	Caller func(ctx context.Context, header http.Header) (agent, principal string, err error)
	// Console is where browsers reach the operators' console, if not as the settings say.
	Console string
}

// A Guard decides what clients ask of one server. It is safe for concurrent use.
type Guard struct {
	config  Config
	user    string
	backend *embedded.Backend
	asker   *mcpgateway.Asker
	inline  *mcpgateway.Inline
}

// Open opens or creates the Interlock in Config.Home and returns a guard over it. Errors name the field at fault.
func Open(ctx context.Context, c Config) (*Guard, error) {
	if err := mcpgateway.CheckServerName(c.Name); err != nil {
		return nil, err
	}
	if c.Agent == "" {
		c.Agent = c.Name
	}
	if c.Home == "" {
		home, err := config.DefaultHome(os.Getenv)
		if err != nil {
			return nil, err
		}
		c.Home = home
	}
	settings, err := config.Load(c.Home, "")
	if err != nil {
		return nil, err
	}
	backend, err := embedded.OpenConfig(ctx, settings)
	if err != nil {
		return nil, err
	}
	settings = backend.Settings // those that are in force
	if c.Console == "" {
		c.Console = settings.ConsoleURL
	}
	g := &Guard{config: c, backend: backend, user: account.Name()}
	if g.asker, err = embedded.NewAsker(backend, settings, c.Console); err == nil {
		g.inline, err = mcpgateway.NewInline(mcpgateway.InlineConfig{Backend: backend.Admission, Asker: g.asker, Server: c.Name,
			View: embedded.NewViews(settings, time.Now).Gather, Run: "mcp_" + rand.Text()})
	}
	if err != nil {
		backend.Close()
		return nil, err
	}
	return g, nil
}

// Close ends what waits for a human and closes the store after what is under way has been recorded.
func (g *Guard) Close() error {
	g.asker.Close()
	return g.backend.Close()
}

// caller is who sends a request.
func (g *Guard) caller(ctx context.Context, header http.Header) (mcpgateway.Caller, error) {
	if g.config.Caller == nil {
		return mcpgateway.Caller{Agent: g.config.Agent, Principal: g.user}, nil
	}
	agent, principal, err := g.config.Caller(ctx, header)
	return mcpgateway.Caller{Agent: agent, Principal: principal}, err
}

// Handler wraps a handler that speaks MCP over streamable HTTP. What a client posts reaches it as it was judged, or not at
// all. Authentication is for what is in front of it; [Config.Caller] reads what that leaves in the headers.
func (g *Guard) Handler(next http.Handler) http.Handler {
	return g.inline.Handler(next, func(r *http.Request) (mcpgateway.Caller, error) { return g.caller(r.Context(), r.Header) })
}
