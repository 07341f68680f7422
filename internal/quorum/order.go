package quorum

import (
	"strconv"
	"strings"
	"time"

	"interlock"
)

// orderHeader is the first line of what is signed to give an order. No approval begins with it.
const orderHeader = "Interlock order, version 1"

// The bounds of an order.
const (
	MaxOrder  = 10 * time.Minute // from its making to its expiry
	orderSkew = time.Minute      // by which the clocks of one home's processes may differ
	maxReason = 500              // bytes of a reason or a detail
)

// OrderStatement returns the exact text an operator signs to give an order. It is ASCII and binds everything the order says.
func OrderStatement(o interlock.Order) string {
	var b strings.Builder
	b.WriteString(orderHeader + "\n")
	for _, line := range [][2]string{{"id", o.ID}, {"verb", string(o.Verb)}, {"subject", o.Subject}, {"detail", o.Detail},
		{"reason", o.Reason}, {"operator", o.Operator}} {
		b.WriteString(line[0] + ": " + strconv.QuoteToASCII(line[1]) + "\n")
	}
	b.WriteString("at: " + o.At.UTC().Format(time.RFC3339Nano) + "\n")
	b.WriteString("expires: " + o.Expires.UTC().Format(time.RFC3339Nano) + "\n")
	return b.String()
}

// CheckOrder reports whether an order counts now. about is whose freedom it is about: the requester that a challenge binds,
// the agent that is promoted; the zero value where it is about nobody. That an order is carried out at most once is for its
// subject to see to: a challenge that has ended can't be ended again.
func CheckOrder(o interlock.Order, about interlock.Requester, operators map[string]interlock.OperatorRecord,
	agents map[string]interlock.AgentRecord, verify Verifier, now time.Time) error {
	switch {
	case o.Subject == "":
		return refuse(interlock.CodeInvalid, "subject", "name what the order is about")
	case len(o.Subject) > maxReason || len(o.Detail) > maxReason || len(o.Reason) > maxReason:
		return refuse(interlock.CodeInvalid, "reason", "a part of the order is too long")
	}
	operator, ok := operators[o.Operator]
	if !ok || o.Operator == "" || operator.Name != o.Operator {
		return refuse(interlock.CodeUnauthorized, "operator", "no such operator")
	}
	if err := MayOrder(o.Verb, about, operator, agents, now); err != nil {
		return err
	}
	if !o.Verb.Loosens() {
		return nil // whoever tightens needs a name only
	}
	if o.ID == "" || o.At.IsZero() || o.Expires.Sub(o.At) > MaxOrder || now.Before(o.At.Add(-orderSkew)) ||
		!now.Before(o.Expires) {
		return refuse(interlock.CodeExpired, "expires", "the order was not given within the last ten minutes; give it again")
	}
	if about.Agent != "" || about.Principal != "" {
		if err := checkCredentials(about, operator, operators, agents); err != nil {
			return err
		}
	}
	if o.Statement != OrderStatement(o) {
		return refuse(interlock.CodeUnauthorized, "statement", "the signed statement is not the one for this order")
	}
	return signed(operator, o.Method, o.Key, o.Statement, o.Signature, verify)
}

// MayOrder reports whether this operator's order would count, before anything is signed.
func MayOrder(verb interlock.Verb, about interlock.Requester, operator interlock.OperatorRecord,
	agents map[string]interlock.AgentRecord,
	now time.Time) error {
	if operator.Name == "" || !operator.Revoked.IsZero() && !now.Before(operator.Revoked) {
		return refuse(interlock.CodeUnauthorized, "operator", "this operator is revoked")
	}
	switch verb {
	case interlock.VerbReadSealed:
		if operator.Role != RoleAdmin && operator.Role != RoleSuperadmin && operator.Role != RoleAuditor {
			return refuse(interlock.CodeUnauthorized, "operator",
				"this order needs an operator with the admin or the auditor role")
		}
	case interlock.VerbReplay, interlock.VerbForceContinue:
		return mayReplay(verb, operator.Role)
	case interlock.VerbUnblock, interlock.VerbPromote, interlock.VerbRevoke, interlock.VerbPromoteRules:
		if operator.Role != RoleAdmin && operator.Role != RoleSuperadmin {
			return refuse(interlock.CodeUnauthorized, "operator", "this order needs an operator with the admin role")
		}
	case interlock.VerbNewCode, interlock.VerbDemote, interlock.VerbEndGrant, interlock.VerbApproveTool,
		interlock.VerbQuarantineTool:
		if !roleAnswers(operator.Role) {
			return refuse(interlock.CodeUnauthorized, "operator", "this operator's role may not give orders")
		}
	default:
		return refuse(interlock.CodeInvalid, "verb", "there is no such order")
	}
	if verb.Loosens() && (about.Agent != "" || about.Principal != "") {
		return checkIndependence(about, operator.Name, agents)
	}
	return nil
}
