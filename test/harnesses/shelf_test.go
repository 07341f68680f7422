package harnesses

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// shelfFlag makes the test binary an MCP server on its standard streams.
const shelfFlag = "-serve-shelf"

// serveShelf serves a tool that returns what any file holds.
func serveShelf() int {
	server := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1"}, nil)
	type request struct {
		Path string `json:"path" jsonschema:"the file to read"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "fetch_text", Description: "Returns the text of a file."},
		func(_ context.Context, _ *mcp.CallToolRequest, r request) (*mcp.CallToolResult, any, error) {
			content, err := os.ReadFile(r.Path)
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(content)}}}, nil, nil
		})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
