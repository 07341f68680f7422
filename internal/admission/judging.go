package admission

import (
	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/impact"
	"interlock/internal/ledger"
)

// judgedLooks are of what judges said and still owe.
var judgedLooks = []look{
	{writes: (*pendingDecision).writeOwed},
	{writes: (*pendingDecision).writeJudgments},
}

// Judges are language models that see an action, its impacts and the ground rules, and nothing else. They are asked after every gate,
// about what none of them denies (ASA 7.2), and outside of the commit: the decision is made once more with what they said, and what they
// said counts only for exactly what they were asked about.

// inquire returns what judges have to be asked about a decision, or nil where nobody has to be. Nothing is asked about what a gate
// denies, so that no byte of it leaves (ASA 8.1), nor where nothing is evaluated.
func (a *Admission) inquire(p *Case, analysis impact.Analysis, d *interlock.Decision, objective string,
	tier int) (*judging.Inquiry, error) {
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
		own := *q // the question is kept for when it is needed again
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

// judged are the rows of what judges said and cost. An answer is remembered: a denial for as long as neither ground rules nor
// models change, an Allow for a while. An answer that failed is none.
func (d *pendingDecision) writeJudgments() error {
	d.change.Writes = append(d.change.Writes, d.a.JudgedRows(&d.judging, d.now)...)
	return nil
}

// From tier 2 on judges look at what a run puts out before it is committed outside, beside the objective that the run was
// registered with and that nothing changes since (EC-2.5). It leaves in two ways: by an action that reaches beyond the machine,
// and as the result of a run that nobody delegated, which ends the orchestration. What a run hands to the one that delegated it
// stays inside.

// objective is what the run of a case is for, where its outputs are looked at. Its own words for each action are no part of it.
func objective(p *Case, tier int, standing ledger.Standing) string {
	if tier < judging.OutputTier {
		return ""
	}
	run, _ := standing.Run(p.Requester.Agent, standing.RunOf(p.Requester))
	return run.Task
}

// Where an operator has said so of a class of actions, a judge is heard after the action was let through, or of a share of the
// class only (ASA 17.1, 17.2). Nothing that can't be undone for certain is: see [gate.JudgedBefore], which every decision holds
// it to. That it was so is in the decision's record, as what the judge did not say, with what was drawn, so that the decision
// is made again alike.

// writeOwed adds to the change that lets an action through that its judge is owed an answer, where one is.
func (w *pendingDecision) writeOwed() error {
	a, p, d, now := w.a, w.Case, w.made.Decision, w.now
	j := &p.judging
	if j.Owes == nil || j.Owes.Key != j.Key || len(j.Said) != 1 || j.Said[0].Failure != interlock.JudgeOwed || !d.Answer.Allowed() {
		return nil
	}
	by, err := a.Self()
	if err != nil {
		return err
	}
	asks := j.Owes.Asks[0]
	w.change.Writes = append(w.change.Writes, ledger.Rows(ledger.OwedBody{Requester: p.Requester, Action: j.Owes.Action,
		Impacts: j.Owes.Impacts,
		Class:   asks.Class, Payload: string(asks.Payload), Judge: j.Said[0].Judge, By: by, At: now,
		Until: now.Add(a.Config.JudgeLater.Within)})...)
	return nil
}
