package groundrules

import (
	"fmt"
	"slices"
	"strings"

	"interlock"
)

// With adds an operator's rules to these, which it leaves whole: what an operator adds can forbid more, and can say what is in scope at
// layers 3 and 4, and it can't define a rule that ships again, speak of one, or allow by an example what one forbids by an example
// (ASA 8.3, 16.4). That an operator's prose contradicts a rule that ships in words of its own is not found here: operators are
// trusted (16.4), the conflict rule tells the judge that nothing added lifts a rule of layers 1 and 2, and the digest is logged.
func (r *Rules) With(added *Rules) (*Rules, error) {
	if r.added || !added.added {
		return nil, interlock.Errorf(interlock.CodeInternal, "", "rules are added to whole ground rules only")
	}
	out := &Rules{title: r.title, intro: r.intro, conflicts: r.conflicts}
	for n := range r.layers {
		out.layers[n] = layer{title: r.layers[n].title, rules: slices.Clone(r.layers[n].rules)}
		for i := range added.layers[n].rules {
			rule := added.layers[n].rules[i].clone()
			if err := r.keeps(&rule); err != nil {
				return nil, err
			}
			out.layers[n].rules = append(out.layers[n].rules, rule)
		}
	}
	return out, out.seal()
}

// keeps refuses an added rule that takes something from these.
func (r *Rules) keeps(own *Rule) error {
	if there := r.byID[own.ID]; there != nil {
		return invalid(own.line, "rule %s is among the rules it is added to; give it another id", own.ID)
	}
	for _, text := range append(append([]string{own.Title, own.Instead}, own.Text...), append(own.Allowed, own.Disallowed...)...) {
		if named := r.names(text); named != "" {
			return invalid(own.line, "rule %s speaks of %s; an added rule adds to the rules that ship and says nothing about them: "+
				"take that out", own.ID, named)
		}
	}
	for _, allowed := range own.Allowed {
		for n := range r.layers {
			for i := range r.layers[n].rules {
				there := &r.layers[n].rules[i]
				if slices.ContainsFunc(there.Disallowed, func(e string) bool { return sameExample(e, allowed) }) {
					return invalid(own.line, "rule %s allows what rule %s forbids: %q; take the example out", own.ID, there.ID, allowed)
				}
			}
		}
	}
	return nil
}

// names says which rule or layer a text speaks of, or nothing.
func (r *Rules) names(text string) string {
	lower := strings.ToLower(text)
	for n := range r.layers {
		for _, name := range []string{fmt.Sprintf("layer %d", n+1), fmt.Sprintf("layers %d", n+1)} {
			if hasWord(lower, name) {
				return name
			}
		}
		for i := range r.layers[n].rules {
			if id := r.layers[n].rules[i].ID; hasWord(lower, strings.ToLower(id)) {
				return id
			}
		}
	}
	for _, phrase := range aboutRules() {
		if hasWord(lower, phrase) {
			return "other rules (" + phrase + ")"
		}
	}
	return ""
}

// aboutRules are phrases by which a text speaks of the rules around it.
func aboutRules() []string {
	return []string{"other rule", "other rules", "rule above", "rules above", "rule before", "rules before", "any rule", "all rules",
		"these rules", "those rules", "ground rule", "ground rules", "conflict rule", "the judge", "this rule overrides",
		"takes precedence", "prevails"}
}

// hasWord reports whether a text holds a phrase that neither goes on nor began before. Both are in lower case.
func hasWord(text, phrase string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], phrase)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(phrase)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = at + 1
	}
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// sameExample compares examples as a reader would: without case, marks of code and what ends a sentence.
func sameExample(a, b string) bool { return bareExample(a) == bareExample(b) }

func bareExample(text string) string {
	return strings.Trim(squeeze(strings.ReplaceAll(strings.ToLower(text), "`", "")), " .;,")
}
