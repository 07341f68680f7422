package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
	"interlock/internal/replay"
)

// modeFlags make a replay one that is ordered, recorded and held to a mode.
type modeFlags struct {
	Mode  string   `name:"replay-mode" help:"Replay on orders: audit, test, production." enum:",audit,test,production" default:"" placeholder:"MODE"`
	With  []string `help:"Private key file of another operator who orders it as well; production takes an admin and an auditor." placeholder:"FILE"`
	Force bool     `name:"force-continue" help:"Go on after a divergence, by order of an admin and one of the council; never authoritative."`
}

// An ordered replay is one that was recorded before it begins.
type orderedReplay struct {
	backend *embedded.Backend
	mode    quorum.ReplayMode
	orders  []interlock.Order
	request string
	forced  bool
}

// order has a replay signed for and recorded; nil where no mode was named, and then nothing is recorded.
func (c *replayRun) order(p *cli.Program) (*orderedReplay, error) {
	if c.Mode == "" {
		if c.Force || len(c.With) > 0 {
			return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--replay-mode", "is missing; name audit, test or production"))
		}
		return nil, nil
	}
	if c.From != "" {
		return nil, cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--replay-mode",
			"a replay is recorded in the log it is about; without --from"))
	}
	backend, err := p.Open()
	if err != nil {
		return nil, err
	}
	o := &orderedReplay{backend: backend, mode: quorum.ReplayMode(c.Mode)}
	verbs := []interlock.Verb{interlock.VerbReplay}
	if c.Force {
		verbs = append(verbs, interlock.VerbForceContinue)
	}
	for n, key := range append([]string{c.Key}, c.With...) {
		as := ""
		if n == 0 {
			as = c.As
		}
		for _, verb := range verbs {
			given, err := cli.NewOrder(verb, c.what(), c.Mode, c.Reason, interlock.Requester{})
			if err == nil {
				given, err = p.Sign(backend, cli.OrderFlags{As: as, Key: key}, given)
			}
			if err != nil {
				backend.Close()
				return nil, err
			}
			o.orders = append(o.orders, given.Order)
		}
	}
	receipt, forced, err := backend.BeginReplay(p.Ctx, o.mode, c.what(), o.orders)
	if err != nil {
		backend.Close()
		return nil, err
	}
	o.request, o.forced = receipt.Events[0], forced
	return o, nil
}

// what names what a replay is about, for its orders.
func (c *replayRun) what() string {
	what := []string{"everything"}
	if c.What != "" {
		what[0] = c.What
	}
	if c.Since != "" {
		what = append(what, "since", c.Since)
	}
	return strings.Join(what, " ")
}

// stops reports whether a replay ends with a failure. Without a mode it tells all there are; with one it stops at the first,
// but at a divergence where its orders say that it goes on.
func (o *orderedReplay) stops(code replay.Code) bool {
	if o == nil {
		return false
	}
	diverged := code == replay.ResultMismatch || code == replay.Divergence
	return !(o.forced && diverged)
}

// strict reports whether what can't be made again is a failure although nobody kept anything of it.
func (o *orderedReplay) strict() bool { return o != nil && o.mode == quorum.ReplayProduction }

// end records what came of it, also where it could not be done at all, and ends.
func (o *orderedReplay) end(p *cli.Program, r *replayResult, failed error) error {
	if o == nil {
		return failed
	}
	defer o.backend.Close()
	r.Mode, r.Request = string(o.mode), o.request
	record := auditlog.ReplayResultRecord{Request: o.request, Mode: string(o.mode), Decisions: r.Decisions, Same: r.Same, Sealed: r.Sealed,
		Replayable: failed == nil && r.Replayable, Forced: o.forced}
	if len(r.Examples) > 0 {
		e := r.Examples[0]
		record.Code, record.At, record.Detail = string(e.Code), e.Event, e.Detail
	}
	var f *replay.Failure
	if errors.As(failed, &f) {
		record.Code, record.Detail = string(f.Code), f.Detail
	}
	record.Authoritative = failed == nil && !o.forced && o.mode != quorum.ReplayTest
	r.Authoritative = record.Authoritative
	receipt, err := o.backend.EndReplay(p.Ctx, o.orders, record)
	if err != nil {
		return errors.Join(failed, fmt.Errorf("the result could not be recorded: %w", err))
	}
	r.Result = receipt.Events[0]
	return failed
}

// WhatIfTime bounds a look at the past that a page or a request of the API asks for: the command line has more time.
const WhatIfTime = 25 * time.Second

// WhatIf returns what answers questions about the past for the console and the API, one at a time, as the command does.
func WhatIf(p *cli.Program, backend *embedded.Backend) func(context.Context, replay.Question) (replay.Report, error) {
	var one sync.Mutex
	return func(ctx context.Context, q replay.Question) (replay.Report, error) {
		if !one.TryLock() {
			return replay.Report{}, interlock.Errorf(interlock.CodeLimited, "",
				"rules are being tried on the past already; wait until that is done")
		}
		defer one.Unlock()
		ctx, cancel := context.WithTimeout(ctx, WhatIfTime)
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
		mine.Ctx = ctx
		mine.Globals.Home = backend.Settings.Home
		trial := ReplayWhatIf{Since: q.Since.UTC().Format(time.RFC3339), Agent: q.Agent, Rule: q.Rule}
		report, err := trial.Report(&mine, &evaluator)
		if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return replay.Report{}, interlock.Errorf(interlock.CodeUnavailable, "since",
				"there is too much of it to try here; interlock replay what-if has the time")
		}
		return report, err
	}
}

// Shadowing says what decides in the shadow, for the console and the API.
func Shadowing(backend *embedded.Backend) func(context.Context) (replay.ShadowState, error) {
	return func(ctx context.Context) (replay.ShadowState, error) { return ShadowOf(ctx, backend) }
}

// ShadowOf says what decides in the shadow, and what it decided otherwise.
func ShadowOf(ctx context.Context, backend *embedded.Backend) (replay.ShadowState, error) {
	state := replay.ShadowState{InForce: backend.Rules().Digest()}
	body, _, err := backend.Candidate(ctx)
	if err != nil || body.Ruleset == "" {
		return state, err
	}
	counted, err := backend.Shadow(ctx, body.Ruleset)
	if err != nil {
		return state, err
	}
	report := replay.Shadowed(counted)
	state.Began, state.Until, state.Over, state.Shadow = body.Began, body.Until, !cli.Now().Before(body.Until), &report
	return state, nil
}
