// Package explain says how an action is read, where rules object, and what would make it pass: for the command line and for the
// console, which tell the same. It decides nothing and records nothing. Start with Of.
package explain

import (
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/classify"
	"interlock/internal/gate"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// A Step is how one part of an action is read.
type Step = fact.Step

// An Explanation is what is said of a decision beside its findings.
type Explanation struct {
	Tree Step  `json:"tree"`
	Ways []Way `json:"ways"` // what would make it pass, best first; none if it is allowed
	// Passes says of each impact that nothing objects to which row of the profile lets it pass.
	Passes map[int]string `json:"passes,omitempty"`
	// Work is how many rules were held against it.
	Work ruleset.Work `json:"work"`
}

// A Way is one thing that would make an action pass.
type Way struct {
	Kind string   `json:"kind"`          // instead, approve, suppress, profile or none
	Say  string   `json:"say"`           // one sentence
	Run  []string `json:"run,omitempty"` // what to type, where that can be said
}

// Of explains a decision that an evaluator made of a case.
func Of(evaluator *admission.Evaluator, p admission.Case, standing ledger.Standing, d interlock.Decision,
	at time.Time) *Explanation {
	e := &Explanation{Tree: evaluator.Explain(p.Proposal, classify.Redact), Ways: []Way{},
		Work: evaluator.Work(p.Proposal)}
	p.Recent = nil // what another profile would make of it by itself
	e.Passes = passes(evaluator, d)
	if d.Verdict.Allowed() {
		return e
	}
	objections := stopping(d)
	for _, f := range objections {
		if f.Suggestion != "" {
			e.Ways = append(e.Ways, Way{Kind: "instead", Say: f.Suggestion})
		}
	}
	if d.Verdict == interlock.Ask {
		e.Ways = append(e.Ways, Way{Kind: "approve", Say: "a person can let this one action through once it waits",
			Run: []string{"interlock pending", "interlock approve ID"}})
	}
	e.Ways = append(e.Ways, suppressions(d, objections, p.Requester.Agent)...)
	for _, name := range evaluator.Rules.Profiles() {
		other := *evaluator
		if other.Profile = name; name == evaluator.Profile || !admission.Evaluate(&other, p, standing, at).Verdict.Allowed() {
			continue
		}
		e.Ways = append(e.Ways, Way{Kind: "profile", Say: "profile " + name + " allows it",
			Run: []string{"interlock --profile " + name + " …"}})
	}
	if len(e.Ways) == 0 {
		e.Ways = append(e.Ways, Way{Kind: "none",
			Say: "nothing but doing something else: no approval, no operator's order and no profile lets this pass"})
	}
	return e
}

// passes says of each impact that nothing objects to by which row of the profile it passes.
func passes(evaluator *admission.Evaluator, d interlock.Decision) map[int]string {
	profile, ok := evaluator.Rules.Profile(evaluator.Profile)
	if !ok {
		return nil
	}
	objected := map[int]bool{}
	for _, f := range d.Findings {
		for _, n := range f.Impacts {
			objected[n] = objected[n] || !f.Verdict.Allowed()
		}
	}
	out := map[int]string{}
	for n := range d.Impacts {
		if row := profile.Row(&d.Impacts[n]); row != nil && row.Verdict.Allowed() && !objected[n] {
			out[n] = "profile." + profile.Name + "." + row.ID
		}
	}
	return out
}

// stopping are the findings that argue for more than allow, each rule once.
func stopping(d interlock.Decision) []interlock.Finding {
	var out []interlock.Finding
	seen := map[string]bool{}
	for _, f := range d.Findings {
		if !f.Verdict.Allowed() && !seen[f.Rule] {
			seen[f.Rule] = true
			out = append(out, f)
		}
	}
	return out
}

// suppressions are the orders that would keep the rules in the way silent, if every one of them can be.
func suppressions(d interlock.Decision, objections []interlock.Finding, agent string) []Way {
	if agent == "" {
		agent = "NAME"
	}
	silent := Way{Kind: "suppress", Say: "an operator can keep the rule in the way silent for a while"}
	if len(objections) > 1 {
		silent.Say = "an operator can keep the rules in the way silent for a while, all of them"
	}
	for _, f := range objections {
		if f.Layer == 1 || f.Verdict == interlock.Halt || !gate.Of(&f).Suppressible ||
			strings.HasPrefix(f.Rule, "unknown.") || strings.HasPrefix(f.Rule, "self.") {
			return nil
		}
		if f.Verdict == interlock.Deny {
			silent.Say = strings.Replace(silent.Say, "an operator", "an admin", 1)
		}
		silent.Run = append(silent.Run, "interlock rules suppress "+f.Rule+" --agent "+agent+" --reason TEXT --for 1d")
	}
	return []Way{silent}
}

// WithoutSecrets is a decision as it may be shown: secrets taken out of what its impacts name, as in the log.
func WithoutSecrets(d interlock.Decision) interlock.Decision {
	impacts := append([]interlock.Impact(nil), d.Impacts...)
	for n := range impacts {
		impacts[n].Target, _ = classify.Redact(impacts[n].Target)
		impacts[n].Via, _ = classify.Redact(impacts[n].Via)
	}
	d.Impacts = impacts
	return d
}

// Sentence says what one impact does.
func Sentence(i interlock.Impact) string {
	text := fmt.Sprintf("%s %s: %s, %s", i.Kind, orDash(i.Target), i.Reach, i.Reversibility)
	if i.Confidence != interlock.Parsed {
		text += ", " + string(i.Confidence)
	}
	if len(i.Traits) > 0 {
		text += " [" + strings.Join(i.Traits, " ") + "]"
	}
	return text
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
