// Package question makes the payload that a judge is shown: an action with its impacts, the steps of a plan, or an output. It is a
// function of values, and what it makes names no agent, user, run, call or time, so that equal actions of different sessions are
// equal bytes and nothing that was said in a session reaches a judge (ASA 9.1, 9.2).
//
// What an agent says its action is for is left out: those words are the conversation's, and a judge that read them could be talked
// round. Secrets are taken out before anything leaves this package.
package question

import (
	"encoding/json"
	"fmt"

	"interlock"
	"interlock/internal/strictjson"
)

// Redact takes secrets out of a text and names the kinds it found.
type Redact func(text string) (redacted string, kinds []string)

// An action as a judge is shown it.
type shownAction struct {
	Type      interlock.Kind  `json:"type"`
	Tool      string          `json:"tool,omitempty"`
	Input     string          `json:"input,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Dir       string          `json:"dir,omitempty"`
}

// Action is the payload of one action. impacts is nil where the judge may see the action and nothing else (ASA 9.1).
func Action(action interlock.Action, impacts []interlock.Impact, redact Redact) ([]byte, error) {
	shown, err := show(action, redact)
	if err != nil {
		return nil, err
	}
	return marshal(&struct {
		Action  shownAction        `json:"action"`
		Impacts []interlock.Impact `json:"impacts,omitempty"`
	}{shown, hidden(impacts, redact)})
}

// A Step is one step of a plan as a judge is shown it.
type Step struct {
	Action  interlock.Action
	Impacts []interlock.Impact
}

// Plan is the payload of all steps of a plan, in their order.
func Plan(steps []Step, redact Redact) ([]byte, error) {
	type shownStep struct {
		Action  shownAction        `json:"action"`
		Impacts []interlock.Impact `json:"impacts,omitempty"`
	}
	out := make([]shownStep, 0, len(steps))
	for n := range steps {
		shown, err := show(steps[n].Action, redact)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", n+1, err)
		}
		out = append(out, shownStep{shown, hidden(steps[n].Impacts, redact)})
	}
	return marshal(struct {
		Plan []shownStep `json:"plan"`
	}{out})
}

// Output is the payload of what a run made, with the objective that its run was registered with and that nothing can change since.
func Output(objective, output string, redact Redact) ([]byte, error) {
	objective, _ = redact(objective)
	output, _ = redact(output)
	return marshal(struct {
		Objective string `json:"objective,omitempty"`
		Output    string `json:"output"`
	}{objective, output})
}

func show(action interlock.Action, redact Redact) (shownAction, error) {
	shown := shownAction{Type: action.Kind, Tool: action.Tool, Dir: action.Dir}
	shown.Input, _ = redact(action.Input)
	if len(action.Arguments) == 0 {
		return shown, nil
	}
	clean, kinds := redact(string(action.Arguments))
	if len(kinds) == 0 {
		shown.Arguments = action.Arguments
		return shown, nil
	}
	if json.Valid([]byte(clean)) {
		shown.Arguments = json.RawMessage(clean)
		return shown, nil
	}
	text, err := json.Marshal(clean) // taking the secret out has broken the form, so it is shown as a text
	if err != nil {
		return shown, fmt.Errorf("encoding the arguments: %w", err)
	}
	shown.Arguments = text
	return shown, nil
}

// hidden are impacts without secrets in what they name.
func hidden(impacts []interlock.Impact, redact Redact) []interlock.Impact {
	if len(impacts) == 0 {
		return nil
	}
	out := make([]interlock.Impact, len(impacts))
	copy(out, impacts)
	for n := range out {
		out[n].Target, _ = redact(out[n].Target)
		out[n].Via, _ = redact(out[n].Via)
	}
	return out
}

func marshal(v any) ([]byte, error) {
	text, err := strictjson.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("a judge can't be asked about what has no canonical form: %w", err)
	}
	return text, nil
}
