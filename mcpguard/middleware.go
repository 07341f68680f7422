package mcpguard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"interlock"
	"interlock/internal/mcpgateway"
)

// Middleware returns receiving middleware for a server of the official SDK. Add it last: what comes before it can still change
// what was judged.
func (g *Guard) Middleware() mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch method {
			case "tools/list":
				return g.listed(next(ctx, method, req))
			case "tools/call", "resources/read", "resources/subscribe", "prompts/get", "completion/complete":
				return g.decided(ctx, method, req, next)
			}
			return next(ctx, method, req)
		}
	}
}

// listed takes note of what the server says of its tools.
func (g *Guard) listed(result mcp.Result, err error) (mcp.Result, error) {
	if list, ok := result.(*mcp.ListToolsResult); ok && err == nil {
		tools := make([]json.RawMessage, 0, len(list.Tools))
		for _, tool := range list.Tools {
			if raw, err := json.Marshal(tool); err == nil {
				tools = append(tools, raw)
			}
		}
		g.inline.Listed(tools)
	}
	return result, err
}

// decided lets a request through if it may be carried out, in the form that was judged, and reports how that ended.
func (g *Guard) decided(ctx context.Context, method string, req mcp.Request,
	next mcp.MethodHandler) (result mcp.Result, err error) {
	caller, err := g.callerOf(ctx, req)
	if err != nil {
		return nil, &jsonrpc.Error{Code: -32001, Message: "who sends this request is not known"}
	}
	params, err := json.Marshal(req.GetParams())
	if err != nil {
		return nil, fmt.Errorf("reading a request: %w", err)
	}
	leave, settled := g.inline.Decide(ctx, caller, question(method, req), params)
	if settled != nil {
		return refusal(settled)
	}
	if call, ok := req.(*mcp.CallToolRequest); ok {
		var judged struct {
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal(leave.Params, &judged); err != nil {
			return nil, fmt.Errorf("reading what was judged: %w", err)
		}
		call.Params.Arguments = judged.Arguments
	}
	returned := false
	defer func() {
		if !returned { // a panic: the SDK deals with it
			leave.Ended(interlock.OutcomeUnknown, "the server failed on a defect")
		}
	}()
	result, err = next(ctx, method, req)
	returned = true
	leave.Ended(outcome(ctx, result, err))
	return result, err
}

func (g *Guard) callerOf(ctx context.Context, req mcp.Request) (mcpgateway.Caller, error) {
	if extra := req.GetExtra(); extra != nil {
		return g.caller(ctx, extra.Header)
	}
	return g.caller(ctx, nil)
}

// outcome says how a request ended.
func outcome(ctx context.Context, result mcp.Result, err error) (interlock.OutcomeStatus, string) {
	switch {
	case err != nil && ctx.Err() != nil:
		return interlock.OutcomeUnknown, "cancelled while it ran"
	case err != nil:
		return interlock.OutcomeFailure, err.Error()
	}
	if call, ok := result.(*mcp.CallToolResult); ok && call.IsError {
		for _, content := range call.Content {
			if text, isText := content.(*mcp.TextContent); isText {
				return interlock.OutcomeFailure, text.Text
			}
		}
		return interlock.OutcomeFailure, ""
	}
	return interlock.OutcomeSuccess, ""
}

// refusal is what the client gets instead of a result.
func refusal(settled *mcpgateway.Settled) (mcp.Result, error) {
	if settled.Error != nil {
		return nil, &jsonrpc.Error{Code: int64(settled.Error.Code), Message: settled.Error.Message, Data: settled.Error.Data}
	}
	var result mcp.CallToolResult
	if err := json.Unmarshal(settled.Result, &result); err != nil {
		return nil, errors.New("the request was not permitted")
	}
	return &result, nil
}

// question says what a client can do while a human is asked. Questions by result are the SDK's own business, so that a client
// without a session is told to send the same call again.
func question(method string, req mcp.Request) mcpgateway.Question {
	q := mcpgateway.Question{Method: method, Client: mcpgateway.Abilities{Revision: "2025-11-25"}}
	session, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return q
	}
	if token := progressToken(req); token != nil {
		q.Progress = func(ctx context.Context, step int, message string) {
			_ = session.NotifyProgress(ctx,
				&mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(step) / 1e6, Message: message})
		}
	}
	hello := session.InitializeParams()
	if hello == nil || hello.ProtocolVersion > "2025-11-25" || hello.Capabilities == nil ||
		hello.Capabilities.Elicitation == nil || hello.Capabilities.Elicitation.URL == nil {
		return q
	}
	q.Client.URL = true
	q.Elicit = func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		var ask mcp.ElicitParams
		if err := json.Unmarshal(params, &ask); err != nil {
			return nil, err
		}
		answer, err := session.Elicit(ctx, &ask)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]string{"action": answer.Action})
	}
	return q
}

// progressToken is the token by which a client follows a request, or nil.
func progressToken(req mcp.Request) any {
	if p, ok := req.GetParams().(interface{ GetProgressToken() any }); ok {
		return p.GetProgressToken()
	}
	return nil
}
