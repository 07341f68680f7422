package prose

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// What goes outward, costs money, runs for others or gives rights counts in prose as it does in the name of a tool, and a hint
// that names nothing is not understood. The words stand under "plain" in rules/prose.yaml.

// recordPlain records what a sentence says will be done to the world outside, by a verb that is said to be done.
func (s proseRun) recordPlain(p *sentence) {
	for i := range p.low {
		verb := s.plainStem(p.low[i])
		if verb == "" || !s.said(p, i) || s.deniedAt(p.low, i) || s.discussedAt(p.low, i) {
			continue
		}
		clause := p.clause(i)
		for n := range s.Plain {
			rule := &s.Plain[n]
			if !rule.Verbs[verb] || rule.Kind == interlock.ImpactPrivilege && len(p.paths)+len(p.inside) > 0 || // modes of files, which are their own matter
				rule.Amount && !p.amount(i) || lex.Has(clause, rule.Unless...) ||
				!saysAll(" "+strings.Join(clause, " ")+" ", rule.Says) || rule.Production && !s.inProduction(clause) {
				continue
			}
			s.Add(interlock.Impact{Kind: rule.Kind, Reach: rule.Reach, Reversibility: rule.Reversibility, Via: "hint " + verb,
				Confidence: interlock.Inferred, Traits: append([]string(nil), rule.Traits...)})
			break
		}
	}
}

// plainStem is the plain form of a verb of those rules.
func (v vocabulary) plainStem(word string) string { return stemOf(word, v.plainVerb) }

func (v vocabulary) plainVerb(word string) bool {
	for n := range v.Plain {
		if v.Plain[n].Verbs[word] {
			return true
		}
	}
	return false
}

// stemOf takes the ending off a word, if what is left is known.
func stemOf(word string, known func(string) bool) string {
	if known(word) {
		return word
	}
	base, found := strings.CutSuffix(word, "ing")
	for _, to := range [...]string{"", "e"} {
		if found && known(base+to) {
			return base + to
		}
	}
	if found && len(base) > 2 && base[len(base)-1] == base[len(base)-2] && known(base[:len(base)-1]) {
		return base[:len(base)-1]
	}
	return ""
}

// said reports whether a verb is where somebody says what he does next: at the beginning, or behind words that announce it.
func (s proseRun) said(p *sentence, at int) bool {
	if p.program || strings.HasSuffix(strings.Join(p.words[max(0, len(p.words)-1):], ""), "?") {
		return false
	}
	before := inject.WordAt(p.low, at-1)
	return at == 0 || lex.Has([]string{before}, "i'll", "i’ll", "will", "then", "next", "now", "and", "please", "let's", "me", "going", "finally",
		"first", "i", "i'm", "am", "just", "also") ||
		before == "to" && lex.Has([]string{inject.WordAt(p.low, at-2)}, "going", "need", "have", "want") && p.steps
}

// amount reports whether a sentence names a sum of money behind a word.
func (p *sentence) amount(at int) bool {
	for i := at + 1; i < len(p.low); i++ {
		word := p.low[i]
		if strings.ContainsAny(word, "$€£") && strings.ContainsAny(word+inject.WordAt(p.low, i+1), "0123456789") {
			return true
		}
		if startsWithDigit(word) {
			next := inject.WordAt(p.low, i+1)
			if lex.Has([]string{next}, "usd", "eur", "gbp", "chf", "dollars", "euros", "pounds", "francs", "bucks") || p.Is(know.Currency, next) ||
				lex.Has([]string{strings.TrimLeft(word, "0123456789.,")}, "usd", "eur", "gbp", "k€", "k$") {
				return true
			}
		}
	}
	return false
}

func startsWithDigit(word string) bool { return word != "" && word[0] >= '0' && word[0] <= '9' }

// namesNothing reports whether a hint says no more than that something will be done: its words are verbs that say nothing without
// an object, and words that are none.
func (v vocabulary) namesNothing(prose string) bool {
	words := strings.Fields(strings.ToLower(prose[:min(len(prose), 120)]))
	if len(words) == 0 || len(words) > 10 {
		return false
	}
	doing := false
	for _, word := range words {
		word = strings.Trim(word, ".,;:!?\"'`()")
		verb := stemOf(word, func(w string) bool { return v.Doing[w] })
		doing = doing || verb != ""
		if verb == "" && !v.Nothing[word] && word != "" {
			return false
		}
	}
	return doing
}

// vague records that nobody can tell what a hint is about.
func (s proseRun) vague() {
	s.Add(interlock.Impact{Kind: interlock.ImpactExecute, Reach: interlock.ReachSystem, Reversibility: interlock.Window, Via: "hint",
		Confidence: interlock.Unknown, Traits: []string{fact.TraitVague}})
}
