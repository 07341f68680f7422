package render

import (
	"net/http"
	"strconv"

	"interlock"
	"interlock/internal/replay"
)

// maxPastDays is how far back a page looks; the command line looks further.
const maxPastDays = 90

// A PastQuery is what the page about the past was asked.
type PastQuery struct {
	Rule  string
	Rules string // "shadow": those that decide in the shadow instead of those in force
	Agent string
	Days  int
	Asked bool // a form was sent, so something is to be tried
}

func PastQueryOf(r *http.Request) (PastQuery, error) {
	query := r.URL.Query()
	q := PastQuery{Rule: query.Get("rule"), Rules: query.Get("rules"), Agent: query.Get("agent"), Days: 7, Asked: len(query) > 0}
	for _, field := range [][2]string{{"rule", q.Rule}, {"agent", q.Agent}} {
		if len(field[1]) > MaxFilter {
			return q, interlock.Errorf(interlock.CodeInvalid, field[0], "is longer than %d bytes", MaxFilter)
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

// parting is what the template of differences gets.
type parting struct {
	*replay.Report
	Reasons bool // whether the person who looks may read the words of actions
}

func Partings(r *replay.Report, reasons bool) parting { return parting{r, reasons} }

// ShadowPart is the report within what a shadow has counted.
func ShadowPart(s *replay.ShadowReport) *replay.Report { return &s.Report }
