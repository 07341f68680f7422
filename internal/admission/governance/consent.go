package governance

import (
	"context"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/personal"
	"interlock/internal/privacy"
)

// What a person permits to be kept of them is put on record by an operator, whose order says how it was given; the words themselves are
// known by their digest. Data of the high tier takes the council's approval of that consent as well (MACE 4).

// readConsent names what a consent is written beside: whoever else has the same id, so that none takes another's place.
func readConsent(o interlock.Order) []ledger.Ref {
	refs := core.ConsentRefs(o.Subject)
	if terms, err := TermsOf[privacy.Terms](o.Detail); err == nil && terms.ID != "" {
		refs = append(refs, core.Key(ledger.Consent, terms.ID))
	}
	return refs
}

func (a *Governance) consent(_ context.Context, c *core.PendingOrder) error {
	if err := privacy.CheckSubject(c.Subject); err != nil {
		return err
	}
	terms, err := TermsOf[privacy.Terms](c.Detail)
	if err == nil {
		err = terms.Check(c.Now)
	}
	if err != nil {
		return err
	}
	if _, taken := c.Standing.Others[ledger.Consent][terms.ID]; taken {
		return interlock.Errorf(interlock.CodeConflict, "consent_id", "this consent is on record already; one that is given again says when")
	}
	if len(c.Standing.Consents(c.Subject)) >= privacy.MaxConsents {
		return interlock.Errorf(interlock.CodeLimited, "subject", "%d consents of this person are on record already", privacy.MaxConsents)
	}
	person, known := c.Standing.Person(c.Subject)
	if !known {
		if person, err = a.newPerson(c.Subject, c.Now); err != nil {
			return err
		}
		c.Change.Writes = append(c.Change.Writes, ledger.Rows(person)...)
	} else if !person.Destroyed.IsZero() {
		return keyDestroyed(person)
	}
	terms.Until = terms.Until.UTC()
	consent := privacy.Consent{Terms: terms, Subject: c.Subject, At: c.Now.Truncate(time.Microsecond), Operator: c.Operator}
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(consent)...)
	kept := a.OrderKept(c.Order)
	return a.Append(&c.Change, interlock.EventConsent, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.ConsentRecord{Consent: consent, Order: &kept})
}

// newPerson makes the key of somebody of whom something may be kept.
func (a *Governance) newPerson(subject string, now time.Time) (ledger.PersonBody, error) {
	if a.Config.People == nil {
		return ledger.PersonBody{}, noVault()
	}
	public, key, err := a.Config.People.Make()
	return ledger.PersonBody{Subject: subject, Public: public, Key: key, Made: now.Truncate(time.Microsecond)}, err
}

func keyDestroyed(p ledger.PersonBody) error {
	return interlock.Errorf(interlock.CodeConflict, "subject", "key already destroyed: what was kept of this person was deleted by request %s",
		p.Request)
}

func readConsentNamed(o interlock.Order) []ledger.Ref {
	return []ledger.Ref{core.Key(ledger.Consent, o.Subject)}
}

func findConsent(c *core.PendingOrder) error {
	consent, known := c.Standing.Others[ledger.Consent][c.Subject].(privacy.Consent)
	switch {
	case !known:
		return interlock.Errorf(interlock.CodeNotFound, "consent", "no consent has this id; `interlock privacy list` shows them")
	case !consent.Revoked.IsZero():
		return interlock.Errorf(interlock.CodeConflict, "consent", "this consent is revoked already")
	}
	return nil
}

func (a *Governance) revokeConsent(_ context.Context, c *core.PendingOrder) error {
	consent := c.Standing.Others[ledger.Consent][c.Subject].(privacy.Consent)
	consent.Revoked = c.Now.Truncate(time.Microsecond)
	c.Change.Writes = ledger.Rows(consent)
	kept := a.OrderKept(c.Order)
	return a.Append(&c.Change, interlock.EventConsentRevoked, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.ConsentRecord{Consent: consent, Order: &kept})
}

// approvable is the consent that a target names, if the council has anything to approve of it.
func approvable(standing *ledger.Standing, target string, now time.Time) (privacy.Consent, error) {
	id, _ := strings.CutPrefix(target, privacy.TargetConsent)
	consent, known := standing.Others[ledger.Consent][id].(privacy.Consent)
	switch {
	case !known || id == target:
		return consent, interlock.Errorf(interlock.CodeNotFound, "target", "name a consent as consent:ID; `interlock privacy list` shows them")
	case !consent.Revoked.IsZero() || !now.Before(consent.Until):
		return consent, interlock.Errorf(interlock.CodeConflict, "target", "this consent is over")
	case consent.Tier != personal.High || consent.Council != "":
		return consent, interlock.Errorf(interlock.CodeConflict, "target", "this consent takes no council's approval, or has it")
	}
	return consent, nil
}

// approveConsent has a consent cover data of the high tier, as the council has decided.
func (a *Governance) approveConsent(_ context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	consent, err := approvable(&c.Standing, r.Action.Target, c.Now)
	if err != nil {
		return err
	}
	consent.Council = r.ID
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(consent)...)
	return a.Append(&c.Change, interlock.EventConsent, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.ConsentRecord{Consent: consent, Request: r.ID})
}

// Consented is what may be kept of a person by what an agent does in its run: nothing where no consent of theirs is in force. The zero
// subject has consented to nothing.
func (a *Governance) Consented(ctx context.Context, subject string, by interlock.Requester) (privacy.Authority, error) {
	if subject == "" {
		return privacy.Authority{}, nil
	}
	standing, err := a.Ground(ctx, core.ConsentRefs(subject)...)
	if err != nil {
		return privacy.Authority{}, err
	}
	return permitted(standing, subject, by, a.Config.Now()), nil
}

// permitted counts a person's consents, while there is a key that what is kept of them can be sealed under.
func permitted(standing ledger.Standing, subject string, by interlock.Requester, now time.Time) privacy.Authority {
	if p, known := standing.Person(subject); !known || !p.Destroyed.IsZero() {
		return privacy.Authority{}
	}
	return privacy.Permitted(standing.Consents(subject), by.Agent, by.Run, now)
}
