package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/strictyaml"
)

// What MASO's tiers ask of the people who watch: which actions they see, and by when they answer.

// FirstUse says what becomes of the first use of a tool by a type of agents.
type FirstUse string

// What may be said of it.
const (
	FirstUseAsks  FirstUse = "ask"   // from tier 2 on a human is asked; the default
	FirstUseNoted FirstUse = "noted" // what people answer is remembered, and nobody is asked because of it
)

// Review is how long a question may wait for a human, by the risk of what is asked about. A time that is not given is the standard's.
type Review struct {
	Low      Span `json:"low,omitempty"`
	Medium   Span `json:"medium,omitempty"`
	High     Span `json:"high,omitempty"`
	Critical Span `json:"critical,omitempty"`
}

// MaxReview bounds how long a question may wait.
const MaxReview = 30 * 24 * time.Hour

// standardReview is MASO's: 72, 24, 4 and 1 hours.
var standardReview = [...]Span{Span(72 * time.Hour), Span(24 * time.Hour), Span(4 * time.Hour), Span(time.Hour)}

// Level is how much risk a question is about, for the time in which it is answered.
type Level int

// The levels.
const (
	LevelLow Level = iota
	LevelMedium
	LevelHigh
	LevelCritical
)

// String is the level's name.
func (l Level) String() string { return [...]string{"LOW", "MEDIUM", "HIGH", "CRITICAL"}[l] }

// LevelOf is the level of a risk score, by the bounds of the safety loop's tiers: to 30, to 60, to 85, above.
func LevelOf(risk int) Level {
	return Level(interlock.TierOf(risk))
}

// Within is how long a question of a level may wait. From tier 2 on it always has such a time; below, only if the rules give one.
func (m MasoRules) Within(l Level) (time.Duration, bool) {
	given := [...]Span{m.Review.Low, m.Review.Medium, m.Review.High, m.Review.Critical}[l]
	if given > 0 {
		return time.Duration(given), true
	}
	return time.Duration(standardReview[l]), m.Tier >= 2
}

// AsksFirstUse reports whether the first use of a tool by a type of agents is asked about.
func (m MasoRules) AsksFirstUse() bool { return m.Tier >= 2 && m.FirstUse != FirstUseNoted }

// Classifies reports whether actions are classified as MASO's tier 2 has it.
func (m MasoRules) Classifies() bool { return m.Tier >= 2 }

// NotesFirstUse reports whether it is remembered which tools a type of agents has used.
func (m MasoRules) NotesFirstUse() bool { return m.Tier >= 1 }

// halfACap is what is asked about of a cap that says nothing itself, from tier 2 on (EC-AC-2).
const halfACap = Share(50)

// EscalatesAt is the part of a limit beyond which a human is asked; 0 is none. A rate of actions is no cap.
func (r *Ruleset) EscalatesAt(l *Limit) Share {
	if l.EscalateAt == 0 && l.Measure != MeasureActions && r.maso.Classifies() {
		return halfACap
	}
	return l.EscalateAt
}

// A Latency is how long an orchestration of some types may take, counted from its registration.
type Latency struct {
	Types  []string `json:"types,omitempty"` // globs over the type of the agent that begins it; all, if none is given
	Within Span     `json:"within"`          // e.g. 1500ms
}

// LatencyOf is how long an orchestration that an agent of a type begins may take: the shortest that is declared; 0 if none is.
func (r *Ruleset) LatencyOf(kind string) time.Duration {
	least := Span(0)
	for _, l := range r.maso.Latency {
		fits := len(l.Types) == 0 || slices.ContainsFunc(l.Types, func(g string) bool { return Glob(g, kind) })
		if fits && (least == 0 || l.Within < least) {
			least = l.Within
		}
	}
	return time.Duration(least)
}

// Staging returns the globs of names that are staging, sorted.
func (r *Ruleset) Staging() []string { return r.maso.Staging }

// addOversight takes over what one document says. Of times the shortest holds, because it is the strictest.
func (m *MasoRules) addOversight(more *MasoRules) {
	m.Staging = sortedUnique(append(slices.Clone(m.Staging), more.Staging...))
	if len(m.Staging) == 0 {
		m.Staging = nil
	}
	if m.FirstUse == "" || m.FirstUse == FirstUseNoted && more.FirstUse != "" { // one that asks prevails
		m.FirstUse = more.FirstUse
	}
	m.Latency = append(m.Latency, more.Latency...)
	for n, to := range []*Span{&m.Review.Low, &m.Review.Medium, &m.Review.High, &m.Review.Critical} {
		if said := [...]Span{more.Review.Low, more.Review.Medium, more.Review.High, more.Review.Critical}[n]; said > 0 &&
			(*to == 0 || said < *to) {
			*to = said
		}
	}
}

// checkOversight checks that part of a document.
func checkOversight(doc *strictyaml.Document, m *MasoRules) error {
	switch m.FirstUse {
	case "", FirstUseAsks, FirstUseNoted:
	default:
		return doc.Errorf("/maso/first_use", "first_use must be %s or %s", FirstUseAsks, FirstUseNoted)
	}
	for i, g := range m.Staging {
		if len(strings.Trim(g, "*?.- ")) < minStaging {
			return doc.Errorf(fmt.Sprintf("/maso/staging/%d", i),
				"the glob would take nearly everything for staging; name at least %d letters", minStaging)
		}
	}
	for l, within := range [...]Span{m.Review.Low, m.Review.Medium, m.Review.High, m.Review.Critical} {
		if within != 0 && (time.Duration(within) < time.Minute || time.Duration(within) > MaxReview) {
			return doc.Errorf("/maso/review/"+strings.ToLower(Level(l).String()), "a question waits from 1m to %s", MaxReview)
		}
	}
	for i, l := range m.Latency {
		if l.Within <= 0 {
			return doc.Errorf(fmt.Sprintf("/maso/latency/%d/within", i), "name how long an orchestration may take, such as 1500ms")
		}
	}
	return nil
}

// minStaging is how many letters a glob of staging names at least.
const minStaging = 3

// Reclassified names what one ruleset has a human see, or seen in time, that another has not: the tier, what is staging or no longer
// production, first uses, times to answer, what is approved by itself, and rules that no longer ask. It is what two teams sign for.
func Reclassified(from, to *Ruleset) (out []string, err error) {
	was, is := from.maso, to.maso
	if is.Tier < was.Tier {
		out = append(out, "maso.tier")
	}
	if is.FirstUse == FirstUseNoted && was.FirstUse != FirstUseNoted {
		out = append(out, "maso.first_use")
	}
	for l := LevelLow; l <= LevelCritical; l++ {
		before, timed := was.Within(l)
		if after, still := is.Within(l); timed && (!still || after > before) {
			out = append(out, "maso.review "+l.String())
		}
	}
	out = append(out, added("maso.staging ", was.Staging, is.Staging)...)
	out = append(out, added("production ", to.production, from.production)...)
	out = append(out, added("policy.autoApprove ", from.policy.AutoApprove, to.policy.AutoApprove)...)
	out = append(out, added("policy.requiresApproval ", to.policy.RequiresApproval, from.policy.RequiresApproval)...)
	for _, rule := range from.rules {
		if rule.Verdict != interlock.Ask {
			continue // what denies is looked at below
		}
		now, still := to.Rule(rule.ID)
		same := still && now.Verdict.Compare(rule.Verdict) >= 0
		if same {
			if same, err = sameObjection(rule, now); err != nil {
				return out, err
			}
		}
		if !same {
			out = append(out, "rule "+rule.ID)
		}
	}
	for _, d := range from.danger {
		if !slices.ContainsFunc(to.danger, func(o DangerRule) bool { return o.Name == d.Name && o.Level >= d.Level }) {
			out = append(out, "danger "+d.Name)
		}
	}
	loosened, err := Loosened(from, to)
	for _, one := range loosened {
		if one != "maso" {
			out = append(out, one)
		}
	}
	return out, err
}

// added names what the second list has and the first has not.
func added(name string, first, second []string) (out []string) {
	for _, g := range second {
		if !slices.Contains(first, g) {
			out = append(out, name+g)
		}
	}
	return out
}
