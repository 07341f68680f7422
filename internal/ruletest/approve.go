package ruletest

import (
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ruleset"
)

// Idle says which globs of policy.autoApprove change nothing under a profile, each with what still objects: they take back what was
// guessed and what the profile would ask, and never what a rule says. Each glob is tried on the plainest command that it matches, or,
// where it is one word, on a tool of that name.
func Idle(rules *ruleset.Ruleset, analyser *impact.Analyser, profile string) []Problem {
	var out []Problem
	for _, glob := range rules.Policy().AutoApprove {
		sample := plainest(glob)
		tries := []interlock.Action{Shell(sample)}
		if !strings.Contains(sample, " ") {
			tries = append(tries, interlock.Action{Kind: interlock.KindTool, Tool: sample, Arguments: []byte("{}"), Dir: "/home/user/project"})
		}
		why := ""
		for _, action := range tries {
			d := DecideUnder(rules, analyser, profile, action)
			if d.Verdict == interlock.Allow {
				why = ""
				break
			}
			if why == "" {
				why = idleBy(&d)
			}
		}
		if why != "" {
			out = append(out, Problem{"policy.autoApprove", glob, "it changes nothing: of " + fmt.Sprintf("%q", sample) + ", " + why})
		}
	}
	return out
}

// idleBy says what still objects to an action that a glob covers.
func idleBy(d *interlock.Decision) string {
	f := d.Decisive()
	does := map[interlock.Verdict]string{interlock.Ask: "asks", interlock.Deny: "denies", interlock.Halt: "halts"}[f.Verdict]
	switch of := gate.Of(f); {
	case f.Heuristic || of.Base:
		return "not all is covered: each command on a line has to meet a glob by itself, and what can't be understood meets none"
	case of.Patterns:
		return f.Rule + " " + does + ", and comes first"
	case f.Verdict == interlock.Ask && f.Layer > 2 && of.Suppressible:
		return fmt.Sprintf("the rule %s %s, and a rule is no guess; `interlock allow REQUEST` answers it where it is asked, "+
			"`interlock rules suppress %s` keeps it silent", f.Rule, does, f.Rule)
	default:
		return fmt.Sprintf("%s %s, and it is no guess", f.Rule, does)
	}
}

// plainest is the shortest text that a glob matches and that reads as one: something in a word's place, nothing at a word's end.
func plainest(glob string) string {
	var b strings.Builder
	for n, r := range glob {
		switch {
		case r == '?':
			b.WriteByte('x')
		case r != '*':
			b.WriteRune(r)
		case n == 0 || glob[n-1] == ' ' || glob[n-1] == '/':
			b.WriteByte('x')
		}
	}
	return strings.TrimSpace(b.String())
}
