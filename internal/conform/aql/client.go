package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"interlock/internal/conform"
	"interlock/internal/mcpaql/published"
)

// Checks is the table for MCP-AQL.
func Checks() []conform.Check {
	return slices.Concat(introspectionChecks(), requestChecks(), limitChecks(), modeChecks(), executionChecks(), loopChecks(),
		pauseChecks(),
		blockChecks(), codeChecks(), guessChecks(), dangerChecks(), declaredChecks(), trustChecks(), tokenChecks(), lifetimeChecks(),
		errorChecks(), evidenceChecks())
}

// plain is the home of checks that need no settings. Each of their agents is its own, so that none waits for what another did.
func plain(ctx context.Context, d *conform.Driver) (*conform.House, error) {
	return d.House(ctx, conform.Plan{Name: "aql"})
}

// clocked is one whose clock can be moved.
func clocked(ctx context.Context, d *conform.Driver) (*conform.House, error) {
	return d.House(ctx, conform.Plan{Name: "aql-clock", Clocked: true})
}

type params = map[string]any

// A caller calls tools as one agent.
type caller interface {
	Tool(name string, arguments any) conform.Reply
}

// A client is an agent's connection to a server of its own on standard streams.
type client struct {
	*conform.Session
	single bool
}

// Tool calls the one tool of single mode, whatever tool is named.
func (c client) Tool(name string, arguments any) conform.Reply {
	if c.single {
		name = "mcp_aql"
	}
	return c.Session.Tool(name, arguments)
}

// connect starts `interlock mcp` as an agent. The caller closes it.
func connect(ctx context.Context, h *conform.House, agent string, flags ...string) client {
	s := h.Session(ctx, append([]string{"mcp", "--agent", agent}, flags...)...)
	s.Greet()
	return client{Session: s, single: slices.Contains(flags, "single")}
}

// A remote is an agent with a token at the server's own endpoint.
type remote struct {
	ctx   context.Context
	h     *conform.House
	agent string
}

func (r remote) Tool(name string, arguments any) conform.Reply {
	return r.h.Tool(r.ctx, r.agent, name, arguments)
}

// toolOf is the tool that the specification wants an operation on.
func toolOf(operation string) string {
	switch operation {
	case "introspect", "waiting_messages":
		return "mcp_aql_read"
	case "record_execution_step", "verify_challenge", "register_run", "heartbeat", "submit_plan", "send_message":
		return "mcp_aql_create"
	}
	return "mcp_aql_execute"
}

// do carries an operation out.
func do(c caller, operation string, with params) conform.Reply {
	if with == nil {
		with = params{}
	}
	return c.Tool(toolOf(operation), params{"operation": operation, "params": with})
}

func begin(c caller, element string) conform.Reply {
	return do(c, "execute_agent", params{"element_name": element})
}

// step reports an action of an execution, with further parameters by name.
func step(c caller, element, hint string, more ...string) conform.Reply {
	with := params{"element_name": element, "next_action_hint": hint}
	for n := 0; n+1 < len(more); n += 2 {
		with[more[n]] = more[n+1]
	}
	return do(c, "record_execution_step", with)
}

// acts begins an execution of its own for one step, and returns the directive.
func acts(c caller, hint string, more ...string) conform.Reply {
	begin(c, "task")
	return step(c, "task", hint, more...)
}

// acted is acts in an execution of that name.
func acted(c caller, element, hint string) conform.Reply {
	begin(c, element)
	return step(c, element, hint)
}

// goesOn reports whether a directive lets a step happen.
func goesOn(r conform.Reply) bool {
	return r.Member("success") == "true" && r.Member("data.continue") == "true"
}

// holds reports whether a directive holds a step back, and stops nobody.
func holds(r conform.Reply) bool {
	return r.Member("success") == "true" && r.Member("data.continue") == "false" && r.Member("data.stopped") == "false"
}

// stops reports whether a directive stops the agent.
func stops(r conform.Reply) bool {
	return r.Member("success") == "true" && r.Member("data.continue") == "false" && r.Member("data.stopped") == "true"
}

// failsBy reports whether an operation failed with a code.
func failsBy(r conform.Reply, code string) bool {
	return r.Member("success") == "false" && r.Member("error.code") == code
}

// A note is a notification, as far as checks look at it.
type note struct {
	Type, Message, Timestamp string
	Metadata                 struct{ Level, Reason, VerificationID string }
}

// notes are the notifications of a directive.
func notes(r conform.Reply) []note {
	var list []note
	_ = json.Unmarshal([]byte(r.Member("data.notifications")), &list) // none, where they can't be read
	return list
}

// challenge is the one that a directive's own notification names; the others tell of other agents.
func challenge(r conform.Reply) string {
	for _, n := range notes(r) {
		if n.Metadata.VerificationID != "" {
			return n.Metadata.VerificationID
		}
	}
	return ""
}

// code is one that an operator has shown for a challenge.
func code(ctx context.Context, h *conform.House, challenge string) (string, error) {
	said, err := h.Order(ctx, "ada", "block", "code", challenge)
	return strings.TrimSpace(codeLine().FindString(said.Out)), err
}

// lift ends a block by an operator's order.
func lift(ctx context.Context, h *conform.House, challenge string) error {
	_, err := h.Order(ctx, "ada", "block", "lift", challenge, "--reason", "looked at it")
	return err
}

func verify(c caller, challenge, code string) conform.Reply {
	return do(c, "verify_challenge", params{"challenge_id": challenge, "code": code})
}

// wrong is what a check found wrong, all of it.
type wrong []string

func (w *wrong) unless(holds bool, format string, args ...any) {
	if !holds {
		*w = append(*w, fmt.Sprintf(format, args...))
	}
}

// shaped is wrong where a text is not as a shape is published.
func (w *wrong) shaped(shape, text string) {
	shapes, err := published.Load()
	if err != nil {
		*w = append(*w, err.Error())
		return
	}
	for _, fault := range shapes.Check(shape, []byte(text)) {
		*w = append(*w, shape+": "+fault)
	}
}

func (w *wrong) error(err error) {
	if err != nil {
		*w = append(*w, err.Error())
	}
}

// most bounds how many faults are told.
const most = 5

func (w *wrong) err() error {
	if len(*w) == 0 {
		return nil
	}
	return errors.New(short(strings.Join((*w)[:min(len(*w), most)], "; ")))
}

// short is a text as far as a line has room for it.
func short(text string) string {
	if len(text) > 1500 {
		return strings.ToValidUTF8(text[:1500], "") + "…"
	}
	return text
}
