package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

// draftGrant shows the exact text of the standing grant a form describes, for its operator to sign.
func (c *Console) draftGrant(w http.ResponseWriter, r *http.Request) {
	request, standing, err := c.requestNamed(r.Context(), r.PathValue("id"))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	g, err := c.described(r, request, c.visitor(r).operator)
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
	given, known := c.orders.take(r.PathValue("id"), c.visitor(r).session.ID)
	if !known || given.Verb != interlock.VerbGrant {
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
