package main

import (
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/admission"
	"interlock/internal/control"
	"interlock/internal/kill"
	"interlock/internal/ledger"
)

type killCommand struct {
	Now     killNow     `cmd:"" default:"withargs" help:"Stop everything: no agent is allowed anything from now on."`
	Status  killStatus  `cmd:"" help:"Say whether everything is stopped, since when and why."`
	Drill   killDrill   `cmd:"" help:"Stop everything, look whether every door halts and how soon, and let everything go on."`
	Release killRelease `cmd:"" help:"Let everything go on, by an admin's signed order."`
}

type killNow struct {
	orderFlags
	Graduated bool   `help:"In steps: 30 s in which nothing new is begun, 60 s in which what is under way may end, then the rest is ended."`
	Unsigned  bool   `help:"Don't look for a key: whoever can write to the home can stop everything."`
	Reason    string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock kill now --help` adds.
func (killNow) Help() string {
	return "Writes the file `killed` in the home first, which every process of this home looks at before each permit, and then has the\n" +
		"log and the ledger say so, as your signed order where a key is at hand. Calls are halted in every mode, agents' tokens are\n" +
		"refused, servers behind the gateway and sandboxes are ended. What hooks have let through already can't be called back: it is\n" +
		"listed. Without this program: touch HOME/killed."
}

// Run stops everything.
func (c *killNow) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	mode := ledger.KillHard
	if c.Graduated {
		mode = ledger.KillGraduated
	}
	at := now().UTC().Truncate(time.Microsecond)
	thrown := kill.In(settings.Home).Throw(ledger.Kill(mode, c.Reason, account.Name(), at), at) // before anything can take its time
	if thrown == nil {
		fmt.Fprintf(p.stdout, "everything is stopped as of %s (%s)\n", at.Local().Format("15:04:05.000"), mode)
	}
	err = c.record(p, mode)
	if err != nil && thrown == nil {
		return fmt.Errorf("everything is stopped, and the log does not say so yet: %w", err)
	}
	return errors.Join(err, thrown)
}

// record has the log and the ledger say who stopped everything, and reports.
func (c *killNow) record(p *program, mode ledger.KillMode) error {
	backend, err := p.open() // which records it as of whoever wrote the file, if nothing else does
	if err != nil {
		return err
	}
	defer backend.Close()
	if c.Unsigned {
		if _, err := backend.Kill(p.ctx, mode, c.Reason, account.Name()); err != nil {
			return err
		}
		return killReport(p, backend)
	}
	given, err := newOrder(interlock.VerbKill, interlock.KillSubject, string(mode), c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	given, done, err := p.order(backend, c.orderFlags, given)
	if err != nil {
		fmt.Fprintln(p.stderr, "interlock: nobody signed it, and it is recorded as of", account.Name()+":", shown(err))
	} else if err := p.done(done, "stopped by order of %s", given.Operator); err != nil {
		return err
	}
	return killReport(p, backend)
}

// recallable is how far back actions are looked for that were let through and have not come to an end.
const recallable = 10 * time.Minute

// killReport says what was let through shortly before and can't be called back.
func killReport(p *program, backend *embedded.Backend) error {
	open, err := openActions(p, backend.Store, now().Add(-recallable))
	if err != nil {
		return err
	}
	if len(open) == 0 {
		_, err = fmt.Fprintf(p.stdout, "nothing was let through in the last %v that has not reported its end\n", recallable)
		return err
	}
	fmt.Fprintf(p.stdout, "let through in the last %v, with no end reported; what a hook has allowed can't be called back:\n", recallable)
	for _, one := range open {
		fmt.Fprintf(p.stdout, "  %s  %s  %s\n", one.at.Local().Format("15:04:05"), printable(one.agent), brief(one.what))
	}
	return nil
}

type killStatus struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run says what is stopped. Exit status 1: something is.
func (c *killStatus) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	h, _, err := backend.Killed(p.ctx)
	if err != nil {
		return err
	}
	state := control.StateOf(h, now())
	switch {
	case c.JSON:
		err = writeLine(p.stdout, state)
	case state.Proposed:
		_, err = fmt.Fprintf(p.stdout, "nothing is stopped yet: the observer %s asks for it, and it happens at %s unless an admin declines it "+
			"(interlock kill release): %s\n", printable(state.By), state.Until.Local().Format("15:04:05"), printable(state.Reason))
	case !state.Stopped:
		_, err = fmt.Fprintln(p.stdout, "nothing is stopped")
	default:
		by := ""
		if state.By != "" {
			by = " by " + printable(state.By)
		}
		_, err = fmt.Fprintf(p.stdout, "%s since %s%s: %s\n", state.Step, state.Since.Local().Format("2006-01-02 15:04:05"), by,
			printable(state.Reason))
	}
	if err == nil && state.Stopped {
		return &exitCode{code: 1}
	}
	return err
}

type killRelease struct {
	orderFlags
	Reason string `required:"" help:"Why, for the record: what was found, and what was done about it." placeholder:"TEXT"`
}

// Run lets everything go on.
func (c *killRelease) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	h, any, err := backend.Killed(p.ctx)
	if err == nil && !any {
		err = interlock.Errorf(interlock.CodeNotFound, "", "nothing is stopped")
	}
	if err != nil {
		return err
	}
	what := "stopped"
	if h.Step(now()) == ledger.KillNone {
		what = "asked for by an observer"
	}
	fmt.Fprintf(p.stderr, "%s since %s: %s\n", what, h.Since.Local().Format("2006-01-02 15:04:05"), printable(h.Why))
	given, err := newOrder(interlock.VerbReleaseKill, interlock.KillSubject, admission.KillID(h), c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	given, done, err := p.order(backend, c.orderFlags, given)
	if err != nil {
		return err
	}
	return p.done(done, "everything goes on by order of %s", given.Operator)
}
