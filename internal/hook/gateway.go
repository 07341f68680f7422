package hook

import (
	"context"
	"strings"

	"interlock"
)

// ownServer is the server of a tool in Claude Code's naming, if it is called like the one that `interlock install gateway`
// enters. What such a name leaves open, because it could be read as more than one server and tool, is none.
func ownServer(tool string) string {
	server, name, ok := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	if !ok || !strings.HasPrefix(tool, "mcp__interlock") || name == "" || strings.Contains(name, "__") ||
		strings.HasPrefix(name, "_") {
		return ""
	}
	return server
}

// Server is the MCP server that a call goes to, if it is named like Interlock's own gateway; it may be another all the same.
func (c Call) Server() string { return c.server }

// Dir is the directory the harness was in when it sent the payload.
func (c Call) Dir() string {
	if len(c.Proposals) == 0 {
		return ""
	}
	return c.Proposals[0].Action.Dir
}

// propose has one part of a call judged through ask. A question about a call that may go to Interlock's own gateway is put
// again once that is known: the gateway judges the same call, and one yes is enough. known is false if it can't be known here.
func (c *Call) propose(ctx context.Context, i int, env Environment,
	ask func(interlock.Handover, interlock.Proposal) (interlock.Answer, error)) (answer interlock.Answer, known bool, err error) {
	p := &c.Proposals[i]
	if c.server == "" || len(c.Proposals) > 1 {
		answer, err = ask(c.Handover, *p)
		return answer, true, err
	}
	c.Handover = interlock.HandoverUnsure
	if answer, err = ask(c.Handover, *p); err != nil || !answer.Unsure {
		return answer, true, err
	}
	c.Handover = ""
	if env.Gateway == nil {
		return answer, false, nil
	}
	asked := *p
	if env.Gateway(ctx, *c) {
		c.Handover = interlock.HandoverGateway // what the answer is rendered by, too
		asked.CanAsk = true
	}
	answer, err = ask(c.Handover, asked)
	return answer, true, err
}
