package main

import (
	"context"
	"fmt"

	"interlock"
	"interlock/embedded"
	"interlock/internal/replay"
)

type rulesShadowCommand struct {
	New  string `arg:"" optional:"" help:"Directory of rules to decide beside those in force, with the defaults." type:"path"`
	For  string `help:"For how long: 90m, 8h, 7d; at most 90d." default:"14d" placeholder:"TIME"`
	Stop bool   `help:"Have the candidate decide no more. What it decided otherwise is kept for 30 days."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock rules shadow --help` adds.
func (rulesShadowCommand) Help() string {
	return "The candidate decides every action after it was answered, and answers nobody. Without NEW: says what decides in the shadow.\n" +
		"interlock rules diff --shadow shows where the two parted, interlock rules promote puts the candidate into force."
}

// Run begins, ends or shows a shadow.
func (c *rulesShadowCommand) Run(p *program) error {
	if c.New != "" && c.Stop {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--stop", "takes no rules"))
	}
	length, err := period(c.For)
	if err != nil {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--for", "%s", err))
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	switch {
	case c.Stop:
		body, err := backend.EndShadow(p.ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "%s decides in the shadow no more\n", body.Ruleset)
		return err
	case c.New != "":
		documents, err := embedded.UserRules(c.New)
		if err != nil {
			return err
		}
		if _, err := backend.BeginShadow(p.ctx, documents, now().Add(length)); err != nil {
			return err
		}
	}
	return c.show(p, backend)
}

// shadowOf says what decides in the shadow, and what it decided otherwise.
func shadowOf(ctx context.Context, backend *embedded.Backend) (replay.ShadowState, error) {
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
	state.Began, state.Until, state.Over, state.Shadow = body.Began, body.Until, !now().Before(body.Until), &report
	return state, nil
}

func (c *rulesShadowCommand) show(p *program, backend *embedded.Backend) error {
	state, err := shadowOf(p.ctx, backend)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeLine(p.stdout, state)
	}
	if state.Shadow == nil {
		_, err = fmt.Fprintln(p.stdout, "no ruleset decides in the shadow")
		return err
	}
	until := "until " + state.Until.Local().Format("2006-01-02 15:04")
	if state.Over {
		until += ", which is over"
	}
	_, err = fmt.Fprintf(p.stdout, "%s decides in the shadow of %s %s\n%s\n", state.Shadow.Ruleset, state.InForce, until,
		shadowCounts(state.Shadow))
	return err
}

// shadowCounts says how much a candidate has decided, and what of that it could not.
func shadowCounts(r *replay.ShadowReport) string {
	text := fmt.Sprintf("%d decisions, %d otherwise", r.Decisions, parted(&r.Report)+r.Others)
	if r.Dropped > 0 {
		text += fmt.Sprintf(", %d left out because there was no room", r.Dropped)
	}
	if r.Failed > 0 {
		text += fmt.Sprintf(", %d it could not make", r.Failed)
	}
	return text
}

// parted is how many decisions differ.
func parted(r *replay.Report) (n int) {
	for i := range r.Changes {
		n += r.Changes[i].Count
	}
	return n
}

// shadowDiff prints where the candidate and the rules in force have parted.
func shadowDiff(p *program, asJSON bool) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	state, err := shadowOf(p.ctx, backend)
	if err != nil {
		return err
	}
	if state.Shadow == nil {
		return interlock.Errorf(interlock.CodeNotFound, "--shadow",
			"no ruleset decides in the shadow; interlock rules shadow NEW begins it")
	}
	if asJSON {
		return writeLine(p.stdout, state)
	}
	fmt.Fprintf(p.stdout, "%s in the shadow of %s since %s: %s\n", state.Shadow.Ruleset, state.InForce,
		state.Began.Local().Format("2006-01-02 15:04"), shadowCounts(state.Shadow))
	return printTrial(p, &state.Shadow.Report)
}

type rulesPromoteCommand struct {
	orderFlags
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock rules promote --help` adds.
func (rulesPromoteCommand) Help() string {
	return "An admin's signed order, which names the candidate and the rules it takes the place of. It is refused where the candidate\n" +
		"denies less than the rules in force, or is another one by now. The rules of before are kept beside."
}

// Run signs the order and has it carried out.
func (c *rulesPromoteCommand) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	body, _, err := backend.Candidate(p.ctx)
	if err != nil {
		return err
	}
	if body.Ruleset == "" {
		return interlock.Errorf(interlock.CodeNotFound, "",
			"no ruleset decides in the shadow; interlock rules shadow NEW begins it")
	}
	given, err := newOrder(interlock.VerbPromoteRules, string(body.Ruleset), string(backend.Rules().Digest()), c.Reason,
		interlock.Requester{})
	if err != nil {
		return err
	}
	if given, err = p.sign(backend, c.orderFlags, given); err != nil {
		return err
	}
	done, err := backend.PromoteRules(p.ctx, given.Order)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%s is in force for every decision from now on, by order of %s, recorded as event %s\n", done.Ruleset,
		given.Operator, done.Event)
	if done.Former != "" {
		fmt.Fprintf(p.stdout, "the rules of before are in %s\n", printable(done.Former))
	}
	return nil
}
