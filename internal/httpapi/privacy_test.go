package httpapi_test

import (
	"context"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/privacy"
)

func (b *fakeBackend) DetectPersonal(_ context.Context, by interlock.Requester, text, subject string, keep bool) (governance.PersonalAnswer,
	error) {
	found := []governance.PersonalFound{{Type: "us-ssn", Tier: "high", Hash: "01"}}
	switch {
	case text == "" || by.Agent == "" || by.Run != "run-1":
		return governance.PersonalAnswer{}, interlock.Errorf(interlock.CodeInvalid, "text", "is missing")
	case subject != "":
		return governance.PersonalAnswer{Outcome: privacy.ConsentRequired, Code: governance.CodePrivacy, Message: "no", Text: "[redacted]",
			Found: found, Needs: []string{privacy.NeedsConsent, privacy.NeedsCouncil}, Event: "e1"}, nil
	case keep:
		return governance.PersonalAnswer{}, interlock.Errorf(interlock.CodeInvalid, "subject", "name whose data is to be kept")
	}
	return governance.PersonalAnswer{Outcome: privacy.Redacted, Message: "some", Text: "[redacted]", Found: found, Event: "e1"}, nil
}
