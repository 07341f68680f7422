package governance

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
)

// stale says why what was approved may not be carried out any more: it is counted, and held against what is in force, at the moment of
// use. Empty: nothing has changed.
func (a *Governance) stale(ctx context.Context, standing *ledger.Standing, r interlock.ActionRequest, now time.Time) (string,
	error) {
	digest, err := quorum.ActionDigest(r.Action)
	if err != nil {
		return "", err
	}
	is, err := module(standing, r.Action.Target)
	if err != nil {
		return "", err
	}
	asks := standing.Operators[r.Requester.Agent]
	switch {
	case !now.Before(r.Expires):
		return "the time of the request is over", nil
	case digest != r.Digest:
		return "the action is another one than was approved", nil
	case r.Ruleset != a.Active.Load().Rules.Digest():
		return "other rules are in force than when it was asked for", nil
	case r.Policy != standing.Settings[core.SettingManifest]:
		return "other snapshots are in force than when it was asked for", nil
	case is != r.Module:
		return "its target stands otherwise than when it was asked for", nil
	case r.Origin == "operator" && (asks.Role != r.Role || !asks.Revoked.IsZero()):
		return "the role of who asked for it has changed", nil
	}
	for _, v := range r.Ballot.Votes {
		var weak *interlock.Error
		if err := a.MayBeWeak(ctx, v.Weak); errors.As(err, &weak) {
			return "a vote on it was signed with a key that may not sign any more", nil
		} else if err != nil {
			return "", err
		}
	}
	count := quorum.CountBallot(quorum.OfAction(r), r.Ballot, standing.Operators, standing.Agents, a.Config.Verify, now)
	if count.Status != interlock.ActionApproved {
		return "its votes do not count any more: somebody's role or keys have changed", nil
	}
	return "", nil
}

// execute begins to carry an approved request out, or tells how that ended. What Interlock itself does is done with that, at once; of
// the rest, that it was begun is durable before its executor does anything, so that it is never begun twice.
func (a *Governance) execute(ctx context.Context, c *core.PendingOrder) error {
	r, _ := c.Standing.Action(c.Subject)
	kept := a.OrderKept(c.Order)
	to := interlock.ActionStatus(c.Detail)
	switch {
	case to == interlock.ActionExecuted || to == interlock.ActionFailed:
		if r.Status == interlock.ActionExecuting && r.By != c.Operator && !quorum.Governs(c.Standing.Operators[c.Operator].Role) {
			return interlock.Errorf(interlock.CodeUnauthorized, "operator", "who began to carry it out, or an admin, tells how that ended")
		}
		if err := a.goes(&c.Change, &r, to, kept.Reason, c.Operator, &kept); err != nil {
			return err
		}
	case to == interlock.ActionExecuting:
		if err := a.begin(ctx, c, &r, &kept); err != nil {
			return err
		}
	default:
		return interlock.Errorf(interlock.CodeInvalid, "detail", "say executing, executed or failed, not %.20q", c.Detail)
	}
	c.Done.Request = r
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(r)...)
	return nil
}

func (a *Governance) begin(ctx context.Context, c *core.PendingOrder, r *interlock.ActionRequest, kept *interlock.Order) error {
	if r.Status != interlock.ActionApproved {
		return interlock.Errorf(interlock.CodeConflict, "request", "the request is %s, and only an approved one is carried out, once",
			r.Status)
	}
	if c.Now.Before(r.After) {
		return interlock.Errorf(interlock.CodeConflict, "request", "the council was told of this approval, which counts from %s",
			r.After.UTC().Format(time.RFC3339))
	}
	why, err := a.stale(ctx, &c.Standing, *r, c.Now)
	if err != nil {
		return err
	}
	if why != "" {
		return a.goes(&c.Change, r, interlock.ActionInvalidated, why, c.Operator, kept)
	}
	r.By = c.Operator
	if err := a.goes(&c.Change, r, interlock.ActionExecuting, "", c.Operator, kept); err != nil {
		return err
	}
	return a.effect(ctx, c, r)
}

// effect does what Interlock itself does of a request that is being carried out, and takes it to its end. What it can't do has failed,
// and has changed nothing.
func (a *Governance) effect(ctx context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	does, own := effects()[r.Action.Type]
	if registers(r.Action) {
		does, own = (*Governance).enrol, true
	}
	if !own && a.Config.Memory.Enabled {
		does, own = factEffects()[r.Action.Type]
	}
	if !own {
		return nil
	}
	before := c.Change
	before.Writes, before.Events = slices.Clip(before.Writes), slices.Clip(before.Events)
	err := does(a, ctx, c, r)
	var refusal *interlock.Error
	switch {
	case errors.As(err, &refusal):
		c.Change = before
		return a.goes(&c.Change, r, interlock.ActionFailed, refusal.Message, "interlock", nil)
	case err != nil:
		return err
	}
	return a.goes(&c.Change, r, interlock.ActionExecuted, "", "interlock", nil)
}

// effects are what Interlock does itself. All else is for the one who carries it out, who says how it ended.
func effects() map[string]func(*Governance, context.Context, *core.PendingOrder, *interlock.ActionRequest) error {
	return map[string]func(*Governance, context.Context, *core.PendingOrder, *interlock.ActionRequest) error{
		quorum.ActQuarantine:      (*Governance).quarantineModule,
		quorum.ActQuarantineNow:   (*Governance).quarantineModule,
		quorum.ActUnquarantine:    (*Governance).unquarantineModule,
		quorum.ActHaltReplays:     (*Governance).halt,
		quorum.ActFreezeSnapshots: (*Governance).halt,
		quorum.ActClearHalt:       (*Governance).clearHalt,
		quorum.ActReview:          (*Governance).ratify,
		quorum.ActOverride:        (*Governance).setAside,
		quorum.ActDeletePerson:    (*Governance).deletePerson,
		quorum.ActKeepPersonal:    (*Governance).approveConsent,
	}
}

// quarantined moves a module into emergency, or back out of it. Nothing but a request that people approved does.
func (a *Governance) quarantineModule(ctx context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	scope, whose, ok := ledger.Actors(r.Action.Target)
	if !ok || scope != ledger.HoldAgent && scope != ledger.HoldType {
		return interlock.Errorf(interlock.CodeInvalid, "target", "a module is agent:NAME or type:NAME")
	}
	m := a.Containment.Moving(ctx, &c.Change, c.Standing, c.Now)
	m.Tier = a.TierOver(r.Action.Target, c.Standing)
	if m.Holds[r.Action.Target].Phase == phase.Emergency {
		return interlock.Errorf(interlock.CodeConflict, "target", "it is quarantined already")
	}
	m.Tighten(containment.Tightening{Scope: scope, Key: whose, To: phase.Emergency, Trigger: phase.TriggerOrder,
		Why: "quarantined by request " + r.ID}, nil)
	return m.Done(interlock.Requester{Agent: c.Operator})
}

func (a *Governance) unquarantineModule(ctx context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	m := a.Containment.Moving(ctx, &c.Change, c.Standing, c.Now)
	m.Tier = a.TierOver(r.Action.Target, c.Standing)
	h, stands := m.Holds[r.Action.Target]
	if !stands || h.Phase != phase.Emergency {
		return interlock.Errorf(interlock.CodeConflict, "target", "it is not quarantined")
	}
	m.Moved(ledger.HoldBody{Scope: h.Scope, Key: h.Key, Cause: interlock.EventPhase, Why: "by request " + r.ID, Since: m.Now,
		Hold: phase.Hold{Phase: phase.Primary, Trigger: phase.TriggerOrder}}, h.Phase, nil, "request "+r.ID)
	return m.Done(interlock.Requester{Agent: c.Operator})
}

// halt stops all replays, or has rules and settings stay as they are.
func (a *Governance) halt(_ context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	scope, whose, _ := strings.Cut(core.HaltName(r.Action), ":")
	h := ledger.HoldBody{Scope: ledger.HoldScope(scope), Key: whose, Cause: interlock.EventOverride, Why: r.Justification,
		Since: c.Now.Truncate(time.Microsecond), Order: r.ID}
	if _, stands := c.Standing.Others[ledger.Hold][h.Name()]; stands {
		return interlock.Errorf(interlock.CodeConflict, "target", "this is halted already")
	}
	c.Change.Writes = append(c.Change.Writes, h.Row())
	return a.Append(&c.Change, interlock.EventHalt, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: h.Why})
}

func (a *Governance) clearHalt(_ context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	h, stands := c.Standing.Others[ledger.Hold][r.Action.Target].(ledger.HoldBody)
	if !stands || !h.Halts() {
		return interlock.Errorf(interlock.CodeNotFound, "target", "no halt of this name stands; `interlock hold list` shows them")
	}
	c.Change.Writes = append(c.Change.Writes, ledger.Ended(ledger.Hold, h.Name()))
	return a.Append(&c.Change, interlock.EventHaltClear, interlock.Requester{Agent: c.Operator}, "operator",
		auditlog.HoldRecord{Name: h.Name(), Cause: h.Cause, Why: "by request " + r.ID})
}

// quarantines reports whether an order about a phase has a module quarantined, or ends that. Every stricter phase but that one is for
// anybody who answers (MACE safety boundaries 8.2).
func quarantines(c *core.PendingOrder) (bool, error) {
	if scope, _, ok := ledger.Actors(c.Subject); !ok || !containment.IsModule(scope) {
		return false, nil
	}
	if c.Verb == interlock.VerbLoosenPhase {
		h, _ := c.Standing.Others[ledger.Hold][c.Subject].(ledger.HoldBody)
		return h.Phase == phase.Emergency, nil
	}
	d, err := containment.ParsePhase(c.Detail)
	return d.To == phase.Emergency, err
}

// governed is what an order that changes the rules, the constants, who governs, trust, a quarantine or a halt is as a governed action.
func governed(c *core.PendingOrder) (action interlock.GovernedAction, is bool, err error) {
	verb, _ := quorum.VerbOf(c.Verb)
	action = interlock.GovernedAction{Type: verb.Act, Target: c.Subject}
	switch verb.Act {
	case "":
		return interlock.GovernedAction{}, false, nil
	case quorum.ActRoster:
		return rosterChange(c)
	case quorum.ActTrust:
		action, is = trustOverride(c)
		return action, is, nil
	case quorum.ActQuarantine, quorum.ActUnquarantine:
		is, err = quarantines(c)
		return action, is, err
	case quorum.ActPolicy:
		action.Params = c.Detail
	case quorum.ActConstant:
		digest, err := SettingsDigest(c.Detail, c.Aside)
		action.Params = string(digest)
		return action, err == nil, nil
	}
	return action, true, nil
}

// ByCouncil refuses an order that changes the rules or the constants while they are frozen and, where it takes the council, without a
// request that it approved; with one, that is used up in the same change. Where it governs, nobody sets a rule that denies aside alone.
func (a *Governance) ByCouncil(ctx context.Context, c *core.PendingOrder) error {
	if s, silences := c.Terms.(interlock.Suppression); silences && s.Denials && a.Council().Governs {
		return interlock.Errorf(interlock.CodeUnauthorized, "denials",
			"where the council governs, a rule that denies is set aside for one job by a request of type %s", quorum.ActOverride)
	}
	action, is, err := governed(c)
	if err != nil || !is {
		return err
	}
	if takes, err := a.takesCouncil(ctx, c, action.Type); err != nil || !takes {
		return err
	}
	digest, err := quorum.ActionDigest(action)
	if err != nil {
		return err
	}
	found, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.ActionRequest, ledger.ActionFor(digest)), ledger.Every(maxPending))
	if err != nil {
		return err
	}
	why := "nobody has asked for it"
	for _, row := range found {
		r, ok := row.Value.(interlock.ActionRequest)
		if !ok || r.Status != interlock.ActionApproved {
			why = "the council has not approved it yet"
			continue
		}
		g, err := a.reads(ctx, c, append(everybody(), core.EffectRefs(r)...)...)
		if err != nil {
			return err
		}
		if why, err = a.stale(ctx, &g, r, c.Now); err != nil {
			return err
		}
		if why == "" {
			return a.used(c, r)
		}
	}
	return interlock.Errorf(interlock.CodeUnauthorized, "operator", "this takes a quorum of the council: %s; ask with: "+
		"interlock request create %s --target %q --params %q --because TEXT", why, action.Type, action.Target, action.Params)
}

// takesCouncil reports whether an order takes the council: where it governs all that it may, who governs once it sits, and ending a halt
// wherever it sits (MACE safety boundaries 8.3). While something is halted all of it does where it sits: an admin who unseats it, or
// has something else be in force than what is halted, would go on without it.
func (a *Governance) takesCouncil(ctx context.Context, c *core.PendingOrder, act string) (bool, error) {
	g, err := a.reads(ctx, c, core.Under(ledger.Operator, ledger.All), core.Under(ledger.Hold, ledger.All))
	if err != nil {
		return false, err
	}
	frozen := ledger.HoldName(ledger.HoldSnapshots, ledger.HoldAll)
	if _, stands := g.Others[ledger.Hold][frozen]; stands && act != quorum.ActRoster && act != quorum.ActClearHalt &&
		steers(act) {
		return false, interlock.Errorf(interlock.CodeConflict, "subject",
			"rules and settings are frozen by an emergency override; the council clears %s (%s)", frozen, quorum.ActClearHalt)
	}
	governs, sits := a.Council().Governs, a.sits(&g)
	halted := slices.ContainsFunc(g.Holds(), func(h ledger.HoldBody) bool { return h.Halts() })
	founds := act == quorum.ActRoster || act == quorum.ActTrust // which an admin does before a council sits
	return governs && (sits || !founds) || sits && (halted && steers(act) || act == quorum.ActClearHalt), nil
}

// steers reports whether an act changes what is in force, or who says so. What is contained and whom one trusts is nothing of that.
func steers(act string) bool {
	return act != quorum.ActTrust && act != quorum.ActQuarantine && act != quorum.ActUnquarantine
}

// reads is what refs name as it is now. What an order does of it is made again if any of that moves before it is durable.
func (a *Governance) reads(ctx context.Context, c *core.PendingOrder, refs ...ledger.Ref) (ledger.Standing, error) {
	g, err := a.Rows(refs...)(ctx, a.Config.Store.Load)
	c.Change.Reads = append(c.Change.Reads, g.Reads...)
	return g.Standing, err
}

// used carries out an approved request with the order that it permits.
func (a *Governance) used(c *core.PendingOrder, r interlock.ActionRequest) error {
	kept := a.OrderKept(c.Order)
	r.By = c.Operator
	if err := a.goes(&c.Change, &r, interlock.ActionExecuting, "", c.Operator, &kept); err != nil {
		return err
	}
	if err := a.goes(&c.Change, &r, interlock.ActionExecuted, "", c.Operator, nil); err != nil {
		return err
	}
	c.Permitted = ledger.Rows(r)
	c.Steps, c.Change.Events = c.Change.Events, nil
	return nil
}
