package mcpguard_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock/mcpguard"
)

// newServer is an MCP server as its author has it.
func newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "shell", Version: "1"}, nil)
	type input struct {
		Command string `json:"command"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "run_command"}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ran " + in.Command}}}, nil, nil
	})
	return server
}

// run calls the server's tool as a client would.
func run(ctx context.Context, session *mcp.ClientSession, command string) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "run_command", Arguments: map[string]any{"command": command}})
	if err != nil {
		log.Fatal(err)
	}
	// What stands after the first colon is the reason, in full.
	answer, _, _ := strings.Cut(result.Content[0].(*mcp.TextContent).Text, ":")
	fmt.Println(command, "->", answer)
}

// What the author of a server of the official SDK adds is three lines.
func ExampleGuard_Middleware() {
	home, err := os.MkdirTemp("", "interlock-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	ctx := context.Background()
	server := newServer()

	guard, err := mcpguard.Open(ctx, mcpguard.Config{Name: "shell", Home: home})
	if err != nil {
		log.Fatal(err)
	}
	defer guard.Close()
	server.AddReceivingMiddleware(guard.Middleware())

	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		log.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, here, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	run(ctx, session, "git status")
	run(ctx, session, "rm -rf /")
	// Output:
	// git status -> ran git status
	// rm -rf / -> Interlock did not let this call through
}

// Any handler that speaks MCP over streamable HTTP can be wrapped.
func ExampleGuard_Handler() {
	home, err := os.MkdirTemp("", "interlock-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	ctx := context.Background()

	guard, err := mcpguard.Open(ctx, mcpguard.Config{Name: "shell", Home: home, Agent: "web"})
	if err != nil {
		log.Fatal(err)
	}
	defer guard.Close()
	server := newServer()
	handler := guard.Handler(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))

	web := httptest.NewServer(handler)
	defer web.Close()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	run(ctx, session, "git status")
	run(ctx, session, "mkfs.ext4 /dev/sda")
	// Output:
	// git status -> ran git status
	// mkfs.ext4 /dev/sda -> Interlock did not let this call through
}
