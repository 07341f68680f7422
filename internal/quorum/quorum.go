// Package quorum says who may answer an approval request, and when an answer is good enough.
//
// It is arithmetic on values: no clock, no randomness, no files, no network. Time enters as a value and signatures are
// checked by a function the caller passes in. It never decides whether an action is safe; it decides only whether a
// signed yes or no counts.
//
// An approval counts when all of this holds:
//
//   - the request is pending, unexpired and carries a nonce;
//   - the answer is allow or deny and comes from a known, unrevoked operator whose role may answer;
//   - the operator is not the requester: not the agent itself, not the owner configured for the agent, and, where no
//     agent is named, not the principal;
//   - the obligations of the request are ones this operator's single signature can discharge;
//   - a yes names the dry run that its operator was shown, where a rule wants one;
//   - the operator shares no credential with the requester: not the key or passkey of the agent's owner;
//   - the signed statement is byte for byte the one [Statement] gives, and the proof over it verifies by the method it
//     names: with the operator's registered key or passkey, or with the server's key where the server is the witness.
//
// A code that reached a human outside the agent's view ([interlock.MethodCode]) proves that a human was there and not who:
// it has no operator, says only yes, and discharges a challenge but nothing that names a role.
//
// Orders and standing grants are held to the same rules by [CheckOrder] and [CheckGrant].
//
// What this can't promise: on one machine with one user, the principal of a local hook is that user's login name, which
// proves nothing about who sits at the keyboard. An operator of the same name may therefore answer for a local agent that
// has no configured owner; the protection is then the operator's signing key (a passphrase or a touch), not the name.
//
// Start with quorum.go; statement.go holds the text that is signed, order.go, grant.go and suppression.go what else operators
// sign.
package quorum

import (
	"errors"
	"slices"
	"strings"
	"time"

	"interlock"
)

// A Verifier checks that a signature proves, by a method, that an operator said a statement, and returns the name of the
// key that proves it: an SSH key's fingerprint, a passkey's id, a console session's id, a challenge's id. An SSHSIG of
// another namespace than [Namespace] must be refused. For [interlock.MethodCode] the operator is the zero record.
type Verifier func(operator interlock.OperatorRecord, method, statement, signature string) (key string, err error)

// Check reports whether approval is a valid answer to req. Nil means it counts; anything else is an [*interlock.Error]
// that names the reason and holds no secret. Denying a request takes the same proof as approving it, so that nobody can
// silence a question that was not theirs to answer.
func Check(req interlock.ApprovalRequest, approval interlock.Approval, operators map[string]interlock.OperatorRecord,
	agents map[string]interlock.AgentRecord, verify Verifier, now time.Time) error {
	req.DryRun = approval.DryRun
	if err := checkRequest(req, approval, now); err != nil {
		return err
	}
	if approval.Method == interlock.MethodCode {
		if err := checkCode(req, approval); err != nil {
			return err
		}
		return prove(interlock.OperatorRecord{}, approval, Statement(req, approval.Verdict, ""), verify)
	}
	operator, ok := operators[approval.Operator]
	if !ok || approval.Operator == "" || operator.Name != approval.Operator {
		return refuse(interlock.CodeUnauthorized, "operator", "no such operator")
	}
	if err := MayAnswer(req, operator, agents, now); err != nil {
		return err
	}
	if err := checkCredentials(req.Requester, operator, operators, agents); err != nil {
		return err
	}
	if err := checkSecond(req, approval, operators); err != nil {
		return err
	}
	if approval.Verdict == interlock.Allow && !freshly(approval.Method) && req.Owes(interlock.ObligationVerify) {
		return refuse(interlock.CodeUnauthorized, "request",
			"this request needs the code that was sent, or a passkey in the console")
	}
	if approval.Verdict == interlock.Allow {
		if err := Tried(req); err != nil {
			return err
		}
	}
	return prove(operator, approval, Statement(req, approval.Verdict, approval.Operator), verify)
}

// Tried reports whether a yes to req may be signed yet: not before the dry run that its rule wants.
func Tried(req interlock.ApprovalRequest) error {
	if req.DryRun == "" && slices.ContainsFunc(req.Obligations, interlock.Obligation.Formed) {
		return refuse(interlock.CodeUnauthorized, "request",
			"this request wants a dry run first: its agent makes the same call in the form that the rules name for that (dry_runs)")
	}
	if req.DryRun == "" && req.Owes(interlock.ObligationDryRun) {
		return refuse(interlock.CodeUnauthorized, "request",
			"this request wants a dry run first: interlock exec --dry-run of the same command, for the same agent")
	}
	return nil
}

// checkSecond refuses the second yes of two people if it comes from the first: by name, or with a key both have.
func checkSecond(req interlock.ApprovalRequest, approval interlock.Approval,
	operators map[string]interlock.OperatorRecord) error {
	if req.First == nil || approval.Verdict != interlock.Allow {
		return nil
	}
	if strings.EqualFold(req.First.Operator, approval.Operator) || req.First.Key == approval.Key ||
		shared(operators[req.First.Operator], operators[approval.Operator]) {
		return refuse(interlock.CodeUnauthorized, "operator",
			"this request needs two people; another operator must say yes as well")
	}
	return nil
}

// prove holds an answer's proof against the statement it must be over.
func prove(operator interlock.OperatorRecord, approval interlock.Approval, statement string, verify Verifier) error {
	if approval.Statement != statement {
		return refuse(interlock.CodeUnauthorized, "statement", "the signed statement is not the one for this request and answer")
	}
	return signed(operator, approval.Method, approval.Key, statement, approval.Signature, verify)
}

// signed reports whether a signature over a statement verifies by its method and with the key it names.
func signed(operator interlock.OperatorRecord, method, key, statement, signature string, verify Verifier) error {
	if verify == nil {
		return refuse(interlock.CodeUnavailable, "signature", "signatures can't be checked here")
	}
	if method == "" {
		method = interlock.MethodSSH
	}
	proving, err := verify(operator, method, statement, signature)
	if factor, is := errors.AsType[*interlock.Error](err); is && factor.Field == "method" { // it is their key, and takes more than that
		return factor
	}
	if err != nil {
		return badSignature()
	}
	if proving == "" || key != proving {
		return refuse(interlock.CodeUnauthorized, "key", "the named key is not the operator's registered key")
	}
	return nil
}

func badSignature() error {
	return refuse(interlock.CodeUnauthorized, "signature", "the signature does not verify with the operator's registered key")
}

// checkCode refuses what a code can't answer: it says yes for nobody in particular.
func checkCode(req interlock.ApprovalRequest, approval interlock.Approval) error {
	if approval.Operator != "" || approval.Verdict != interlock.Allow {
		return refuse(interlock.CodeInvalid, "operator", "a code says yes, and names no operator")
	}
	for _, obligation := range req.Obligations {
		switch obligation.Type {
		case interlock.ObligationConfirm, interlock.ObligationVerify, interlock.ObligationRedact, interlock.ObligationSandbox,
			interlock.ObligationWithin:
		default:
			return refuse(interlock.CodeUnauthorized, "request", "this request needs a named operator; a code is not enough")
		}
	}
	return nil
}

// freshly reports whether a method proves that a human is there now, outside the agent's view: a passkey that checked its
// user. An SSH key may lie unlocked in an agent, and a session may be one that was left open (AQL 8.8).
func freshly(method string) bool { return method == interlock.MethodPasskey }

// Recheck reports whether the approval a request carries still counts when it is about to be spent: the same proof as
// when it was given, from an operator who may still give it. What is in a store is a claim; the signature is the proof.
func Recheck(req interlock.ApprovalRequest, operators map[string]interlock.OperatorRecord,
	agents map[string]interlock.AgentRecord,
	verify Verifier, now time.Time) error {
	if req.Status != interlock.RequestApproved || req.Approval == nil || req.Approval.Verdict != interlock.Allow {
		return refuse(interlock.CodeUnauthorized, "request", "the request carries no approval")
	}
	if req.Owes(interlock.ObligationCouncil) {
		return recheckCouncil(req, operators, agents, verify, now)
	}
	pending := req
	pending.Status = interlock.RequestPending
	if req.NeedsTwo() {
		alone := pending
		alone.First = nil
		if req.First == nil || req.First.Verdict != interlock.Allow {
			return refuse(interlock.CodeUnauthorized, "request", "this request needs two people, and carries one answer")
		}
		if err := Check(alone, *req.First, operators, agents, verify, now); err != nil {
			return err
		}
	}
	return Check(pending, *req.Approval, operators, agents, verify, now)
}

// recheckCouncil is [Recheck] of what the council said yes to: its votes are counted again, and by what they were cast on. It
// discharges what it outranks, and nothing that names somebody else or a test.
func recheckCouncil(req interlock.ApprovalRequest, operators map[string]interlock.OperatorRecord, agents map[string]interlock.AgentRecord,
	verify Verifier, now time.Time) error {
	if req.Ballot == nil || req.Approval.Method != interlock.MethodCouncil || req.Ballot.Approval != interlock.ApprovalCouncil {
		return refuse(interlock.CodeUnauthorized, "request", "this request needs a quorum of the council, and carries no votes")
	}
	if !now.Before(req.Expires) {
		return refuse(interlock.CodeExpired, "request", "the request has expired; propose the action again")
	}
	if err := councilDischarges(req.Obligations); err != nil {
		return err
	}
	if c := CountBallot(OfRequest(req), *req.Ballot, operators, agents, verify, now); c.Status != interlock.ActionApproved {
		return refuse(interlock.CodeUnauthorized, "request", "the council's votes on this request do not count any more")
	}
	return nil
}

// councilDischarges refuses what a quorum of the council can't discharge by its votes.
func councilDischarges(obligations []interlock.Obligation) error {
	for _, o := range obligations {
		switch o.Type {
		case interlock.ObligationConfirm, interlock.ObligationRedact, interlock.ObligationSandbox, interlock.ObligationWithin,
			interlock.ObligationAdmin, interlock.ObligationDual, interlock.ObligationCouncil:
		default:
			return refuse(interlock.CodeUnauthorized, "request", "the request carries a condition the council can't discharge: "+o.Type)
		}
	}
	return nil
}

// MayAnswer reports whether this operator is one whose signature would count for req, before anything is signed.
func MayAnswer(req interlock.ApprovalRequest, operator interlock.OperatorRecord, agents map[string]interlock.AgentRecord,
	now time.Time) error {
	if operator.Name == "" || !operator.Revoked.IsZero() && !now.Before(operator.Revoked) {
		return refuse(interlock.CodeUnauthorized, "operator", "this operator is revoked")
	}
	if !roleAnswers(operator.Role) {
		return refuse(interlock.CodeUnauthorized, "operator", "this operator's role may not answer approval requests")
	}
	if err := checkIndependence(req.Requester, operator.Name, agents); err != nil {
		return err
	}
	return checkObligations(req.Obligations, operator)
}

// checkRequest holds the request and the answer against each other and against the time.
func checkRequest(req interlock.ApprovalRequest, approval interlock.Approval, now time.Time) error {
	if req.ID == "" || approval.Request != req.ID {
		return refuse(interlock.CodeNotFound, "request", "the answer names another request")
	}
	switch req.Status {
	case interlock.RequestPending:
	case interlock.RequestExpired:
		return refuse(interlock.CodeExpired, "request", "the request has expired; propose the action again")
	case interlock.RequestApproved, interlock.RequestDenied, interlock.RequestSpent:
		return refuse(interlock.CodeConflict, "request", "the request has been answered already")
	default:
		return refuse(interlock.CodeConflict, "request", "the request is in an unknown state")
	}
	if req.Nonce == "" || req.Action == "" || req.Ruleset == "" {
		return refuse(interlock.CodeInvalid, "request", "the request is not bound to an action, a ruleset and a nonce")
	}
	if req.Expires.IsZero() || !now.Before(req.Expires) {
		return refuse(interlock.CodeExpired, "request", "the request has expired; propose the action again")
	}
	switch approval.Verdict {
	case interlock.Allow, interlock.Deny:
		return nil
	case interlock.Ask, interlock.Halt:
	}
	return refuse(interlock.CodeInvalid, "verdict", "the answer to a request is allow or deny")
}

// checkIndependence refuses an operator who is the requester. Names are compared without regard to case, because the
// comparison only ever refuses.
func checkIndependence(requester interlock.Requester, operator string, agents map[string]interlock.AgentRecord) error {
	if requester.Agent == "" {
		if requester.Principal == "" || strings.EqualFold(requester.Principal, operator) {
			return refuse(interlock.CodeUnauthorized, "operator", "a requester can't answer its own request")
		}
		return nil
	}
	if strings.EqualFold(requester.Agent, operator) {
		return refuse(interlock.CodeUnauthorized, "operator", "a requester can't answer its own request")
	}
	// The configured owner, not the principal the requester states: a local hook states the login name it runs under,
	// and refusing that would leave one person on one machine with nobody to ask.
	if owner := agents[requester.Agent].Principal; owner != "" && strings.EqualFold(owner, operator) {
		return refuse(interlock.CodeUnauthorized, "operator", "the owner of the requesting agent can't answer its request")
	}
	return nil
}

// checkCredentials refuses an operator whose key or passkey is also the owner's, or that of the one the requester says it
// acts for: another name for the same credential is not another person.
func checkCredentials(requester interlock.Requester, operator interlock.OperatorRecord,
	operators map[string]interlock.OperatorRecord,
	agents map[string]interlock.AgentRecord) error {
	for _, name := range []string{requester.Agent, agents[requester.Agent].Principal, requester.Principal} {
		other, known := operators[name]
		if known && !strings.EqualFold(name, operator.Name) && shared(operator, other) {
			return refuse(interlock.CodeUnauthorized, "operator", "this operator's key is also the requester's")
		}
	}
	return nil
}

// SameKey reports whether two public keys in authorized_keys form are one key, whatever options and comments are beside it.
func SameKey(a, b string) bool { return keyOf(a) == keyOf(b) }

// keyOf is a public key without what is beside it. What has not that form stays as it is.
func keyOf(key string) string {
	for _, word := range strings.Fields(key) {
		if strings.HasPrefix(word, "AAAA") { // as the encoding of every key begins
			return word
		}
	}
	return key
}

// shared reports whether two operators have a key or passkey in common.
func shared(a, b interlock.OperatorRecord) bool {
	if a.SSHKey != "" && SameKey(a.SSHKey, b.SSHKey) {
		return true
	}
	for _, p := range a.Passkeys {
		for _, q := range b.Passkeys {
			if p.ID == q.ID || p.PublicKey == q.PublicKey {
				return true
			}
		}
	}
	return false
}

// checkObligations refuses what one signature can't discharge. An obligation it does not know is refused as well: an
// approver must never wave through a condition nobody enforces.
func checkObligations(obligations []interlock.Obligation, operator interlock.OperatorRecord) error {
	for _, obligation := range obligations {
		switch obligation.Type {
		case interlock.ObligationConfirm, interlock.ObligationVerify, interlock.ObligationRedact, interlock.ObligationSandbox,
			interlock.ObligationWithin: // the request expires by then
		case interlock.ObligationAdmin:
			if operator.Role != RoleAdmin && operator.Role != RoleSuperadmin {
				return refuse(interlock.CodeUnauthorized, "operator", "this request needs an operator with the admin role")
			}
		case interlock.ObligationApprovers:
			if !approves(obligation.Note, operator) {
				return refuse(interlock.CodeUnauthorized, "operator",
					"this request is for operators of other roles or teams ("+obligation.Note+")")
			}
		case interlock.ObligationDual: // one yes of two; see checkSecond
		case interlock.ObligationDryRun: // a yes names it; see Tried
		case interlock.ObligationCouncil:
			return refuse(interlock.CodeUnauthorized, "request",
				"one operator's signature is not enough for this request; the council votes on it: interlock request vote ID")
		default: // also a cooldown, until something enforces it
			return refuse(interlock.CodeUnauthorized, "request", "the request carries a condition no operator can discharge")
		}
	}
	return nil
}

// approves reports whether an operator is one of those a list like "role:admin team:dba" names. One role never does another's
// work here, not even a superadmin: those who named approvers meant them.
func approves(note string, operator interlock.OperatorRecord) bool {
	for _, word := range strings.Fields(note) {
		if word == "role:"+operator.Role {
			return true
		}
		for _, team := range operator.Teams {
			if word == "team:"+team {
				return true
			}
		}
	}
	return false
}

// The operator roles.
const (
	RoleViewer     = "viewer"     // sees what is pending, redacted
	RoleOperator   = "operator"   // answers requests
	RoleAdmin      = "admin"      // answers requests, also those that need an admin
	RoleCouncil    = "council"    // votes in quorums; answers nothing alone
	RoleAuditor    = "auditor"    // reads the whole log; answers nothing
	RoleSuperadmin = "superadmin" // as admin, and breaks glass
)

// Roles lists every operator role, least powerful first.
func Roles() []string {
	return []string{RoleViewer, RoleAuditor, RoleCouncil, RoleOperator, RoleAdmin, RoleSuperadmin}
}

// ValidRole reports whether role is one of [Roles].
func ValidRole(role string) bool {
	for _, known := range Roles() {
		if role == known {
			return true
		}
	}
	return false
}

// roleAnswers reports whether a role may answer a request on its own.
func roleAnswers(role string) bool {
	return role == RoleOperator || role == RoleAdmin || role == RoleSuperadmin
}

// Answers reports whether a role may answer requests. Whether an answer counts turns on the request as well, see [MayAnswer].
func Answers(role string) bool { return roleAnswers(role) }

func refuse(code interlock.Code, field, message string) error {
	return &interlock.Error{Code: code, Field: field, Message: message}
}
