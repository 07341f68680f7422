package ruleset

import (
	"strings"
	"time"
)

// WatchRules say what follows from what is unusual, and from people and gates that fall behind.
type WatchRules struct {
	// from which scores of anomaly and drift on people are told, the agent is isolated (phase A), and it is suspended (C)
	Elevated    int `json:"elevated,omitempty"`    // 40
	Alternate   int `json:"alternate,omitempty"`   // 60
	Contingency int `json:"contingency,omitempty"` // 80

	// within how long questions are to be answered. Where people take half as long again, twice and five times as long, their layer is
	// in phase A, C and E; without it nobody measures that
	Answer Span `json:"answer_within,omitempty"`

	// nobody looks for what is unusual. From tier 2 on the system is in contingency then, unless somebody accepts the risk
	Off      bool   `json:"off,omitempty"`
	Accepted string `json:"accepted_by,omitempty"` // who
	Reason   string `json:"reason,omitempty"`      // and why
}

// The bands of MASO's observability page; its page on tier 2 has 30, 60 and 85.
const (
	bandElevated    = 40
	bandAlternate   = 60
	bandContingency = 80
	maxAccepted     = 200
)

// Bands are the three levels in force.
func (w WatchRules) Bands() [3]int {
	or := func(value, instead int) int {
		if value == 0 {
			return instead
		}
		return value
	}
	return [3]int{or(w.Elevated, bandElevated), or(w.Alternate, bandAlternate), or(w.Contingency, bandContingency)}
}

// Within is how long a question may wait; 0 where nobody says.
func (w WatchRules) Within() time.Duration { return time.Duration(w.Answer) }

// Watch is what of it is in force: of several documents the lower levels and the shorter time. It is off where every document that says
// anything of it says so.
func (r *Ruleset) Watch() WatchRules { return r.watch }

func (r *Ruleset) addWatch(m *MasoRules) {
	if m == nil || m.Watch == nil {
		return
	}
	is, more := r.watch, *m.Watch
	if !r.watches {
		r.watch, r.watches = more, true
		return
	}
	a, b := is.Bands(), more.Bands()
	is.Elevated, is.Alternate, is.Contingency = min(a[0], b[0]), min(a[1], b[1]), min(a[2], b[2])
	if is.Answer == 0 || more.Answer > 0 && more.Answer < is.Answer {
		is.Answer = more.Answer
	}
	if is.Off = is.Off && more.Off; is.Accepted == "" || more.Accepted == "" {
		is.Accepted, is.Reason = "", "" // who accepts it does so in each document
	}
	r.watch = is
}

// looser reports whether something of it stops less than before.
func (w WatchRules) looser(than WatchRules) bool {
	a, b := w.Bands(), than.Bands()
	for n := range a {
		if a[n] > b[n] {
			return true
		}
	}
	return w.Off && !than.Off || w.Accepted != "" && than.Accepted == "" ||
		than.Answer > 0 && (w.Answer == 0 || w.Answer > than.Answer)
}

// watch checks the part of a document.
func (c *checker) watch(m *MasoRules) error {
	if m == nil || m.Watch == nil {
		return nil
	}
	w := m.Watch
	at := [3]string{"elevated", "alternate", "contingency"}
	last := 0
	for n, value := range w.Bands() {
		if value <= last || value > 100 {
			return c.doc.Errorf("/maso/watch/"+at[n], "the levels elevated, alternate and contingency are from 1 to 100, each above the one before")
		}
		last = value
	}
	switch {
	case (w.Accepted == "") != (strings.TrimSpace(w.Reason) == ""):
		return c.doc.Errorf("/maso/watch/accepted_by", "who accepts the risk and the reason are named together")
	case w.Accepted != "" && !w.Off:
		return c.doc.Errorf("/maso/watch/accepted_by", "there is no risk to accept where off is not true")
	case len(w.Accepted) > maxAccepted || len(w.Reason) > maxAccepted:
		return c.doc.Errorf("/maso/watch/reason", "and accepted_by are at most %d bytes", maxAccepted)
	}
	return nil
}
