package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/sandbox"
)

// The exit statuses of a run that a limit ended, and of a command that is not there.
const (
	exitTime     = 124
	exitLimit    = 137
	exitNotFound = 127
)

// toldRun tells of a run what the command itself did not, and gives the exit status.
func (p *program) toldRun(spec sandbox.Spec, result sandbox.Result, err error) error {
	for _, effect := range result.Effects {
		if effect.Change == interlock.EffectSetAside {
			fmt.Fprintf(p.stderr, "interlock: set aside %s: the command made it, and something would run or obey it later; it is now called %s%s\n",
				printable(effect.Path), printable(effect.Path), sandbox.AsideSuffix)
		}
	}
	if spec.Overlay && err == nil {
		what := "was thrown away"
		if result.Kept {
			what = "was carried over into the workspace, but for what is marked held"
		}
		if len(result.Effects) > 0 {
			fmt.Fprintf(p.stderr, "interlock: what the command wrote %s\n", what)
		} else {
			fmt.Fprintln(p.stderr, "interlock: the command wrote nothing")
		}
		printEffects(p.stderr, result.Effects, result.Partial)
	}
	for i, host := range result.Refused {
		fmt.Fprintf(p.stderr, "interlock: refused to connect to %s: %s\n", printable(host),
			printable(strings.TrimPrefix(result.Why[i], host+": ")))
	}
	if slices.Contains(result.Reached, "processes") {
		fmt.Fprintf(p.stderr, "interlock: it may have at most %d processes, and did not get more\n", spec.Limits.Processes)
	}
	var known *interlock.Error
	switch {
	case errors.As(err, &known) && known.Code == interlock.CodeNotFound && result.Setup == 0:
		return &exitCode{code: exitNotFound, err: err}
	case err != nil:
		return err
	case result.Stopped == "time":
		if spec.Network == nil {
			fmt.Fprintln(p.stderr, "interlock: it had no network; --allow-host HOST lets it ask for one")
		}
		return &exitCode{code: exitTime, err: fmt.Errorf("stopped: it took longer than %v", spec.Limits.Time)}
	case result.Stopped != "":
		return &exitCode{code: exitLimit, err: fmt.Errorf("stopped: %s", stopReason(result.Stopped, spec.Limits))}
	case result.Exit != 0:
		return &exitCode{code: result.Exit}
	}
	return nil
}

func stopReason(stopped string, l sandbox.Limits) string {
	switch stopped {
	case "output":
		return fmt.Sprintf("it printed more than %d bytes", l.Output)
	case "disk":
		return fmt.Sprintf("it wrote more than %d bytes to disk", l.Disk)
	case "memory":
		return fmt.Sprintf("it used more than %d bytes of memory", l.Memory)
	default:
		return stopped
	}
}

// printEffects lists what was written, with the differences of small texts.
func printEffects(w io.Writer, effects []interlock.Effect, partial bool) {
	for _, e := range effects {
		if e.Change == interlock.EffectSetAside {
			continue
		}
		fmt.Fprintf(w, "  %-8s %s", e.Change, printable(e.Path))
		switch {
		case e.Kind != "file":
			fmt.Fprintf(w, " (%s)", e.Kind)
		case e.Change == interlock.EffectModified:
			fmt.Fprintf(w, " (%d to %d bytes)", e.Before, e.After)
		case e.Change == interlock.EffectAdded:
			fmt.Fprintf(w, " (%d bytes)", e.After)
		}
		if e.Startup {
			fmt.Fprint(w, " [start-up file]")
		}
		if e.Held {
			fmt.Fprint(w, " [held]")
		}
		fmt.Fprintln(w)
		for _, line := range strings.Split(strings.TrimSuffix(e.Diff, "\n"), "\n") {
			if line != "" {
				fmt.Fprintf(w, "    %s\n", printable(line))
			}
		}
	}
	if partial {
		fmt.Fprintln(w, "  and more than is looked at")
	}
}

// accountOf is what the log says of a run.
func accountOf(r sandbox.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sandbox %s: exit %d", r.ID, r.Exit)
	if r.Stopped != "" {
		fmt.Fprintf(&b, ", stopped by the limit on %s", r.Stopped)
	}
	for _, limit := range r.Reached {
		fmt.Fprintf(&b, ", reached the limit on %s", limit)
	}
	fmt.Fprintf(&b, "; memory held by %s, processes by %s", r.Walls.Memory, r.Walls.Processes)
	if r.Kept {
		b.WriteString("; what it wrote was kept")
	}
	for _, host := range r.Refused {
		fmt.Fprintf(&b, "; refused host %s", host)
	}
	for _, effect := range r.Effects {
		fmt.Fprintf(&b, "; %s %s", effect.Change, effect.Path)
		if effect.Held {
			b.WriteString(" (held)")
		}
	}
	return b.String()
}

// refusedRun tells why nothing was run.
func (p *program) refusedRun(answer interlock.Answer) error {
	fmt.Fprintf(p.stderr, "%s: nothing was run\n", strings.ToUpper(answer.Answer.String()))
	for _, f := range answer.Findings {
		if f.Verdict == interlock.Allow {
			continue
		}
		fmt.Fprintf(p.stderr, "  %-5s %s (layer %s): %s\n", f.Verdict, f.Rule, f.LayerText(), f.Reason)
		if f.Suggestion != "" {
			fmt.Fprintf(p.stderr, "        instead: %s\n", f.Suggestion)
		}
	}
	if answer.Request != "" {
		fmt.Fprint(p.stderr, p.printed(fmt.Sprintf("request %s waits; `interlock approve %s` lets this command through once\n",
			answer.Request, answer.Request)))
	}
	code := exitStatus(answer.Answer)
	if code == 0 { // allowed and not recorded can't be; if it were, nothing ran all the same
		code = exitStatus(interlock.Deny)
	}
	return &exitCode{code: code}
}
