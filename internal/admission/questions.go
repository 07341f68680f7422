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

// asksAnew reports whether a decision puts a question that does not wait already. A paused agent opens no further ones.
func (d *pendingDecision) asksAnew() bool {
	return asks(d.made.Decision) && (d.Loop == nil || d.Loop.Verifying == "") && joined(d.Requester, d.standing, d.made.Decision, d.now) == ""
}

// countQuestions counts those that an agent has put lately which is about to put another.
func (d *pendingDecision) countQuestions(ctx context.Context) (err error) {
	if most := d.a.Config.MaxQuestions; most > 0 && d.asksAnew() {
		d.asked, err = d.a.Config.Store.Count(ctx, core.Under(ledger.Request, ledger.By(d.Requester.Agent, d.Requester.Principal)),
			ledger.From(d.now.Add(-asksWithin).UnixNano()+1, most))
	}
	return err
}

// questions objects to one more question of an agent that has asked its operators more than they can think about: people who
// are asked too often say yes. The same question asked again joins the one that waits and is no new one.
func (d *pendingDecision) questions() []interlock.Finding {
	if d.a.Config.MaxQuestions <= 0 || !d.asksAnew() {
		return nil
	}
	waiting := 0
	for _, r := range d.standing.Requests {
		if r.Status == interlock.RequestPending && d.now.Before(r.Expires) && r.Requester.Agent == d.Requester.Agent &&
			r.Requester.Principal == d.Requester.Principal {
			waiting++
		}
	}
	if max(waiting, d.asked) < d.a.Config.MaxQuestions {
		return nil
	}
	return []interlock.Finding{{Gate: "limit", Rule: "limit.questions", Layer: 3, Verdict: interlock.Deny,
		Reason:     "this agent has put as many questions to its operators as they are given within an hour",
		Suggestion: "go on with what needs no answer, or wait"}}
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
