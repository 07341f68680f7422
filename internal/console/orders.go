package console

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/identity"
	"interlock/internal/quorum"
)

// Governor carries out operators' orders. Each is checked again there; one that does not count is recorded and alerted.
type Governor interface {
	// NewCode gives a challenge a fresh code, for whoever signed the order and nobody else.
	NewCode(ctx context.Context, order interlock.Order) (code string, expires time.Time, err error)
	Unblock(ctx context.Context, order interlock.Order) (interlock.Receipt, error)
	ChangeTrust(ctx context.Context, order interlock.Order) (interlock.Receipt, error)
	ChangePins(ctx context.Context, order interlock.Order) (interlock.Receipt, error)
	EndGrant(ctx context.Context, id, operator, why string) (interlock.Receipt, error)
}

// The bounds of orders that were shown and wait for a signature.
const (
	orderLife = 5 * time.Minute
	maxOrders = 256
)

// orders are those that were shown to a session, whole, for it to sign. It is safe for concurrent use.
type orders struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]shownOrder
}

type shownOrder struct {
	order   interlock.Order
	session string
}

func newOrders(now func() time.Time) *orders {
	return &orders{now: now, open: map[string]shownOrder{}}
}

func (o *orders) keep(order interlock.Order, session string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for id, other := range o.open {
		if !o.now().Before(other.order.Expires) {
			delete(o.open, id)
		}
	}
	if len(o.open) >= maxOrders {
		return false
	}
	o.open[order.ID] = shownOrder{order: order, session: session}
	return true
}

// take returns an order shown to a session, once.
func (o *orders) take(id, session string) (interlock.Order, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, known := o.open[id]
	if !known || kept.session != session || !o.now().Before(kept.order.Expires) {
		return interlock.Order{}, false
	}
	delete(o.open, id)
	return kept.order, true
}

// rightFor is the right an order takes here.
func rightFor(verb interlock.Verb) right {
	switch verb {
	case interlock.VerbNewCode, interlock.VerbDemote, interlock.VerbApproveTool, interlock.VerbQuarantineTool:
		return answering
	case interlock.VerbUnblock, interlock.VerbPromote:
		return governing
	default:
		return 0
	}
}

// draftOrder shows an order as it would be signed. Nothing has happened until it is.
func (c *Console) draftOrder(w http.ResponseWriter, r *http.Request) {
	order, about, err := c.orderOf(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	v := c.visitor(r)
	standing, err := c.config.Backend.Standing(r.Context())
	if err == nil {
		err = quorum.MayOrder(order.Verb, about, v.operator, standing.Agents, c.config.Now())
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if !c.orders.keep(order, v.session.ID) {
		c.fail(w, r, interlock.Errorf(interlock.CodeLimited, "",
			"too many orders wait for a signature; try again in a few minutes"))
		return
	}
	c.render(w, r, http.StatusOK, "order.html", orderTitle(order.Verb), struct {
		signing
		Order  interlock.Order
		Effect string
	}{c.signing(r, identity.StatementChallenge(order.Statement)), order, effect(order)})
}

func orderTitle(verb interlock.Verb) string {
	switch verb {
	case interlock.VerbNewCode:
		return "Issue a new code"
	case interlock.VerbUnblock:
		return "Lift a block"
	case interlock.VerbPromote:
		return "Raise an agent's trust"
	case interlock.VerbApproveTool:
		return "Approve what a server offers"
	case interlock.VerbQuarantineTool:
		return "Put into quarantine"
	default:
		return "Lower an agent's trust"
	}
}

// effect says in one sentence what an order does.
func effect(order interlock.Order) string {
	switch order.Verb {
	case interlock.VerbNewCode:
		return "A fresh code replaces the one in force. It is shown once, on the next page, and goes nowhere else. " +
			"Give it to the agent's side only if you mean it to go on."
	case interlock.VerbUnblock:
		return "The agent may act again at once, without a code."
	case interlock.VerbPromote:
		return "The agent is trusted one level further. The reason is recorded as the evidence."
	case interlock.VerbApproveTool:
		return "Agents see it and may call it, as far as the rules let them. The detail is the digest of what you " +
			"were shown: if the server changes it before this counts, it does not count."
	case interlock.VerbQuarantineTool:
		return "No agent sees it or can call it any more, from the next call on."
	default:
		return "The agent is trusted less, at once."
	}
}

// orderOf reads the order a query describes, and whose freedom it is about.
func (c *Console) orderOf(r *http.Request) (order interlock.Order, about interlock.Requester, err error) {
	query := r.URL.Query()
	verb, subject := interlock.Verb(query.Get("verb")), query.Get("subject")
	needs := rightFor(verb)
	if needs == 0 {
		return order, about, interlock.Errorf(interlock.CodeInvalid, "verb", "there is no such order")
	}
	if !c.may(r, needs) {
		return order, about, interlock.Errorf(interlock.CodeUnauthorized, "role", "your role may not give this order")
	}
	standing, err := c.config.Backend.Standing(r.Context())
	if err != nil {
		return order, about, err
	}
	detail := ""
	switch verb {
	case interlock.VerbNewCode, interlock.VerbUnblock:
		challenge, stands := standing.Challenges[subject]
		if !stands || !challenge.Ended.IsZero() {
			return order, about, interlock.Errorf(interlock.CodeNotFound, "subject", "no challenge with this id stands")
		}
		about = challenge.Requester
	case interlock.VerbApproveTool, interlock.VerbQuarantineTool:
		if detail, err = toolOrder(standing, verb, subject, query.Get("seen")); err != nil {
			return order, about, err
		}
	default:
		agent, known := standing.Agents[subject]
		if !known || !agent.Revoked.IsZero() {
			return order, about, interlock.Errorf(interlock.CodeNotFound, "subject", "no agent of this name is registered")
		}
		about = interlock.Requester{Agent: agent.ID, Principal: agent.Principal}
		if detail, err = c.level(query.Get("level"), query.Get("days")); err != nil {
			return order, about, err
		}
	}
	id, err := c.newID("ord_")
	if err != nil {
		return order, about, err
	}
	reason := strings.TrimSpace(query.Get("reason"))
	if len(reason) > maxNote {
		return order, about, interlock.Errorf(interlock.CodeInvalid, "reason", "is longer than %d bytes", maxNote)
	}
	operator, _ := c.operator(r)
	now := c.config.Now().UTC().Truncate(time.Microsecond)
	order = interlock.Order{ID: id, Verb: verb, Subject: subject, Detail: detail, Reason: reason, Operator: operator.Name,
		At: now, Expires: now.Add(orderLife)}
	order.Statement = quorum.OrderStatement(order)
	return order, about, nil
}

// level is an order's detail: the trust it leads to, and for a certificate how long it runs.
func (c *Console) level(name, days string) (string, error) {
	var level interlock.Trust
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return "", interlock.Errorf(interlock.CodeInvalid, "level", "%v", err)
	}
	if level != interlock.TrustCertified {
		return admission.TrustDetail(level, time.Time{}), nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(days))
	if err != nil || n < 1 || n > 400 {
		return "", interlock.Errorf(interlock.CodeInvalid, "days", "a certificate runs for 1 to 400 days")
	}
	return admission.TrustDetail(level, c.config.Now().UTC().Truncate(time.Second).AddDate(0, 0, n)), nil
}

// giveOrder carries out an order that was shown to this session, as it was shown.
func (c *Console) giveOrder(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	order, shown := c.orders.take(r.PathValue("id"), v.session.ID)
	if !shown {
		c.fail(w, r, interlock.Errorf(interlock.CodeExpired, "id",
			"the page is too old or was used already; begin the order anew"))
		return
	}
	if !c.may(r, rightFor(order.Verb)) {
		c.fail(w, r, interlock.Errorf(interlock.CodeUnauthorized, "role", "your role may not give this order"))
		return
	}
	err := c.sign(r, []string{order.Statement}, order.Verb.Loosens(), func(_ int, method, key, signature string) {
		order.Method, order.Key, order.Signature = method, key, signature
	})
	if err == nil {
		err = c.proved(r, []interlock.Approval{{Method: order.Method, Statement: order.Statement, Signature: order.Signature}})
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.carryOut(w, r, order)
}

func (c *Console) carryOut(w http.ResponseWriter, r *http.Request, order interlock.Order) {
	ctx, back := r.Context(), "/challenges"
	var err error
	switch order.Verb {
	case interlock.VerbNewCode:
		var code string
		var expires time.Time
		if code, expires, err = c.config.Backend.NewCode(ctx, order); err == nil {
			c.render(w, r, http.StatusOK, "code.html", "New code", struct {
				Code    string
				Expires time.Time
			}{code, expires})
			return
		}
	case interlock.VerbUnblock:
		_, err = c.config.Backend.Unblock(ctx, order)
	case interlock.VerbPromote, interlock.VerbDemote:
		back = "/trust"
		_, err = c.config.Backend.ChangeTrust(ctx, order)
	case interlock.VerbApproveTool, interlock.VerbQuarantineTool:
		back = "/tools"
		_, err = c.config.Backend.ChangePins(ctx, order)
	default:
		err = fmt.Errorf("carrying out %s: no such order", order.Verb) // unreachable: orderOf made it
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}

// endGrant revokes a standing grant. It only tightens, so it takes a form and no signature.
func (c *Console) endGrant(w http.ResponseWriter, r *http.Request) {
	operator, _ := c.operator(r)
	reason := strings.TrimSpace(r.PostForm.Get("reason"))
	if len(reason) > maxNote {
		c.fail(w, r, interlock.Errorf(interlock.CodeInvalid, "reason", "is longer than %d bytes", maxNote))
		return
	}
	if _, err := c.config.Backend.EndGrant(r.Context(), r.PathValue("id"), operator.Name, reason); err != nil {
		c.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/grants", http.StatusSeeOther)
}
