package admission

import (
	"context"
	"slices"
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ledger"
)

// groundBeside loads what a decision reads, and what it reads only because of what its action does: what was decided before, and whether
// agents of its type have done the like. who is its requester as the door names it.
func (a *Admission) groundBeside(ctx context.Context, load loader, p *Case, who interlock.Requester, analysis impact.Analysis,
	also ...ledger.Ref) (ground, error) {
	g, err := a.groundOf(ctx, load, who, also...)
	if err != nil {
		return g, err
	}
	q := *p
	q.Requester = owned(who, g.Standing)
	p.deciding = decidings(p.under.Rules, &q, analysis, g.Standing, a.config.Now())
	refs := commitRefs(p.deciding)
	p.firsts = p.under.firsts(&q, analysis, agentOf(q.Requester, g.Standing))
	refs = append(refs, firstRefs(p.firsts)...)
	if len(refs) == 0 { // nearly always
		return g, nil
	}
	refs = slices.DeleteFunc(refs, func(r ledger.Ref) bool { return slices.Contains(g.reads, r) })
	g.reads = append(g.reads, refs...)
	return g, a.extend(ctx, load, &g, new(names), refs)
}

// becomes finds what a decision leaves behind: what it takes from limits, what it decides, and how far its run's plan has come.
func (a *Admission) becomes(p *Case, d interlock.Decision, standing ledger.Standing, goesOn bool, now time.Time) {
	a.uses(p, d, goesOn, now)
	a.commits(p, d, standing, goesOn, now)
	a.steps(p, d, standing, goesOn)
}

// beside is what stands against an action because of what was decided, planned and done before.
func (p *Case) beside(analysis impact.Analysis, standing ledger.Standing, now time.Time) []interlock.Finding {
	found, since := reversing(p.deciding, standing)
	p.since, p.step = since, stepOutside
	found = append(found, p.under.planned(p, analysis, standing)...)
	return append(found, p.under.first(p, standing)...)
}

// sinceGiven leaves out the approvals that were given before a time.
func sinceGiven(approvals []interlock.ApprovalRequest, since time.Time) []interlock.ApprovalRequest {
	if since.IsZero() {
		return approvals
	}
	return slices.DeleteFunc(approvals, func(r interlock.ApprovalRequest) bool { return r.Approval == nil || r.Approval.At.Before(since) })
}
