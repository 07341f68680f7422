package core

import (
	"strings"
	"time"

	"interlock"
	"interlock/internal/classify"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/origin"
	"interlock/internal/ruleset"
)

// Evaluator decides without recording: what `interlock check` and the rule tests use, and what Admission decides with.
type Evaluator struct {
	Rules    *ruleset.Ruleset
	Analyser *impact.Analyser
	Mode     interlock.Mode
	Profile  string
	Attended bool // somebody may be asked, where the door can ask at all

	Own     map[string][]byte // the operator's documents among the rules, by path
	Ordered Ordering          // who ordered them

	Quiet func(time.Time) bool // optional: when nobody is there although somebody is at other times

	Texts *classify.Library // optional: what texts are classified by; without it each is blocked
}

// View is what is known of the world for a proposal, with what the rules say is production.
func (e *Evaluator) View(p interlock.Proposal) interlock.View {
	p.View.Production = append(append([]string{}, p.View.Production...), e.Rules.Production()...)
	p.View.Staging = e.Rules.Staging() // nobody else says so
	return p.View
}

// Explain returns how a proposal's action is read, as a tree whose steps name the impacts of the decision about it by
// their place in [interlock.Decision.Impacts]. redact takes secrets out of what is shown; texts are shortened after it.
func (e *Evaluator) Explain(p interlock.Proposal, redact func(string) (string, []string)) fact.Step {
	p.View = e.View(p)
	return shown(e.Analyser.Explain(p.View, p.Action), redact)
}

// Work returns how many rules are held against a proposal, of how many.
func (e *Evaluator) Work(p interlock.Proposal) ruleset.Work {
	p.View = e.View(p)
	return gate.WorkOf(e.Rules, e.Analyser.Analyse(p.View, p.Action))
}

// maxShown is how much of a step's text is shown, in runes.
const maxShown = 160

func shown(s fact.Step, redact func(string) (string, []string)) fact.Step {
	text, _ := redact(s.Text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxShown {
		runes = append(runes[:maxShown-1], '…')
	}
	s.Text = string(runes)
	steps := make([]fact.Step, len(s.Steps))
	for i := range s.Steps {
		steps[i] = shown(s.Steps[i], redact)
	}
	if s.Steps = steps; len(steps) == 0 {
		s.Steps = nil
	}
	return s
}

func (e *Evaluator) NotesUses() bool {
	return e.Mode == interlock.Enforcing && e.Rules.Maso().NotesFirstUse()
}

// Prompted adds to what a run has heard what its user said.
func (e *Evaluator) Prompted(h origin.Heard, run, text string, now time.Time) origin.Heard {
	return origin.Prompt(h, run, text, e.Analyser.Wishes(text), now)
}

// Returned adds to what a run has heard what an action of it returned.
func (e *Evaluator) Returned(h origin.Heard, run string, view interlock.View, action interlock.Action, text string,
	now time.Time) origin.Heard {
	return origin.Result(h, run, action, e.Returns(view, action, impact.Orders(text)), text, now)
}

// Returns says what kind of action it is that returned something. Inside is one of nobody else's tools that reaches nobody, so
// that what it returns is the project's own; looking is one that reads here and does nothing else.
func (e *Evaluator) Returns(view interlock.View, action interlock.Action, orders bool) origin.Returned {
	impacts := e.Analyser.Analyse(view, action).Impacts
	here, looks := true, len(impacts) > 0
	for n := range impacts {
		i := &impacts[n]
		if i.Kind == interlock.ImpactNetwork || i.Kind == interlock.ImpactMessage || i.Reach == interlock.ReachExternal ||
			i.Reach == interlock.ReachProduction {
			here = false
		}
		looks = looks && i.Kind == interlock.ImpactRead
	}
	own := action.Kind != interlock.KindTool && action.Kind != interlock.KindHTTP
	return origin.Returned{Inside: own && here, Looks: looks && here, Orders: orders}
}

// WantsJudge reports whether the profile wants a judge's Allow of whatever is not denied.
func (e *Evaluator) WantsJudge() bool {
	profile, known := e.Rules.Profile(e.Profile)
	return known && profile.Judge == ruleset.JudgeRequired
}
