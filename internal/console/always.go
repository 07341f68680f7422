package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/replay"
)

// always is what the page says about a standing yes: what it is for, what it would have answered, and, once its operator has said how
// it is meant, exactly what is signed.
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
	c.render(w, r, http.StatusOK, "always.html", "Always allow this here", always{Request: r.PathValue("id"), Grant: g, Report: report})
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
		given := quorum.OfGrant(page.Grant).By(c.visitor(r).operator.Name)
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
		return aim, interlock.Errorf(interlock.CodeInvalid, "lasting", "say how long: this session, so many days, or until it is revoked")
	}
	return aim, nil
}
