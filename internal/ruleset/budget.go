package ruleset

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/meter"
)

// A Budget is how many tokens or how much money those that it is counted for may use, in all or within a time that slides. A limit is
// taken from before an action runs; what a budget counts is what harnesses and services report afterwards, so that it has a ladder in
// place of a wall: see [Steps].
type Budget struct {
	ID       string   `json:"id"`
	Profiles []string `json:"profiles,omitempty"` // it holds under these; under every one if none is named
	Agents   []string `json:"agents,omitempty"`   // globs over agent ids and types it concerns; all if none is named
	Per      Per      `json:"per"`
	Measure  Measure  `json:"measure"`            // tokens or money
	Currency string   `json:"currency,omitempty"` // ISO 4217, of money
	Most     int64    `json:"most"`               // money in the smallest unit of its currency
	Within   Span     `json:"within,omitzero"`    // how long a use counts; for ever if none is given
}

// A Step is what happens at a share of a budget.
type Step struct {
	At   Share
	Name string
}

// The names of the steps.
const (
	StepNotice   = "notice"
	StepWarn     = "warn"
	StepThrottle = "throttle" // what changes something is asked about
	StepDegrade  = "degrade"  // what changes something is denied
	StepStop     = "stop"     // everything is denied
)

// Steps is the ladder of every budget, the lowest first. It only objects to what agents do: no control is left out, however much of a
// budget is used.
func Steps() []Step {
	return []Step{{50, StepNotice}, {75, StepWarn}, {90, StepThrottle}, {95, StepDegrade}, {100, StepStop}}
}

// Step is the highest step that a use of a budget has reached; none has the zero value.
func (b *Budget) Step(used int64) (reached Step) {
	for _, s := range Steps() {
		if used >= max(s.At.Of(b.Most), 1) {
			reached = s
		}
	}
	return reached
}

// Used is the share of a budget that is used, in percent, rounded down; no more than is shown.
func (b *Budget) Used(used int64) int64 {
	const most = 999
	switch {
	case b.Most <= 0, used/b.Most >= most/100+1:
		return most
	}
	return min(int64(float64(used)/float64(b.Most)*100), most)
}

// limit is what a budget has in common with a limit.
func (b *Budget) limit() *Limit {
	return &Limit{ID: b.ID, Profiles: b.Profiles, Agents: b.Agents, Per: b.Per, Measure: b.Measure, Currency: b.Currency, Most: b.Most,
		Within: b.Within, Verdict: interlock.Deny}
}

// Window is how long a use counts; 0 is for ever.
func (b *Budget) Window() time.Duration { return b.limit().Window() }

// Bound is how much there is room for.
func (b *Budget) Bound() meter.Bound { return b.limit().Bound() }

// budgetKeys sets what is counted for budgets apart from what is counted for limits, whose ids hold no space.
const budgetKeys = "budget "

// Taken is what a use of a requester's is counted as.
func (b *Budget) Taken(r interlock.Requester, agent *interlock.AgentRecord, n int64) interlock.Taken {
	return interlock.Taken{Limit: budgetKeys + b.ID, Per: string(b.Per), Of: b.limit().Of(r, agent, ""), Measure: string(b.Measure),
		Currency: b.Currency, Take: n, Window: b.Window()}
}

// Shared reports whether several agents use a budget together.
func (b *Budget) Shared() bool {
	return b.Per == PerType || b.Per == PerPrincipal || b.Per == PerEverything
}

// One agent's reports alone bring a shared budget to no step at which others are held back: they count for this share of it at most. Beyond
// that only the agent itself is held back, by what it has used alone.
const shareOfOne Share = 80

// For whom the part of one agent in a shared budget is counted: by what its harness tells, and by what it says with its own token. They are
// apart, so that saying something first takes nothing from what the harness tells.
const (
	PerShare Per = "share"
	PerWord  Per = "word"
)

// Own is what a use of a shared budget is counted as for its agent alone.
func (b *Budget) Own(per Per, r interlock.Requester, agent *interlock.AgentRecord, n int64) interlock.Taken {
	t := b.Taken(r, agent, n)
	t.Per, t.Of = string(per), append(slices.Clone(t.Of), r.Agent)
	return t
}

// Counts is how much of what an agent has used more counts towards a shared budget, after what it had used alone before.
func (b *Budget) Counts(before, more int64) int64 {
	most := shareOfOne.Of(b.Most)
	return max(min(before+more, most)-min(before, most), 0)
}

// Alone reports whether a step is one that one agent's reports alone can't bring a shared budget to.
func (s Step) Alone() bool { return s.At > shareOfOne }

// BudgetOf is the budget that a use is counted for, by the name in [interlock.Taken].
func BudgetOf(limit string) (id string, is bool) { return strings.CutPrefix(limit, budgetKeys) }

// Budgets returns the budgets that hold for an agent under a profile, by id.
func (r *Ruleset) Budgets(profile string, agent *interlock.AgentRecord) []*Budget {
	var out []*Budget
	for _, b := range r.budgets {
		if b.limit().concerns(profile, agent) {
			out = append(out, b)
		}
	}
	if agent.Module != nil {
		for _, b := range agent.Module.Budgets {
			if Measure(b.Measure) == MeasureTokens { // which are reported afterwards
				out = append(out, &Budget{ID: moduleKeys + b.Measure, Per: PerAgent, Measure: MeasureTokens, Most: b.Most,
					Within: Span(time.Duration(b.Within) * time.Second)})
			}
		}
	}
	return out
}

// AllBudgets returns every budget by id. Callers do not modify them.
func (r *Ruleset) AllBudgets() []*Budget { return r.budgets }

// Budget returns the budget with an id.
func (r *Ruleset) Budget(id string) (*Budget, bool) {
	for _, b := range r.budgets {
		if b.ID == id {
			return b, true
		}
	}
	return nil, false
}

func (r *Ruleset) addBudgets(budgets []*Budget) {
	r.budgets = append(r.budgets, budgets...)
	slices.SortFunc(r.budgets, func(a, b *Budget) int { return strings.Compare(a.ID, b.ID) })
}

// budgets checks what may be used of what is reported.
func (c *checker) budgets(budgets []*Budget) error {
	if len(budgets) > 0 && !c.user {
		return c.doc.Errorf("/budgets", "how much may be spent is for whoever runs the agents to say")
	}
	if len(budgets) > maxLimits {
		return c.doc.Errorf("/budgets", "there are more than %d budgets", maxLimits)
	}
	for i, b := range budgets {
		at := fmt.Sprintf("/budgets/%d", i)
		if b == nil {
			return c.doc.Errorf(at, "the budget is empty")
		}
		if err := c.budget(b, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) budget(b *Budget, at string) error {
	if !idForm().MatchString(b.ID) || len(b.ID) > 80 {
		return c.doc.Errorf(at+"/id", "id must be lower-case words joined by dots and dashes, e.g. team.money-a-day")
	}
	if other, have := c.loader.budgets[b.ID]; have {
		return c.doc.Errorf(at+"/id", "the budget %s stands in %s already; choose another id", b.ID, other)
	}
	c.loader.budgets[b.ID] = c.file
	for i, glob := range b.Agents {
		if glob == "" {
			return c.doc.Errorf(fmt.Sprintf("%s/agents/%d", at, i), "the glob is empty; remove it")
		}
	}
	if !slices.Contains(pers, b.Per) {
		return c.doc.Errorf(at+"/per", "per must be one of %v", pers)
	}
	if b.Measure != MeasureTokens && b.Measure != MeasureMoney {
		return c.doc.Errorf(at+"/measure", "a budget counts what is reported as used: give tokens or money; limits count the rest")
	}
	if b.Most == 0 {
		return c.doc.Errorf(at+"/most", "a budget of nothing stops all that it concerns; give how much there is, or a rule that denies")
	}
	return c.howMuch(b.limit(), at)
}

// loosenedBudgets names budgets that leave more in one ruleset than in another: those that are gone, that are larger, or that count
// something else.
func loosenedBudgets(from, to *Ruleset) ([]string, error) {
	var out []string
	for _, was := range from.budgets {
		now, still := to.Budget(was.ID)
		if !still {
			out = append(out, "budget "+was.ID)
			continue
		}
		as := *now
		if now.Most <= was.Most {
			as.Most = was.Most
		}
		same, err := sameText(was, &as)
		if err != nil {
			return nil, err
		}
		if !same {
			out = append(out, "budget "+was.ID)
		}
	}
	return out, nil
}

// Says is what a budget is, in a few words for people.
func (b *Budget) Says() string { return b.limit().Says() }
