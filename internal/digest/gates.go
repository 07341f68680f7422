package digest

import (
	"fmt"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
)

// The bounds of what is said of gates. Below them a share says nothing.
const (
	leastDecisions = 100 // within the stretch of time, and before it
	leastDenials   = 20  // before it
	dropsTo        = 3   // a third of the share of before, or less, is a drop
	sample         = 10  // approvals and permits to look at again
)

// A Gate is how much one of the two gates denied, within a stretch of time and before it. An agent that learns to get past one is
// denied less (ASA 16.1).
type Gate struct {
	Gate   int `json:"gate"` // 1 deterministic, 2 the judge
	Denied int `json:"denied"`
	Of     int `json:"of"` // all that was decided
	// in the look-back
	DeniedBefore int  `json:"denied_before"`
	OfBefore     int  `json:"of_before"`
	Dropped      bool `json:"dropped,omitempty"` // to a third or less, although as much was done

	// of the judge alone, and counted apart: what it denied after it was let through, and of what it was not heard in time
	Late    int `json:"denied_after,omitempty"`
	Unheard int `json:"unheard_after,omitempty"`
}

// dropped reports whether a gate denies much less than before.
func (g Gate) dropped() bool {
	return g.Of >= leastDecisions && g.OfBefore >= leastDecisions && g.DeniedBefore >= leastDenials &&
		g.Denied*g.OfBefore*dropsTo <= g.DeniedBefore*g.Of
}

// A Review is a permit to look at again: was it right?
type Review struct {
	Event string `json:"event"`
	Agent string `json:"agent"`
	Kind  string `json:"kind"`
	By    string `json:"by"` // one of the five below
}

// By whom something was permitted: rules alone, where a class may be judged in samples and this one was not drawn; a person; or a
// judge, before the action or after it.
const (
	ByRules     = "rules"
	ByUnsampled = "rules, not drawn for the judge"
	ByPerson    = "person"
	ByJudge     = "judge"
	ByAfter     = "judge, afterwards"
)

// gates counts one decision by which gate denied it.
func (m *Maker) gate(d *auditlog.Decided, within bool) {
	denying := auditlog.DenyingGate(d.Decision)
	for n := range m.gates {
		g := &m.gates[n]
		g.Gate = n + 1
		of, denied := &g.OfBefore, &g.DeniedBefore
		if within {
			of, denied = &g.Of, &g.Denied
		}
		*of++
		if denying == g.Gate {
			*denied++
		}
	}
}

// keep keeps a permit for the sample: those whose events' ids come first. The ids are digests, so that neither agents nor the one
// who makes the digest has a say in which those are, and anyone who makes it again has the same.
func (m *Maker) keep(id string, d *auditlog.Decided) {
	if !d.Decision.Answer.Allowed() {
		return
	}
	r := Review{Event: id, Agent: d.Proposal.Requester.Agent, Kind: string(d.Proposal.Action.Kind), By: ByRules}
	switch spared := auditlog.Spared(d.Judgments); {
	case d.Decision.Approval != "" || d.Decision.Grant != "":
		r.By = ByPerson
	case spared == interlock.JudgeOwed:
		r.By = ByAfter
	case spared == interlock.JudgeUnsampled:
		r.By = ByUnsampled
	case auditlog.HeardBefore(d.Judgments):
		r.By = ByJudge
	}
	m.review = kept(m.review, r)
	if r.By == ByJudge || r.By == ByAfter {
		m.judged = kept(m.judged, r)
	}
}

// kept is a sample with one more, if its id is among those that come first.
func kept(list []Review, r Review) []Review {
	at, _ := slices.BinarySearchFunc(list, r, func(a, b Review) int { return strings.Compare(a.Event, b.Event) })
	list = slices.Insert(list, at, r)
	return list[:min(len(list), sample)]
}

// drawn is the sample: half of it, as far as there is so much, of what a judge let pass, which is where learning to get past one would
// show (ASA 16.1); the rest of everything.
func (m *Maker) drawn() []Review {
	drawn := append([]Review{}, m.judged[:min(len(m.judged), sample/2)]...)
	for _, r := range m.review {
		if len(drawn) < sample && !slices.Contains(drawn, r) {
			drawn = append(drawn, r)
		}
	}
	slices.SortFunc(drawn, func(a, b Review) int { return strings.Compare(a.Event, b.Event) })
	return drawn
}

// late counts what a judge said of an action after it was let through.
func (m *Maker) late(e interlock.Entry) {
	var is auditlog.JudgedAfterRecord
	if _, err := auditlog.Read(e, &is); err != nil {
		return
	}
	judge := &m.gates[1]
	judge.Gate = 2
	switch is.Result {
	case auditlog.JudgedDeny:
		judge.Late++
	case auditlog.JudgedUnheard:
		judge.Unheard++
	}
}

// sumGates is what is known of the gates that have denied anything, now or before.
func (m *Maker) sumGates() []Gate {
	list := []Gate{}
	for _, g := range m.gates {
		if g.Denied+g.DeniedBefore+g.Late+g.Unheard > 0 {
			g.Dropped = g.dropped()
			list = append(list, g)
		}
	}
	return list
}

// CodeOfDrop is that of the alert that a gate denies much less than it did.
const CodeOfDrop = "denials-dropped"

// Drop says of the gates that deny much less than before, in one line, or nothing.
func (d Digest) Drop() string {
	var all []string
	for _, g := range d.Gates {
		if g.Dropped {
			all = append(all, fmt.Sprintf("gate %d denied %d of %d actions, and %d of %d in the two weeks before: either the work is another, "+
				"or somebody has learned to get past it", g.Gate, g.Denied, g.Of, g.DeniedBefore, g.OfBefore))
		}
	}
	return strings.Join(all, "; ")
}
