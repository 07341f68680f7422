package prose

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/inject"
	"interlock/internal/lex"
)

// What prose says something is done to decides as much as the verb: "delete the backups" and "delete the output" begin
// alike. The tables under objects and rights in rules/prose.yaml know what matters where no path is named.

// foldPhrases joins verbs of two words in a sentence, so that the rest of the reading sees one verb.
func (p *sentence) foldPhrases() {
	for i := 0; i+1 < len(p.low); i++ {
		if one := p.Phrases[p.low[i]+" "+p.low[i+1]]; one != "" {
			p.low[i], p.low[i+1] = one, ""
		}
	}
}

// clause returns the words behind a verb that belong to it: up to where another clause begins.
func (p *sentence) clause(at int) []string {
	end := at + 1
	for end < len(p.low) && end <= at+14 {
		if end > at+1 && p.Is(know.ClauseEnd, p.low[end]) {
			break
		}
		end++
	}
	return p.low[at+1 : end]
}

// An objectFound is the rule that decided what a clause is about, if one did, and how the object is called there.
type objectFound struct {
	rule *know.ObjectRule
	name string
}

// object returns what a clause is about by the first word that one of the rules fits.
func object(rules []know.ObjectRule, clause []string) objectFound {
	wide := false
	for i, w := range clause {
		wide = wide || lex.Has([]string{w}, "all", "every", "entire", "everything", "whole")
		for n := range rules {
			rule := &rules[n]
			if !rule.Words[w] || !fitsAny(rule.When, clause, i, wide) {
				continue
			}
			switch {
			case rule.Spared:
				return objectFound{}
			case rule.Both:
				return objectFound{rule, inject.WordAt(clause, i-1) + " " + w}
			}
			return objectFound{rule, w}
		}
	}
	return objectFound{}
}

// fitsAny reports whether one of the surroundings holds around a word of a clause, or none is demanded.
func fitsAny(when []know.Surroundings, clause []string, at int, wide bool) bool {
	return len(when) == 0 || slices.ContainsFunc(when, func(c know.Surroundings) bool {
		before, next := inject.WordAt(clause, at-1), inject.WordAt(clause, at+1)
		return (wide || !c.Wide) && (!c.EveryFile || everyFile(clause[:at])) &&
			allows(c.Before, c.NotBefore, before) && allows(nil, c.NotSecondBefore, inject.WordAt(clause, at-2)) &&
			allows(c.Next, c.NotNext, next) && allows(c.Clause, c.NotClause, clause...)
	})
}

// allows reports whether one of the words is wanted, if any are, and none is refused.
func allows(wanted, refused []string, words ...string) bool {
	return (len(wanted) == 0 || lex.Has(words, wanted...)) && !lex.Has(words, refused...)
}

// everyFile reports whether words mean all there is and not all of a sort.
func everyFile(clause []string) bool {
	for i, w := range clause {
		next := inject.WordAt(clause, i+1)
		if next == "the" || next == "of" || next == "my" || next == "your" {
			next = inject.WordAt(clause, i+2)
		}
		if w == "everything" || (w == "all" || w == "every" || w == "entire" || w == "whole") &&
			(next == "files" || next == "file" || next == "data" || next == "documents" || next == "home") {
			return true
		}
	}
	return false
}

// inProduction reports whether a clause speaks of what runs for others, and not of a build for it.
func (v vocabulary) inProduction(clause []string) bool {
	for i, w := range clause {
		next := inject.WordAt(clause, i+1)
		if v.Is(know.Production, w) && !v.Is(know.ProductionPart, next) || w == "live" && v.Is(know.LivePart, next) {
			return true
		}
	}
	return false
}

// outward reports whether a clause says that something goes to somebody or somewhere else.
func (v vocabulary) outward(clause []string) bool {
	return !v.Any(know.Inward, clause) && v.Any(know.Outward, clause)
}

// concealed reports whether a sentence says that what is done shall not be seen.
func (p *sentence) concealed() bool {
	for _, words := range p.Concealing {
		if at := p.phrase(words); at >= 0 && !p.discussedAt(p.low, at) &&
			!lex.Has(p.low[max(0, at-3):at], "not", "never", "don't") {
			return true
		}
	}
	return false
}

// recordObject records what the things named in a clause make of a verb: the reading that needs no path.
func (s proseRun) recordObject(act, verb string, at int, p *sentence) {
	via := "hint " + verb
	clause := p.clause(at)
	impact := func(kind interlock.ImpactKind, reach interlock.Reach, r interlock.Reversibility, target string, traits ...string) {
		s.Add(interlock.Impact{Kind: kind, Target: target, Reach: reach, Reversibility: r, Via: via,
			Confidence: interlock.Inferred, Traits: traits})
	}
	switch act {
	case "delete", "halt", "kill", "disable", "clear":
		if s.inProduction(clause) {
			kind := interlock.ImpactSpawn
			if act == "delete" {
				kind = interlock.ImpactDelete
			}
			impact(kind, interlock.ReachProduction, interlock.Irreversible, "")
		}
	}
	switch act {
	case "pipe":
		if lex.Has(clause, "bash", "sh", "zsh", "shell", "python", "interpreter") &&
			(len(p.urls) > 0 || lex.Has(clause, "curl", "wget", "download")) {
			impact(interlock.ImpactExecute, interlock.ReachSystem, interlock.Irreversible, "", fact.TraitDownloadRun)
		}
	case "delete", "clear":
		if found := object(s.Losses, clause); found.rule != nil {
			impact(interlock.ImpactDelete, found.rule.Reach, interlock.Irreversible, "", found.rule.Trait)
		}
	case "disable", "halt", "kill":
		if found := object(s.Defences, clause); found.rule != nil {
			impact(interlock.ImpactConfigure, interlock.ReachSystem, interlock.Window, found.name, fact.TraitDefence)
		}
	case "send", "write", "read":
		secret := object(s.Secrets, clause).rule != nil
		if secret && s.outward(clause) && (act == "send" || verb == "copy" || verb == "move") {
			impact(interlock.ImpactNetwork, interlock.ReachExternal, interlock.Irreversible, "", fact.TraitSecretSend,
				fact.TraitUpload)
		}
		if (verb == "dump" || verb == "extract" || act == "read") && secret && s.Any(know.SecretStore, clause) {
			impact(interlock.ImpactCredential, interlock.ReachHome, interlock.Readonly, "", fact.TraitSecret)
		}
	}
	s.recordRights(act, via, p.low[at:], clause)
	if act == "send" && s.Any(know.Currency, clause) && lex.Has(clause, "to") {
		impact(interlock.ImpactSpend, interlock.ReachExternal, interlock.Window, "")
	}
}

// recordRights records rights, accounts and doors for later that a clause hands out.
func (s proseRun) recordRights(act, via string, rest, clause []string) {
	joined := " " + strings.Join(clause, " ") + " "
	for _, rule := range s.Rights {
		if !lex.Has(rule.Verbs, act) || !saysAll(joined, rule.Says) {
			continue
		}
		if !slices.ContainsFunc(rule.Rest, func(words []string) bool { return !lex.Has(rest, words...) }) {
			s.Add(interlock.Impact{Kind: rule.Kind, Target: rule.Target, Reach: rule.Reach,
				Reversibility: rule.Reversibility, Via: via,
				Confidence: interlock.Inferred, Traits: slices.Clone(rule.Traits)})
		}
	}
}

// saysAll reports whether a text holds a phrase of each list.
func saysAll(text string, lists [][]string) bool {
	for _, phrases := range lists {
		if !slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(text, phrase) }) {
			return false
		}
	}
	return true
}
