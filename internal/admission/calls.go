package admission

import "interlock/internal/ledger"

// writeCall keeps how a call was decided, for when it is seen again.
func (d *pendingDecision) writeCall() error {
	if (d.Requester.Call != "" || d.Event != "") && !d.Unseen {
		d.change.Writes = append(d.change.Writes, ledger.Rows(ledger.CallBody{Requester: d.Requester, Action: d.made.Action,
			Anywhere: anywhere(d.Proposal), Events: events(d.Proposal), Decision: d.record, Request: d.answer.Request,
			Gateway: d.answer.Gateway, At: d.now})...)
	}
	return nil
}
