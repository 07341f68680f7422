package mcpaql

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is what one agent's connections share.
type client struct {
	caller Caller
	server *mcp.Server
}

// protocolServer makes the MCP server one caller speaks to: its tools carry the caller, so that no request can name
// another.
func (s *Server) protocolServer(c Caller) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "interlock", Title: "Interlock", Version: s.version()},
		&mcp.ServerOptions{Instructions: serverInstructions,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}}})
	if s.config.Single {
		server.AddTool(s.tool(anyEndpoint), s.handler(c, anyEndpoint))
	} else {
		for _, e := range endpoints() {
			server.AddTool(s.tool(e), s.handler(c, e))
		}
	}
	server.AddPrompt(&mcp.Prompt{Name: PromptName, Title: promptTitle, Description: promptDescription},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: promptDescription,
				Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: instructions}}}}, nil
		})
	return server
}

func (s *Server) version() string {
	if s.config.Version == "" {
		return "unknown"
	}
	return s.config.Version
}

// tool describes the tool of an endpoint. What it may do is said in MCP's words, so that a client asks its user where the
// endpoint's permission wants it.
func (s *Server) tool(e Endpoint) *mcp.Tool {
	names := []string{}
	for _, o := range s.operations {
		if e == anyEndpoint || o.endpoint == e {
			names = append(names, o.name)
		}
	}
	destructive, closed := e == Execute || e == anyEndpoint, false
	return &mcp.Tool{Name: e.tool(), Description: toolDescription(e),
		Annotations: &mcp.ToolAnnotations{Title: "Interlock: " + map[Endpoint]string{Create: "report", Read: "discover",
			Execute: "begin and end", anyEndpoint: "safety loop"}[e],
			ReadOnlyHint: e == Read, DestructiveHint: &destructive, OpenWorldHint: &closed},
		InputSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"operation": map[string]any{"type": "string", "enum": names, "description": "The operation."},
				"params":    map[string]any{"type": "object", "description": "Its parameters."},
				"operations": map[string]any{"type": "array", "items": map[string]any{"type": "object"},
					"description": "Instead of operation: a batch of {operation, params}, carried out in order."},
			},
		}}
}

// handler carries out the calls of one tool. A failure is a tool result, so that the model reads it and can mend its call.
func (s *Server) handler(c Caller, e Endpoint) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var result Result
		s.workers.do(func() { result = s.Call(ctx, c, e, r.Params.Arguments) })
		text, err := result.MarshalJSON()
		if err == nil && len(text) > s.config.Limits.Response {
			result = Result{Error: tooLarge("max_response_size", s.config.Limits.Response)}
			text, err = result.MarshalJSON()
		}
		if err != nil {
			result = Result{Error: failed(err)}
			if text, err = result.MarshalJSON(); err != nil {
				return nil, errors.New("the answer could not be written")
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, IsError: !result.Success()}, nil
	}
}

// Run serves one connection over a transport until it ends, and then ends what does not outlive it.
func (s *Server) Run(ctx context.Context, c Caller, transport mcp.Transport) error {
	err := s.protocolServer(c).Run(ctx, transport)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	s.disconnect(after, c)
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// SweepEvery calls [Server.Sweep] until ctx ends.
func (s *Server) SweepEvery(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.Sweep(ctx)
		}
	}
}
