package ruleset

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/meter"
)

// A Limit is how much of something those that it is counted for may use up, in all or within a time that slides.
type Limit struct {
	ID       string           `json:"id"`
	Profiles []string         `json:"profiles,omitempty"` // it counts under these; under every one if none is named
	Agents   []string         `json:"agents,omitempty"`   // globs over agent ids and types it concerns; all if none is named
	Kinds    []interlock.Kind `json:"kinds,omitempty"`    // kinds of action that count; all if none is named
	Match    Predicate        `json:"match,omitzero"`     // impacts that count; all that have to do with the measure if empty
	Per      Per              `json:"per"`
	Measure  Measure          `json:"measure"`
	Currency string           `json:"currency,omitempty"` // ISO 4217, of money
	Most     int64            `json:"most"`               // money in the smallest unit of its currency
	Within   Span             `json:"within,omitzero"`    // how long a use counts; for ever if none is given
	// what an action gets that there is no room for: deny, which is also what holds if none is given, or ask
	Verdict    interlock.Verdict `json:"verdict,omitzero"`
	Unknown    int64             `json:"unknown,omitzero"`     // what is assumed of what does not say how much it is; 0: it is asked about
	EscalateAt Share             `json:"escalate_at,omitzero"` // what would bring its use beyond this is asked about
	WarnAt     Share             `json:"warn_at,omitzero"`     // what brings its use to this raises an alert
	// it is a heuristic of misuse: where it has no room people are to look at the account, and nothing is blocked for it
	Review bool `json:"account_review,omitempty"`

	user  bool // an operator's
	match predicate
	kinds uint16
}

// User reports whether the limit is an operator's and not a default.
func (l *Limit) User() bool { return l.user }

// Per says for whom a limit is counted.
type Per string

// For whom limits are counted.
const (
	PerAgent      Per = "agent"
	PerType       Per = "type" // all agents of a type together; those without one are of one type
	PerRun        Per = "run"
	PerTree       Per = "orchestration" // a run and everything that was delegated by it, no matter by which agents
	PerPrincipal  Per = "principal"     // all agents that somebody answers for
	PerEverything Per = "everything"
)

// Measure says what a limit counts.
type Measure string

// What limits count.
const (
	MeasureActions    Measure = "actions"
	MeasureRecords    Measure = "records"        // that are written or deleted
	MeasureBytes      Measure = "bytes"          // over a network
	MeasureRecipients Measure = "recipients"     // of messages
	MeasureCalls      Measure = "external-calls" // of what is outside: other hosts, services, people
	MeasureTokens     Measure = "tokens"
	MeasureMoney      Measure = "money"
)

var (
	pers     = []Per{PerAgent, PerType, PerRun, PerTree, PerPrincipal, PerEverything}
	measures = []Measure{MeasureActions, MeasureRecords, MeasureBytes, MeasureRecipients, MeasureCalls, MeasureTokens, MeasureMoney}
)

// A Share is a part of a limit in percent, written as 50%.
type Share int

// String is the share as it is written.
func (s Share) String() string { return strconv.Itoa(int(s)) + "%" }

// MarshalText writes the share.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a share.
func (s *Share) UnmarshalText(text []byte) error {
	digits, is := strings.CutSuffix(string(text), "%")
	n, err := strconv.Atoi(digits)
	if !is || err != nil || n < 1 || n > 100 || digits[0] == '+' {
		return interlock.Errorf(interlock.CodeInvalid, "", "is no share; write a whole number from 1%% to 100%%, such as 50%%")
	}
	*s = Share(n)
	return nil
}

// Of is the share of a number, rounded down.
func (s Share) Of(n int64) int64 { return n/100*int64(s) + n%100*int64(s)/100 }

// Limits returns the limits that hold for an agent under a profile, by id.
func (r *Ruleset) Limits(profile string, agent *interlock.AgentRecord) []*Limit {
	var out []*Limit
	for _, l := range r.limits {
		if l.concerns(profile, agent) {
			out = append(out, l)
		}
	}
	return append(out, moduleLimits(agent)...)
}

// AllLimits returns every limit by id. Callers do not modify them.
func (r *Ruleset) AllLimits() []*Limit { return r.limits }

// Limit returns the limit with an id.
func (r *Ruleset) Limit(id string) (*Limit, bool) {
	for _, l := range r.limits {
		if l.ID == id {
			return l, true
		}
	}
	return nil, false
}

// LimitOf returns the limit with an id that holds for an agent: one of the ruleset's, or of its registration as a module.
func (r *Ruleset) LimitOf(id string, agent *interlock.AgentRecord) (*Limit, bool) {
	for _, l := range moduleLimits(agent) {
		if l.ID == id {
			return l, true
		}
	}
	return r.Limit(id)
}

// moduleKeys sets the budgets of modules apart from limits and budgets of rules, whose ids hold no colon.
const moduleKeys = "module:"

// moduleLimits are the budgets of a module that are counted before an action runs. Without a request that people approve nothing exceeds
// them (MACE 5.1).
func moduleLimits(agent *interlock.AgentRecord) (limits []*Limit) {
	if agent.Module == nil {
		return nil
	}
	for _, b := range agent.Module.Budgets {
		if m := Measure(b.Measure); m != MeasureTokens {
			limits = append(limits, &Limit{ID: moduleKeys + b.Measure, Per: PerAgent, Measure: m, Most: b.Most,
				Within: Span(time.Duration(b.Within) * time.Second), Verdict: interlock.Deny, match: Predicate{}.compile()})
		}
	}
	return limits
}

func (l *Limit) concerns(profile string, agent *interlock.AgentRecord) bool {
	if len(l.Profiles) > 0 && !slices.Contains(l.Profiles, profile) {
		return false
	}
	return len(l.Agents) == 0 || slices.ContainsFunc(l.Agents, func(g string) bool {
		return Glob(g, agent.ID) || agent.Type != "" && Glob(g, agent.Type)
	})
}

// Of names whose use of it a limit counts. The tree is the orchestration that the requester's registered run belongs to, if it has one;
// what is done outside of any is a tree of its own for each run that its agent names.
func (l *Limit) Of(r interlock.Requester, agent *interlock.AgentRecord, tree string) []string {
	switch l.Per {
	case PerType:
		return []string{agent.Type}
	case PerRun:
		return []string{r.Agent, r.Run}
	case PerTree:
		if tree != "" {
			return []string{tree}
		}
		return []string{r.Agent, r.Run}
	case PerPrincipal:
		return []string{r.Principal}
	case PerEverything:
		return nil
	}
	return []string{r.Agent}
}

// keptRun is how long a total of a run counts: nobody comes back to forget it.
const keptRun = 30 * 24 * time.Hour

// Window is how long a use counts; 0 is for ever.
func (l *Limit) Window() time.Duration {
	if l.Within == 0 && (l.Per == PerRun || l.Per == PerTree) {
		return keptRun
	}
	return time.Duration(l.Within)
}

// Bound is how much there is room for.
func (l *Limit) Bound() meter.Bound { return meter.Bound{Most: l.Most, Window: l.Window()} }

// A Charge is what an action would use of a limit. Where a field says why that can't be told, the amount is only what can.
type Charge struct {
	Limit   *Limit
	Amount  int64
	Unknown []int // impacts that do not say how much they are, of a limit that assumes nothing
	Wrong   []int // impacts that say what can't be: less than nothing, or more than can be counted
	Foreign []int // impacts that commit money of another currency
}

// Charges returns what an action would use of each limit that holds for its agent, by id. A limit that the action has nothing to do
// with is left out.
func (r *Ruleset) Charges(profile string, agent *interlock.AgentRecord, kind interlock.Kind, impacts []interlock.Impact) []Charge {
	var out []Charge
	for _, l := range r.limits {
		if !l.concerns(profile, agent) {
			continue
		}
		if c, counts := l.charge(kind, impacts); counts {
			out = append(out, c)
		}
	}
	for _, l := range moduleLimits(agent) {
		if c, counts := l.charge(kind, impacts); counts {
			out = append(out, c)
		}
	}
	for n := range out {
		out[n].Foreign = unlimited(out, out[n].Foreign, impacts)
	}
	return out
}

// unlimited leaves of impacts that commit money those whose currency no limit counts.
func unlimited(charges []Charge, foreign []int, impacts []interlock.Impact) []int {
	var out []int
	for _, n := range foreign {
		_, currency := impacts[n].Sum()
		if !slices.ContainsFunc(charges, func(c Charge) bool { return c.Limit.Measure == MeasureMoney && c.Limit.Currency == currency }) {
			out = append(out, n)
		}
	}
	return out
}

func (l *Limit) charge(kind interlock.Kind, impacts []interlock.Impact) (Charge, bool) {
	c := Charge{Limit: l}
	if l.kinds != 0 && l.kinds&actionBit(kind) == 0 {
		return c, false
	}
	if l.Measure == MeasureActions {
		c.Amount = 1
		return c, l.match.empty || meets(&l.match, impacts)
	}
	counts := false
	for n := range impacts {
		i := &impacts[n]
		if !l.match.matches(i) || !l.Measure.about(i, l.Match) {
			continue
		}
		if l.Measure == MeasureCalls && repeats(impacts[:n], i, l) {
			continue
		}
		counts = true
		c.add(l.amount(i), n)
	}
	return c, counts
}

// repeats reports whether one of the impacts before is the same call of something outside.
func repeats(before []interlock.Impact, i *interlock.Impact, l *Limit) bool {
	return slices.ContainsFunc(before, func(o interlock.Impact) bool {
		return o.Via == i.Via && o.Target == i.Target && l.Measure.about(&o, l.Match) && l.match.matches(&o)
	})
}

// about reports whether a measure has to do with an impact at all.
func (m Measure) about(i *interlock.Impact, match Predicate) bool {
	if i.Has(traitNegated) || i.Has(traitDryRun) {
		return false
	}
	named := len(match.Kind) > 0
	switch m {
	case MeasureRecords:
		return named || i.Kind == interlock.ImpactWrite || i.Kind == interlock.ImpactDelete
	case MeasureBytes:
		return named || i.Kind == interlock.ImpactNetwork
	case MeasureRecipients:
		return i.Kind == interlock.ImpactMessage
	case MeasureCalls:
		return i.Reach == interlock.ReachExternal || i.Reach == interlock.ReachProduction
	case MeasureMoney:
		return i.Kind == interlock.ImpactSpend
	}
	return true
}

// The traits that limits look at; package fact says what they mean.
const (
	traitNegated  = "negated"
	traitDryRun   = "dry-run"
	traitWrongSum = "wrong-sum"
)

// What an impact may say of how much it is, besides that.
const (
	amountUnknown = -1 - iota
	amountWrong
	amountForeign
)

// amount is how much of what the limit measures an impact is.
func (l *Limit) amount(i *interlock.Impact) int64 {
	n := int64(0)
	switch l.Measure {
	case MeasureCalls:
		return 1
	case MeasureRecords:
		n = i.Records
	case MeasureBytes:
		n = i.Bytes
	case MeasureRecipients:
		if n = i.Recipients; n == 0 && i.Target != "" {
			return 1
		}
	case MeasureMoney:
		if i.Has(traitWrongSum) {
			return amountWrong
		}
		minor, currency := i.Sum()
		if currency != "" && currency != l.Currency {
			return amountForeign
		}
		if n = minor; currency == "" {
			n = hundredths(minor, l.Currency)
		}
	}
	switch {
	case n < 0:
		return amountWrong
	case n == 0 && l.Unknown > 0:
		return l.Unknown
	case n == 0:
		return amountUnknown
	}
	return n
}

// Measured is how much of something some impacts are, where what does not say how much it is counts as one.
func Measured(m Measure, currency string, impacts []interlock.Impact) int64 {
	l := Limit{Measure: m, Currency: currency, Unknown: 1, match: Predicate{}.compile()}
	if m == MeasureMoney {
		l.Unknown = 0
	}
	c, _ := l.charge("", impacts)
	return c.Amount
}

// hundredths are an amount of money without a currency in the smallest unit of one.
func hundredths(n int64, currency string) int64 {
	places, _ := interlock.MinorUnits(currency)
	for ; places > 2; places-- {
		if n > MaxMost/10 {
			return amountWrong
		}
		n *= 10
	}
	for ; places < 2; places++ {
		n = n/10 + min(n%10, 1)
	}
	return n
}

// add puts to a charge what one of the impacts says.
func (c *Charge) add(amount int64, impact int) {
	switch {
	case amount == amountUnknown:
		c.Unknown = append(c.Unknown, impact)
	case amount == amountForeign:
		c.Foreign = append(c.Foreign, impact)
	case amount < 0 || amount > MaxMost-c.Amount:
		c.Wrong = append(c.Wrong, impact)
	default:
		c.Amount += amount
	}
}

// addLimits takes over a document's limits. An operator's takes the place of a shipped one of the same id: how much is right is
// for those who run the agents to say.
func (r *Ruleset) addLimits(limits []*Limit, user bool) {
	for _, l := range limits {
		l.match, l.user = l.Match.compile(), user
		for _, k := range l.Kinds {
			l.kinds |= actionBit(k)
		}
		if at := slices.IndexFunc(r.limits, func(o *Limit) bool { return o.ID == l.ID }); at >= 0 && user {
			r.limits[at] = l
			continue
		}
		r.limits = append(r.limits, l)
	}
	slices.SortFunc(r.limits, func(a, b *Limit) int { return strings.Compare(a.ID, b.ID) })
}
