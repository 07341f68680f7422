package admission

import (
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
)

// alsoRead names what a decision reads besides its requester's part: what is known of the tool and of how the agent's calls have
// failed, and an approval that is said to go on counting.
func alsoRead(p Case) (refs []ledger.Ref) {
	if p.Upstream != nil {
		refs = append(refs, core.Key(ledger.Pin, ledger.PinKey(p.Upstream.Server, p.Upstream.Tool)), failedOf(p.Requester))
	}
	if p.Continues != "" {
		refs = append(refs, core.Key(ledger.Request, p.Continues))
	}
	return refs
}
