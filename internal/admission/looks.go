package admission

import (
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// A look is a feature that decides with what is known beside the action, or keeps something of what was decided. The findings are
// of gates that have no check in the table of package gate. A new one is a row beside its functions, in the file of its feature.
type look struct {
	gates []string // whose findings it makes: those that the table of gates says looks find for
	// what it looks at beside what every decision of its requester reads: before it is decided, and to collect what follows from it
	before, after func(*pendingDecision) []ledger.Ref
	finds         func(*pendingDecision) []interlock.Finding // what it objects to an action
	// also where an action is only tried: it needs the case and a standing, and no more
	tried  bool
	writes func(*pendingDecision) error // what of the decision it adds to the change
	late   bool                         // after all that are not
}

// looks are all of them, from the files of their features. No order changes a verdict: it is that of findings in the record, and of the
// rows and events of a change.
var looks = slices.Concat(containedLooks, knownLooks, repeatedLooks, limitLooks, messageLooks, continuedLooks, budgetLooks,
	firstLooks, judgedLooks, authorLooks, heardLooks, questionLooks, commitLooks, planLooks, moduleLooks, loopLooks,
	challengeLooks, textLooks, proposalLooks)

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
