package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/account"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/kill"
	"interlock/internal/ledger"
)

type killDrill struct {
	orderFlags
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
func (c *killDrill) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if _, any, err := backend.Killed(p.ctx); err != nil || any {
		return errors.Join(err, interlock.Errorf(interlock.CodeConflict, "",
			"everything is stopped already, or an observer asks for it; that is no drill"))
	}
	begun := now().UTC().Truncate(time.Microsecond)
	stop := ledger.Kill(ledger.KillHard, c.Reason, account.Name(), begun)
	if err := kill.In(backend.Settings.Home).Throw(stop, begun); err != nil {
		return fmt.Errorf("the file that stops everything could not be written, so this was no drill: %w", err)
	}
	found := c.look(p, backend, begun)
	if err := c.record(p, backend, found); err != nil {
		fmt.Fprintln(p.stderr, "interlock: what the drill found is not recorded:", shown(err))
	}
	released := c.release(p, backend)
	return errors.Join(c.print(p, found), released)
}

// look asks each door whether it is stopped, again and again until it is or the time is over.
func (c *killDrill) look(p *program, backend *embedded.Backend, begun time.Time) []drillFinding {
	doors := []struct {
		what string
		look func() (seen string, stopped bool)
	}{
		{"the row beside the log", func() (string, bool) {
			_, err := backend.Kill(p.ctx, ledger.KillHard, c.Reason, account.Name())
			return shownOr(err, "recorded"), err == nil
		}},
		{"an action", func() (string, bool) {
			answer := backend.Propose(p.ctx, interlock.Proposal{Requester: interlock.Requester{Principal: account.Name(), Agent: "kill-drill"},
				Action: interlock.Action{Kind: interlock.KindShell, Input: "true", Dir: backend.Settings.Home}})
			return "a harmless command is answered " + answer.Answer.String(), answer.Answer == interlock.Halt
		}},
		{"agents' tokens", func() (string, bool) {
			err := backend.Stopped(p.ctx)
			return shownOr(err, "taken"), err != nil
		}},
	}
	if served(backend.Settings.Home) {
		doors = append(doors, struct {
			what string
			look func() (string, bool)
		}{"the server", func() (string, bool) { return serverHalts(p.ctx, backend.Settings.Home) }})
	}
	var found []drillFinding
	for _, door := range doors {
		one := drillFinding{What: door.what}
		for {
			one.Seen, one.Stopped = door.look()
			one.Took = now().Sub(begun).Seconds()
			if one.Stopped || one.Took > killWithin.Seconds() || p.ctx.Err() != nil {
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
		return shown(err)
	}
	return otherwise
}

// served reports whether a server of the home takes hooks.
func served(home string) bool {
	return exists(config.Socket(home))
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
func (c *killDrill) record(p *program, backend *embedded.Backend, found []drillFinding) error {
	words := make([]string, 0, len(found))
	for _, one := range found {
		word := "stopped"
		if !one.Stopped {
			word = "NOT stopped"
		}
		words = append(words, fmt.Sprintf("%s %s after %.1f s", one.What, word, one.Took))
	}
	return backend.Alarm(p.ctx, "kill-drill", "a drill of the stop of everything: "+strings.Join(words, "; "))
}

// release lets everything go on by the order of whoever drills.
func (c *killDrill) release(p *program, backend *embedded.Backend) error {
	h, _, err := backend.Killed(p.ctx)
	if err != nil {
		return err
	}
	given, err := newOrder(interlock.VerbReleaseKill, interlock.KillSubject, admission.KillID(h), "the end of a drill: "+c.Reason,
		interlock.Requester{})
	if err == nil {
		given, _, err = p.order(backend, c.orderFlags, given)
	}
	if err != nil {
		return fmt.Errorf("everything is still stopped; end it with `interlock kill release`: %w", err)
	}
	_, err = fmt.Fprintf(p.stderr, "everything goes on by order of %s\n", given.Operator)
	return err
}

// print says what was found. Exit status 1: something was not stopped.
func (c *killDrill) print(p *program, found []drillFinding) (err error) {
	failed := false
	for _, one := range found {
		failed = failed || !one.Stopped
	}
	if c.JSON {
		err = writeLine(p.stdout, map[string]any{"stopped": !failed, "within_seconds": killWithin.Seconds(), "found": found})
	} else {
		for _, one := range found {
			word := "stopped"
			if !one.Stopped {
				word = "NOT STOPPED"
			}
			fmt.Fprintf(p.stdout, "%-11s  %5.1f s  %-24s %s\n", word, one.Took, one.What, one.Seen)
		}
	}
	if err == nil && failed {
		return &exitCode{code: 1}
	}
	return err
}
