package runs

import (
	"context"
	"errors"
	"slices"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/origin"
)

// HearPrompt takes note of what the user of a run said, so that later actions of the run are judged by who named their target.
// Kept are digests and the kinds of act the words ask for, beside the log; nothing is permitted by it, and nothing is recorded but
// that what the run had asked its user before is over.
func (a *Runs) HearPrompt(ctx context.Context, r interlock.Requester, text string) error {
	if r.Run == "" || r.Agent == "" || text == "" {
		return nil
	}
	run, now := core.RunOf(r), a.Config.Now().UTC()
	heard := a.hear(ctx, run, func(h origin.Heard) (origin.Heard, bool) {
		return a.Config.Prompted(h, run, text, now), true
	})
	return errors.Join(heard, a.Spoke(ctx, r))
}

// HearResult takes note of what an action of a run returned, as [Admission.HearPrompt] does of what the user said. Without a
// user's words nothing but a result that gives orders says anything about later actions, and of the project's own files
// nothing else does: then nothing is kept.
func (a *Runs) HearResult(ctx context.Context, p interlock.Proposal, result string) error {
	r := p.Requester
	if r.Run == "" || r.Agent == "" || result == "" {
		return nil
	}
	text := origin.Text([]byte(result[:min(len(result), maxResult)]))
	p.View.Production = append(append([]string{}, p.View.Production...), a.Active.Load().Rules.Production()...)
	as := a.Config.Returns(p.View, p.Action, impact.Orders(text))
	if as.Inside && !as.Orders && p.Action.Kind != interlock.KindFile && p.Action.Kind != interlock.KindShell {
		return nil
	}
	run, now := core.RunOf(r), a.Config.Now().UTC()
	return a.hear(ctx, run, func(h origin.Heard) (origin.Heard, bool) {
		if !as.Orders && h.Prompts == 0 {
			return h, false
		}
		after := origin.Result(h, run, p.Action, as, text, now)
		return after, after.Orders != h.Orders || after.Over != h.Over || !slices.Equal(after.Values, h.Values)
	})
}

// hear keeps what add makes of what a run has heard, beside the log and for a day, unless add reports that nothing is new.
func (a *Runs) hear(ctx context.Context, run string, add func(origin.Heard) (origin.Heard, bool)) error {
	return a.Config.Store.Note(ctx, core.Key(ledger.Heard, run), func(value any) (any, error) {
		before, _ := value.(ledger.HeardBody)
		after, changed := add(before.Heard)
		if !changed {
			return nil, nil
		}
		return ledger.HeardBody{Run: run, Heard: after}, nil
	})
}

// Outward reports whether an action reaches anybody or anything beyond this machine, or is a call whose doing only
// its server knows.
func Outward(action interlock.Action, impacts []interlock.Impact) bool {
	if action.Kind == interlock.KindTool || action.Kind == interlock.KindHTTP {
		return true
	}
	for n := range impacts {
		i := &impacts[n]
		if gate.Act(i) != "" || i.Kind == interlock.ImpactNetwork || i.Reach == interlock.ReachExternal ||
			i.Reach == interlock.ReachProduction {
			return true
		}
	}
	return false
}
