package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// A ranging is the page on which a pre-approved range is described and signed.
type ranging struct {
	drafted
	Grant  interlock.Grant
	Digest interlock.Digest // what somebody of another team seconds
	Order  interlock.Order
	Asked  bool   // it was drafted and may be signed
	Second bool   // what is signed is the yes of the first team
	Covers string // it in words
	Days   int
	Tier   int    // in force: ranges answer what tier 2 asks
	Refuse string // why this operator's order would not count; empty: it would
}

// Own reports whether no session's word is enough.
func (p ranging) Own() bool { return p.Second }

// rangePage lets a range be described: by an admin, who gives it, or by somebody of another team, who seconds it first.
func (c *Console) rangePage(w http.ResponseWriter, r *http.Request) {
	c.render(w, r, http.StatusOK, "range.html", "A pre-approved range", ranging{Tier: c.config.Facts.Rules().Maso().Tier})
}

// draftRange shows the range that a form describes, for its operator to sign: as its order, or as the yes of another team before it.
func (c *Console) draftRange(w http.ResponseWriter, r *http.Request) {
	g, days, err := c.rangeOf(r)
	page := ranging{Asked: true, Second: r.PostForm.Get("act") == "second", Grant: g, Days: days, Tier: c.config.Facts.Rules().Maso().Tier}
	if err == nil {
		page.Digest, err = governance.RangeDigest(g)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page.Covers = rangeWords(g)
	given := quorum.OfGrant(g)
	if page.Second {
		if given, err = c.seconding(r, page.Digest, g.Reason); err != nil {
			c.fail(w, r, err)
			return
		}
	}
	page.Order = given.Order
	if page.drafted, err = c.draft(r, given, nil); err != nil {
		c.fail(w, r, err)
		return
	}
	page.Witness = page.Witness && !page.Second
	c.render(w, r, http.StatusOK, "range.html", "A pre-approved range", page)
}

// seconding is the order by which somebody says yes to what another team is to order.
func (c *Console) seconding(r *http.Request, what interlock.Digest, reason string) (given quorum.Given, err error) {
	id, err := c.newID("ord_")
	now := c.config.Now().UTC().Truncate(time.Microsecond)
	return quorum.OfOrder(interlock.Order{ID: id, Verb: interlock.VerbSecond, Subject: string(what), Reason: reason,
		Operator: c.visitor(r).Operator.Name, At: now, Expires: now.Add(orderLife)}, interlock.Requester{}), err
}

// rangeOf reads the form's bounds.
func (c *Console) rangeOf(r *http.Request) (g interlock.Grant, days int, err error) {
	form := r.PostForm
	id, err := c.newID("grt_")
	if err != nil {
		return g, 0, err
	}
	days, err = strconv.Atoi(strings.TrimSpace(form.Get("days")))
	if err != nil || days < 1 || time.Duration(days)*24*time.Hour > quorum.MaxRange {
		return g, 0, interlock.Errorf(interlock.CodeInvalid, "days", "is a whole number of days, at most %d", quorum.MaxRange/(24*time.Hour))
	}
	of := interlock.Range{Type: strings.TrimSpace(form.Get("type"))}
	for name := range strings.SplitSeq(form.Get("free"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			of.Free = append(of.Free, name)
		}
	}
	if money := strings.TrimSpace(form.Get("money")); money != "" {
		var known bool
		if of.Currency, of.Most, known = quorum.ParseMoney(money); !known {
			return g, 0, interlock.Errorf(interlock.CodeInvalid, "money", "write the currency and the amount, such as EUR 500 or EUR 12.50")
		}
	}
	now := c.config.Now().UTC().Truncate(time.Second)
	g = interlock.Grant{ID: id, Operator: c.visitor(r).Operator.Name, Kind: interlock.KindTool,
		Tool: strings.TrimSpace(form.Get("tool")), Range: &of,
		Created: now, Expires: now.Add(time.Duration(days) * 24 * time.Hour)}
	if times := strings.TrimSpace(form.Get("times")); times != "" {
		if g.Times, err = strconv.Atoi(times); err != nil {
			return g, 0, interlock.Errorf(interlock.CodeInvalid, "times", "is a whole number, or is left out")
		}
	}
	g.Left = g.Times
	if g.Conditions, err = quorum.ParseConditions(form.Get("conditions")); err != nil {
		return g, 0, err
	}
	if g.Reason, err = reasonOf(form); err != nil {
		return g, 0, err
	}
	return g, days, quorum.CheckBounds(g)
}

// rangeWords says what a range covers.
func rangeWords(g interlock.Grant) string {
	parts := []string{"tool " + g.Tool}
	for _, c := range g.Conditions {
		parts = append(parts, c.Parameter+" "+c.Operator+" "+string(c.Value))
	}
	for _, name := range g.Range.Free {
		parts = append(parts, name+" free")
	}
	if g.Range.Most > 0 {
		parts = append(parts, "up to "+interlock.Money(g.Range.Most, g.Range.Currency))
	}
	return strings.Join(parts, ", ")
}

// A planned is a plan of a run as pages show it.
type planned struct {
	interlock.Plan
	Veiled bool // the actions' own words are not shown
}

func (c *Console) planned(r *http.Request, plan interlock.Plan) planned {
	return planned{plan, !c.may(r, reading)}
}

// Left is how many steps have not been let through.
func (p planned) Left() int { return len(p.Steps) - p.Done }

// plansPage lists the plans of runs.
func (c *Console) plansPage(w http.ResponseWriter, r *http.Request) {
	plans, err := core.PlansUnder(r.Context(), c.config.Backend, ledger.All, maxListed)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	list := core.List[planned]{All: plans.All}
	for _, plan := range plans.Rows {
		list.Rows = append(list.Rows, c.planned(r, plan))
	}
	c.render(w, r, http.StatusOK, "plans.html", "Plans", list)
}

// planPage shows one plan, by its id or its run's. Its acknowledgement is the answer to its request, as of any question.
func (c *Console) planPage(w http.ResponseWriter, r *http.Request) {
	plans, err := core.PlansUnder(r.Context(), c.config.Backend, ledger.PlanNamed(r.PathValue("id")), 1)
	if err == nil && len(plans.Rows) == 0 {
		err = interlock.Errorf(interlock.CodeNotFound, "id", "no plan and no run with a plan has this name")
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	plan := c.planned(r, plans.Rows[0])
	c.render(w, r, http.StatusOK, "plan.html", "Plan "+plan.ID, plan)
}
