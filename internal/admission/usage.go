package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/meter"
	"interlock/internal/ruleset"
)

// budgetLooks are of budgets of what agents report.
var budgetLooks = []look{
	{gates: []string{gate.NameBudget}, before: (*pendingDecision).budgetRefs, finds: (*pendingDecision).budgetFindings},
}

// What agents use of models is not known before they have used it, and not by Interlock: harnesses and services report it. A report can
// only raise what counts as used, and what it raises is charged to every budget that concerns the agent, in the transaction that
// records it.

// A Report is what one source says that a session has used of one measure.
type Report struct {
	Run      string
	Service  string
	Measure  ruleset.Measure // tokens or money
	Currency string
	Source   string // the metric, span or event that says it
	Readings []ledger.Reading
	Harness  bool // told with a token that only a harness has, and not with its agent's own
}

// MoneyScale is how much of its currency the smallest part of reported money is: a millionth.
const MoneyScale = 1_000_000

// metering is held while reports are taken in, so that those of this process do not race each other.
type metering struct{ sync.Mutex }

// The bounds of one report.
const (
	maxReports    = 200
	maxUsageNames = 200
)

// ReportUsage charges what was reported as used. What was counted before leaves no event.
func (a *Admission) ReportUsage(ctx context.Context, by interlock.Requester, reports []Report) error {
	if err := core.CheckAgent(by, "usage is an agent's"); err != nil {
		return err
	}
	if len(reports) > maxReports {
		return interlock.Errorf(interlock.CodeLimited, "", "a report tells of %d sessions and measures at most", maxReports)
	}
	if _, err := a.InForce(ctx); err != nil {
		return err
	}
	a.metering.Lock()
	defer a.metering.Unlock()
	for _, part := range bySession(reports) {
		part = slices.Clone(part)
		by.Run = a.Redact(cutName(part[0].Run))
		_, err := a.CommitOn(ctx, false, a.Rows(core.Key(ledger.Agent, by.Agent)), func(standing ledger.Standing) (ledger.Change,
			error) {
			return a.usage(ctx, core.Owned(by, standing), standing, part)
		})
		if err != nil && (!errors.Is(err, core.ErrUnchanged) || errors.Is(err, ledger.ErrConflict)) {
			return err
		}
	}
	return nil
}

func cutName(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxUsageNames)], "\uFFFD")
}

// bySession puts together what concerns one session.
func bySession(reports []Report) (parts [][]Report) {
	for _, r := range reports {
		at := slices.IndexFunc(parts, func(p []Report) bool { return p[0].Run == r.Run && p[0].Service == r.Service })
		if at < 0 {
			parts, at = append(parts, nil), len(parts)
		}
		parts[at] = append(parts[at], r)
	}
	return parts
}

// usage is the change that the reports of one session make.
func (a *Admission) usage(ctx context.Context, by interlock.Requester, standing ledger.Standing, reports []Report) (ledger.Change, error) {
	change := ledger.Change{Version: standing.Version}
	if err := core.InOffice(by, standing, a.Config.Now()); err != nil {
		return change, err
	}
	now := a.Config.Now().UTC().Truncate(time.Microsecond)
	record := auditlog.UsageRecord{Run: by.Run, Service: a.Redact(cutName(reports[0].Service))}
	service := record.Service
	if !reports[0].Harness { // apart, so that it can't say first, for the agent alone, what its harness would tell for all
		service += ownWord
	}
	meters, order, err := a.meters(ctx, by, service, reports)
	if err != nil {
		return change, err
	}
	used := map[measured]int64{}
	changed := map[measured]bool{}
	for _, r := range reports {
		m := measured{r.Measure, r.Currency}
		before := meters[m]
		after, add, err := before.With(a.Redact(cutName(r.Source)), r.Readings, now)
		if err != nil {
			return change, err
		}
		after.Number = before.Number // one change, however many sources
		meters[m], changed[m] = after, changed[m] || !after.Same(&before)
		if add == 0 {
			continue
		}
		record.Used = append(record.Used, auditlog.Used{Measure: string(r.Measure), Currency: r.Currency, Amount: add, Source: r.Source})
		used[m] += whole(m, after.Counted) - whole(m, before.Counted)
	}
	for _, m := range order {
		if b := meters[m]; changed[m] {
			b.Number++
			change.Writes = append(change.Writes, b.Row())
		}
	}
	if len(record.Used) == 0 {
		return change, errors.Join(core.ErrUnchanged, a.noted(ctx, change.Writes))
	}
	var steps []func(*ledger.Change) error
	if record.Charged, steps, err = a.charge(ctx, &change, by, standing, used, reports[0].Harness, now); err != nil {
		return change, err
	}
	if err := a.Append(&change, interlock.EventUsage, by, "agent", record); err != nil {
		return change, err
	}
	for _, step := range steps {
		if err := step(&change); err != nil {
			return change, err
		}
	}
	return change, nil
}

// ownWord follows the name of a service whose use an agent's own token has told.
const ownWord = " (the agent's own word)"

// noted keeps what meters have heard of a source that says less than another one: nothing is charged by it, so there is no event.
func (a *Admission) noted(ctx context.Context, meters []ledger.Row) error {
	for _, row := range meters {
		b, _ := row.Value.(ledger.MeterBody)
		if err := a.Config.Store.Note(ctx, core.Key(row.Kind, row.Key), func(value any) (any, error) {
			if was, _ := value.(ledger.MeterBody); b.Number != was.Number+1 {
				return nil, ledger.ErrConflict
			}
			return b, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// A measured is what one meter counts.
type measured struct {
	measure  ruleset.Measure
	currency string
}

// whole is what a meter's count is in the unit of budgets: of money the smallest unit of its currency, rounded up.
func whole(m measured, n int64) int64 {
	if m.measure != ruleset.MeasureMoney {
		return n
	}
	places, _ := interlock.MinorUnits(m.currency)
	part := int64(MoneyScale)
	for range places {
		part /= 10
	}
	return n/part + min(n%part, 1)
}

// meters loads the meters that reports of one session are put to.
func (a *Admission) meters(ctx context.Context, by interlock.Requester, service string, reports []Report) (map[measured]ledger.MeterBody,
	[]measured, error) {
	meters := map[measured]ledger.MeterBody{}
	var order []measured
	var refs []ledger.Ref
	for _, r := range reports {
		m := measured{r.Measure, r.Currency}
		if _, known := meters[m]; known {
			continue
		}
		b := ledger.MeterBody{Agent: by.Agent, Run: by.Run, Service: service, Measure: strings.TrimSpace(string(m.measure) + " " + m.currency)}
		meters[m], order, refs = b, append(order, m), append(refs, core.Key(ledger.Meter, ledger.MeterKey(&b)))
	}
	rows, _, err := a.Config.Store.Load(ctx, refs...)
	for _, row := range rows {
		for n, ref := range refs {
			if b, is := row.Value.(ledger.MeterBody); is && ref.Key == row.Key {
				meters[order[n]] = b
			}
		}
	}
	return meters, order, err
}

// budgetRows are the rows of budgets that a requester's use is charged to: of one that several use, first the agent's own.
func budgetRows(budgets []*ruleset.Budget, by interlock.Requester, agent *interlock.AgentRecord, alone ...ruleset.Per) (rows []budgeted) {
	for _, b := range budgets {
		for _, per := range alone {
			if b.Shared() {
				rows = append(rows, budgeted{budget: b, taken: b.Own(per, by, agent, 0)})
			}
		}
		rows = append(rows, budgeted{budget: b, taken: b.Taken(by, agent, 0)})
	}
	return rows
}

// charge adds to a change what is used of every budget that concerns an agent, and returns what tells people of the steps reached. What
// several use is charged only what a harness tells, and of one agent's use a bounded share, so that none stops the others by reporting.
func (a *Admission) charge(ctx context.Context, change *ledger.Change, by interlock.Requester, standing ledger.Standing,
	used map[measured]int64, harness bool, now time.Time) (charged []interlock.Taken, steps []func(*ledger.Change) error, err error) {
	f, agent := a.Active.Load(), core.AgentOf(by, standing)
	alone := ruleset.PerWord
	if harness {
		alone = ruleset.PerShare
	}
	rows := slices.DeleteFunc(budgetRows(f.Rules.Budgets(f.Profile, &agent), by, &agent, alone), func(s budgeted) bool {
		return used[s.measured()] == 0 || s.budget.Shared() && !s.alone() && !harness
	})
	if len(rows) == 0 {
		return nil, nil, nil
	}
	var refs []ledger.Ref
	for _, c := range rows {
		refs = append(refs, c.ref(), core.Key(ledger.Budget, c.ref().Key))
	}
	var found core.DecisionRows
	if found.Rows, _, err = a.Config.Store.Load(ctx, refs...); err != nil {
		return nil, nil, err
	}
	own := int64(0) // that the agent had used alone of the budget that is looked at
	for i, c := range rows {
		taken, at := c.taken, refs[2*i]
		taken.Take = used[c.measured()]
		before := min(core.Used(&found, at).Used(taken.Window, now), ruleset.MaxMost)
		if c.alone() {
			own = before
		} else if c.budget.Shared() {
			if taken.Take = c.budget.Counts(own, taken.Take); taken.Take == 0 {
				continue
			}
		}
		charged = append(charged, taken)
		a.Meters().Set(change, nil, ledger.Settling{Key: at.Key, Window: taken.Window, Decided: now, At: now, Charged: taken.Take})
		told := core.Found[ledger.BudgetBody](&found, refs[2*i+1])
		told.Key = at.Key
		after, tell := told.Reached(c.reached(before+taken.Take), taken.Window, now)
		if tell == "" {
			continue
		}
		change.Writes = append(change.Writes, after.Row())
		steps = append(steps, func(c *ledger.Change) error { return a.stepped(c, by, rows[i].budget, taken, before+taken.Take) })
	}
	return charged, steps, nil
}

// reached are the steps that a use of a row has reached, the lowest first: of an agent's own part only those that are for it alone.
func (s budgeted) reached(used int64) []string {
	names := []string{}
	for _, step := range ruleset.Steps() {
		if step.At <= s.budget.Step(used).At && (!s.alone() || step.Alone()) {
			names = append(names, step.Name)
		}
	}
	return names
}

// alone reports whether a row is an agent's own part of a budget that several use.
func (s budgeted) alone() bool { return s.taken.Per != string(s.budget.Per) }

func (s budgeted) measured() measured { return measured{s.budget.Measure, s.budget.Currency} }

// stepped adds to a change that the use of a budget has reached a step.
func (a *Admission) stepped(change *ledger.Change, by interlock.Requester, b *ruleset.Budget, taken interlock.Taken, used int64) error {
	step := b.Step(used)
	record := auditlog.BudgetRecord{Budget: b.ID, Step: step.Name, Share: int(step.At), Per: taken.Per, Of: taken.Of, Used: used,
		Most: b.Most, Money: b.Currency}
	if err := a.Append(change, interlock.EventBudget, by, "system", record); err != nil {
		return err
	}
	does := map[string]string{ruleset.StepNotice: "nothing changes", ruleset.StepWarn: "nothing changes yet",
		ruleset.StepThrottle: "what changes something is asked about", ruleset.StepDegrade: "only what reads is done",
		ruleset.StepStop: "nothing more is done on it"}[step.Name]
	whose := ""
	if (budgeted{budget: b, taken: taken}).alone() {
		whose, does = " by this agent alone", "of this agent, "+does
	}
	return a.Raise(change, by, "budget-"+step.Name, fmt.Sprintf("the budget %s (%s) is used to %d%%%s: %s; interlock budgets "+
		"says by whom", b.ID, b.Says(), b.Used(used), whose, does))
}

// A budgeted is what was found of one budget for a decision.
type budgeted struct {
	budget *ruleset.Budget
	taken  interlock.Taken
	used   int64
	back   time.Time
}

// budgets are those that an action's agent works on, and how much is used of them as far as that was looked at. What this process
// knows is enough: reports come after what they tell of.
func (d *pendingDecision) budgets() (spent []budgeted) {
	if len(d.under.Rules.AllBudgets()) == 0 && d.agent.Module == nil {
		return nil
	}
	agent := core.AgentOf(d.Requester, d.ground.Standing)
	spent = budgetRows(d.under.Rules.Budgets(d.under.Profile, &agent), d.Requester, &agent, ruleset.PerShare, ruleset.PerWord)
	for n := range spent {
		s := &spent[n]
		if count := core.Used(&d.ground, s.ref()); !count.Last.IsZero() {
			r := s.budget.Bound().Read(count, 1, d.now)
			s.used, s.back = min(r.Used, ruleset.MaxMost), r.Back
		}
	}
	return spent
}

func (s budgeted) ref() ledger.Ref { return core.Key(ledger.Usage, ledger.TakenFrom(s.taken)) }

func (d *pendingDecision) budgetRefs() (refs []ledger.Ref) {
	for _, s := range d.budgets() {
		refs = append(refs, s.ref())
	}
	return refs
}

// budgetFindings are what budgets object to an action.
func (d *pendingDecision) budgetFindings() (found []interlock.Finding) {
	for _, s := range d.spent {
		if f, objects := gate.OverBudget(s.budget, s.used, core.Changes(d.analysis.Impacts), meter.Until(s.back, d.now)); objects {
			found = append(found, f)
		}
	}
	return found
}

// asSpent is what a decision read of budgets, for its record.
func (p *Case) asSpent() (rows []auditlog.Limited) {
	for _, s := range p.spent {
		rows = append(rows, auditlog.Limited{Taken: s.taken, Room: s.budget.Most, Used: s.used, Back: s.back})
	}
	return rows
}
