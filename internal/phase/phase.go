// Package phase is the arithmetic of phases and breakers: what each phase lets pass, who may go from one to another, when a
// breaker trips and when it is whole again. It knows values and nothing else; where a phase is kept, and who has written it, is
// the ledger's matter, and a decision is made of what it says in package admission.
//
// The four phases are those of PACE: primary is how things are, alternate isolates what is at fault and has every change asked
// about, contingency leaves one agent at work and has everything asked about, emergency stops all. Start with Transitions, then
// Object.
package phase

import (
	"slices"
	"strings"
	"time"

	"interlock/internal/meter"
)

// A Phase is one of the four. The zero value is primary, for which nothing is recorded.
type Phase string

// The phases, from the loosest to the strictest.
const (
	Primary     Phase = "P"
	Alternate   Phase = "A"
	Contingency Phase = "C"
	Emergency   Phase = "E"
)

// Phases lists them, the loosest first.
func Phases() []Phase { return []Phase{Primary, Alternate, Contingency, Emergency} }

func (p Phase) name() string {
	switch p {
	case "", Primary:
		return "primary"
	case Alternate:
		return "alternate"
	case Contingency:
		return "contingency"
	}
	return "emergency" // what is none is taken for the strictest
}

// Parse reads a phase by its letter or its name, in any case.
func Parse(text string) (Phase, bool) {
	for _, p := range Phases() {
		if strings.EqualFold(text, string(p)) || strings.EqualFold(text, p.name()) {
			return p, true
		}
	}
	return "", false
}

// Title is the phase as people read it, such as "A (alternate)".
func (p Phase) Title() string {
	if p == "" {
		p = Primary
	}
	return string(p) + " (" + p.name() + ")"
}

// strictness orders the phases. What is none is as strict as the strictest: a row that can't be read loosens nothing.
func (p Phase) strictness() int {
	if p == "" {
		return 0
	}
	if n := slices.Index(Phases(), p); n >= 0 {
		return n
	}
	return len(Phases()) - 1
}

// Compare is negative when p is looser than o, positive when it is stricter and zero when they are equally strict.
func (p Phase) Compare(o Phase) int { return p.strictness() - o.strictness() }

// Stricter returns the stricter of two.
func Stricter(p, o Phase) Phase {
	if o.Compare(p) > 0 {
		return o
	}
	return p
}

// The roles of operators that transitions name.
const (
	roleOperator   = "operator"
	roleAdmin      = "admin"
	roleSuperadmin = "superadmin"
	roleCouncil    = "council"
)

// A Transition is a way from one phase to another, and who may take it.
type Transition struct {
	From, To Phase
	Machine  bool     // also without anybody's order: a machine tightens and never loosens
	Roles    []string // of the operators who may order it
	Proof    string   // what the order has to refer to; empty: nothing
	Owner    bool     // two people's word: the first names the root cause, the second answers for the risk
}

// Transitions lists every way there is. Escalation may skip phases, loosening goes one step at a time. Where contingency and
// alternate are not kept, at tier 1 and where none is in force, emergency is left for primary; see [Find].
func Transitions() []Transition {
	named := []string{roleOperator, roleAdmin, roleSuperadmin}
	security, owner := []string{roleAdmin, roleSuperadmin}, []string{roleSuperadmin, roleCouncil}
	return []Transition{
		{From: Primary, To: Alternate, Machine: true, Roles: named},
		{From: Primary, To: Contingency, Machine: true, Roles: named},
		{From: Primary, To: Emergency, Machine: true, Roles: named},
		{From: Alternate, To: Contingency, Machine: true, Roles: named},
		{From: Alternate, To: Emergency, Machine: true, Roles: named},
		{From: Contingency, To: Emergency, Machine: true, Roles: named},

		{From: Alternate, To: Primary, Roles: security, Proof: "that nothing tainted lives on"},
		{From: Contingency, To: Alternate, Roles: security},
		{From: Emergency, To: Contingency, Roles: owner, Owner: true, Proof: "the root cause"},
	}
}

// direct is the way out of emergency where no phase lies between. Where no tier is in force, as on somebody's own machine, there may be
// nobody else to ask, and the person who governs leaves it alone.
func direct(tier int) Transition {
	t := Transition{From: Emergency, To: Primary, Roles: []string{roleSuperadmin, roleCouncil}, Owner: true,
		Proof: "the root cause, and that nothing tainted lives on"}
	if tier < 1 {
		t.Roles, t.Owner = []string{roleAdmin, roleSuperadmin}, false
	}
	return t
}

// Find returns the way from one phase to another, if there is one at a tier.
func Find(from, to Phase, tier int) (Transition, bool) {
	if from == "" {
		from = Primary
	}
	if from == Emergency && to == Primary && tier <= 1 {
		return direct(tier), true
	}
	for _, t := range Transitions() {
		if t.From == from && t.To == to {
			return t, true
		}
	}
	return Transition{}, false
}

// Down is the one step by which a phase is loosened at a tier.
func Down(from Phase, tier int) (Transition, bool) {
	if from == Emergency && tier <= 1 {
		return direct(tier), true
	}
	for _, t := range Transitions() {
		if t.From == from && t.To.Compare(from) < 0 {
			return t, true
		}
	}
	return Transition{}, false
}

// May reports whether an operator with a role may order it.
func (t Transition) May(role string) bool { return slices.Contains(t.Roles, role) }

// Who names the roles that may order it, as a sentence does.
func (t Transition) Who() string { return strings.Join(t.Roles, " or ") }

// The bounds of phases.
const (
	MaxAlternate = 48 * time.Hour // unresolved for so long, alternate is contingency
	MaxCycles    = 3              // machine-made alternates in the window that may be left again; the next one is contingency
	CycleWindow  = 24 * time.Hour
)

// Cycles returns those of some times that still count, with one more, and which phase a machine's alternate then is. It changes no
// slice it is given.
func Cycles(before []time.Time, now time.Time) (after []time.Time, to Phase) {
	after, to = meter.Lately(before, CycleWindow, now), Alternate
	if len(after) >= MaxCycles {
		to = Contingency
	}
	return append(after, now), to
}
