package main

import (
	"context"

	"interlock/embedded"
	"interlock/internal/console/render"
)

// judgesShown tells the console who judges; nil where nobody does.
func judgesShown(backend *embedded.Backend) func(context.Context) (render.Judges, error) {
	if len(backend.Judges()) == 0 {
		return nil
	}
	return func(ctx context.Context) (render.Judges, error) {
		ground, err := backend.GroundRules(ctx)
		if err != nil {
			return render.Judges{}, err
		}
		known := render.Judges{Ground: render.JudgeGround{Digest: ground.Rules.Digest(), Rules: len(ground.Rules.Rules()),
			Origin: groundOrigin(ground), Note: groundStanding(ground)}}
		for _, s := range backend.Judges() {
			if known.Ground.Digest != s.GroundRules { // what this server holds actions against, whatever the file says by now
				known.Ground.Digest, known.Ground.Rules, known.Ground.Origin = s.GroundRules, 0, "those that this server began with"
			}
			known.List = append(known.List, render.JudgeState{Name: s.Name, Model: s.Model, Breaker: s.Breaker, Until: s.Until, Tested: s.Tested,
				Passed: s.Passed, Reason: s.Reason, InFlight: s.InFlight, Waiting: s.Waiting})
		}
		known.Budgets, err = backend.JudgeSpent(ctx)
		return known, err
	}
}
