package conform

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Home is how one's own home is set up, as far as clauses depend on that.
type Home struct {
	Tier       int
	Profile    string
	Enforcing  bool
	Agents     int      // registered, in office, without observers
	Listed     int      // of those with a list of what they may use, or a type that the rules define
	Answered   int      // of those for whom a human answers: by their type, or as their principal
	Observers  int      // registered
	Rates      []string // limits on actions that hold for every agent
	Caps       []string // what other limits count: records, money and so on
	Types      int
	NotAlive   []string // types that are given work without having been heard
	Turns      int
	Retries    int
	Sandbox    string // why none works here; empty: it does
	Control    bool   // there is a control door
	KillOn     []string
	Governors  int  // operators who govern
	Risk       bool // one of them is a superadmin or of the council
	Answerers  int  // operators who may answer requests
	TTL        time.Duration
	Checkpoint bool   // the log has a signed head
	Graduation string // why the gate before the tier is closed; empty: it is open, or the tier has none
	Governance
	Loop Loop
}

// A hereCheck is what a clause asks of a home's settings, rules and people.
type hereCheck struct {
	id   string
	tier int // from which on it is asked for
	is   func(h Home) (word Word, seen string)
}

func word(met bool) Word {
	if met {
		return Pass
	}
	return Fail
}

// Here says which clauses a home satisfies. Clauses that its settings do not decide are left out.
func Here(clauses []Clause, h Home) []Result {
	var out []Result
	for _, c := range clauses {
		for _, check := range hereChecks() {
			if check.id != c.ID {
				continue
			}
			r := Result{ID: c.ID, Must: c.Must, Waits: c.Waits}
			if r.Word, r.Seen = check.is(h); max(h.Tier, 1) < check.tier {
				r.Word, r.Must = Pending, false
				r.Seen = fmt.Sprintf("asked for from tier %d on; this home is at %d. %s", check.tier, h.Tier, r.Seen)
			}
			out = append(out, r)
		}
	}
	return out
}

func hereChecks() []hereCheck {
	return slices.Concat(hereTier1(), hereTier2(), hereMACE(), hereAQL())
}

func hereTier1() []hereCheck {
	each := func(h Home, n int, what string) (Word, string) {
		if h.Agents == 0 {
			return Pending, "no agent is registered"
		}
		return word(n == h.Agents), fmt.Sprintf("%d of %d agents %s", n, h.Agents, what)
	}
	return []hereCheck{
		{"EC-1.1", 1, func(h Home) (Word, string) {
			if h.Tier >= 2 {
				return word(h.Enforcing), "from tier 2 on actions are classified instead, under the profile " + h.Profile
			}
			return word(h.Enforcing && h.Profile == "supervised"), "profile " + h.Profile + "; supervised asks about every write"
		}},
		{"EC-1.2", 1, func(h Home) (Word, string) { return each(h, h.Listed, "have a list of what they may use, or a type") }},
		{"EC-1.3", 1, func(h Home) (Word, string) {
			return word(len(h.Rates) > 0), "limits on every agent's actions: " + none(h.Rates)
		}},
		{"EC-1.5", 1, func(h Home) (Word, string) { return word(h.Turns <= 10), fmt.Sprintf("%d turns", h.Turns) }},
		{"EC-1.7", 1, func(h Home) (Word, string) {
			if h.Types == 0 {
				return Pending, "no types are defined, so no work is assigned by them"
			}
			return word(len(h.NotAlive) == 0), "types that need not have been heard (alive): " + none(h.NotAlive)
		}},
		{"EC-1.9", 1, func(h Home) (Word, string) {
			return word(h.Observers > 0 && h.Control), fmt.Sprintf("%d observers, control door: %t", h.Observers, h.Control)
		}},
		{"EC-1.10", 1, func(h Home) (Word, string) { return word(h.Retries <= 3), fmt.Sprintf("%d retries", h.Retries) }},
		{"EC-2.4", 1, func(h Home) (Word, string) {
			return word(h.Tier >= 1), fmt.Sprintf("tier %d; breakers count from 1 on (maso: {tier: 1} in the rules)", h.Tier)
		}},
		{"EC-H-1", 1, func(h Home) (Word, string) {
			return word(h.Answerers > 0), fmt.Sprintf("%d operators may answer, nobody for an agent of their own", h.Answerers)
		}},
		{"EC-H-2", 1, func(h Home) (Word, string) { return word(h.TTL > 0), "requests are over after " + h.TTL.String() }},
		{"EC-P-2", 1, func(h Home) (Word, string) {
			return word(h.Governors >= 2 && h.Risk),
				fmt.Sprintf("%d operators govern, one is superadmin or of the council: %t; leaving an emergency takes both",
					h.Governors, h.Risk)
		}},
		{"EC-L-2", 1, func(h Home) (Word, string) {
			return word(h.Checkpoint), fmt.Sprintf("signed head: %t; interlock audit verify reads it all", h.Checkpoint)
		}},
		{"EC-L-3", 1, func(h Home) (Word, string) { return each(h, h.Answered, "have a human who answers for them") }},
		{"EC-ENV-21", 1, func(h Home) (Word, string) { return word(h.Control), fmt.Sprintf("control door: %t", h.Control) }},
	}
}

func hereTier2() []hereCheck {
	return []hereCheck{
		{"EC-2.1", 2, func(h Home) (Word, string) {
			return word(h.Enforcing), "actions are decided under the profile " + h.Profile
		}},
		{"EC-2.2", 2, func(h Home) (Word, string) {
			if h.Sandbox != "" {
				return Fail, "no sandbox works here: " + h.Sandbox
			}
			return Pass, "sandboxes work here"
		}},
		{"EC-2.3", 2, func(h Home) (Word, string) {
			var lacks []string
			for _, measure := range []string{"records", "money", "external-calls"} {
				if !slices.Contains(h.Caps, measure) {
					lacks = append(lacks, measure)
				}
			}
			return word(len(lacks) == 0), "nothing caps: " + none(lacks)
		}},
		{"EC-ENV-16", 2, func(h Home) (Word, string) {
			return word(h.Observers > 0 && h.Control), fmt.Sprintf("%d observers, control door: %t", h.Observers, h.Control)
		}},
		{"EC-ENV-22", 2, func(h Home) (Word, string) {
			return word(slices.Contains(h.KillOn, "dlp") && slices.Contains(h.KillOn, "fraud")), "kill_on: " + none(h.KillOn)
		}},
		{"EC-M-3", 2, func(h Home) (Word, string) {
			if h.Graduation != "" {
				return Fail, h.Graduation
			}
			return Pass, "the gate before this tier is open"
		}},
	}
}

func none(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
