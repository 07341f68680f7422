package console

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/admission/pinning"
	"interlock/internal/admission/runs"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
)

// Governor carries out operators' orders. Each is checked again there; one that does not count is recorded and alerted.
type Governor interface {
	// CarryOut carries one out. A fresh code is for whoever signed the order and nobody else.
	CarryOut(ctx context.Context, given quorum.Given, only ...interlock.Verb) (core.Carried, error)
	// RollBack carries out one to begin a rollback, and ends the runs that were delegated downstream, which it returns.
	RollBack(ctx context.Context, given quorum.Given) (core.Carried, []string, error)
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
	given   quorum.Given
	session string
	until   time.Time
}

func newOrders(now func() time.Time) *orders {
	return &orders{now: now, open: map[string]shownOrder{}}
}

func (o *orders) keep(given quorum.Given, session string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	for id, other := range o.open {
		if !now.Before(other.until) {
			delete(o.open, id)
		}
	}
	if len(o.open) >= maxOrders {
		return false
	}
	o.open[given.ID] = shownOrder{given: given, session: session, until: now.Add(orderLife)}
	return true
}

// take returns an order shown to a session, once.
func (o *orders) take(id, session string) (quorum.Given, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, known := o.open[id]
	if !known || kept.session != session || !o.now().Before(kept.until) {
		return quorum.Given{}, false
	}
	delete(o.open, id)
	return kept.given, true
}

// A drafted order is what a page shows of one that waits for its signature.
type drafted struct {
	signing
	Text string // the whole of it, exactly as it is signed
}

// Draft is the draft itself, for templates of pages that hold one.
func (d drafted) Draft() drafted { return d }

// A signForm is what the template of the buttons that sign gets.
type signForm struct {
	drafted
	Action string // of its forms
	By     string // what the button for a passkey begins with
	Does   string // what the other one says
	CSRF   string
	Own    bool // no session's word is enough
}

func signs(d drafted, action, by, does, csrf string, own bool) signForm {
	return signForm{d, action, by, does, csrf, own}
}

// draft keeps an order for this session to sign, if it would count. Nothing has happened until it is signed.
func (c *Console) draft(r *http.Request, given quorum.Given, agents map[string]interlock.AgentRecord) (drafted, error) {
	v := c.visitor(r)
	if err := given.MayGive(v.Operator, agents, c.config.Now()); err != nil {
		return drafted{}, err
	}
	if g, grants := given.Terms.(interlock.Grant); grants {
		if err := quorum.CheckBounds(g); err != nil {
			return drafted{}, err
		}
	}
	if !c.orders.keep(given, v.Session.ID) {
		return drafted{}, interlock.Errorf(interlock.CodeLimited, "",
			"too many orders wait for a signature; try again in a few minutes")
	}
	return drafted{c.signing(r, identity.StatementChallenge(given.Text())), given.Text()}, nil
}

// give has an order that was shown to this session signed and carried out, as it was shown.
func (c *Console) give(r *http.Request, given quorum.Given) (done core.Carried, err error) {
	err = c.sign(r, []string{given.Text()}, quorum.Loosens(given.Verb), func(_ int, method, key, signature string) {
		given = given.Signed(method, key, signature)
	})
	if err == nil {
		err = c.proved(r, []interlock.Approval{{Method: given.Method, Statement: given.Statement, Signature: given.Signature}})
	}
	if err == nil && given.Verb == interlock.VerbBeginRollback {
		done, _, err = c.config.Backend.RollBack(r.Context(), given)
	} else if err == nil {
		done, err = c.config.Backend.CarryOut(r.Context(), given)
	}
	return done, err
}

// rightFor is the right an order takes here.
func rightFor(verb interlock.Verb) right {
	switch verb {
	case interlock.VerbNewCode, interlock.VerbDemote, interlock.VerbApproveTool, interlock.VerbQuarantineTool, interlock.VerbSignTools,
		interlock.VerbChangeOperator, interlock.VerbKill, interlock.VerbSuppress, interlock.VerbTightenPhase, interlock.VerbTripBreaker,
		interlock.VerbResetBreaker, interlock.VerbTellRollback, interlock.VerbSecond:
		return answering
	case interlock.VerbUnblock, interlock.VerbPromote, interlock.VerbAddOperator, interlock.VerbAddAgent, interlock.VerbRevoke,
		interlock.VerbWeakKeys, interlock.VerbAdoptSettings, interlock.VerbReleaseKill, interlock.VerbBeginRollback:
		return governing
	case interlock.VerbLoosenPhase, interlock.VerbRootCause:
		return ordering // by whom is a matter of the phase, and whoever may not is told who may
	default:
		return 0
	}
}

// draftOrder shows an order as it would be signed.
func (c *Console) draftOrder(w http.ResponseWriter, r *http.Request) {
	given, agents, err := c.orderOf(r)
	var shown drafted
	if err == nil {
		shown, err = c.draft(r, given, agents)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	shown.Witness = shown.Witness && !ofPeople(given.Verb)
	c.render(w, r, http.StatusOK, "order.html", orderTitle(given.Verb), struct {
		drafted
		Order  interlock.Order
		Effect string
		Own    bool // no session's word is enough
	}{shown, given.Order, effect(given), ofPeople(given.Verb)})
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
	case interlock.VerbSignTools:
		return "Sign for what is in use"
	case interlock.VerbAddOperator:
		return "Add an operator"
	case interlock.VerbChangeOperator:
		return "Change an operator"
	case interlock.VerbAddAgent:
		return "Add an agent"
	case interlock.VerbRevoke:
		return "Revoke"
	case interlock.VerbWeakKeys:
		return "Keys without a passphrase"
	case interlock.VerbAdoptSettings:
		return "The settings"
	case interlock.VerbKill:
		return "Stop everything"
	case interlock.VerbReleaseKill:
		return "Let everything go on"
	case interlock.VerbSuppress:
		return "Keep a rule silent"
	case interlock.VerbDemote:
		return "Lower an agent's trust"
	default:
		return containTitle(verb)
	}
}

// effect says in one sentence what an order does.
func effect(order quorum.Given) string {
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
	case interlock.VerbSignTools:
		return "It stays in use, by your word from now on instead of its first use. The detail is the digest of what you " +
			"were shown; what is taken or changes later does not count as signed, and what is in quarantine stays there."
	case interlock.VerbAddOperator, interlock.VerbChangeOperator, interlock.VerbAddAgent, interlock.VerbRevoke,
		interlock.VerbWeakKeys:
		return peopleEffect(order.Order)
	case interlock.VerbAdoptSettings:
		return settingsEffect(order)
	case interlock.VerbKill, interlock.VerbReleaseKill:
		return killEffect(order)
	case interlock.VerbSuppress:
		return "The rule objects no more where the order says, until it expires or is lifted. Everything else that objects still does, " +
			"and each decision it touches names the order."
	case interlock.VerbDemote:
		return "The agent is trusted less, at once."
	default:
		return containEffect(order.Order)
	}
}

// orderOf reads the order a query describes, and returns with it what is known of the agent it is about.
func (c *Console) orderOf(r *http.Request) (given quorum.Given, agents map[string]interlock.AgentRecord, err error) {
	query := r.URL.Query()
	verb, subject := interlock.Verb(query.Get("verb")), strings.TrimSpace(query.Get("subject"))
	if subject == phase.ScopeSystem { // as people call it
		subject = ledger.HoldName(ledger.HoldSystem, phase.SystemKey)
	}
	needs := rightFor(verb)
	if needs == 0 {
		return given, nil, interlock.Errorf(interlock.CodeInvalid, "verb", "there is no such order")
	}
	if !c.may(r, needs) {
		return given, nil, interlock.Errorf(interlock.CodeUnauthorized, "role", "your role may not give this order")
	}
	standing, err := c.config.Backend.Ground(r.Context(), ref(ledger.Challenge, subject), ref(ledger.Agent, subject),
		pinning.PinsOf(subject))
	if err != nil {
		return given, nil, err
	}
	detail, about, err := c.orderDetail(r, standing, verb, subject)
	if err != nil {
		return given, nil, err
	}
	if standing, err = c.config.Backend.Ground(r.Context(), ref(ledger.Agent, about.Agent)); err != nil {
		return given, nil, err
	}
	id, err := c.newID("ord_")
	if err != nil {
		return given, nil, err
	}
	reason, err := reasonOf(query)
	if err != nil {
		return given, nil, err
	}
	operator, _ := c.operator(r)
	now := c.config.Now().UTC().Truncate(time.Microsecond)
	given = quorum.OfOrder(interlock.Order{ID: id, Verb: verb, Subject: subject, Detail: detail, Reason: reason,
		Operator: operator.Name, At: now, Expires: now.Add(orderLife)}, about)
	given.Aside = query.Get("aside")
	return given, standing.Agents, nil
}

// orderDetail is what an order says beside what it is about, from the query that describes it, and whose freedom it is about.
func (c *Console) orderDetail(r *http.Request, standing ledger.Standing, verb interlock.Verb, subject string) (detail string,
	about interlock.Requester, err error) {
	query := r.URL.Query()
	switch verb {
	case interlock.VerbAddOperator, interlock.VerbChangeOperator, interlock.VerbAddAgent, interlock.VerbRevoke,
		interlock.VerbWeakKeys:
		detail = query.Get("detail")
		if err := checkPeople(interlock.Order{Verb: verb, Subject: subject, Detail: detail}); err != nil {
			return "", about, err
		}
	case interlock.VerbAdoptSettings:
		detail = query.Get("detail")
		if _, err := governance.DeparturesOf(detail, query.Get("aside")); err != nil || subject != governance.SettingsSubject {
			return "", about, interlock.Errorf(interlock.CodeInvalid, "detail", "the order does not say what the settings are to be")
		}
	case interlock.VerbKill, interlock.VerbReleaseKill:
		if detail, err = c.killOrder(r, verb, subject); err != nil {
			return "", about, err
		}
	case interlock.VerbTightenPhase, interlock.VerbLoosenPhase, interlock.VerbRootCause, interlock.VerbTripBreaker, interlock.VerbResetBreaker:
		return c.phaseOrder(r, verb, subject)
	case interlock.VerbBeginRollback, interlock.VerbTellRollback:
		return c.rollbackOrder(r, verb, subject)
	case interlock.VerbSecond:
		return "", about, nil
	case interlock.VerbNewCode, interlock.VerbUnblock:
		challenge, stands := standing.Challenges[subject]
		if !stands || !challenge.Ended.IsZero() {
			return "", about, interlock.Errorf(interlock.CodeNotFound, "subject", "no challenge with this id stands")
		}
		about = challenge.Requester
	case interlock.VerbApproveTool, interlock.VerbQuarantineTool, interlock.VerbSignTools:
		if detail, err = toolOrder(standing, verb, subject, query.Get("seen")); err != nil {
			return "", about, err
		}
	default:
		agent, known := standing.Agents[subject]
		if !known || !agent.Revoked.IsZero() {
			return "", about, interlock.Errorf(interlock.CodeNotFound, "subject", "no agent of this name is registered")
		}
		about = interlock.Requester{Agent: agent.ID, Principal: agent.Principal}
		if detail, err = c.level(query.Get("level"), query.Get("days")); err != nil {
			return "", about, err
		}
	}
	return detail, about, nil
}

// reasonOf is the reason that a form or a query gives.
func reasonOf(values url.Values) (string, error) {
	reason := strings.TrimSpace(values.Get("reason"))
	if len(reason) > maxNote {
		return "", interlock.Errorf(interlock.CodeInvalid, "reason", "is longer than %d bytes", maxNote)
	}
	return reason, nil
}

// level is an order's detail: the trust it leads to, and for a certificate how long it runs.
func (c *Console) level(name, days string) (string, error) {
	var level interlock.Trust
	if err := level.UnmarshalText([]byte(name)); err != nil {
		return "", interlock.Errorf(interlock.CodeInvalid, "level", "%v", err)
	}
	if level != interlock.TrustCertified {
		return governance.TrustDetail(level, time.Time{}), nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(days))
	if err != nil || n < 1 || n > 400 {
		return "", interlock.Errorf(interlock.CodeInvalid, "days", "a certificate runs for 1 to 400 days")
	}
	return governance.TrustDetail(level, c.config.Now().UTC().Truncate(time.Second).AddDate(0, 0, n)), nil
}

// giveOrder carries out an order that was shown to this session, as it was shown.
func (c *Console) giveOrder(w http.ResponseWriter, r *http.Request) {
	given, shown := c.orders.take(r.PathValue("id"), c.visitor(r).Session.ID)
	if !shown {
		c.fail(w, r, interlock.Errorf(interlock.CodeExpired, "id",
			"the page is too old or was used already; begin the order anew"))
		return
	}
	if needs := rightFor(given.Verb); needs == 0 || !c.may(r, needs) {
		c.fail(w, r, interlock.Errorf(interlock.CodeUnauthorized, "role", "your role may not give this order"))
		return
	}
	done, err := c.give(r, given)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if given.Verb == interlock.VerbNewCode {
		c.render(w, r, http.StatusOK, "code.html", "New code", done)
		return
	}
	http.Redirect(w, r, afterOrder(given.Order), http.StatusSeeOther)
}

// afterOrder is the page on which one sees what came of an order.
func afterOrder(given interlock.Order) string {
	switch given.Verb {
	case interlock.VerbPromote, interlock.VerbDemote:
		return "/trust"
	case interlock.VerbApproveTool, interlock.VerbQuarantineTool, interlock.VerbSignTools:
		return "/tools"
	case interlock.VerbAddOperator, interlock.VerbChangeOperator, interlock.VerbAddAgent, interlock.VerbRevoke,
		interlock.VerbWeakKeys:
		return "/agents"
	case interlock.VerbAdoptSettings, interlock.VerbKill, interlock.VerbReleaseKill:
		return "/system"
	case interlock.VerbTightenPhase, interlock.VerbLoosenPhase, interlock.VerbRootCause, interlock.VerbTripBreaker, interlock.VerbResetBreaker:
		return "/system/phases"
	case interlock.VerbBeginRollback:
		return "/system/rollbacks/" + runs.RollbackID(given.ID)
	case interlock.VerbTellRollback:
		id, _, _ := strings.Cut(given.Subject, "/")
		return "/system/rollbacks/" + url.PathEscape(id)
	case interlock.VerbSecond:
		return "/grants"
	case interlock.VerbSuppress:
		return addressOfRule(given.Subject)
	default:
		return "/challenges"
	}
}

// endGrant revokes a standing grant. It only tightens, so the server's word for the session is enough.
func (c *Console) endGrant(w http.ResponseWriter, r *http.Request) {
	c.endStanding(w, r, interlock.VerbEndGrant, "/grants")
}

// endStanding ends an order that stands, by the server's word for the session.
func (c *Console) endStanding(w http.ResponseWriter, r *http.Request, verb interlock.Verb, next string) {
	reason, err := reasonOf(r.PostForm)
	id, problem := c.newID("ord_")
	if err == nil {
		err = problem
	}
	if err == nil {
		v, now := c.visitor(r), c.config.Now().UTC().Truncate(time.Microsecond)
		given := quorum.OfOrder(interlock.Order{ID: id, Verb: verb, Subject: r.PathValue("id"),
			Operator: v.Operator.Name, Reason: reason, At: now, Expires: now.Add(orderLife)}, interlock.Requester{})
		var signature string
		signature, err = c.config.Attest(interlock.MethodSession, v.Session.ID, given.Text())
		if err == nil {
			_, err = c.config.Backend.CarryOut(r.Context(), given.Signed(interlock.MethodSession, v.Session.ID, signature))
		}
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}
