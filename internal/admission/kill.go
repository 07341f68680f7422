package admission

import (
	"interlock"
	"interlock/internal/admission/containment"
)

// Everything is stopped by a row of the ledger, which a signed order or a machine that watches has written, and by a file that
// every process looks at before each permit. Either is enough, and only an admin's signed order ends both (EC-K-1, EC-ENV-21).

func (d *pendingDecision) killFindings() []interlock.Finding {
	return containment.Stopping(d.stop, d.Sandboxed, d.now)
}
