package admission

import (
	"context"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/impact"
	"interlock/internal/ledger"
)

// groundBeside loads what a decision reads, and what it reads only because of what its action does: what was decided before, and whether
// agents of its type have done the like. who is its requester as the door names it.
func (a *Admission) groundBeside(ctx context.Context, load core.LoadRows, p *Case, who interlock.Requester, analysis impact.Analysis,
	also ...ledger.Ref) (core.DecisionRows, error) {
	g, err := a.GroundOf(ctx, load, who, also...)
	if err != nil {
		return g, err
	}
	q := *p
	q.Requester = core.Owned(who, g.Standing)
	p.deciding = decidings(p.under.Rules, &q, analysis, g.Standing, a.Config.Now())
	refs := runs.CommitRefs(p.deciding)
	p.firsts = firstsOf(&p.under.Evaluator, &q, analysis, core.AgentOf(q.Requester, g.Standing))
	refs = append(refs, firstRefs(p.firsts)...)
	if len(refs) == 0 { // nearly always
		return g, nil
	}
	refs = slices.DeleteFunc(refs, func(r ledger.Ref) bool { return slices.Contains(g.Reads, r) })
	g.Reads = append(g.Reads, refs...)
	return g, a.Extend(ctx, load, &g, new(core.Names), refs)
}

// becomes finds what a decision leaves behind: what it takes from limits, what it decides, and how far its run's plan has come.
func (a *Admission) becomes(p *Case, d interlock.Decision, standing ledger.Standing, goesOn bool, now time.Time) {
	a.uses(p, d, goesOn, now)
	a.commits(p, d, standing, goesOn, now)
	a.steps(p, d, standing, goesOn)
}

// beside is what stands against an action because of what was decided, planned and done before.
func (p *Case) beside(analysis impact.Analysis, standing ledger.Standing, now time.Time) []interlock.Finding {
	found, since := runs.Reversing(p.deciding, standing)
	p.since, p.step = since, runs.StepOutside
	found = append(found, plannedFindings(&p.under.Evaluator, p, analysis, standing)...)
	return append(found, firstObjections(&p.under.Evaluator, p, standing)...)
}

// sinceGiven leaves out the approvals that were given before a time.
func sinceGiven(approvals []interlock.ApprovalRequest, since time.Time) []interlock.ApprovalRequest {
	if since.IsZero() {
		return approvals
	}
	return slices.DeleteFunc(approvals, func(r interlock.ApprovalRequest) bool { return r.Approval == nil || r.Approval.At.Before(since) })
}
