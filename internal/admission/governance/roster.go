package governance

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// Who sits on the council, who governs and who audits is not for one admin to say where a council governs: they could seat people of
// their own and have those vote (MACE safety boundaries 2, governance change).

// sits reports whether a council is in office that can decide: as many members who can sign as it takes. Before that an admin seats it.
func (a *Governance) sits(standing *ledger.Standing) bool {
	members := 0
	for _, o := range standing.Operators { // any order: they are counted
		if o.Role == quorum.RoleCouncil && o.Revoked.IsZero() && signs(o) {
			members++
		}
	}
	return members >= a.Council().Quorum
}

// rosterChange is what an order about an operator is as a governed action. None is it where it is about nobody who votes, governs or
// audits, before and after, or where somebody changes their own keys: who they are stays as it was.
func rosterChange(c *core.PendingOrder) (action interlock.GovernedAction, is bool, err error) {
	operator, known := c.Standing.Operators[c.Subject]
	known = known && operator.Revoked.IsZero()
	action = interlock.GovernedAction{Type: quorum.ActRoster, Target: "operator:" + c.Subject, Params: "revoke"}
	var terms OperatorTerms
	if c.Verb != interlock.VerbRevoke {
		if terms, err = TermsOf[OperatorTerms](c.Detail); err != nil {
			return action, false, err
		}
		action.Params = rosterParams(c.Verb, terms)
	}
	own := c.Verb == interlock.VerbChangeOperator && c.Subject == c.Operator && terms.Role == "" && terms.Teams == nil
	return action, !own && (known && seated(operator.Role) || seated(terms.Role)), nil
}

// seated reports whether a role is one that a council that governs gives and takes.
func seated(role string) bool {
	return quorum.Governs(role) || role == quorum.RoleCouncil || role == quorum.RoleAuditor
}

// rosterParams says of an order about an operator all that it changes, as those who vote on it read it and as it is signed later. A
// link for a passkey is not named by its code, which is made when the order is.
func rosterParams(verb interlock.Verb, terms OperatorTerms) string {
	said := []string{"change"}
	if verb == interlock.VerbAddOperator {
		said[0] = "add"
	}
	say := func(name, value string) {
		if value != "" {
			said = append(said, name+"="+value)
		}
	}
	say("role", terms.Role)
	say("teams", url.QueryEscape(strings.Join(terms.Teams, ","))) // so that no team's name reads as another part
	if terms.Teams != nil && len(terms.Teams) == 0 {
		said = append(said, "teams=")
	}
	say("fingerprint", fingerprint(terms.SSHKey))
	if terms.Enrolment != nil {
		said = append(said, "passkey=by-link")
	}
	say("remove-passkey", terms.Passkey)
	return strings.Join(said, " ")
}

// fingerprint names an SSH key as ssh-keygen does.
func fingerprint(key string) string {
	if key == "" {
		return ""
	}
	fields := strings.Fields(key)
	blob := []byte(key)
	if len(fields) > 1 {
		if decoded, err := base64.StdEncoding.DecodeString(fields[1]); err == nil {
			blob = decoded
		}
	}
	sum := sha256.Sum256(blob)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}
