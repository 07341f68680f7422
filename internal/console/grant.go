package console

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/quorum"
)

// The bounds of grants that were drafted and not signed.
const (
	draftLife = 5 * time.Minute
	maxDrafts = 256
)

// drafts are standing grants whose exact bounds were shown to a session and wait for its signature. It is safe for
// concurrent use.
type drafts struct {
	now func() time.Time

	mu   sync.Mutex
	open map[string]grantDraft
}

type grantDraft struct {
	grant   interlock.Grant
	session string
	expires time.Time
}

func newDrafts(now func() time.Time) *drafts { return &drafts{now: now, open: map[string]grantDraft{}} }

func (d *drafts) keep(g interlock.Grant, session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	for id, other := range d.open {
		if !now.Before(other.expires) {
			delete(d.open, id)
		}
	}
	if len(d.open) >= maxDrafts {
		return false
	}
	d.open[g.ID] = grantDraft{grant: g, session: session, expires: now.Add(draftLife)}
	return true
}

func (d *drafts) take(id, session string) (interlock.Grant, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, known := d.open[id]
	if !known || kept.session != session || !d.now().Before(kept.expires) {
		return interlock.Grant{}, false
	}
	delete(d.open, id)
	return kept.grant, true
}

// draftGrant shows the exact text of the standing grant a form describes, for its operator to sign.
func (c *Console) draftGrant(w http.ResponseWriter, r *http.Request) {
	standing, err := c.config.Backend.Standing(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	request, known := standing.Requests[r.PathValue("id")]
	if !known {
		c.fail(w, r, interlock.Errorf(interlock.CodeNotFound, "id",
			"no request that waits has this id: it was used, denied or has expired"))
		return
	}
	v := c.visitor(r)
	g, err := c.described(r, request, v.operator)
	if err == nil {
		err = quorum.MayGrant(g, v.operator, standing.Agents, c.config.Now())
	}
	if err == nil {
		err = quorum.CheckBounds(g)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if !c.drafts.keep(g, v.session.ID) {
		c.fail(w, r, interlock.Errorf(interlock.CodeLimited, "",
			"too many grants wait for a signature; try again in a few minutes"))
		return
	}
	challenge := identity.StatementChallenge(g.Statement)
	c.render(w, r, http.StatusOK, "grant.html", "Sign a standing grant", struct {
		signing
		Grant   interlock.Grant
		Request string
		Hash    string
	}{c.signing(r, challenge), g, request.ID, base64.RawURLEncoding.EncodeToString(challenge)})
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
	g.Statement = quorum.GrantStatement(g)
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
	v := c.visitor(r)
	g, known := c.drafts.take(r.PathValue("id"), v.session.ID)
	if !known {
		c.fail(w, r, interlock.Errorf(interlock.CodeExpired, "id",
			"this grant waits for no signature any more; describe it again"))
		return
	}
	err := c.sign(r, []string{g.Statement}, true, func(_ int, method, key, signature string) {
		g.Method, g.Key, g.Signature = method, key, signature
	})
	if err == nil {
		err = c.proved(r, []interlock.Approval{{Method: g.Method, Statement: g.Statement, Signature: g.Signature}})
	}
	if err == nil {
		_, err = c.config.Backend.Grant(r.Context(), g)
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/pending", http.StatusSeeOther)
}
