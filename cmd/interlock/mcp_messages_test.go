package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const mcpTeam = `
maso: {tier: 2, first_use: noted}
types:
  - {name: reader, accountable: ada, tools: ["*"], tier: 2, publishes: [{message: note, version: 1,
      schema: {type: object, required: [n], additionalProperties: false, properties: {n: {type: integer}}}}]}
  - {name: clerk, accountable: ada, tools: ["*"], accepts: [{message: note, from: [reader],
      schema: {type: object, required: [n], properties: {n: {type: integer, maximum: 9}}}}]}
`

// TestPlansAndMessagesAtTheMCPDoor: two agents with the SDK's client, each by its own token: one hands over a plan and sends a message, the
// other receives it; what the receiver's type does not take, and what is another's, is refused as over HTTP.
func TestPlansAndMessagesAtTheMCPDoor(t *testing.T) {
	rig := newRig(t)
	if err := os.MkdirAll(filepath.Join(rig.home, "rules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(rig.home, "rules", "team.yaml"), []byte(mcpTeam), 0o600); err != nil {
		t.Fatal(err)
	}
	key := governed(t, rig.home)
	tokens := map[string]string{}
	for _, name := range []string{"reader", "clerk"} {
		token, err := rig.output("agent", "add", name, "--type", name, "--key", key)
		if err != nil {
			t.Fatal(rig.said.String())
		}
		tokens[name] = strings.TrimSpace(token)
	}
	address := rig.up()
	join := func(name string) *mcp.ClientSession {
		session, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(context.Background(),
			&mcp.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: withToken(tokens[name])},
				DisableStandaloneSSE: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		return session
	}
	reader, clerk := join("reader"), join("clerk")
	data := func(session *mcp.ClientSession, operation string, params map[string]any) map[string]any {
		t.Helper()
		answer := rig.call(session, operation, params)
		of, ok := answer["data"].(map[string]any)
		if !ok {
			t.Fatalf("%s: %v\n%s", operation, answer, rig.said.String())
		}
		return of
	}
	run := data(reader, "register_run", map[string]any{"task": "notes"})["id"]
	steps := []any{map[string]any{"kind": "shell", "input": "ls"}, map[string]any{"kind": "shell", "input": "cat notes"}}
	plan := data(reader, "submit_plan", map[string]any{"run": run, "steps": steps})
	again := data(reader, "submit_plan", map[string]any{"run": run, "steps": steps})
	if plan["status"] != "accepted" || len(plan["steps"].([]any)) != 2 || again["id"] != plan["id"] {
		t.Errorf("planned: %v, and again: %v", plan, again)
	}
	if code := codeOf(rig.call(clerk, "submit_plan", map[string]any{"run": run, "steps": steps})); code != "PERMISSION_DENIED" {
		t.Errorf("another's run: %s", code)
	}
	if strays := data(reader, "send_message", map[string]any{"to": "clerk", "type": "note", "run": run,
		"body": map[string]any{"n": 1}}); strays["rule"] != "plan.deviation" || strays["request_id"] == nil {
		t.Errorf("what the plan does not have: %v", strays)
	}
	run = data(reader, "register_run", map[string]any{"task": "telling"})["id"]
	note := func(n any) map[string]any {
		return data(reader, "send_message", map[string]any{"to": "clerk", "type": "note", "run": run, "body": map[string]any{"n": n}})
	}
	if wrong := note("one"); wrong["answer"] != "deny" || wrong["violation"].(map[string]any)["side"] != "schema" || wrong["event_id"] == "" {
		t.Errorf("what is not as published: %v", wrong)
	}
	sent := note(7)
	if sent["answer"] != "allow" {
		t.Fatalf("sent: %v", sent)
	}
	id := sent["message"].(map[string]any)["id"]
	if list := data(clerk, "waiting_messages", nil)["messages"].([]any); len(list) != 1 || list[0].(map[string]any)["id"] != id {
		t.Errorf("waiting: %v", list)
	}
	if code := codeOf(rig.call(reader, "receive_message", map[string]any{"message": id})); code != "NOT_FOUND_RESOURCE" {
		t.Errorf("received by its sender: %s", code)
	}
	got := data(clerk, "receive_message", map[string]any{"message": id})
	if body, _ := got["body"].(map[string]any); got["answer"] != "allow" || body["n"] != 7.0 {
		t.Errorf("received: %v", got)
	}
	if done := data(clerk, "acknowledge_message", map[string]any{"message": id}); done["acknowledged"] != true {
		t.Errorf("done: %v", done)
	}
	// Sent as published, and not as accepted.
	if large := note(70); large["answer"] == "allow" {
		refused := data(clerk, "receive_message", map[string]any{"message": large["message"].(map[string]any)["id"]})
		if refused["answer"] != "deny" || refused["body"] != nil {
			t.Errorf("what it does not take: %v", refused)
		}
	}
	if audit, err := rig.output("audit", "verify"); err != nil {
		t.Errorf("%s %v", audit, err)
	}
}
