// Package stop holds the commands that stop agents and undo what they did.
package stop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/control"
	"interlock/internal/kill"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

type KillCommand struct {
	Now     killNow     `cmd:"" default:"withargs" help:"Stop everything: no agent is allowed anything from now on."`
	Status  killStatus  `cmd:"" help:"Say whether everything is stopped, since when and why."`
	Drill   killDrill   `cmd:"" help:"Stop everything, look whether every door halts and how soon, and let everything go on."`
	Release killRelease `cmd:"" help:"Let everything go on, by an admin's signed order."`
}

type killNow struct {
	cli.OrderFlags
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
func (c *killNow) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	mode := ledger.KillHard
	if c.Graduated {
		mode = ledger.KillGraduated
	}
	at := cli.Now().UTC().Truncate(time.Microsecond)
	thrown := kill.In(settings.Home).Throw(ledger.Kill(mode, c.Reason, account.Name(), at), at) // before anything can take its time
	if thrown == nil {
		fmt.Fprintf(p.Stdout, "everything is stopped as of %s (%s)\n", at.Local().Format("15:04:05.000"), mode)
	}
	err = c.record(p, mode)
	if err != nil && thrown == nil {
		return fmt.Errorf("everything is stopped, and the log does not say so yet: %w", err)
	}
	return errors.Join(err, thrown)
}

// record has the log and the ledger say who stopped everything, and reports.
func (c *killNow) record(p *cli.Program, mode ledger.KillMode) error {
	backend, err := p.OpenToStop() // which records it as done by the one who wrote the file, if nothing else does
	if err != nil {
		return err
	}
	defer backend.Close()
	if c.Unsigned {
		if _, err := backend.Kill(p.Ctx, mode, c.Reason, account.Name()); err != nil {
			return err
		}
		return killReport(p, backend)
	}
	given, done, err := p.OrderNew(backend, c.OrderFlags, interlock.VerbKill, interlock.KillSubject, string(mode), c.Reason)
	if err != nil {
		fmt.Fprintln(p.Stderr, "interlock: nobody signed it, and it is recorded as of", account.Name()+":", cli.Shown(err))
	} else if err := p.Did(done, given); err != nil {
		return err
	}
	return killReport(p, backend)
}

// recallable is how far back actions are looked for that were let through and have not come to an end.
const recallable = 10 * time.Minute

// killReport says what was let through shortly before and can't be called back.
func killReport(p *cli.Program, backend *embedded.Backend) error {
	open, err := openActions(p, backend.Store, cli.Now().Add(-recallable))
	if err != nil {
		return err
	}
	if len(open) == 0 {
		_, err = fmt.Fprintf(p.Stdout, "nothing was let through in the last %v that has not reported its end\n", recallable)
		return err
	}
	fmt.Fprintf(p.Stdout, "let through in the last %v, with no end reported; what a hook has allowed can't be called back:\n", recallable)
	for _, one := range open {
		fmt.Fprintf(p.Stdout, "  %s  %s  %s\n", one.at.Local().Format("15:04:05"), cli.Printable(one.agent), cli.Brief(one.what))
	}
	return nil
}

type killStatus struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run says what is stopped. Exit status 1: something is.
func (c *killStatus) Run(p *cli.Program) error {
	backend, err := p.OpenToStop()
	if err != nil {
		return err
	}
	defer backend.Close()
	h, _, err := backend.Killed(p.Ctx)
	if err != nil {
		return err
	}
	state := control.StateOf(h, cli.Now())
	switch {
	case c.JSON:
		err = cli.WriteLine(p.Stdout, state)
	case state.Proposed:
		_, err = fmt.Fprintf(p.Stdout, "nothing is stopped yet: the observer %s asks for it, and it happens at %s unless an admin declines it "+
			"(interlock kill release): %s\n", cli.Printable(state.By), state.Until.Local().Format("15:04:05"), cli.Printable(state.Reason))
	case !state.Stopped:
		_, err = fmt.Fprintln(p.Stdout, "nothing is stopped")
	default:
		by := ""
		if state.By != "" {
			by = " by " + cli.Printable(state.By)
		}
		_, err = fmt.Fprintf(p.Stdout, "%s since %s%s: %s\n", state.Step, state.Since.Local().Format("2006-01-02 15:04:05"), by,
			cli.Printable(state.Reason))
	}
	if err == nil && state.Stopped {
		return &cli.ExitCode{Code: 1}
	}
	return err
}

type killRelease struct {
	cli.OrderFlags
	Reason string `required:"" help:"Why, for the record: what was found, and what was done about it." placeholder:"TEXT"`
}

// Run lets everything go on.
func (c *killRelease) Run(p *cli.Program) error {
	backend, err := p.OpenToStop()
	if err != nil {
		return err
	}
	defer backend.Close()
	h, any, err := backend.Killed(p.Ctx)
	if err == nil && !any {
		err = interlock.Errorf(interlock.CodeNotFound, "", "nothing is stopped")
	}
	if err != nil {
		return err
	}
	what := "stopped"
	if h.Step(cli.Now()) == ledger.KillNone {
		what = "asked for by an observer"
	}
	fmt.Fprintf(p.Stderr, "%s since %s: %s\n", what, h.Since.Local().Format("2006-01-02 15:04:05"), cli.Printable(h.Why))
	given, done, err := p.OrderNew(backend, c.OrderFlags, interlock.VerbReleaseKill, interlock.KillSubject,
		containment.KillID(h), c.Reason)
	if err != nil {
		return err
	}
	return p.Did(done, given)
}

// An openAction was let through and has no outcome.
type openAction struct {
	at          time.Time
	agent, what string
}

// openActions are the actions let through since a time that nobody has reported the end of, newest first. Reads are left out.
func openActions(p *cli.Program, log *store.Store, since time.Time) ([]openAction, error) {
	ended := map[string]bool{}
	err := cli.Newest(p, log, interlock.EventOutcome, since, func(e interlock.Entry, _ auditlog.Event, payload []byte) error {
		var outcome interlock.Outcome
		if json.Unmarshal(payload, &outcome) == nil {
			ended[outcome.Event] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var open []openAction
	err = cli.Newest(p, log, interlock.EventDecision, since, func(e interlock.Entry, event auditlog.Event, _ []byte) error {
		d, err := auditlog.ReadDecision(e)
		if err != nil || ended[event.ID] || !d.Decision.Answer.Allowed() || d.Handed || !changes(&d.Decision) {
			return err
		}
		open = append(open, openAction{event.Recorded, event.Actor, cli.OneLine(auditlog.ActionLine(d.Proposal.Action), cli.MaxRow)})
		return nil
	})
	return open, err
}

// changes reports whether a decision is about more than reading.
func changes(d *interlock.Decision) bool {
	for n := range d.Impacts {
		if d.Impacts[n].Reversibility != interlock.Readonly {
			return true
		}
	}
	return false
}

type killDrill struct {
	cli.OrderFlags
	Reason string `default:"a drill" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock kill drill --help` adds.
func (killDrill) Help() string {
	return "Stops everything of this home as `interlock kill` does, looks from outside whether each door halts and how long that took, and lets\n" +
		"everything go on by your signed order, which takes the role admin. Agents that work meanwhile are halted. What was found is printed\n" +
		"and recorded. Exit status 1: something was not stopped within 30 seconds."
}

// killWithin is how long a stop may take until everybody sees it (MASO ENV-21).
const killWithin = 30 * time.Second

// A drillFinding is what one look at a stopped home has found.
type drillFinding struct {
	What    string  `json:"what"`
	Stopped bool    `json:"stopped"`
	Took    float64 `json:"seconds"` // since the switch was thrown
	Seen    string  `json:"seen,omitempty"`
}

// Run drills.
func (c *killDrill) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if _, any, err := backend.Killed(p.Ctx); err != nil || any {
		return errors.Join(err, interlock.Errorf(interlock.CodeConflict, "",
			"everything is stopped already, or an observer asks for it; that is no drill"))
	}
	begun := cli.Now().UTC().Truncate(time.Microsecond)
	stop := ledger.Kill(ledger.KillHard, c.Reason, account.Name(), begun)
	if err := kill.In(backend.Settings.Home).Throw(stop, begun); err != nil {
		return fmt.Errorf("the file that stops everything could not be written, so this was no drill: %w", err)
	}
	found := c.look(p, backend, begun)
	if err := c.record(p, backend, found); err != nil {
		fmt.Fprintln(p.Stderr, "interlock: what the drill found is not recorded:", cli.Shown(err))
	}
	released := c.release(p, backend)
	return errors.Join(c.print(p, found), released)
}

// look asks each door whether it is stopped, again and again until it is or the time is over.
func (c *killDrill) look(p *cli.Program, backend *embedded.Backend, begun time.Time) []drillFinding {
	doors := []struct {
		what string
		look func() (seen string, stopped bool)
	}{
		{"the row beside the log", func() (string, bool) {
			_, err := backend.Kill(p.Ctx, ledger.KillHard, c.Reason, account.Name())
			return shownOr(err, "recorded"), err == nil
		}},
		{"an action", func() (string, bool) {
			answer := backend.Propose(p.Ctx, interlock.Proposal{Requester: interlock.Requester{Principal: account.Name(), Agent: "kill-drill"},
				Action: interlock.Action{Kind: interlock.KindShell, Input: "true", Dir: backend.Settings.Home}})
			return "a harmless command is answered " + answer.Answer.String(), answer.Answer == interlock.Halt
		}},
		{"agents' tokens", func() (string, bool) {
			err := backend.Stopped(p.Ctx)
			return shownOr(err, "taken"), err != nil
		}},
	}
	if served(backend.Settings.Home) {
		doors = append(doors, struct {
			what string
			look func() (string, bool)
		}{"the server", func() (string, bool) { return serverHalts(p.Ctx, backend.Settings.Home) }})
	}
	var found []drillFinding
	for _, door := range doors {
		one := drillFinding{What: door.what}
		for {
			one.Seen, one.Stopped = door.look()
			one.Took = cli.Now().Sub(begun).Seconds()
			if one.Stopped || one.Took > killWithin.Seconds() || p.Ctx.Err() != nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		found = append(found, one)
	}
	return found
}

func shownOr(err error, otherwise string) string {
	if err != nil {
		return cli.Shown(err)
	}
	return otherwise
}

// served reports whether a server of the home takes hooks.
func served(home string) bool {
	return cli.Exists(config.Socket(home))
}

// serverHalts proposes something harmless to the server of a home.
func serverHalts(ctx context.Context, home string) (seen string, stopped bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	body := `{"kind":"shell","input":"true","dir":"/"}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://interlock/v1/decide", strings.NewReader(body))
	if err != nil {
		return "it could not be asked", false
	}
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", config.Socket(home))
	}}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return "it does not answer, so that hooks decide by themselves", true
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	halted := err == nil && strings.Contains(string(text), `"answer":"halt"`)
	if halted {
		return "a harmless command is answered halt", true
	}
	return fmt.Sprintf("it answers with status %d", response.StatusCode), response.StatusCode == http.StatusUnauthorized
}

// record leaves what was found in the log, beside the stop and its end.
func (c *killDrill) record(p *cli.Program, backend *embedded.Backend, found []drillFinding) error {
	words := make([]string, 0, len(found))
	for _, one := range found {
		word := "stopped"
		if !one.Stopped {
			word = "NOT stopped"
		}
		words = append(words, fmt.Sprintf("%s %s after %.1f s", one.What, word, one.Took))
	}
	return backend.Alarm(p.Ctx, "kill-drill", "a drill of the stop of everything: "+strings.Join(words, "; "))
}

// release lets everything go on by the order of the person who drills.
func (c *killDrill) release(p *cli.Program, backend *embedded.Backend) error {
	h, _, err := backend.Killed(p.Ctx)
	if err != nil {
		return err
	}
	given, err := cli.NewOrder(interlock.VerbReleaseKill, interlock.KillSubject, containment.KillID(h),
		"the end of a drill: "+c.Reason,
		interlock.Requester{})
	if err == nil {
		given, _, err = p.Order(backend, c.OrderFlags, given)
	}
	if err != nil {
		return fmt.Errorf("everything is still stopped; end it with `interlock kill release`: %w", err)
	}
	_, err = fmt.Fprintf(p.Stderr, "everything goes on by order of %s\n", given.Operator)
	return err
}

// print says what was found. Exit status 1: something was not stopped.
func (c *killDrill) print(p *cli.Program, found []drillFinding) (err error) {
	failed := false
	for _, one := range found {
		failed = failed || !one.Stopped
	}
	if c.JSON {
		err = cli.WriteLine(p.Stdout, map[string]any{"stopped": !failed, "within_seconds": killWithin.Seconds(), "found": found})
	} else {
		for _, one := range found {
			word := "stopped"
			if !one.Stopped {
				word = "NOT STOPPED"
			}
			fmt.Fprintf(p.Stdout, "%-11s  %5.1f s  %-24s %s\n", word, one.Took, one.What, one.Seen)
		}
	}
	if err == nil && failed {
		return &cli.ExitCode{Code: 1}
	}
	return err
}
