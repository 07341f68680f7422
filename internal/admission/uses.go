package admission

import (
	"errors"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/meter"
	"interlock/internal/ruleset"
)

// limitLooks are of what is used of limits.
var limitLooks = []look{
	{writes: (*pendingDecision).writeRateLimits, late: true},
	{writes: (*pendingDecision).writeAccountReviews, late: true},
	{gates: []string{gate.NameLimit}, finds: (*pendingDecision).limitFindings, after: (*pendingDecision).limitRefs,
		writes: (*pendingDecision).spendLimits},
}

// uses finds what limits would have a decision use up, but for what it met too little of already. Nothing is taken by what is not let
// through, by what is handed to something that decides it again, and by a call that goes on.
func (a *Admission) uses(p *Case, d interlock.Decision, goesOn bool, now time.Time) {
	p.using = nil
	if !d.Answer.Allowed() || p.Handover.Hands(d) || p.Handover == interlock.HandoverGateway || goesOn {
		return
	}
	if a.Config.Uses != nil {
		for _, u := range a.Config.Uses(p.Proposal, d, now) {
			if !p.met[u.Spend] {
				p.using = append(p.using, u)
			}
		}
	}
	a.limits(p, d, now)
}

// limits adds what the limits of the rules in force would have a decision use up. Where nothing is enforced only what would have been
// let through is counted, in a book of its own.
func (a *Admission) limits(p *Case, d interlock.Decision, now time.Time) {
	if d.Mode != interlock.Enforcing && (d.Mode != interlock.Monitoring || d.Verdict != interlock.Allow) {
		return
	}
	for _, c := range p.under.Rules.Charges(d.Profile, &p.agent, p.Action.Kind, d.Impacts) {
		if c.Amount < 1 {
			continue
		}
		l := c.Limit
		u := core.Use{Limit: l, Taken: interlock.Taken{Limit: l.ID, Per: string(l.Per), Of: l.Of(p.Requester, &p.agent, p.tree),
			Measure: string(l.Measure), Currency: l.Currency, Take: c.Amount, Window: l.Window(), Monitored: d.Mode == interlock.Monitoring}}
		u.Spend = ledger.Spend{Kind: ledger.Usage, Key: ledger.TakenFrom(u.Taken), Take: c.Amount, Room: l.Most, Window: l.Window()}
		at := p.under.Rules.EscalatesAt(l)
		if all, part := u.Spend, at.Of(l.Most); at > 0 && part < l.Most {
			u.Room, u.Escalates = part, true
			if p.met[u.Spend] { // and a human has said yes
				u.Spend, u.Escalates = all, false
			}
		}
		if p.met[u.Spend] {
			if l.Verdict != interlock.Ask {
				continue
			}
			u.Room = ruleset.MaxMost // and a human has said yes to more
		}
		u.Objects = func(met *ledger.Met) func(time.Time) interlock.Finding {
			body, _ := met.Row.Value.(ledger.UsageBody)
			row, back := limited(u, body.Count, now)
			row.Met, row.Back = true, back
			p.limited = append(p.limited, row)
			return func(now time.Time) interlock.Finding { return gate.NoRoom(l, u.Escalates, meter.Until(back, now)) }
		}
		p.using = append(p.using, u)
	}
}

// limited is what one row of a limit holds, and when there is room in it for a use.
func limited(u core.Use, count meter.Count, now time.Time) (auditlog.Limited, time.Time) {
	r := u.Bound().Read(count, u.Take, now)
	return auditlog.Limited{Taken: u.Taken, Room: u.Room, Used: min(r.Used, ruleset.MaxMost)}, r.Back
}

func (d *pendingDecision) limitFindings() (found []interlock.Finding) {
	for _, objects := range d.Case.over {
		found = append(found, objects(d.now))
	}
	return found
}

// limitRefs names the rows that a decision takes from.
func (d *pendingDecision) limitRefs() (refs []ledger.Ref) {
	for _, u := range d.using {
		if u.Limit != nil {
			refs = append(refs, ledger.Ref{Kind: u.Kind, Key: u.Key})
		}
	}
	return refs
}

// asRead is what a decision found of the rows that it takes from, beside those that had no room.
func (d *pendingDecision) asRead() []auditlog.Limited {
	rows := slices.Concat(d.limited, d.asSpent())
	for _, u := range d.using {
		if u.Limit != nil {
			one, _ := limited(u, core.Used(&d.ground, core.Key(u.Kind, u.Key)), d.now)
			rows = append(rows, one)
		}
	}
	return rows
}

// spendLimits adds to a change what the decision uses up.
func (d *pendingDecision) spendLimits() error {
	spends := make([]ledger.Spend, len(d.using))
	for n := range d.using {
		spends[n] = d.using[n].Spend
	}
	d.a.Meters().Set(&d.change, spends)
	return nil
}

// takes is what the decision takes from limits.
func (p *Case) takes() (uses []interlock.Taken) {
	for _, u := range p.using {
		if u.Limit != nil {
			uses = append(uses, u.Taken)
		}
	}
	return uses
}

// objects makes a finding of what a commit met that found too little, and reports whether the decision is to be made again with it.
// Each use is met once at most, so this comes to an end.
func (p *Case) objects(err error) bool {
	if err == nil { // nearly always
		return false
	}
	var met *ledger.Met
	if !errors.As(err, &met) || errors.Is(err, ledger.ErrConflict) {
		return false
	}
	for _, u := range p.using {
		if u.Spend == met.Spend {
			if p.met == nil {
				p.met = map[ledger.Spend]bool{}
			}
			p.met[u.Spend] = true
			p.over = append(p.over, u.Objects(met))
			return true
		}
	}
	return false
}

// writeRateLimits records under MACE's name that a quota had no room for an action, and when it will have (MACE 7). The agent is
// told the same by the obligation to wait.
func (w *pendingDecision) writeRateLimits() error {
	p, d := w.Case, w.answer.Decision
	if len(p.limited) == 0 || d.Answer.Allowed() || d.Mode != interlock.Enforcing {
		return nil
	}
	for n := range p.limited {
		row := &p.limited[n]
		if !row.Met || !refusedBy(d, row.Limit) {
			continue
		}
		record := auditlog.RateRecord{Limit: row.Limit, Per: row.Per, Measure: row.Measure, Used: row.Used, Room: row.Room,
			Window: int64(row.Window / time.Second), RetryAfter: int64(meter.Seconds(meter.Until(row.Back, w.now)) / time.Second)}
		if err := w.a.Append(&w.change, interlock.EventRateLimit, p.Requester, "agent", record); err != nil {
			return err
		}
	}
	return nil
}

// writeAccountReviews has people look at the account of an agent that wants more than a heuristic of misuse has room for. The action
// waits for a person, and nothing is blocked (MACE 7). Of a question that is put again and again there is one record.
func (w *pendingDecision) writeAccountReviews() error {
	if w.opened == nil {
		return nil
	}
	for n := range w.limited {
		row := &w.limited[n]
		l, known := w.under.Rules.Limit(row.Limit)
		if !row.Met || !known || !l.Review || row.Room < l.Most {
			continue
		}
		record := auditlog.AccountRecord{Agent: w.Requester.Agent, Account: w.Requester.Principal, Heuristic: l.ID, Most: l.Most,
			Window: int64(l.Window() / time.Second), Then: "asked"}
		if err := w.a.Append(&w.change, interlock.EventAccountReview, w.Requester, "system", record); err != nil {
			return err
		}
		if err := w.a.Raise(&w.change, w.Requester, "account-review", "it wants more than the limit "+l.ID+" ("+l.Says()+") has room for: "+
			"look at what this account does; what it wants waits for a person"); err != nil {
			return err
		}
	}
	return nil
}

// refusedBy reports whether a limit denied, and did not only ask.
func refusedBy(d interlock.Decision, limit string) bool {
	for n := range d.Findings {
		if f := &d.Findings[n]; f.Rule == "limit."+limit && f.Verdict.Compare(interlock.Deny) >= 0 {
			return true
		}
	}
	return false
}
