package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/classify"
	"interlock/internal/gate"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
)

// An explanation is what --explain adds to an answer.
type explanation struct {
	Tree fact.Step `json:"tree"`
	Ways []way     `json:"ways"` // what would make it pass, best first; none if it is allowed
	// Passes says of each impact that nothing objects to which row of the profile lets it pass.
	Passes map[int]string `json:"passes,omitempty"`
}

// A way is one thing that would make an action pass.
type way struct {
	Kind string   `json:"kind"`          // instead, approve, suppress, profile or none
	Say  string   `json:"say"`           // one sentence
	Run  []string `json:"run,omitempty"` // what to type, where that can be said
}

func explain(evaluator *admission.Evaluator, p admission.Case, standing ledger.Standing, d interlock.Decision,
	at time.Time) *explanation {
	e := &explanation{Tree: evaluator.Explain(p.Proposal, classify.Redact), Ways: []way{}}
	p.Recent = nil // what another profile would make of it by itself
	e.Passes = passes(evaluator, d)
	if d.Verdict.Allowed() {
		return e
	}
	objections := stopping(d)
	for _, f := range objections {
		if f.Suggestion != "" {
			e.Ways = append(e.Ways, way{Kind: "instead", Say: f.Suggestion})
		}
	}
	if d.Verdict == interlock.Ask {
		e.Ways = append(e.Ways, way{Kind: "approve", Say: "a person can let this one action through once it waits",
			Run: []string{"interlock pending", "interlock approve ID"}})
	}
	e.Ways = append(e.Ways, suppressions(d, objections, p.Requester.Agent)...)
	for _, name := range evaluator.Rules.Profiles() {
		other := *evaluator
		if other.Profile = name; name == evaluator.Profile || !other.Evaluate(p, standing, at).Verdict.Allowed() {
			continue
		}
		e.Ways = append(e.Ways, way{Kind: "profile", Say: "profile " + name + " allows it",
			Run: []string{"interlock --profile " + name + " …"}})
	}
	if len(e.Ways) == 0 {
		e.Ways = append(e.Ways, way{Kind: "none",
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
func suppressions(d interlock.Decision, objections []interlock.Finding, agent string) []way {
	if agent == "" {
		agent = "NAME"
	}
	silent := way{Kind: "suppress", Say: "an operator can keep the rule in the way silent for a while"}
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
	return []way{silent}
}

// withoutSecrets is a decision as it may be shown: secrets taken out of what its impacts name, as in the log.
func withoutSecrets(d interlock.Decision) interlock.Decision {
	impacts := append([]interlock.Impact(nil), d.Impacts...)
	for n := range impacts {
		impacts[n].Target, _ = classify.Redact(impacts[n].Target)
		impacts[n].Via, _ = classify.Redact(impacts[n].Via)
	}
	d.Impacts = impacts
	return d
}

// lineWidth is how wide an explanation is printed, whatever the terminal: what is read is also sent on and kept.
const lineWidth = 100

// A page writes wrapped, indented text that no input can break out of.
type page struct{ b strings.Builder }

// line writes one paragraph; what is wrapped stands under the text behind lead.
func (p *page) line(indent int, lead, text string) {
	indent = min(indent, 24)
	first := strings.Repeat(" ", indent) + lead
	p.b.WriteString(first)
	at := indent + len([]rune(lead))
	room := lineWidth - at
	for n, word := range strings.Fields(text) {
		runes := []rune(printable(word))
		for len(runes) > 0 {
			piece := runes
			if len(piece) > lineWidth-indent-len(lead) {
				piece = piece[:lineWidth-indent-len(lead)]
			}
			if n > 0 && room < len(piece)+1 {
				p.b.WriteString("\n" + strings.Repeat(" ", at))
				room = lineWidth - at
			} else if n > 0 && room < lineWidth-at {
				p.b.WriteString(" ")
				room--
			}
			p.b.WriteString(string(piece))
			room -= len(piece)
			runes = runes[len(piece):]
		}
	}
	p.b.WriteString("\n")
}

// printExplanation shows a decision and why to a person.
func printExplanation(w io.Writer, d interlock.Decision, e explanation) error {
	p := &page{}
	p.line(0, "", fmt.Sprintf("%s   risk %d, %s", strings.ToUpper(d.Verdict.String()), d.Risk, d.Danger))
	p.b.WriteString("\nHow it is read\n")
	shown := map[int]bool{}
	p.step(1, e.Tree, d, shown, e.Passes)
	if d.Verdict.Allowed() && len(d.Impacts) == 0 {
		p.line(2, "", "nothing in this has an effect that is known, so there is nothing to object to")
	}
	whole := false
	for _, f := range d.Findings {
		if len(f.Impacts) > 0 {
			continue
		}
		if !whole {
			p.b.WriteString("\nWhat is said about the whole\n")
			whole = true
		}
		p.finding(1, f)
	}
	if len(e.Ways) > 0 {
		p.b.WriteString("\nWhat would make it pass\n")
	}
	for _, way := range e.Ways {
		p.line(2, "- ", way.Say)
		for _, command := range way.Run {
			p.b.WriteString("      " + printable(command) + "\n") // on one line, so that it can be copied
		}
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) step(depth int, s fact.Step, d interlock.Decision, shown map[int]bool, passes map[int]string) {
	lead := s.Kind + ": "
	if s.Kind == "command" {
		lead = "$ "
	}
	p.line(2*depth, lead, orDash(s.Text))
	for _, n := range s.Impacts {
		if n >= len(d.Impacts) || shown[n] {
			continue
		}
		shown[n] = true
		p.line(2*depth+2, "- ", sentence(d.Impacts[n]))
		for _, f := range d.Findings {
			for _, about := range f.Impacts {
				if about == n {
					p.finding(depth+2, f)
				}
			}
		}
		if row := passes[n]; row != "" {
			p.line(2*depth+4, "> ", "passes: no rule objects, and "+row+" lets it")
		}
	}
	for _, inner := range s.Steps {
		p.step(depth+1, inner, d, shown, passes)
	}
}

func (p *page) finding(depth int, f interlock.Finding) {
	p.line(2*depth, "> ", fmt.Sprintf("%s %s (layer %d): %s", strings.ToUpper(f.Verdict.String()), f.Rule, f.Layer, f.Reason))
}

// sentence says what one impact does.
func sentence(i interlock.Impact) string {
	text := fmt.Sprintf("%s %s: %s, %s", i.Kind, orDash(i.Target), i.Reach, i.Reversibility)
	if i.Confidence != interlock.Parsed {
		text += ", " + string(i.Confidence)
	}
	if len(i.Traits) > 0 {
		text += " [" + strings.Join(i.Traits, " ") + "]"
	}
	return text
}
