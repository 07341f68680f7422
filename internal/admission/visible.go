package admission

import (
	"context"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/pinning"
	"interlock/internal/engine"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
)

// Visible reports of each target whether this caller may see it: whether any call of it would not be denied now. A resource that
// was never read, and has no pin yet, is seen wherever its server is.
func (a *Admission) Visible(ctx context.Context, caller interlock.Requester, targets []pinning.Target) ([]bool, error) {
	ground, err := a.GroundOf(ctx, a.Config.Store.Load, caller, pinsOfTargets(targets)...)
	standing := ground.Standing
	if err != nil {
		return nil, fmt.Errorf("reading the standing: %w", err)
	}
	force, err := a.InForce(ctx)
	if err != nil {
		return nil, fmt.Errorf("putting the rules into force: %w", err)
	}
	now := a.Config.Now().UTC()
	shown := make([]bool, len(targets))
	if caller.Agent == "" || core.InOffice(caller, standing, now) != nil {
		return shown, nil
	}
	caller = core.Owned(caller, standing)
	known := map[pinning.Target]bool{} // most resources of a server are asked about as the server
	for i, target := range targets {
		u := target.Upstream
		if _, pinned := standing.Pins[ledger.PinKey(u.Server, u.Tool)]; !pinned && u.Definition != "" &&
			interlock.PinKind(u.Tool) == "resource" {
			target.Upstream.Tool, target.Upstream.Definition = "", ""
		}
		may, asked := known[target]
		if !asked {
			may = !a.hidden(force, standing, caller, target, now)
			known[target] = may
		}
		shown[i] = may
	}
	return shown, nil
}

// pinsOfTargets names the pins that targets are seen by: one by one, and of resources, as there may be thousands, all that
// their server has.
func pinsOfTargets(targets []pinning.Target) []ledger.Ref {
	refs := make([]ledger.Ref, 0, len(targets))
	whole := map[string]bool{}
	for i := range targets {
		u := targets[i].Upstream
		switch {
		case interlock.PinKind(u.Tool) != "resource":
			refs = append(refs, core.Key(ledger.Pin, ledger.PinKey(u.Server, u.Tool)))
		case !whole[u.Server]:
			whole[u.Server] = true
			refs = append(refs, core.Under(ledger.Pin, ledger.Server(u.Server)))
		}
	}
	return refs
}

// hidden reports whether every call of a target would be denied.
func (a *Admission) hidden(force *core.ActiveRules, standing ledger.Standing, caller interlock.Requester, target pinning.Target,
	now time.Time) bool {
	p := interlock.Proposal{Action: interlock.Action{Kind: interlock.KindTool, Tool: target.Name}, Requester: caller,
		CanAsk: true}
	snapshot := snapshotOf(&force.Evaluator, &Case{Proposal: p, Way: Way{Upstream: &target.Upstream}}, standing, now)
	var texts []fact.Text
	if target.Name != "" {
		texts = a.Config.Analyser.ToolTexts(target.Name)
	}
	_, hidden := engine.Hidden(force.Rules, snapshot, target.Name, texts)
	return hidden
}
