package admission

import (
	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/impact"
	"interlock/internal/ledger"
)

// Judges are language models that see an action, its impacts and the ground rules, and nothing else. They are asked after every gate,
// about what none of them denies (ASA 7.2), and outside of the commit: the decision is made once more with what they said, and what they
// said counts only for exactly what they were asked about.

// inquire returns what judges have to be asked about a decision, or nil where nobody has to be. Nothing is asked about what a gate
// denies, so that no byte of it leaves (ASA 8.1), nor where nothing is evaluated.
func (a *Admission) inquire(p *Case, analysis impact.Analysis, d *interlock.Decision, objective string, tier int) (*judging.Inquiry, error) {
	if len(a.Config.Judges) == 0 || d.Mode != interlock.Enforcing && d.Mode != interlock.Monitoring || judging.DeniedBefore(d) {
		return nil, nil
	}
	required := p.under.WantsJudge()
	if !required && !a.Config.JudgeWhen.Due(analysis.Impacts) {
		return nil, nil
	}
	q, err := a.Inquiries.About(a.Judging, p.Action, analysis, required, objective, tier)
	if err != nil {
		return nil, err
	}
	if later := a.Later(q, analysis.Impacts, d); later != nil {
		own := *q // the question is kept for whoever needs it again
		own.Later = later
		return &own, nil
	}
	return q, nil
}

// unheard returns the error that ends a commit where judges have to be heard of a decision first, and takes what they said of another away.
func (a *Admission) unheard(p *Case, analysis impact.Analysis, d *interlock.Decision, standing ledger.Standing) error {
	tier := p.under.Rules.TierFor(core.AgentOf(p.Requester, standing))
	q, err := a.inquire(p, analysis, d, objective(p, tier, standing), tier)
	if err != nil {
		return err
	}
	return p.judging.Needs(q)
}

// remembered names what judges said of the action before, as far as its first reading says what it does.
func (a *Admission) remembered(p *Case, analysis impact.Analysis) (*judging.Inquiry, []ledger.Ref) {
	if len(a.Config.Judges) == 0 || p.judging.Key != "" {
		return nil, nil
	}
	d := interlock.Decision{Mode: p.under.Mode}
	q, err := a.inquire(p, analysis, &d, "", 0)
	if err != nil || q == nil {
		return nil, nil // evaluating it finds the same, and says so
	}
	p.judging.Looked = q.Key
	return q, []ledger.Ref{core.Key(ledger.Judged, string(q.Key))}
}

// judged are the rows of what judges said and cost. An answer is remembered: a denial for as long as neither ground rules nor models
// change, an Allow for a while. An answer that failed is none.
func (d *pendingDecision) writeJudgments() error {
	d.change.Writes = append(d.change.Writes, d.a.JudgedRows(&d.judging, d.now)...)
	return nil
}
