package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpCalls is how often each server is called; calls are interleaved so that noise hits both alike.
const mcpCalls = 3000

// echoFlag makes this program the peer: a server of the same SDK whose tool gives back what it is given.
const echoFlag = "-mcp-echo"

// serveEcho serves the echo tool on standard streams.
func serveEcho(ctx context.Context) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "echo", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
		})
	if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// overMCP measures a reported step on standard streams, decided and durable, beside an echo tool of the same SDK.
func overMCP(b *bench) error {
	home, err := b.home("mcp")
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	loop, err := b.mcpClient(b.command(home, "mcp"))
	if err != nil {
		return err
	}
	defer loop.Close()
	echo, err := b.mcpClient(exec.CommandContext(b.ctx, self, echoFlag))
	if err != nil {
		return err
	}
	defer echo.Close()
	raw, err := os.Create(filepath.Join(b.scratch, "mcp.log"))
	if err != nil {
		return err
	}
	defer raw.Close()

	var steps, echoes, syncs []time.Duration
	for n := range mcpCalls {
		if n%40 == 0 { // within the step limit: a new execution instead of a human
			if err := b.begin(loop, n); err != nil {
				return err
			}
		}
		step := map[string]any{"operation": "record_execution_step",
			"params": map[string]any{"element_name": fmt.Sprint("bench-", n/40),
				"next_action_hint": fmt.Sprintf("go test ./internal/part%d/...", n),
				"step_description": "see whether it still works"}}
		took, text, err := timedCall(b.ctx, loop, "mcp_aql_create", step)
		if err != nil {
			return err
		}
		var answer struct{ Data struct{ Continue bool } }
		if err := json.Unmarshal([]byte(text), &answer); err != nil || !answer.Data.Continue {
			return fmt.Errorf("a harmless step was not let through: %s", text)
		}
		steps = append(steps, took)
		if took, _, err = timedCall(b.ctx, echo, "echo", step); err != nil {
			return err
		}
		echoes = append(echoes, took)
		start := time.Now()
		if _, err := raw.Write(make([]byte, 8192)); err != nil {
			return err
		}
		if err := raw.Sync(); err != nil {
			return err
		}
		syncs = append(syncs, time.Since(start))
	}
	fmt.Fprintf(b.out, "\n## A reported step over MCP\n\n`record_execution_step` on standard streams: one client, one call at a time, decided, signed and durable when it is\n"+
		"answered; beside it an echo tool of the same SDK with the same arguments, and a write of 8 KB with sync. %d "+
		"calls each, interleaved. Budget: p50 <= 1 ms.\n\n| | p50 ms | p95 ms | p99 ms |\n|---|---:|---:|---:|\n", mcpCalls)
	for _, row := range []struct {
		name  string
		times []time.Duration
	}{{"reported step, durable", steps}, {"echo tool", echoes}, {"write and sync", syncs}} {
		fmt.Fprintf(b.out, "| %s | %s | %s | %s |\n", row.name, millis(quantile(row.times, 0.5)),
			millis(quantile(row.times, 0.95)), millis(quantile(row.times, 0.99)))
	}
	fmt.Fprintf(b.out, "\nA step takes %.1f times an echo at the median.\n",
		float64(quantile(steps, 0.5))/float64(quantile(echoes, 0.5)))
	return nil
}

// begin starts an execution for the next steps.
func (b *bench) begin(loop *mcp.ClientSession, n int) error {
	_, text, err := timedCall(b.ctx, loop, "mcp_aql_execute",
		map[string]any{"operation": "execute_agent", "params": map[string]any{"element_name": fmt.Sprint("bench-", n/40)}})
	if err != nil {
		return err
	}
	if n > 0 {
		_, text, err = timedCall(b.ctx, loop, "mcp_aql_execute",
			map[string]any{"operation": "complete_execution",
				"params": map[string]any{"element_name": fmt.Sprint("bench-", n/40-1)}})
	}
	var answer struct{ Success bool }
	if err == nil && (json.Unmarshal([]byte(text), &answer) != nil || !answer.Success) {
		return fmt.Errorf("an execution could not be begun or ended: %s", text)
	}
	return err
}

// mcpClient starts a server and connects to it.
func (b *bench) mcpClient(server *exec.Cmd) (*mcp.ClientSession, error) {
	return mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.ctx,
		&mcp.CommandTransport{Command: server}, nil)
}

// timedCall calls a tool and returns how long that took and the text of the answer.
func timedCall(ctx context.Context, session *mcp.ClientSession, tool string, arguments any) (time.Duration, string, error) {
	start := time.Now()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	took := time.Since(start)
	if err != nil {
		return took, "", err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return took, "", fmt.Errorf("%s answered no text", tool)
	}
	return took, text.Text, nil
}
