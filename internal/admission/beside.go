package admission

import (
	"context"
	"slices"
	"time"

	"interlock"
	"interlock/internal/impact"
	"interlock/internal/ledger"
)

// groundBeside loads what a decision reads only because of what its action does: what was decided before, and whether agents of its
// type have done the like.
func (a *Admission) groundBeside(ctx context.Context, load loader, p *Case, analysis impact.Analysis, g *ground) error {
	q := *p
	q.Requester = owned(p.Requester, g.Standing)
	p.deciding = decidings(p.under.Rules, &q, analysis, g.Standing, a.config.Now())
	refs := commitRefs(p.deciding)
	p.firsts = p.under.firsts(&q, analysis, agentOf(q.Requester, g.Standing))
	refs = append(refs, firstRefs(p.firsts)...)
	if len(refs) == 0 { // nearly always
		return nil
	}
	refs = slices.DeleteFunc(refs, func(r ledger.Ref) bool { return slices.Contains(g.reads, r) })
	g.reads = append(g.reads, refs...)
	return a.extend(ctx, load, g, new(names), refs)
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
