package console

import (
	"net/http"
	"strconv"
	"time"

	"interlock"
	"interlock/internal/replay"
)

// maxPastDays is how far back a page looks; the command line looks further.
const maxPastDays = 90

// A pastQuery is what the page about the past was asked.
type pastQuery struct {
	Rule  string
	Rules string // "shadow": those that decide in the shadow instead of those in force
	Agent string
	Days  int
	asked bool // a form was sent, so something is to be tried
}

func pastQueryOf(r *http.Request) (pastQuery, error) {
	query := r.URL.Query()
	q := pastQuery{Rule: query.Get("rule"), Rules: query.Get("rules"), Agent: query.Get("agent"), Days: 7, asked: len(query) > 0}
	for _, field := range [][2]string{{"rule", q.Rule}, {"agent", q.Agent}} {
		if len(field[1]) > maxFilter {
			return q, interlock.Errorf(interlock.CodeInvalid, field[0], "is longer than %d bytes", maxFilter)
		}
	}
	if q.Rules != "" && q.Rules != "shadow" {
		return q, interlock.Errorf(interlock.CodeInvalid, "rules", "%.40q are no rules that can be tried here", q.Rules)
	}
	if text := query.Get("days"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPastDays {
			return q, interlock.Errorf(interlock.CodeInvalid, "days", "is not 1 to %d", maxPastDays)
		}
		q.Days = n
	}
	return q, nil
}

// pastPage says what rules would have decided about the past, and where the ruleset in the shadow has parted from the one in
// force. Nothing of it is a decision.
func (c *Console) pastPage(w http.ResponseWriter, r *http.Request) {
	q, err := pastQueryOf(r)
	if err == nil && (c.config.WhatIf == nil || c.config.Shadow == nil) {
		err = interlock.Errorf(interlock.CodeUnavailable, "", "the past can't be asked here; interlock replay what-if can")
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	state, err := c.config.Shadow(r.Context())
	if err != nil {
		c.fail(w, r, err)
		return
	}
	data := struct {
		pastQuery
		State  replay.ShadowState
		Report *replay.Report
		Denied func(*replay.Report) int
	}{pastQuery: q, State: state, Denied: func(r *replay.Report) int {
		return r.Newly[interlock.Deny.String()] + r.Newly[interlock.Halt.String()]
	}}
	if q.asked {
		report, err := c.config.WhatIf(r.Context(), replay.Question{Rule: q.Rule, Candidate: q.Rules == "shadow", Agent: q.Agent,
			Since: c.config.Now().Add(-time.Duration(q.Days) * 24 * time.Hour)})
		if err != nil {
			c.fail(w, r, err)
			return
		}
		data.Report = &report
	}
	title := "Rules and the past"
	if q.Rule != "" {
		title = "The past of " + shorten(q.Rule, 80)
	}
	c.render(w, r, http.StatusOK, "past.html", title, data)
}

// parting is what the template of differences gets.
type parting struct {
	*replay.Report
	Reasons bool // whether whoever looks may read the words of actions
}

func partings(r *replay.Report, reasons bool) parting { return parting{r, reasons} }

// shadowPart is the report within what a shadow has counted.
func shadowPart(s *replay.ShadowReport) *replay.Report { return &s.Report }
