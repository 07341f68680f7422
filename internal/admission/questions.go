package admission

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// asksWithin is the time within which an agent's new questions are counted.
const asksWithin = time.Hour

// asks reports whether a decision puts a question to the operators; one that is answered already does not.
func asks(d interlock.Decision) bool {
	return d.Verdict == interlock.Ask && d.Mode == interlock.Enforcing && d.Approval == "" && d.Grant == ""
}

// questions objects to one more question of an agent that has asked its operators more than they can think about: people who
// are asked too often say yes. The same question asked again joins the one that waits and is no new one.
func (a *Admission) questions(ctx context.Context, p Case, standing ledger.Standing, d interlock.Decision,
	now time.Time) ([]interlock.Finding, error) {
	if a.Config.MaxQuestions <= 0 || !asks(d) || p.Loop != nil && p.Loop.Verifying != "" || joined(p.Requester, standing, d, now) != "" {
		return nil, nil
	}
	waiting := 0
	for _, r := range standing.Requests {
		if r.Status == interlock.RequestPending && now.Before(r.Expires) && r.Requester.Agent == p.Requester.Agent &&
			r.Requester.Principal == p.Requester.Principal {
			waiting++
		}
	}
	asked, err := a.Config.Store.Count(ctx, core.Under(ledger.Request, ledger.By(p.Requester.Agent, p.Requester.Principal)),
		ledger.From(now.Add(-asksWithin).UnixNano()+1, a.Config.MaxQuestions))
	if err != nil || max(waiting, asked) < a.Config.MaxQuestions {
		return nil, err
	}
	return []interlock.Finding{{Gate: "limit", Rule: "limit.questions", Layer: 3, Verdict: interlock.Deny,
		Reason:     "this agent has put as many questions to its operators as they are given within an hour",
		Suggestion: "go on with what needs no answer, or wait"}}, nil
}

// joined finds the pending request that asks exactly this already; of several, which only two processes at once can make,
// the one whose id comes first.
func joined(by interlock.Requester, standing ledger.Standing, d interlock.Decision, now time.Time) string {
	first := ""
	for id, r := range standing.Requests {
		if r.Action == d.Action && r.Ruleset == d.Ruleset && r.Status == interlock.RequestPending && now.Before(r.Expires) &&
			r.Requester.Agent == by.Agent && r.Requester.Principal == by.Principal &&
			(first == "" || id < first) {
			first = id
		}
	}
	return first
}
