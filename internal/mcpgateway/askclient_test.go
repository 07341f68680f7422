package mcpgateway_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock"
	"interlock/internal/mcpgateway"
)

// TestClientOfTheSDKComesBack: the official SDK's client, whichever revision it speaks, asks its user as it is told to, comes
// back by itself, and has its result once an operator has approved.
func TestClientOfTheSDKComesBack(t *testing.T) {
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			h := newHouse(t)
			process, console := h.process(), h.process()
			backend := unpinned{process}
			server := newFakeServer("mail")
			server.answers["tools/list"] = `{"tools":[{"name":"send_email","inputSchema":{"type":"object"}}]}`
			g := newGateway(t, backend, func(c *mcpgateway.Config) {
				c.Asker, c.CanAsk = h.asker(process, func(c *mcpgateway.AskConfig) { c.Approvals, c.Patience = backend, time.Second }), true
			}, server)
			toGateway, fromClient := io.Pipe()
			toClient, fromGateway := io.Pipe()
			go func() {
				_ = g.RunStdio(t.Context(), mcpgateway.Caller{Agent: "tester", Principal: "alice", Connection: "pipe", Dir: "/repo"}, toGateway, fromGateway)
				fromGateway.Close()
			}()
			asked := ""
			client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
				Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					if asked == "" {
						asked = r.Params.URL
						h.answer(console, h.waiting(console), interlock.Allow)
					}
					return &mcp.ElicitResult{Action: "accept"}, nil
				}})
			session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient},
				&mcp.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			result, err := session.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "mail.send_email", Arguments: map[string]any{"to": "all@example.org", "attachment": "/etc/hosts"}})
			if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != "done" {
				t.Fatalf("%+v %v", result, err)
			}
			if len(server.sent("tools/call")) != 1 || asked == "" {
				t.Errorf("asked for %q; forwarded %s", asked, server.sent("tools/call"))
			}
		})
	}
}
