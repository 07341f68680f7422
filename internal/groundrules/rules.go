package groundrules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"interlock"
)

// Layers is how many layers there are.
const Layers = 4

// OwnPrefix begins the names of rules that an operator has added. No rule that ships begins with it, so that neither can take the
// other's id, now or after an upgrade.
const OwnPrefix = "own-"

// conditional ends the heading of a rule whose denial is a question to a person.
const conditional = "(conditional)"

// A Rule is one ground rule.
type Rule struct {
	ID          string   `json:"id"`
	Layer       int      `json:"layer"`               // 1 to 4
	Sub         int      `json:"sub_layer,omitempty"` // its place inside the layer; 0 comes first and is no sub-layer
	Title       string   `json:"title"`
	Text        []string `json:"text"` // paragraphs, each one line
	Allowed     []string `json:"allowed,omitempty"`
	Disallowed  []string `json:"disallowed,omitempty"`
	Instead     string   `json:"instead,omitempty"`     // what an agent can offer where the rule denies
	Conditional bool     `json:"conditional,omitempty"` // a person may confirm what it denies

	line int // where its heading stood; of the document it was read from
}

// Own reports whether an operator has added the rule.
func (r *Rule) Own() bool {
	return strings.HasPrefix(r.ID[strings.LastIndexByte(r.ID, '.')+1:], OwnPrefix)
}

// Verdict is what a judge's denial by the rule comes to: a question to a person where the rule is conditional, else a denial.
func (r *Rule) Verdict() interlock.Verdict {
	if r.Conditional {
		return interlock.Ask
	}
	return interlock.Deny
}

// A layer is a heading with its rules.
type layer struct {
	title string
	rules []Rule
}

// Conditional reports whether a person may confirm what a rule forbids.
func (r *Rules) Conditional(id string) bool {
	found := r.byID[id]
	return found != nil && found.Conditional
}

// Rules are ground rules that were read. They do not change.
type Rules struct {
	title     string
	intro     []string
	conflicts []string
	layers    [Layers]layer
	added     bool // an operator's file: without conflicts, and not all layers

	text   string
	digest interlock.Digest
	byID   map[string]*Rule
}

// Text is the canonical text: exactly what a judge is sent. It parses to rules with the same digest.
func (r *Rules) Text() string { return r.text }

// Digest is the SHA-256 of the text, so that anybody can compute it with any tool.
func (r *Rules) Digest() interlock.Digest { return r.digest }

// Rule finds a rule.
func (r *Rules) Rule(id string) (Rule, bool) {
	found := r.byID[id]
	if found == nil {
		return Rule{}, false
	}
	return found.clone(), true
}

// Layer says which layer a rule belongs to.
func (r *Rules) Layer(id string) (int, bool) {
	found := r.byID[id]
	if found == nil {
		return 0, false
	}
	return found.Layer, true
}

// Rules are all rules in order: by layer, then by sub-layer, then as they were written.
func (r *Rules) Rules() []Rule {
	var out []Rule
	for n := range r.layers {
		for i := range r.layers[n].rules {
			out = append(out, r.layers[n].rules[i].clone())
		}
	}
	return out
}

// Tokens is roughly how many tokens the text takes of a model's window.
func (r *Rules) Tokens() int { return Tokens(len(r.text)) }

// Tokens is roughly how many tokens so many bytes of English or code are.
func Tokens(bytes int) int { return (bytes + 3) / 4 }

func (r *Rule) clone() Rule {
	out := *r
	out.Text, out.Allowed, out.Disallowed = slices.Clone(r.Text), slices.Clone(r.Allowed), slices.Clone(r.Disallowed)
	return out
}

// seal makes text, digest and index of what was put together. It fails where the text is over the bound.
func (r *Rules) seal() error {
	for n := range r.layers {
		slices.SortStableFunc(r.layers[n].rules, func(a, b Rule) int { return cmp.Compare(a.Sub, b.Sub) })
	}
	r.text = r.canonical()
	if len(r.text) > MaxBytes {
		return invalid(0, "the rules are %d bytes as a judge is sent them, over the bound of %d: shorten them", len(r.text), MaxBytes)
	}
	sum := sha256.Sum256([]byte(r.text))
	r.digest = interlock.Digest("sha256:" + hex.EncodeToString(sum[:]))
	r.byID = map[string]*Rule{}
	for n := range r.layers {
		for i := range r.layers[n].rules {
			r.byID[r.layers[n].rules[i].ID] = &r.layers[n].rules[i]
		}
	}
	return nil
}

// canonical writes the text: one line for each paragraph and example, one empty line between parts.
func (r *Rules) canonical() string {
	var b strings.Builder
	b.WriteString("# " + r.title + "\n")
	paragraphs(&b, r.intro)
	if len(r.conflicts) > 0 {
		b.WriteString("\n## Conflicts\n")
		paragraphs(&b, r.conflicts)
	}
	for n := range r.layers {
		one := &r.layers[n]
		if r.added && len(one.rules) == 0 {
			continue
		}
		b.WriteString("\n## Layer " + strconv.Itoa(n+1) + ": " + one.title + "\n")
		for i := range one.rules {
			one.rules[i].write(&b)
		}
	}
	return b.String()
}

func (r *Rule) write(b *strings.Builder) {
	b.WriteString("\n### " + r.ID + " " + r.Title)
	if r.Conditional {
		b.WriteString(" " + conditional)
	}
	b.WriteString("\n")
	paragraphs(b, r.Text)
	examples(b, labelAllowed, r.Allowed)
	examples(b, labelDisallowed, r.Disallowed)
	if r.Instead != "" {
		b.WriteString("\n" + labelInstead + " " + r.Instead + "\n")
	}
}

func paragraphs(b *strings.Builder, list []string) {
	for _, text := range list {
		b.WriteString("\n" + text + "\n")
	}
}

func examples(b *strings.Builder, label string, list []string) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n" + label + "\n")
	for _, text := range list {
		b.WriteString("- " + text + "\n")
	}
}
