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
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
)

// Governor carries out operators' orders. Each is checked again there; one that does not count is recorded and alerted.
type Governor interface {
	// CarryOut carries one out. A fresh code is for the person who signed the order and nobody else.
	CarryOut(ctx context.Context, given quorum.Given, only ...interlock.Verb) (core.Carried, error)
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
	if err == nil {
		done, err = c.config.Backend.CarryOut(r.Context(), given)
	}
	return done, err
}

// rightFor is the right an order takes here: that of the role which gives it with the fewest others; none where it has no form.
func rightFor(verb quorum.Verb) right {
	switch {
	case verb.Form.Title == "":
		return 0
	case verb.Role(quorum.RoleOperator):
		return answering
	case verb.Role(quorum.RoleCouncil):
		return ordering // by whom is a matter of what it is about, and one who may not is told who may
	}
	return governing
}

// mayGive finds the verb of an order that the person signed in may give here.
func (c *Console) mayGive(r *http.Request, name interlock.Verb) (quorum.Verb, error) {
	verb, _ := quorum.VerbOf(name)
	switch needs := rightFor(verb); {
	case needs == 0:
		return verb, interlock.Errorf(interlock.CodeInvalid, "verb", "there is no such order")
	case !c.may(r, needs):
		return verb, interlock.Errorf(interlock.CodeUnauthorized, "role", "your role may not give this order")
	}
	return verb, nil
}

// ordersPage has a form for each order of a subject and a reason that the person signed in may give.
func (c *Console) ordersPage(w http.ResponseWriter, r *http.Request) {
	operator, _ := c.operator(r)
	var list []quorum.Verb
	for _, verb := range quorum.Verbs() {
		if verb.Form.Title != "" && verb.Form.Takes == "" && verb.Role(operator.Role) {
			verb.Form.Effect = strings.ReplaceAll(verb.Form.Effect, "{subject}", "it")
			list = append(list, verb)
		}
	}
	c.render(w, r, http.StatusOK, "orders.html", "Orders", list)
}

// draftOrder shows an order as it would be signed.
func (c *Console) draftOrder(w http.ResponseWriter, r *http.Request) {
	given, agents, err := c.orderOf(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.showOrder(w, r, given, agents)
}

// showOrder shows an order for its operator to sign, if it would count.
func (c *Console) showOrder(w http.ResponseWriter, r *http.Request, given quorum.Given, agents map[string]interlock.AgentRecord) {
	shown, err := c.draft(r, given, agents)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	verb, _ := quorum.VerbOf(given.Verb)
	shown.Witness = shown.Witness && !verb.Own
	c.render(w, r, http.StatusOK, "order.html", verb.Form.Title, struct {
		drafted
		Order  interlock.Order
		Effect string
		Own    bool // no session's word is enough
	}{shown, given.Order, effect(verb, given), verb.Own})
}

// effect says in one sentence what an order does.
func effect(verb quorum.Verb, order quorum.Given) string {
	detail := order.Detail
	if says := taking(verb.Form.Takes).says; says != nil {
		if detail = says(order); detail != "" && !strings.Contains(verb.Form.Effect, "{detail}") {
			return detail
		}
	}
	return strings.NewReplacer("{subject}", order.Subject, "{detail}", detail).Replace(verb.Form.Effect)
}

// A drafting is an order that a query describes, as far as it has been read.
type drafting struct {
	c        *Console
	r        *http.Request
	query    url.Values
	subject  string
	standing ledger.Standing // the challenge, the agent or the tools that the subject names, if it names such
}

// A taken is what forms of orders take beside a subject and a reason.
type taken struct {
	// the order's detail, out of the query that describes the order, and whose freedom it is about
	read func(d *drafting) (detail string, about interlock.Requester, err error)
	says func(order quorum.Given) string // the detail in words, for the row's; where that has no place for it, what the order does
}

// taking finds what forms take of one kind.
func taking(kind string) taken {
	return map[string]taken{
		"":                    {read: func(*drafting) (string, interlock.Requester, error) { return "", interlock.Requester{}, nil }},
		quorum.TakesChallenge: {read: takeChallenge},
		quorum.TakesLevel:     {read: takeLevel},
		quorum.TakesTool:      {read: takeTool},
		quorum.TakesApproved:  takeSeen(pinning.Approvable),
		quorum.TakesSigned:    takeSeen(pinning.Signable),
		quorum.TakesOperator:  {read: takeOperator, says: operatorSays},
		quorum.TakesAgent:     {read: takeAgent, says: agentSays},
		quorum.TakesName:      {read: takeName},
		quorum.TakesWeakKeys:  {read: takeWeakKeys},
		quorum.TakesSettings:  {read: takeSettings, says: settingsSays},
		quorum.TakesMode:      {read: takeMode, says: modeSays},
		quorum.TakesStop:      {read: takeStop},
		quorum.TakesActor:     {read: takeActor},
		quorum.TakesBreaker:   {read: takeBreaker},
		quorum.TakesPhase:     {read: takePhase, says: phaseSays},
		quorum.TakesStepBack:  {read: takeStepBack, says: phaseSays},
		quorum.TakesPlan:      {read: takePlan},
		quorum.TakesStep:      {read: takeStep},
	}[kind]
}

// orderOf reads the order a query describes, and returns with it what is known of the agent it is about.
func (c *Console) orderOf(r *http.Request) (given quorum.Given, agents map[string]interlock.AgentRecord, err error) {
	query := r.URL.Query()
	subject := strings.TrimSpace(query.Get("subject"))
	if subject == phase.ScopeSystem { // as people call it
		subject = ledger.HoldName(ledger.HoldSystem, phase.SystemKey)
	}
	verb, err := c.mayGive(r, interlock.Verb(query.Get("verb")))
	take := taking(verb.Form.Takes)
	switch {
	case err != nil:
		return given, nil, err
	case take.read == nil:
		return given, nil, interlock.Errorf(interlock.CodeInvalid, "verb", "this order is given on a page of its own")
	case verb.Always != "" && subject != verb.Always:
		return given, nil, interlock.Errorf(interlock.CodeInvalid, "subject", "this order is about %s alone", verb.Always)
	}
	d := &drafting{c: c, r: r, query: query, subject: subject}
	if d.standing, err = c.config.Backend.Ground(r.Context(), ref(ledger.Challenge, subject), ref(ledger.Agent, subject),
		pinning.PinsOf(subject)); err != nil {
		return given, nil, err
	}
	detail, about, err := take.read(d)
	if err != nil {
		return given, nil, err
	}
	standing, err := c.config.Backend.Ground(r.Context(), ref(ledger.Agent, about.Agent))
	if err != nil {
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
	given = quorum.OfOrder(interlock.Order{ID: id, Verb: verb.Name, Subject: subject, Detail: detail, Reason: reason,
		Operator: operator.Name, At: now, Expires: now.Add(orderLife)}, about)
	given.Aside = query.Get("aside")
	return given, standing.Agents, nil
}

// takeSettings reads an order about the settings.
func takeSettings(d *drafting) (detail string, about interlock.Requester, err error) {
	detail = d.query.Get("detail")
	if _, err := governance.DeparturesOf(detail, d.query.Get("aside")); err != nil || d.subject != governance.SettingsSubject {
		return "", about, interlock.Errorf(interlock.CodeInvalid, "detail", "the order does not say what the settings are to be")
	}
	return detail, about, nil
}

// takeChallenge reads an order about a challenge.
func takeChallenge(d *drafting) (string, interlock.Requester, error) {
	challenge, known := d.standing.Challenges[d.subject]
	if !known || !challenge.Ended.IsZero() {
		return "", interlock.Requester{}, interlock.Errorf(interlock.CodeNotFound, "subject", "no challenge with this id stands")
	}
	return "", challenge.Requester, nil
}

// takeLevel reads an order about an agent's trust.
func takeLevel(d *drafting) (detail string, about interlock.Requester, err error) {
	agent, known := d.standing.Agents[d.subject]
	if !known || !agent.Revoked.IsZero() {
		return "", about, interlock.Errorf(interlock.CodeNotFound, "subject", "no agent of this name is registered")
	}
	detail, err = d.c.level(d.query.Get("level"), d.query.Get("days"))
	return detail, interlock.Requester{Agent: agent.ID, Principal: agent.Principal}, err
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
	verb, err := c.mayGive(r, given.Verb)
	var done core.Carried
	if err == nil {
		done, err = c.give(r, given)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if done.Code != "" {
		c.render(w, r, http.StatusOK, "code.html", "New code", done)
		return
	}
	http.Redirect(w, r, afterOrder(verb, given.Order), http.StatusSeeOther)
}

// afterOrder is the page on which one sees what came of an order.
func afterOrder(verb quorum.Verb, given interlock.Order) string {
	whole, _, _ := strings.Cut(given.Subject, "/")
	return strings.NewReplacer("{id}", strings.TrimPrefix(given.ID, "ord_"), "{subject}", url.PathEscape(given.Subject),
		"{whole}", url.PathEscape(whole)).Replace(verb.Form.After)
}

// endGrant revokes a standing grant. It only tightens, so the server's word for the session is enough.
func (c *Console) endGrant(w http.ResponseWriter, r *http.Request) {
	c.endStanding(w, r, interlock.VerbEndGrant, "/grants")
}

// endStanding ends an order that is in force, by the server's word for the session.
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
