package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/replay"
)

// whatIfTime bounds a look at the past that a page or a request of the API asks for: the command line has more time.
const whatIfTime = 25 * time.Second

// whatIf returns what answers questions about the past for the console and the API, one at a time, as the command does.
func whatIf(p *program, backend *embedded.Backend) func(context.Context, replay.Question) (replay.Report, error) {
	var one sync.Mutex
	return func(ctx context.Context, q replay.Question) (replay.Report, error) {
		if !one.TryLock() {
			return replay.Report{}, interlock.Errorf(interlock.CodeLimited, "",
				"rules are being tried on the past already; wait until that is done")
		}
		defer one.Unlock()
		ctx, cancel := context.WithTimeout(ctx, whatIfTime)
		defer cancel()
		evaluator := admission.Evaluator{Rules: backend.Rules(), Analyser: backend.Analyser()}
		if q.Candidate {
			rules, err := backend.CandidateRules(ctx)
			if err != nil {
				return replay.Report{}, err
			}
			evaluator.Rules = rules
		}
		mine := *p
		mine.ctx = ctx
		mine.globals.Home = backend.Settings.Home
		trial := replayWhatIf{Since: q.Since.UTC().Format(time.RFC3339), Agent: q.Agent, Rule: q.Rule}
		report, err := trial.report(&mine, &evaluator)
		if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return replay.Report{}, interlock.Errorf(interlock.CodeUnavailable, "since",
				"there is too much of it to try here; interlock replay what-if has the time")
		}
		return report, err
	}
}

// shadowing says what decides in the shadow, for the console and the API.
func shadowing(backend *embedded.Backend) func(context.Context) (replay.ShadowState, error) {
	return func(ctx context.Context) (replay.ShadowState, error) { return shadowOf(ctx, backend) }
}
