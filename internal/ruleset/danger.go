package ruleset

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock"
)

// A DangerRule declares the danger level of operations by a glob over tool names and via texts, and what else they need
// (MCP-AQL danger levels 3 and 7.3).
type DangerRule struct {
	Name  string           `json:"name"`
	Level interlock.Danger `json:"level"`
	// on the arguments; all must hold, or the rule says nothing
	When    []interlock.Condition `json:"when,omitempty"`
	Reasons []string              `json:"reasons,omitempty"` // why, for people
	// asked of the person who confirms; {name} means an argument
	Message  string `json:"confirmation_message,omitempty"`
	Cooldown Span   `json:"cooldown,omitempty"`        // not again within this time in one execution
	Reauth   bool   `json:"requires_reauth,omitempty"` // a human gives a fresh code first
	// who may confirm; anybody who may answer, if not given
	Approvers *Approvers `json:"approvers,omitempty"`
	Audit     []string   `json:"audit_context,omitempty"` // names of arguments that the audit entry holds
	User      bool       `json:"-"`                       // an operator's: raises and never lowers
}

// Approvers names who may confirm an operation.
type Approvers struct {
	Roles  []string `json:"roles,omitempty"`
	Teams  []string `json:"teams,omitempty"`
	Within Span     `json:"within,omitempty"` // unanswered for so long, it is refused; the usual time, if none is given
}

// Note is the approvers in the form an obligation carries them: "role:admin team:dba".
func (a *Approvers) Note() string {
	var words []string
	for _, role := range a.Roles {
		words = append(words, "role:"+role)
	}
	for _, team := range a.Teams {
		words = append(words, "team:"+team)
	}
	return strings.Join(words, " ")
}

// Applies reports whether the rule's conditions on arguments may hold.
func (d *DangerRule) Applies(arguments json.RawMessage) bool { return MayHold(d.When, arguments) }

// Counted is the name under which the rule's operations are counted for its cooldown.
func (d *DangerRule) Counted() string { return "cooldown." + d.Name }

func (d *DangerRule) named(action interlock.Action, impacts []interlock.Impact) bool {
	if action.Tool != "" && Glob(d.Name, action.Tool) {
		return true
	}
	for i := range impacts {
		if via := impacts[i].Via; via != "" && Glob(d.Name, via) {
			return true
		}
	}
	return false
}

// maxShown bounds an argument in a confirmation message, in runes.
const maxShown = 80

// Say returns the confirmation message with the arguments it names in it, one line each, with what does not print left out.
// Arguments are what the agent says: the caller that shows the message to people has redacted them before.
func (d *DangerRule) Say(arguments json.RawMessage) string {
	var b strings.Builder
	rest := d.Message
	for {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, tail, closed := strings.Cut(after, "}")
		value, known := argument(arguments, name)
		if !closed || !known {
			b.WriteByte('{')
			rest = after
			continue
		}
		b.WriteString(plainly(value))
		rest = tail
	}
}

func plainly(value json.RawMessage) string {
	text := string(value)
	var quoted string
	if json.Unmarshal(value, &quoted) == nil {
		text = quoted
	}
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxShown {
		text = string(runes[:maxShown-1]) + "…"
	}
	return text
}
