package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/config"
	"interlock/internal/sandbox"
)

// dryRun runs a command in a throw-away copy, without network, and records what it wrote for whoever decides about it. What
// is asked about may be tried, because nothing of it stays and nothing leaves; what is denied may not.
func (c *execCommand) dryRun(p *program, backend *embedded.Backend, proposal interlock.Proposal, answer interlock.Answer,
	spec boxed) error {
	spec.Overlay, spec.Keep = true, false
	result, err := p.try(backend, proposal, answer, spec.Spec)
	if err != nil {
		return err
	}
	if answer.Answer.Allowed() {
		outcome := interlock.Outcome{Action: answer.Action, Event: answer.Event, Status: interlock.OutcomeSkipped,
			Detail: "dry run: " + accountOf(result)}
		if err := p.reportRun(backend, proposal.Requester, outcome); err != nil {
			return err
		}
		return p.toldRun(spec.Spec, result, nil)
	}
	fmt.Fprintf(p.stderr, "interlock: this was a dry run in a throw-away copy; it ended with %d\n", result.Exit)
	printEffects(p.stderr, result.Effects, result.Partial)
	return p.refusedRun(answer)
}

// try runs a command in a throw-away copy and records what it did.
func (p *program) try(backend *embedded.Backend, proposal interlock.Proposal, answer interlock.Answer,
	spec sandbox.Spec) (sandbox.Result, error) {
	spec.Overlay, spec.Keep, spec.Network = true, false, nil
	result, err := sandbox.Run(p.ctx, spec)
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 10*time.Second)
	defer cancel()
	return result, backend.Tried(ctx, proposal.Requester,
		interlock.DryRun{Event: answer.Event, Request: answer.Request, Action: answer.Action,
			Exit: result.Exit, Stopped: result.Stopped, Effects: result.Effects, Partial: result.Partial})
}

// tryOnce makes the dry run that a rule wants before anybody says yes, if this request has none. Only whoever decides is shown
// what came of it: to whoever asks, what the command prints may be just what it is not to have.
func (c *execCommand) tryOnce(p *program, backend *embedded.Backend, settings config.Config, proposal interlock.Proposal,
	answer interlock.Answer, spec boxed) {
	run, err := dryRunFor(p.ctx, backend.Store, interlock.ApprovalRequest{ID: answer.Request, Action: answer.Action})
	if err == nil && run != nil {
		return
	}
	if err == nil {
		spec, err = c.wanted(p, settings, proposal, answer, spec)
	}
	if err == nil {
		spec.Stdin, spec.Stdout, spec.Stderr = nil, io.Discard, io.Discard
		_, err = p.try(backend, proposal, answer, spec.Spec)
	}
	if err != nil {
		fmt.Fprintln(p.stderr, "interlock: the dry run that this wants could not be made:", shown(err))
		return
	}
	fmt.Fprintln(p.stderr, "interlock: it was tried in a throw-away copy; whoever decides is shown what it did")
}
