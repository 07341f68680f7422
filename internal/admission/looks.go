package admission

import (
	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// A look is a feature that decides with what is known beside the action, or keeps something of what was decided. The findings are
// of gates that have no check in [gate.Gates]. A new one is a file with its functions, and a row.
type look struct {
	gates []string // whose findings it makes: those that [gate.Gates] says looks find for
	// what it looks at beside what every decision of its requester reads: before it is decided, and to collect what follows from it
	before, after func(*pendingDecision) []ledger.Ref
	finds         func(*pendingDecision) []interlock.Finding // what it objects to an action
	// also where an action is only tried: it needs the case and a standing, and no more
	tried  bool
	writes func(*pendingDecision) error // what of the decision it adds to the change
	late   bool                         // after all that are not
}

// looks are all of them. No order changes a verdict: it is that of findings in the record, and of the rows and events of a
// change.
var looks = []look{
	{gates: []string{gate.NameKill}, tried: true, finds: (*pendingDecision).killFindings},
	{gates: []string{"hold"}, tried: true, finds: (*pendingDecision).holdFindings},
	{gates: []string{"phase", "breaker"}, tried: true, finds: (*pendingDecision).phaseFindings},
	{tried: true, finds: (*pendingDecision).watchFindings},
	{writes: (*pendingDecision).updateBreakers, late: true},
	{gates: []string{"context"}, tried: true, finds: (*pendingDecision).contextFindings},
	{after: (*pendingDecision).denialRefs, writes: (*pendingDecision).countDenials, late: true},
	{writes: (*pendingDecision).writeRateLimits, late: true},
	{gates: []string{gate.NameMessage, gate.NameDelivery}, finds: (*pendingDecision).messageFindings,
		writes: (*pendingDecision).writeMessage, late: true},
	{gates: []string{gate.NameLimit}, finds: (*pendingDecision).limitFindings, after: (*pendingDecision).limitRefs,
		writes: (*pendingDecision).spendLimits},
	{before: (*pendingDecision).continuedRefs, writes: (*pendingDecision).keepUnspent, late: true},
	{gates: []string{gate.NameBudget}, before: (*pendingDecision).budgetRefs, finds: (*pendingDecision).budgetFindings},
	{gates: []string{gate.NameFirstUse}, before: (*pendingDecision).usesRefs, finds: (*pendingDecision).firstUseFindings,
		writes: (*pendingDecision).writeFirstUse},
	{writes: (*pendingDecision).writeOwed},
	{writes: (*pendingDecision).writeCall},
	{writes: (*pendingDecision).writeJudgments},
	{before: (*pendingDecision).writtenRefs, writes: (*pendingDecision).writeWritten},
	{before: (*pendingDecision).heardRefs},
	{writes: (*pendingDecision).writeRecent},
	{after: (*pendingDecision).councilRefs},
	{writes: (*pendingDecision).closeRequests},
	{gates: []string{"commit"}, before: (*pendingDecision).commitRefs, finds: (*pendingDecision).commitFindings,
		writes: (*pendingDecision).writeCommitments},
	{gates: []string{"plan"}, finds: (*pendingDecision).planFindings, writes: (*pendingDecision).writePlan},
	{gates: []string{"first"}, before: (*pendingDecision).firstRefs, finds: (*pendingDecision).firstFindings},
	{writes: (*pendingDecision).writeExecution, late: true},
	{writes: (*pendingDecision).writeChallenge, late: true},
	{writes: (*pendingDecision).writeInvalid, late: true},
}

// findings are what looks object, of those that need no more than a case and a standing, or of the others.
func findings(of []look, d *pendingDecision, tried bool) (found []interlock.Finding) {
	for n := range of {
		if of[n].finds != nil && of[n].tried == tried {
			found = append(found, of[n].finds(d)...)
		}
	}
	return found
}

// alsoRead names what a decision reads besides its requester's part: what is known of the tool and of how the agent's calls have
// failed, and an approval that is said to go on counting.
func alsoRead(p *Case) (refs []ledger.Ref) {
	if p.Upstream != nil {
		refs = append(refs, core.Key(ledger.Pin, ledger.PinKey(p.Upstream.Server, p.Upstream.Tool)), failedOf(p.Requester))
	}
	if p.Continues != "" {
		refs = append(refs, core.Key(ledger.Request, p.Continues))
	}
	return refs
}
