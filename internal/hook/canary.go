package hook

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"interlock"
)

// CanaryCommand is what the canary proposes: never run, only judged, and refused under every profile.
const CanaryCommand = interlock.CanaryCommand

// Canary returns a payload with which an event must be refused, as its harness would send it. Run and call mark it in the
// record. An event that carries no command gets a payload cut short, which must be refused all the same.
func Canary(agent, event, run string) []byte {
	d, known := dialectOf(agent)
	if !known || !slices.Contains(d.commands, event) {
		return CanaryCut(event, run)
	}
	shaped := map[string]any{"session_id": run, "cwd": "/", "permission_mode": "default", "hook_event_name": event,
		"tool_name": "Bash", "tool_use_id": run,
		"tool_input": map[string]any{"command": CanaryCommand, "description": "interlock doctor: a canary that must be refused"}}
	if d.canary != nil {
		shaped = d.canary(shaped)
	}
	payload, err := json.Marshal(shaped)
	if err != nil {
		return CanaryCut(event, run)
	}
	return payload
}

// CanaryCut is a payload cut short.
func CanaryCut(event, run string) []byte {
	return []byte(`{"hook_event_name":"` + event + `","session_id":"` + run + `","tool_input":{"com`)
}

// CarriesCommand reports whether an event can carry a shell command.
func CarriesCommand(agent, event string) bool {
	d, _ := dialectOf(agent)
	return slices.Contains(d.commands, event)
}

// An answer is an output as harnesses read it.
type answer struct {
	Decision   any    `json:"decision"`
	Verdict    string `json:"permissionDecision"`
	Behavior   string `json:"behavior"`
	Permission string `json:"permission"`
	Own        string `json:"verdict"`
	Cancel     bool   `json:"cancel"`
	Specific   struct {
		Event    string `json:"hookEventName"`
		Verdict  string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
		Decision struct {
			Behavior string `json:"behavior"`
		} `json:"decision"`
	} `json:"hookSpecificOutput"`

	readable bool // it is JSON, and the status is 0
	exit2    bool // the status is 2, with a reason
	specific bool // it denies in the form of Claude Code
}

// Refused reports whether an output stops the tool, as the harness reads it.
func Refused(agent, event string, out Output) bool {
	var a answer
	a.readable = json.Unmarshal(out.Stdout, &a) == nil && out.Exit == 0
	a.exit2 = out.Exit == 2 && len(bytes.TrimSpace(out.Stderr)) > 0
	a.specific = a.readable && a.Specific.Event == event && (a.Specific.Decision.Behavior == "deny" ||
		a.Specific.Verdict == "deny" && strings.TrimSpace(a.Specific.Reason) != "")
	d, _ := dialectOf(agent)
	return d.stops != nil && d.stops(event, a)
}
