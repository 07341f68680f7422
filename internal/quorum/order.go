package quorum

import (
	"errors"
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

// A Given is an order as it is checked, whatever its verb: what all orders have in common, and what its verb makes of it.
type Given struct {
	interlock.Order
	// whose freedom it is about: the requester that a challenge binds, the agent that is promoted; zero where it is about nobody
	About interlock.Requester
	Terms any // of an order that stays in force: an [interlock.Grant] or an [interlock.Suppression]
	// what the order binds by a digest in its detail and the log is not told, such as the hash of an agent's token; else empty
	Aside string
}

// OfOrder is an order that is carried out once, and about whose freedom it is.
func OfOrder(o interlock.Order, about interlock.Requester) Given {
	return Given{Order: o, About: about}
}

// OfGrant is a standing grant as an order.
func OfGrant(g interlock.Grant) Given {
	return Given{Order: g.Order(), About: interlock.Requester{Agent: g.Agent, Principal: g.Principal}, Terms: g} // of a range: nobody
}

// OfSuppression is a suppression as an order. Whose actions it may touch is looked at where it is used, see [Concerns].
func OfSuppression(s interlock.Suppression) Given { return Given{Order: s.Order(), Terms: s} }

// By is the order as an operator would give it.
func (g Given) By(operator string) Given {
	g.Operator = operator
	switch terms := g.Terms.(type) {
	case interlock.Grant:
		terms.Operator = operator
		return OfGrant(terms)
	case interlock.Suppression:
		terms.Operator = operator
		return OfSuppression(terms)
	}
	return g
}

// Signed is the order with what proves it.
func (g Given) Signed(method, key, signature string) Given {
	text := g.Text()
	g.Method, g.Key, g.Statement, g.Signature = method, key, text, signature
	switch terms := g.Terms.(type) {
	case interlock.Grant:
		terms.Method, terms.Key, terms.Statement, terms.Signature = method, key, text, signature
		return OfGrant(terms)
	case interlock.Suppression:
		terms.Key, terms.Statement, terms.Signature = key, text, signature
		if method != interlock.MethodSSH { // which goes without saying, as it did when nothing else could sign one
			terms.Method = method
		}
		return OfSuppression(terms)
	}
	return g
}

// Marked is the order with what its key lacks.
func (g Given) Marked(weak string) Given {
	g.Weak = weak
	switch terms := g.Terms.(type) {
	case interlock.Grant:
		terms.Weak = weak
		g.Terms = terms
	case interlock.Suppression:
		terms.Weak = weak
		g.Terms = terms
	}
	return g
}

// Stands reports whether an order that was carried out once is still its operator's word: they are in office, may give it, and signed
// these words. That it was given long ago is no matter.
func (g Given) Stands(operator interlock.OperatorRecord, verify Verifier, now time.Time) error {
	if g.Operator == "" || operator.Name != g.Operator {
		return refuse(interlock.CodeUnauthorized, "operator", "no such operator")
	}
	if err := g.MayGive(operator, nil, now); err != nil {
		return err
	}
	return g.proof(operator, verify)
}

// Text is the exact text that is signed to give the order.
func (g Given) Text() string {
	switch terms := g.Terms.(type) {
	case interlock.Grant:
		return GrantStatement(terms)
	case interlock.Suppression:
		return SuppressionStatement(terms)
	}
	return OrderStatement(g.Order)
}

// bounds refuses an order that says too little or too much or, where it is a standing order, that is not in force.
func (g Given) bounds(now time.Time) error {
	switch terms := g.Terms.(type) {
	case interlock.Grant:
		return boundGrant(terms, now)
	case interlock.Suppression:
		return boundSuppression(terms, now)
	}
	verb, _ := VerbOf(g.Verb)
	switch {
	case g.Subject == "":
		return refuse(interlock.CodeInvalid, "subject", "name what the order is about")
	case len(g.Subject) > maxReason || len(g.Detail) > max(maxReason, verb.Detail) || len(g.Reason) > maxReason:
		return refuse(interlock.CodeInvalid, "reason", "a part of the order is too long")
	}
	return nil
}

// fresh refuses an order that is carried out once and was not given just now.
func (g Given) fresh(now time.Time) error {
	if g.ID == "" || g.At.IsZero() || g.Expires.Sub(g.At) > MaxOrder || now.Before(g.At.Add(-orderSkew)) ||
		!now.Before(g.Expires) {
		return refuse(interlock.CodeExpired, "expires", "the order was not given within the last ten minutes; give it again")
	}
	return nil
}

// proof refuses an order that nobody signed, or not with these words.
func (g Given) proof(operator interlock.OperatorRecord, verify Verifier) error {
	if g.Statement != g.Text() {
		return refuse(interlock.CodeUnauthorized, "statement", "the signed statement is not the one for this "+g.what())
	}
	if verb, _ := VerbOf(g.Verb); verb.Own && g.Method != interlock.MethodSSH && g.Method != interlock.MethodPasskey {
		return refuse(interlock.CodeUnauthorized, "method", "this order takes the operator's own key or passkey")
	}
	if verb, _ := VerbOf(g.Verb); verb.Person && Proves(operator, g.Method) != ProvesPerson {
		return refuse(interlock.CodeUnauthorized, "method", "this order takes a passkey or a security key")
	}
	err := signed(operator, g.Method, g.Key, g.Statement, g.Signature, verify)
	var refusal *interlock.Error
	if _, silences := g.Terms.(interlock.Suppression); silences && errors.As(err, &refusal) && refusal.Field == "key" {
		return badSignature() // in these words since the first of them
	}
	return err
}

// what is what people call the order.
func (g Given) what() string {
	switch g.Terms.(type) {
	case interlock.Grant:
		return "grant"
	case interlock.Suppression:
		return "suppression"
	}
	return "order"
}

// Counts reports whether an order counts now: its operator is in office and may give it, it says neither too little nor too
// much, its time is not over and its signature proves it. A standing order is held to that when it
// is given and each time it is used. That an order is carried out at most once is not for here to see.
func (g Given) Counts(operators map[string]interlock.OperatorRecord, agents map[string]interlock.AgentRecord, verify Verifier,
	now time.Time) error {
	if s, silences := g.Terms.(interlock.Suppression); silences && s.Override != nil {
		return countsTogether(s, operators, agents, verify, now)
	}
	if err := g.bounds(now); err != nil {
		return err
	}
	operator, ok := operators[g.Operator]
	if !ok || g.Operator == "" || operator.Name != g.Operator {
		return refuse(interlock.CodeUnauthorized, "operator", "no such operator")
	}
	verb, known := VerbOf(g.Verb)
	if err := g.mayGive(verb, known, operator, agents, now); err != nil {
		return err
	}
	if !verb.Stands {
		if err := g.fresh(now); err != nil {
			return err
		}
	}
	if verb.Loosens && g.aboutSomebody() {
		if err := checkCredentials(g.About, operator, operators, agents); err != nil {
			return err
		}
	}
	return g.proof(operator, verify)
}

// MayGive reports whether this operator's order would count, before anything is signed.
func (g Given) MayGive(operator interlock.OperatorRecord, agents map[string]interlock.AgentRecord, now time.Time) error {
	verb, known := VerbOf(g.Verb)
	return g.mayGive(verb, known, operator, agents, now)
}

func (g Given) mayGive(verb Verb, known bool, operator interlock.OperatorRecord, agents map[string]interlock.AgentRecord,
	now time.Time) error {
	if operator.Name == "" || !operator.Revoked.IsZero() && !now.Before(operator.Revoked) {
		return refuse(interlock.CodeUnauthorized, "operator", "this operator is revoked")
	}
	switch s, _ := g.Terms.(interlock.Suppression); {
	case !known || verb.Stands != (g.Terms != nil):
		return refuse(interlock.CodeInvalid, "verb", "there is no such order")
	case !verb.Role(operator.Role):
		return refuse(interlock.CodeUnauthorized, "operator", verb.Needs)
	case ranges(g.Terms) && !roleGoverns(operator.Role):
		return refuse(interlock.CodeUnauthorized, "operator", "a pre-approved range needs an operator with the admin role")
	case s.Denials && !roleGoverns(operator.Role):
		return refuse(interlock.CodeUnauthorized, "operator",
			"suppressing a rule that denies needs an operator with the admin role")
	case verb.Loosens && g.aboutSomebody():
		return checkIndependence(g.About, operator.Name, agents)
	}
	return nil
}

func (g Given) aboutSomebody() bool { return g.About.Agent != "" || g.About.Principal != "" }
