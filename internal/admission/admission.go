package admission

import (
	"context"
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/admission/judging"
	"interlock/internal/admission/messages"
	"interlock/internal/admission/pinning"
	"interlock/internal/admission/runs"
	"interlock/internal/auditlog"
	"interlock/internal/engine"
	"interlock/internal/impact"
	"interlock/internal/ledger"
)

// Evaluate decides one case at a given time from a given standing. It is a function of its arguments and of what the case's
// door reads.
func Evaluate(e *core.Evaluator, c Case, standing ledger.Standing, now time.Time) interlock.Decision {
	return Decide(e, &c, standing, now)
}

// Decide is [Evaluator.Evaluate] that leaves in the case what was read for it.
func Decide(e *core.Evaluator, c *Case, standing ledger.Standing, now time.Time) interlock.Decision {
	d := pendingDecision{Case: c, analysis: analysed(e, c), begun: standing, now: now}
	d.judgeBy(e, nil)
	return d.made.Decision
}

// analysed says what a case's action would do. Only its view has a say in that, so that one analysis serves every decision
// about it as long as nothing more is known of the world.
func analysed(e *core.Evaluator, c *Case) impact.Analysis {
	view := e.View(c.Proposal)
	c.classified(e)
	return readCase(e, c, &view)
}

// analysedInTurn is analysed when it is the turn of the agent, and only as long as its answer is waited for.
func (a *Admission) analysedInTurn(ctx context.Context, p *Case) (read impact.Analysis, err error) {
	done, err := a.turns.Take(ctx, p.Requester.Agent, len(p.Action.Input)+len(p.Action.Arguments))
	if err != nil {
		return read, err
	}
	defer func() { done(read.Steps) }()
	p.gone = ctx.Done()
	read = analysed(&p.under.Evaluator, p)
	p.gone = nil // what is read again is kept, and so has to be read whole
	return read, ctx.Err()
}

// An evaluation is a decision with what it was made from.
type evaluation struct {
	interlock.Decision
	snapshot  interlock.Snapshot
	analysis  impact.Analysis
	limits    []interlock.Finding
	limited   []auditlog.Limited // rows of limits as they were read
	approvals []interlock.ApprovalRequest
}

// judgeBy decides a case that was analysed from what it was begun with, with what looks find of it that need no more than that, and
// with what others do.
func (d *pendingDecision) judgeBy(e *core.Evaluator, others []interlock.Finding) {
	c, standing, over := d.Case, &d.begun, d.over
	d.rules, d.over = e.Rules, core.HoldsOver(d.begun, c.Requester, d.now)
	approvals := core.SinceGiven(core.SinceHeld(core.Approved(d.begun, c.Requester), d.over, c.post.QuarantinedAt(standing)), c.since)
	d.made = evaluation{snapshot: snapshotOf(e, c, d.begun, d.now), analysis: d.analysis, limits: append(findings(looks, d, true), others...),
		approvals: approvals}
	d.made.Decision = engine.DecideNamed(e.Rules, d.made.snapshot, c.bases.digest(&d.made.snapshot), c.Action, d.analysis, d.made.limits,
		approvals, d.now)
	d.over = over
}

// snapshotOf holds what a decision about a case reads.
func snapshotOf(e *core.Evaluator, c *Case, standing ledger.Standing, now time.Time) interlock.Snapshot {
	snapshot := interlock.Snapshot{
		Version: standing.Version,
		Mode:    e.Mode,
		Profile: e.Profile,
		// the gateway finds out whom to ask
		Attended: c.Handover == interlock.HandoverGateway || e.Attended && c.CanAsk && (e.Quiet == nil || !e.Quiet(now)),
		Agent:    core.TrustedAt(core.AgentOf(c.Requester, standing), now),
		View:     e.View(c.Proposal),
		Loop:     c.Loop,
		Recent:   c.Recent,
		Upstream: c.Upstream,

		Sandboxed: c.Sandboxed || c.Handover.Boxes(),

		Failed: c.Failed,
		Origin: c.Origin,
		Pin:    pinning.PinOf(standing, c.Upstream),
		Run:    core.BasisOf(c.Requester, standing, now),

		Judgments: c.judging.Said,

		Authors: c.authors,

		Grants:       governance.GrantsOf(standing, c.Requester, e.Rules.Digest(), now),
		Suppressions: core.SuppressionsOf(standing, c.Requester, now),
	}
	if block, blocked := core.BlockOf(standing, c.Requester); blocked {
		snapshot.Block = block.ID
	}
	if len(c.Recent) > 0 || c.Failed != nil || len(e.Rules.Cedar()) > 0 {
		snapshot.Taken = now
	}
	return snapshot
}

// Admission decides and records. It is safe for concurrent use. What decisions turn on is in the store: what it holds itself are the
// locks and counters of work under way, what is on its way to the store, and what checking a signature has come to, which would come
// to the same again.
type Admission struct {
	*core.Core
	*containment.Containment
	*judging.Judging
	*pinning.Pins
	*messages.Messages
	*runs.Runs
	*governance.Governance

	turns      *core.Turns
	executions executions
	bases      bases
	ended      sync.Pool // of pendingDecision
	metering   metering
	endings    endings
	shadow     *shadow // nil where no ruleset can decide beside the one in force
}

// What doors name of the rooms whatever they do.
type (
	Config    = core.Config
	Evaluator = core.Evaluator
	Store     = core.Store
	Notifier  = core.Notifier
	Renewal   = core.Renewal
	Recorder  = core.Recorder
)

// New returns an Admission, or an error naming the missing field.
func New(c Config) (*Admission, error) {
	base, err := core.New(c)
	if err != nil {
		return nil, err
	}
	a := &Admission{Core: base, Containment: &containment.Containment{Core: base}, Pins: &pinning.Pins{Core: base},
		turns: core.NewTurns(0), executions: executions{seed: maphash.MakeSeed()}}
	a.Judging = judging.New(a.Containment)
	a.Messages = &messages.Messages{Core: base, Containment: a.Containment}
	a.Runs = &runs.Runs{Core: base, Containment: a.Containment, Judging: a.Judging}
	a.Governance = &governance.Governance{Core: base, Containment: a.Containment, Judging: a.Judging, Pins: a.Pins,
		Messages: a.Messages, Runs: a.Runs}
	if c.Candidate != nil {
		a.shadow = newShadow(a)
	}
	a.Handlers, a.Permit, a.Declared, a.Unread = a.orders(), a.ByCouncil, a.DeclareForce, a.RulesUnread
	return a, nil
}

// orders lists what each verb does. Replays have their own: several orders make one.
func (a *Admission) orders() map[interlock.Verb]core.OrderHandler {
	all := a.GovernanceOrders()
	for _, rows := range []map[interlock.Verb]core.OrderHandler{a.ContainmentOrders(), a.PinningOrders(), a.JudgingOrders(),
		a.RunsOrders()} {
		maps.Copy(all, rows)
	}
	promote := all[interlock.VerbPromoteRules]
	promote.After = a.shadow.changed
	all[interlock.VerbPromoteRules] = promote
	return all
}

// Close closes the store after what is under way has been committed.
func (a *Admission) Close() error {
	a.shadow.close()
	return a.Config.Store.Close()
}
