package console

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// A line is one event in a list.
type line struct {
	Index   int64
	ID      string
	Type    interlock.EventType
	At      time.Time
	Actor   string
	Role    string
	Summary string
	Path    string             // of its page
	Answer  *interlock.Verdict // of a decision
	Damaged string             // why it can't be read; then it has an index only
}

// lineOf reads an entry for a list.
func lineOf(e interlock.Entry) line {
	if auditlog.Released(&e) {
		return line{Index: e.Index, ID: e.ID, Type: e.Type, Summary: "archived"}
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return line{Index: e.Index, ID: e.ID, Type: e.Type, Damaged: err.Error()}
	}
	l := line{Index: e.Index, ID: event.ID, Type: event.Type, At: event.Recorded, Actor: event.Actor, Role: event.Role,
		Path: "/events/" + event.ID, Summary: told(event.Payload)}
	if d, err := auditlog.ReadDecision(e); err == nil {
		answer := answerOf(d)
		l.Path, l.Answer, l.Summary = "/decisions/"+event.ID, &answer, summary(d.Proposal.Action)
		if f := d.Decision.Decisive(); f != nil {
			l.Summary = f.Rule + ": " + l.Summary
		}
	}
	return l
}

// told is what an event's payload says in one line: the first of the members that tell something.
func told(payload []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(payload, &members) != nil {
		return ""
	}
	var parts []string
	add := func(raw json.RawMessage, names ...string) {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return
		}
		for _, name := range names {
			var text string
			if json.Unmarshal(object[name], &text) == nil && text != "" {
				parts = append(parts, text)
			}
		}
	}
	add(payload, "alert", "message", "what", "result", "state", "outcome", "operation", "code")
	add(members["approval"], "verdict", "operator", "reason")
	add(members["challenge"], "kind", "outcome", "rule")
	add(members["grant"], "agent", "tool", "operator")
	add(members["suppression"], "rule", "operator")
	add(members["operator"], "name", "role")
	add(members["agent"], "id")
	parts = append(parts, toolSteps(payload)...)
	add(payload, "agent", "before", "after", "operator", "evidence", "reason", "detail", "ended", "lifted")
	for _, name := range slices.Sorted(maps.Keys(members)) { // of a kind of event that nobody has words for yet
		if len(parts) == 0 {
			add(payload, name)
		}
	}
	return shorten(strings.Join(parts, " · "), maxSummary)
}

// toolSteps says what became of a server's tools.
func toolSteps(payload []byte) (parts []string) {
	var pin struct {
		Server string             `json:"server"`
		Steps  []auditlog.PinStep `json:"steps"`
	}
	if json.Unmarshal(payload, &pin) != nil || pin.Server == "" {
		return nil
	}
	parts = append(parts, pin.Server)
	for i, step := range pin.Steps {
		if i == 3 {
			return append(parts, fmt.Sprintf("and %d more", len(pin.Steps)-i))
		}
		text := string(step.Status)
		if step.Tool != "" {
			text = step.Tool + " " + text
		}
		if step.Why != "" {
			text += " (" + string(step.Why) + ")"
		}
		parts = append(parts, text)
	}
	return parts
}

// entry finds the entry that a path names by its event id or its index.
func (c *Console) entry(r *http.Request) (interlock.Entry, error) {
	e, err := auditlog.Named(r.Context(), c.config.Log, r.PathValue("id"))
	if err == nil && auditlog.Released(&e) {
		err = auditlog.ErrReleased(&e)
	}
	return e, err
}
