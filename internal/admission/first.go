package admission

import (
	"context"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// firstLooks are of what is done, or used, for the first time.
var firstLooks = []look{
	{gates: []string{gate.NameFirstUse}, before: (*pendingDecision).usesRefs, finds: (*pendingDecision).firstUseFindings,
		writes: (*pendingDecision).writeFirstUse},
	{gates: []string{"first"}, before: (*pendingDecision).firstRefs, finds: (*pendingDecision).firstFindings},
}

// From tier 2 on, what can't be undone or is dangerous and was never carried out by agents of its type is tried first: in a throw-away
// copy, or in the form in which its tool is tried. A person looks at what came of that before it may be done in earnest, and only what
// was carried out then is known from there on.

// A firstTime is what an action does that agents of a type may never have done.
type firstTime struct{ typed, does string }

// firstsOf are those of what an action does that its agent's type has to know.
func firstsOf(e *core.Evaluator, p *Case, analysis impact.Analysis, agent interlock.AgentRecord) (list []firstTime) {
	if e.Rules.Maso().Tier < 2 || e.Rules.Tries(p.Action) {
		return nil
	}
	level, _, _ := gate.DangerLevel(e.Rules, interlock.Snapshot{Profile: e.Profile, Agent: agent}, p.Action, analysis)
	typed := ruleset.TypeName(agent)
	for n := range analysis.Impacts {
		i := &analysis.Impacts[n]
		if i.Reversibility != interlock.Irreversible && (level < interlock.DangerDangerous || i.Reversibility == interlock.Readonly) &&
			!destroys(p, i) {
			continue
		}
		one := firstTime{typed, strings.Join([]string{string(i.Kind), i.Via, string(i.Reach)}, " ")}
		if p.Action.Tool != "" && p.Action.Kind == interlock.KindTool {
			one.does = p.Action.Tool + ": " + one.does
		}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}

// destroys reports whether an impact is the deletion that a tool's server says its calls may be. That it could be undone is supposed of a
// deletion, and known of none that happens behind a server.
func destroys(p *Case, i *interlock.Impact) bool {
	a := p.View.Annotations
	return p.Action.Kind == interlock.KindTool && i.Kind == interlock.ImpactDelete && a != nil && a.Destructive != nil && *a.Destructive
}

func (d *pendingDecision) firstRefs() (refs []ledger.Ref) {
	d.firsts = firstsOf(&d.under.Evaluator, d.Case, d.read, core.AgentOf(d.Requester, d.ground.Standing))
	for _, f := range d.firsts {
		refs = append(refs, core.Key(ledger.Baseline, ledger.BaselineName(f.typed, f.does)))
	}
	return refs
}

// ruleFirst is the rule of what is tried first.
const ruleFirst = "first.dry-run"

// firstFindings want a dry run of what agents of this type have never done.
func (d *pendingDecision) firstFindings() []interlock.Finding {
	e, p, standing := d.under, d.Case, d.begun
	at := slices.IndexFunc(p.firsts, func(f firstTime) bool { return !standing.Known(f.typed, f.does) })
	if at < 0 {
		return nil
	}
	owes := interlock.Obligation{Type: interlock.ObligationDryRun}
	if form, can := e.Rules.Form(p.Action); can {
		if digest, err := strictjson.ActionDigest(form); err == nil {
			owes.Note = string(digest)
		}
	}
	return []interlock.Finding{{Gate: "first", Rule: ruleFirst, Layer: 3, Verdict: interlock.Ask, Obligations: []interlock.Obligation{owes},
		Reason: "agents of the type " + p.firsts[at].typed + " have never carried this out, and it can't be undone or is dangerous, " +
			"so that a person sees a dry run of it first"}}
}

// learned are the rows that say that a type's agents have carried out what was let through after a dry run, and went well.
func (a *Admission) learned(ctx context.Context, r interlock.Requester, d interlock.Decision, event string, status interlock.OutcomeStatus,
	carried bool) (rows []ledger.Row, err error) {
	is := func(f interlock.Finding) bool { return f.Rule == ruleFirst }
	if status != interlock.OutcomeSuccess || !d.Answer.Allowed() || d.Mode != interlock.Enforcing || event == "" ||
		!slices.ContainsFunc(d.Findings, is) {
		return nil, nil
	}
	entry, found, err := a.Config.Store.Entry(ctx, event)
	if err != nil || !found {
		return nil, err
	}
	decided, err := auditlog.ReadDecision(entry)
	if err != nil || !carried && !runs.Attests(decided.Proposal.Door) && !a.Active.Load().Rules.Runs().Reported() {
		return nil, nil
	}
	known, _, err := a.Config.Store.Load(ctx, core.Key(ledger.Agent, r.Agent))
	if err != nil {
		return nil, err
	}
	agent := interlock.AgentRecord{ID: r.Agent}
	for _, row := range known {
		if record, is := row.Value.(interlock.AgentRecord); is {
			agent = record
		}
	}
	p := &Case{Proposal: interlock.Proposal{Action: decided.Proposal.Action, Requester: r}}
	yes := true // what its server said of it is not in the record: whatever it deleted was carried out after a dry run, and is known now
	p.View.Annotations = &interlock.Annotations{Destructive: &yes}
	now := a.Config.Now().UTC()
	for _, f := range firstsOf(&a.Active.Load().Evaluator, p, impact.Analysis{Impacts: d.Impacts}, agent) {
		rows = append(rows, ledger.Rows(ledger.BaselineBody{Name: ledger.BaselineName(f.typed, f.does), Type: f.typed, Does: f.does,
			Agent: r.Agent, Event: event, At: now})...)
	}
	return rows, nil
}

// triedAs records that the form was carried out in which an action is tried that waits for a person, for those who decide it.
func (a *Admission) triedAs(ctx context.Context, r interlock.Requester, d interlock.Decision, event string, o interlock.Outcome,
	carried bool) error {
	status := o.Status
	if !a.forms() || status != interlock.OutcomeSuccess && status != interlock.OutcomeFailure || !d.Answer.Allowed() ||
		event == "" || d.Action == "" {
		return nil
	}
	entry, found, err := a.Config.Store.Entry(ctx, event)
	if err != nil || !found {
		return err
	}
	decided, err := auditlog.ReadDecision(entry)
	if err != nil || !a.Active.Load().Rules.Tries(decided.Proposal.Action) ||
		!carried && !runs.Attests(decided.Proposal.Door) && !a.Active.Load().Rules.Runs().Reported() {
		return nil
	}
	g, err := a.Rows(core.Under(ledger.Request, ledger.Of(r.Agent, decided.Proposal.Requester.Principal)))(ctx, a.Config.Store.Load)
	if err != nil {
		return err
	}
	var waits []interlock.ApprovalRequest
	for _, request := range g.Requests { // in any order: sorted below
		if request.Status == interlock.RequestPending && slices.ContainsFunc(request.Obligations, func(o interlock.Obligation) bool {
			return o.Type == interlock.ObligationDryRun && o.Note == string(d.Action)
		}) {
			waits = append(waits, request)
		}
	}
	core.SortRequests(waits)
	run := interlock.DryRun{Event: event, Form: d.Action, Effects: []interlock.Effect{},
		Detail: core.Bounded(a.Redact(core.Bounded(o.Detail, 4*core.MaxDetail)), core.MaxDetail)}
	if status == interlock.OutcomeFailure {
		run.Exit = 1
	}
	for _, request := range waits {
		run.Request, run.Action = request.ID, request.Action
		if _, err := a.Event(ctx, interlock.EventDryRun, r, "agent", auditlog.DryRunRecord{Run: run}); err != nil {
			return err
		}
	}
	return nil
}

// looksBack reports whether more is made of how an action ended than that it did: it was tried first, or may be what another is tried as.
func (a *Admission) looksBack(d interlock.Decision) bool {
	return a.forms() || slices.ContainsFunc(d.Findings, func(f interlock.Finding) bool { return f.Rule == ruleFirst })
}

// forms reports whether there are tools that are tried in a form of their own.
func (a *Admission) forms() bool {
	rules := a.Active.Load().Rules
	return rules.Maso().Tier > 1 && rules.HasForms()
}

// What a type of agents has not used before is asked about, from tier 2 on (EC-AC-2). It is looked at for the type and not for
// each agent, so that of sixty thousand instances one asks and the others are told that somebody is being asked. From tier 1 on
// it is remembered what people said yes to. An action that only reads needs none of it, and loads none of it.

// A first is what an action uses that its agent's type has not used before.
type first struct {
	of      *interlock.FirstUse // nil: nothing
	objects []interlock.Finding // from tier 2 on
	agent   string              // whose action it is
}

// usesRefs names what is known of what an action uses, where anything is to be known.
func (d *pendingDecision) usesRefs() (refs []ledger.Ref) {
	if !d.under.NotesUses() {
		return nil
	}
	uses, _ := gate.Uses(d.Action, d.read.Impacts)
	kind := ruleset.TypeName(core.AgentOf(d.Requester, d.ground.Standing))
	for _, use := range uses {
		refs = append(refs, core.Key(ledger.FirstUse, ledger.FirstUseKey(kind, use)),
			core.Key(ledger.FirstUse, ledger.AskedKey(kind, use)))
	}
	if len(uses) > 0 && d.under.Rules.Maso().Classifies() && d.Action.Tool != "" {
		refs = append(refs, core.Under(ledger.Order, ledger.RangesOf(kind)))
	}
	return refs
}

// firstUseOf is what an action uses that its agent's type has not used before, and what is objected to that.
func firstUseOf(e *core.Evaluator, p *Case, standing ledger.Standing, impacts []interlock.Impact, now time.Time) first {
	if !e.NotesUses() {
		return first{}
	}
	uses, whole := gate.Uses(p.Action, impacts)
	agent := core.AgentOf(p.Requester, standing)
	kind := ruleset.TypeName(agent)
	var new []string
	f := first{agent: agent.ID}
	asks := e.Rules.Maso().AsksFirstUse()
	for _, use := range uses {
		was := standing.FirstUse(kind, use)
		if was.Known() {
			continue
		}
		new = append(new, use)
		if was.Asked(now) && was.Agent != agent.ID && asks {
			f.objects = []interlock.Finding{gate.FirstUseAsked(kind, use, was.Request)}
			return f
		}
	}
	if len(new) == 0 && whole {
		return f
	}
	if len(new) > 0 {
		f.of = &interlock.FirstUse{Type: kind, Uses: new}
	} else {
		new = uses // and more than can be told apart
	}
	if asks {
		f.objects = []interlock.Finding{gate.FirstUse(kind, new)}
	}
	return f
}

func (d *pendingDecision) firstUseFindings() []interlock.Finding { return d.first.objects }

// writeFirstUse says of what is asked in a request that somebody is being asked.
func (d *pendingDecision) writeFirstUse() error {
	if request := d.opened; request != nil && d.first.of != nil && len(d.first.objects) > 0 {
		d.change.Writes = append(d.change.Writes,
			core.UsesOf(request, ledger.FirstUseBody{Request: request.ID, Agent: request.Requester.Agent, Until: request.Expires})...)
	}
	return nil
}
