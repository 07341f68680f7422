package evidence

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client calls the operations of one server through whichever tools it lists.
type client struct {
	session *mcp.ClientSession
	modes   []string          // endpoint modes its tools belong to
	tools   map[string]string // operation -> tool, as introspection names them
}

// The one tool of single mode, and what begins every tool's name in semantic mode.
const (
	singleTool     = "mcp_aql"
	semanticPrefix = "mcp_aql_"
	readTool       = "mcp_aql_read"
)

func newClient(ctx context.Context, session *mcp.ClientSession) (*client, error) {
	c := &client{session: session, tools: map[string]string{}}
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("listing the tools: %w", err)
	}
	crude := false
	for _, tool := range listed.Tools {
		switch {
		case tool.Name == singleTool:
			c.modes = append(c.modes, "single")
		case strings.HasPrefix(tool.Name, semanticPrefix):
			crude = true
		}
	}
	if crude {
		c.modes = append(c.modes, "crude")
	}
	if len(c.modes) == 0 {
		return nil, fmt.Errorf("the server lists no MCP-AQL tool")
	}
	return c, nil
}

// entry is the tool that introspection is asked through, before any operation's tool is known.
func (c *client) entry() string {
	if c.modes[0] == "single" {
		return singleTool
	}
	return readTool
}

// An answer is what an operation answered: as it was sent, and read.
type answer struct {
	raw     json.RawMessage
	Success bool           `json:"success"`
	Data    map[string]any `json:"data"`
	Error   struct {
		Code    string         `json:"code"`
		Message string         `json:"message"`
		Details map[string]any `json:"details"`
	} `json:"error"`
}

// send calls a tool with arguments as they are.
func (c *client) send(ctx context.Context, tool string, arguments any) (answer, error) {
	result, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return answer{}, fmt.Errorf("calling %s: %w", tool, err)
	}
	if len(result.Content) != 1 {
		return answer{}, fmt.Errorf("%s answered %d blocks of content instead of one", tool, len(result.Content))
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return answer{}, fmt.Errorf("%s answered something else than text", tool)
	}
	a := answer{raw: json.RawMessage(text.Text)}
	if err := json.Unmarshal(a.raw, &a); err != nil {
		return answer{}, fmt.Errorf("reading the answer of %s: %w", tool, err)
	}
	return a, nil
}

// call carries an operation out through its own tool.
func (c *client) call(ctx context.Context, operation string, params map[string]any) (answer, error) {
	tool := c.tools[operation]
	if tool == "" {
		tool = c.entry()
	}
	return c.send(ctx, tool, map[string]any{"operation": operation, "params": params})
}

// must is call where a failure ends the collection.
func (c *client) must(ctx context.Context, operation string, params map[string]any) (answer, error) {
	a, err := c.call(ctx, operation, params)
	if err == nil && !a.Success {
		err = fmt.Errorf("%s failed: %s", operation, a.Error.Message)
	}
	return a, err
}
