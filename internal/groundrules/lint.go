package groundrules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is something about ground rules that a judge would do badly with.
type Problem struct {
	Line    int    `json:"line,omitempty"` // where the rule's heading is; 0: the document as a whole
	Rule    string `json:"rule,omitempty"`
	What    string `json:"what"` // vague, no-examples, no-conflict-rule, too-long or contradiction
	Message string `json:"message"`
}

// String is the problem in one line.
func (p Problem) String() string {
	text := p.What + ": " + p.Message
	if p.Rule != "" {
		text = p.Rule + ": " + text
	}
	return text
}

// Room is what rules have to fit into beside a question (ASA 9.3). Each is in tokens, roughly: see [Tokens].
type Room struct {
	Window  int // of the judge's model: everything it can read and write at once
	Payload int // of the largest question that it may be asked
	Around  int // of its role, of the form of its answer, and of the answer itself
}

// concise is how many tokens of rules are still concise: a longer text costs with every question, and is followed worse.
const concise = 4000

// Lint looks at rules as a judge is sent them. Problems of only the rules in about, or of all where it is nil, come in the order of the
// document; what is wrong with the whole comes last.
func Lint(whole *Rules, about *Rules, room Room) []Problem {
	if about == nil {
		about = whole
	}
	var out []Problem
	for _, id := range whole.order() {
		if rule := about.byID[id]; rule != nil {
			out = append(out, rule.lint(whole)...)
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return append(out, whole.lint(room)...)
}

// lint finds what is wrong with the document as a whole.
func (r *Rules) lint(room Room) []Problem {
	var out []Problem
	said := strings.ToLower(strings.Join(r.conflicts, " "))
	if !strings.Contains(said, "layer") || !strings.Contains(said, "lower") || !strings.Contains(said, "den") {
		out = append(out, Problem{What: "no-conflict-rule",
			Message: "the conflict rule does not say that a lower layer prevails, and that inside one a denial does (ASA 9.3, 13)"})
	}
	tokens := r.Tokens()
	if tokens > concise {
		out = append(out, Problem{What: "too-long",
			Message: fmt.Sprintf("the rules are about %d tokens, and more than %d are not concise (ASA 9.3): join rules, drop examples",
				tokens, concise)})
	}
	if all := tokens + room.Payload + room.Around; room.Window > 0 && all > room.Window {
		out = append(out, Problem{What: "too-long", Message: fmt.Sprintf("about %d tokens of rules, %d of the largest question and %d around "+
			"them are %d, and the model's window has %d: the rules may be about %d", tokens, room.Payload, room.Around, all, room.Window,
			max(0, room.Window-room.Payload-room.Around))})
	}
	return out
}

// lint finds what is wrong with one rule.
func (r *Rule) lint(whole *Rules) []Problem {
	var out []Problem
	add := func(what, format string, args ...any) {
		out = append(out, Problem{Line: r.line, Rule: r.ID, What: what, Message: fmt.Sprintf(format, args...)})
	}
	said := strings.ToLower(strings.Join(append([]string{r.Title}, r.Text...), " "))
	for _, word := range vague() {
		if hasWord(said, word) {
			add("vague", "%q leaves it to the judge; say what is forbidden, and what is not", word)
		}
	}
	if len(r.Allowed) == 0 {
		add("no-examples", "there is no example of what is allowed")
	}
	if len(r.Disallowed) == 0 {
		add("no-examples", "there is no example of what is not allowed")
	}
	for _, example := range r.Allowed {
		if slices.ContainsFunc(r.Disallowed, func(e string) bool { return sameExample(e, example) }) {
			add("contradiction", "the same example is allowed and not: %q", example)
		}
		for _, id := range whole.order() {
			other := whole.byID[id]
			if id != r.ID && slices.ContainsFunc(other.Disallowed, func(e string) bool { return sameExample(e, example) }) {
				add("contradiction", "it allows %q, which rule %s does not allow; take one of them out", example, id)
			}
		}
	}
	return out
}

// vague are words that two judges would read differently.
func vague() []string {
	return []string{"be careful", "with care", "appropriate", "appropriately", "inappropriate", "if possible",
		"where possible", "when possible", "as far as possible", "as needed", "if needed", "as necessary", "if necessary", "reasonable",
		"reasonably", "try to", "try not to", "and so on", "etc", "usually", "generally", "normally", "typically", "sensible", "suspicious",
		"proper", "properly", "use your judgement", "use your judgment", "common sense", "good practice",
		"best practice", "best practices", "feel free", "might", "maybe", "perhaps", "consider", "too much", "too many", "excessive",
		"excessively", "unusual", "strange", "sensitive", "avoid", "prefer", "ideally", "in most cases", "as a rule"}
}
