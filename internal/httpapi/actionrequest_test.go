package httpapi_test

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
)

func (b *fakeBackend) AskAction(_ context.Context, by interlock.Requester, kind, _ string,
	terms governance.RequestTerms) (interlock.ActionRequest, ledger.Receipt, error) {
	if kind != "code_upload" || by.Agent == "" {
		return interlock.ActionRequest{}, ledger.Receipt{}, interlock.Errorf(interlock.CodeInvalid, "type", "name the action")
	}
	return interlock.ActionRequest{ID: "act_1", Status: interlock.ActionPending, Class: 3, Digest: "sha256:01",
		Action: interlock.GovernedAction{Type: kind, Target: terms.Target}, Ballot: interlock.Ballot{Approval: interlock.ApprovalCouncil,
			Closes: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}}, ledger.Receipt{Events: []string{"e1"}}, nil
}
