package console

import (
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/replay"
)

// draftGrant shows the exact text of the standing grant a form describes, for its operator to sign.
func (c *Console) draftGrant(w http.ResponseWriter, r *http.Request) {
	request, standing, err := c.requestNamed(r.Context(), r.PathValue("id"))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	g, err := c.described(r, request, c.visitor(r).Operator)
	var shown drafted
	if err == nil {
		shown, err = c.draft(r, quorum.OfGrant(g), standing.Agents)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "grant.html", "Sign a standing grant", struct {
		drafted
		Grant   interlock.Grant
		Request string
	}{shown, g, request.ID})
}

// described reads the form's bounds for a grant to the requester of a request.
func (c *Console) described(r *http.Request, request interlock.ApprovalRequest,
	operator interlock.OperatorRecord) (interlock.Grant, error) {
	id, err := c.newID("grt_")
	if err != nil {
		return interlock.Grant{}, err
	}
	now := c.config.Now().UTC().Truncate(time.Second)
	g := interlock.Grant{ID: id, Operator: operator.Name, Agent: request.Requester.Agent, Principal: request.Requester.Principal,
		Ruleset: request.Ruleset, Kind: request.Kind(), Tool: strings.TrimSpace(r.PostForm.Get("tool")),
		Created: now, Reason: strings.TrimSpace(r.PostForm.Get("reason"))}
	if r.PostForm.Get("rule") != "" {
		if g.Rules, err = c.askedBy(r, request); err != nil {
			return g, err
		}
	}
	if g.Times, err = strconv.Atoi(strings.TrimSpace(r.PostForm.Get("times"))); err != nil {
		return g, interlock.Errorf(interlock.CodeInvalid, "times", "is a whole number from 1 to %d", quorum.MaxTimes)
	}
	hours, err := strconv.Atoi(strings.TrimSpace(r.PostForm.Get("hours")))
	if err != nil || hours < 1 || time.Duration(hours)*time.Hour > quorum.MaxGrant {
		return g, interlock.Errorf(interlock.CodeInvalid, "hours", "is a whole number of hours, at most 30 days")
	}
	g.Left, g.Expires = g.Times, now.Add(time.Duration(hours)*time.Hour)
	if g.Conditions, err = quorum.ParseConditions(r.PostForm.Get("conditions")); err != nil {
		return g, err
	}
	return g, nil
}

// askedBy names the rules by which a request was asked, so that a grant answers these and no others.
func (c *Console) askedBy(r *http.Request, request interlock.ApprovalRequest) ([]string, error) {
	rules := []string{request.Rule}
	if c.config.Decision == nil {
		return rules, nil
	}
	decision, err := c.config.Decision(r.Context(), request)
	if err != nil || decision == nil {
		return rules, err
	}
	for _, f := range decision.Findings {
		if f.Verdict == interlock.Ask && !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return rules, nil
}

// signGrant gives a grant that was drafted in this session.
func (c *Console) signGrant(w http.ResponseWriter, r *http.Request) {
	given, known := c.orders.take(r.PathValue("id"), c.visitor(r).Session.ID)
	if _, grants := given.Terms.(interlock.Grant); !known || !grants {
		c.fail(w, r, interlock.Errorf(interlock.CodeExpired, "id",
			"this grant waits for no signature any more; describe it again"))
		return
	}
	if _, err := c.give(r, given); err != nil {
		c.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/pending", http.StatusSeeOther)
}

// A silenced is an order that keeps a rule silent somewhere, as a page lists it.
type silenced struct {
	interlock.Suppression
	InForce bool
}

// suppressions are the orders that keep a rule silent, or any rule where none is named, the newest first. A person who may not
// read actions is not told where.
func (c *Console) suppressions(r *http.Request, rule string) (list []silenced, err error) {
	given, err := core.Ordered[interlock.Suppression](r.Context(), c.config.Backend, interlock.VerbSuppress, ledger.Every(maxListed))
	if err != nil {
		return nil, err
	}
	now := c.config.Now()
	for _, s := range given.Rows {
		if rule != "" && s.Rule != rule {
			continue
		}
		if !c.may(r, reading) {
			s.Path, s.Command, s.Reason, s.Statement = "", "", "", ""
		}
		list = append(list, silenced{s, s.InForce(now)})
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Created.After(list[j].Created) || list[i].Created.Equal(list[j].Created) && list[i].ID < list[j].ID
	})
	return list, nil
}

// draftSuppression shows the order that a form describes, to keep a rule silent somewhere for a while, for its operator to sign.
func (c *Console) draftSuppression(w http.ResponseWriter, r *http.Request) {
	s, err := c.suppression(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.showOrder(w, r, quorum.OfSuppression(s), nil)
}

func (c *Console) suppression(r *http.Request) (s interlock.Suppression, err error) {
	id, err := c.newID("sup_")
	if err != nil {
		return s, err
	}
	form, rule := r.PostForm, r.PathValue("id")
	days, err := strconv.Atoi(strings.TrimSpace(form.Get("days")))
	if err != nil || days < 1 || time.Duration(days)*24*time.Hour > quorum.MaxSuppression {
		return s, interlock.Errorf(interlock.CodeInvalid, "days", "is a whole number of days, at most %d",
			quorum.MaxSuppression/(24*time.Hour))
	}
	created := c.config.Now().UTC().Truncate(time.Second)
	s = interlock.Suppression{ID: id, Rule: rule, Agent: strings.TrimSpace(form.Get("agent")),
		Path:    strings.TrimSpace(form.Get("path")),
		Command: strings.TrimSpace(form.Get("command")), Operator: c.visitor(r).Operator.Name, Created: created,
		Expires: created.AddDate(0, 0, days)}
	if s.Denials, err = c.config.Facts.Rules().Suppressible(rule); err != nil {
		return s, err
	}
	if s.Reason, err = reasonOf(form); err != nil {
		return s, err
	}
	return s, quorum.CheckSuppression(s, created)
}

// liftSuppression has a rule speak again where an order kept it silent. It only tightens, so the server's word for the session is
// enough.
func (c *Console) liftSuppression(w http.ResponseWriter, r *http.Request) {
	c.endStanding(w, r, interlock.VerbLift, "/rules")
}

// A silencedList is what the template of such orders gets.
type silencedList struct {
	Silent []silenced
	CSRF   string
	May    bool // the person who looks may lift them
}

func silencedHere(list []silenced, csrf string, may bool) silencedList {
	return silencedList{list, csrf, may}
}

// always is what the page says about a standing yes: what it is for, what it would have answered, and, once its operator has said
// how it is meant, exactly what is signed.
type always struct {
	drafted
	Request string
	Grant   interlock.Grant
	Report  replay.GrantReport
	Asked   bool // it was drafted and may be signed
}

// alwaysPage offers a standing yes to exactly what a request asked, whatever has become of the request.
func (c *Console) alwaysPage(w http.ResponseWriter, r *http.Request) {
	g, report, err := c.wanted(r, admission.Aim{})
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "always.html", "Always allow this here", always{Request: r.PathValue("id"), Grant: g,
		Report: report})
}

// draftAlways shows the standing yes that a form describes, and what it would have answered, for its operator to sign.
func (c *Console) draftAlways(w http.ResponseWriter, r *http.Request) {
	aim, err := aimOf(r)
	var page always
	if err == nil {
		page.Request, page.Asked = r.PathValue("id"), true
		page.Grant, page.Report, err = c.wanted(r, aim)
	}
	var standing ledger.Standing
	if err == nil {
		standing, err = c.config.Backend.Ground(r.Context(), ref(ledger.Agent, page.Grant.Agent))
	}
	if err == nil {
		given := quorum.OfGrant(page.Grant).By(c.visitor(r).Operator.Name)
		page.drafted, err = c.draft(r, given, standing.Agents)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "always.html", "Always allow this here", page)
}

func (c *Console) wanted(r *http.Request, aim admission.Aim) (interlock.Grant, replay.GrantReport, error) {
	if c.config.Always == nil {
		return interlock.Grant{}, replay.GrantReport{},
			interlock.Errorf(interlock.CodeUnavailable, "", "the past can't be asked here; `interlock allow` can")
	}
	return c.config.Always(r.Context(), r.PathValue("id"), aim)
}

// aimOf reads how an operator means it.
func aimOf(r *http.Request) (admission.Aim, error) {
	form := r.PostForm
	aim := admission.Aim{Pattern: strings.TrimSpace(form.Get("pattern")), Dir: strings.TrimSpace(form.Get("dir")),
		Reason: strings.TrimSpace(form.Get("reason"))}
	switch form.Get("lasting") {
	case "session":
		aim.Session = true
	case "ever":
		aim.Ever = true
	case "days":
		days, err := strconv.Atoi(strings.TrimSpace(form.Get("days")))
		if err != nil || days < 1 || days > 365 {
			return aim, interlock.Errorf(interlock.CodeInvalid, "days", "is a whole number of days, at most 365")
		}
		aim.For = time.Duration(days) * 24 * time.Hour
	default:
		return aim, interlock.Errorf(interlock.CodeInvalid, "lasting", "say how long: this session, so many days, or until "+
			"it is revoked")
	}
	return aim, nil
}
