package console

import (
	"fmt"
	"strings"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/identity"
	"interlock/internal/quorum"
)

// Orders about who there is begin on the command line, which prints the address of the page that shows one: so a person whose
// only key is a passkey governs as well as one with an SSH key.

// ofPeople reports whether an order is about who there is.
func ofPeople(verb interlock.Verb) bool {
	known, _ := quorum.VerbOf(verb)
	return known.Own
}

// checkPeople refuses an order whose detail doesn't say in full what would be so. The address may come from anybody.
func checkPeople(order interlock.Order) error {
	if order.Verb == interlock.VerbAddAgent {
		if err := identity.CheckNamed("subject", order.Subject); err != nil {
			if err := identity.CheckName("subject", order.Subject); err != nil {
				return err
			}
		}
		_, err := admission.TermsOf[admission.AgentTerms](order.Detail)
		return err
	}
	if order.Verb == interlock.VerbWeakKeys {
		if order.Subject != admission.WeakKeysSubject || order.Detail != admission.WeakKeysMay && order.Detail != admission.WeakKeysMayNot {
			return interlock.Errorf(interlock.CodeInvalid, "detail", "the order doesn't say whether they may sign")
		}
		return nil
	}
	if order.Verb == interlock.VerbRevoke {
		return nil // of whoever there is; looked up where it is carried out
	}
	if err := identity.CheckName("subject", order.Subject); err != nil {
		return err
	}
	terms, err := admission.TermsOf[admission.OperatorTerms](order.Detail)
	if err != nil || terms.SSHKey == "" {
		return err
	}
	key, err := identity.ParsePublicKey([]byte(terms.SSHKey))
	if err == nil && key.String() != terms.SSHKey {
		err = interlock.Errorf(interlock.CodeInvalid, "detail", "the key is not in its plain form")
	}
	return err
}

// peopleEffect says in one sentence what an order about who there is does.
func peopleEffect(order interlock.Order) string {
	switch order.Verb {
	case interlock.VerbAddAgent:
		terms, _ := admission.TermsOf[admission.AgentTerms](order.Detail) // it was read before it was shown
		return fmt.Sprintf("The agent %s is registered with the trust %s. Whoever has the token that was printed acts as it.",
			order.Subject, terms.Trust)
	case interlock.VerbWeakKeys:
		return "Of SSH keys without a passphrase it says: " + order.Detail + ". Anything that runs as their owner's user can use such a key."
	case interlock.VerbRevoke:
		return order.Subject + " has no rights here any more, at once. What they approved and nobody has used counts no longer."
	}
	terms, _ := admission.TermsOf[admission.OperatorTerms](order.Detail)
	var parts []string
	if terms.Role != "" {
		parts = append(parts, "has the role "+terms.Role)
	}
	if terms.Teams != nil {
		parts = append(parts, "is of the teams "+strings.Join(terms.Teams, ", "))
	}
	if key, err := identity.ParsePublicKey([]byte(terms.SSHKey)); err == nil {
		parts = append(parts, "signs with the key "+key.Fingerprint())
	}
	if terms.Enrolment != nil {
		parts = append(parts, "may register a passkey by the link that was printed, once")
	}
	if terms.Passkey != "" {
		parts = append(parts, "loses the passkey "+terms.Passkey)
	}
	return order.Subject + " " + strings.Join(parts, ", ") + ". Whoever has these keys answers and orders under this name."
}
