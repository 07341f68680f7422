package console

import (
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// A silenced is an order that keeps a rule silent somewhere, as a page lists it.
type silenced struct {
	interlock.Suppression
	InForce bool
}

// suppressions are the orders that keep a rule silent, or any rule where none is named, the newest first. Whoever may not read actions
// is not told where.
func (c *Console) suppressions(r *http.Request, rule string) (list []silenced, err error) {
	given, err := admission.Ordered[interlock.Suppression](r.Context(), c.config.Backend, interlock.VerbSuppress, ledger.Every(maxListed))
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
	var shown drafted
	given := quorum.OfSuppression(s)
	if err == nil {
		shown, err = c.draft(r, given, nil)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "order.html", orderTitle(given.Verb), struct {
		drafted
		Order  interlock.Order
		Effect string
		Own    bool
	}{shown, given.Order, effect(given), false})
}

func (c *Console) suppression(r *http.Request) (s interlock.Suppression, err error) {
	id, err := c.newID("sup_")
	if err != nil {
		return s, err
	}
	form, rule := r.PostForm, r.PathValue("id")
	days, err := strconv.Atoi(strings.TrimSpace(form.Get("days")))
	if err != nil || days < 1 || time.Duration(days)*24*time.Hour > quorum.MaxSuppression {
		return s, interlock.Errorf(interlock.CodeInvalid, "days", "is a whole number of days, at most %d", quorum.MaxSuppression/(24*time.Hour))
	}
	created := c.config.Now().UTC().Truncate(time.Second)
	s = interlock.Suppression{ID: id, Rule: rule, Agent: strings.TrimSpace(form.Get("agent")), Path: strings.TrimSpace(form.Get("path")),
		Command: strings.TrimSpace(form.Get("command")), Operator: c.visitor(r).operator.Name, Created: created,
		Expires: created.AddDate(0, 0, days)}
	if s.Denials, err = c.config.Facts.Rules().Suppressible(rule); err != nil {
		return s, err
	}
	if s.Reason, err = reasonOf(form); err != nil {
		return s, err
	}
	return s, quorum.CheckSuppression(s, created)
}

// liftSuppression has a rule speak again where an order kept it silent. It only tightens, so the server's word for the session is enough.
func (c *Console) liftSuppression(w http.ResponseWriter, r *http.Request) {
	c.endStanding(w, r, interlock.VerbLift, "/rules")
}

// A silencedList is what the template of such orders gets.
type silencedList struct {
	Silent []silenced
	CSRF   string
	May    bool // whoever looks may lift them
}

func silencedHere(list []silenced, csrf string, may bool) silencedList {
	return silencedList{list, csrf, may}
}

// addressOfRule is where a rule's page is.
func addressOfRule(id string) string { return "/rules/" + url.PathEscape(id) }
