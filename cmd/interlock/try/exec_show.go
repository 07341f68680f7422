package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/sandbox"
	"interlock/internal/store"
	"interlock/internal/strictjson"
)

// The exit statuses of a run that a limit ended, and of a command that is not there.
const (
	exitTime     = 124
	exitLimit    = 137
	exitNotFound = 127
)

// toldRun tells of a run what the command itself did not, and gives the exit status.
func toldRun(p *cli.Program, spec sandbox.Spec, result sandbox.Result, err error) error {
	for _, effect := range result.Effects {
		if effect.Change == interlock.EffectSetAside {
			fmt.Fprintf(p.Stderr, "interlock: set aside %s: the command made it, and something would run or obey it later; it is now called %s%s\n",
				cli.Printable(effect.Path), cli.Printable(effect.Path), sandbox.AsideSuffix)
		}
	}
	if spec.Overlay && err == nil {
		what := "was thrown away"
		if result.Kept {
			what = "was carried over into the workspace, but for what is marked held"
		}
		if len(result.Effects) > 0 {
			fmt.Fprintf(p.Stderr, "interlock: what the command wrote %s\n", what)
		} else {
			fmt.Fprintln(p.Stderr, "interlock: the command wrote nothing")
		}
		printEffects(p.Stderr, result.Effects, result.Partial)
	}
	for i, host := range result.Refused {
		fmt.Fprintf(p.Stderr, "interlock: refused to connect to %s: %s\n", cli.Printable(host),
			cli.Printable(strings.TrimPrefix(result.Why[i], host+": ")))
	}
	if slices.Contains(result.Reached, "processes") {
		fmt.Fprintf(p.Stderr, "interlock: it may have at most %d processes, and did not get more\n", spec.Limits.Processes)
	}
	var known *interlock.Error
	switch {
	case errors.As(err, &known) && known.Code == interlock.CodeNotFound && result.Setup == 0:
		return &cli.ExitCode{Code: exitNotFound, Err: err}
	case err != nil:
		return err
	case result.Stopped == "time":
		if spec.Network == nil {
			fmt.Fprintln(p.Stderr, "interlock: it had no network; --allow-host HOST lets it ask for one")
		}
		return &cli.ExitCode{Code: exitTime, Err: fmt.Errorf("stopped: it took longer than %v", spec.Limits.Time)}
	case result.Stopped != "":
		return &cli.ExitCode{Code: exitLimit, Err: fmt.Errorf("stopped: %s", stopReason(result.Stopped, spec.Limits))}
	case result.Exit != 0:
		return &cli.ExitCode{Code: result.Exit}
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
		fmt.Fprintf(w, "  %-8s %s", e.Change, cli.Printable(e.Path))
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
				fmt.Fprintf(w, "    %s\n", cli.Printable(line))
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
func refusedRun(p *cli.Program, answer interlock.Answer) error {
	fmt.Fprintf(p.Stderr, "%s: nothing was run\n", strings.ToUpper(answer.Answer.String()))
	for _, f := range answer.Findings {
		if f.Verdict == interlock.Allow {
			continue
		}
		fmt.Fprintf(p.Stderr, "  %-5s %s (layer %s): %s\n", f.Verdict, f.Rule, f.LayerText(), f.Reason)
		if f.Suggestion != "" {
			fmt.Fprintf(p.Stderr, "        instead: %s\n", f.Suggestion)
		}
	}
	if answer.Request != "" {
		fmt.Fprint(p.Stderr, p.Printed(fmt.Sprintf("request %s waits; `interlock approve %s` lets this command through once\n",
			answer.Request, answer.Request)))
	}
	code := cli.ExitStatus(answer.Answer)
	if code == 0 { // allowed and not recorded can't be; if it were, nothing ran all the same
		code = cli.ExitStatus(interlock.Deny)
	}
	return &cli.ExitCode{Code: code}
}

// printed tells whether sandboxes work here and what stops what. Its exit status is 1 where they don't.
func (c *ExecCommand) printed(p *cli.Program, settings config.Config) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	features := sandbox.Probe(p.Ctx, filepath.Join(settings.Home, "sandbox"), self)
	if c.JSON {
		err = cli.WriteLine(p.Stdout, struct {
			sandbox.Features
			Walls      []sandbox.Wall `json:"walls"`
			NotCovered []string       `json:"not_covered"`
		}{features, sandbox.WallList(), sandbox.NotCovered()})
	} else {
		err = printReport(p, features)
	}
	if err == nil && !features.Works {
		return &cli.ExitCode{Code: 1}
	}
	return err
}

func printReport(p *cli.Program, f sandbox.Features) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(table, "%s\t%s\n", name, value) }
	row("system", f.System)
	row("sandboxes", yesOr(f.Missing))
	if f.Works {
		row("bubblewrap", f.Bubblewrap)
		row("memory held by", f.Walls.Memory)
		row("processes held by", f.Walls.Processes)
		row("throw-away copies", yesOr(f.NoOverlay))
		row("hosts through the proxy", yesOr(f.NoNetwork))
	}
	fmt.Fprintf(table, "\nWHAT IS TRIED\tWHAT STOPS IT\tWITHOUT THAT\n")
	for _, wall := range sandbox.WallList() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", wall.Attack, wall.By, wall.Without)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteString("\nNot covered:\n")
	for _, line := range sandbox.NotCovered() {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	_, err := fmt.Fprint(p.Stdout, b.String())
	return err
}

func yesOr(missing string) string {
	if missing == "" {
		return "work"
	}
	return "don't work: " + missing
}

// A hostDecider decides for the sandbox's proxy: a host that nobody named is refused, and one that was named is an action of
// the command's agent, decided once for each run.
type hostDecider struct {
	backend  *embedded.Backend
	settings config.Config
	proposal interlock.Proposal // of the command
	named    []string

	mu      sync.Mutex
	decided map[string]error
}

func (d *hostDecider) decide(ctx context.Context, host string, port int) error {
	target := net.JoinHostPort(host, strconv.Itoa(port))
	d.mu.Lock()
	defer d.mu.Unlock()
	if err, known := d.decided[target]; known {
		return err
	}
	err := d.judge(ctx, host, port)
	if d.decided == nil {
		d.decided = map[string]error{}
	}
	d.decided[target] = err
	return err
}

func (d *hostDecider) judge(ctx context.Context, host string, port int) error {
	requester := d.proposal.Requester
	if !slices.ContainsFunc(d.named, func(named string) bool { return namesHost(named, host, port) }) {
		refusal := interlock.Errorf(interlock.CodeUnauthorized, "",
			"%s:%d is not among the hosts of this run; --allow-host or the profile names them", host, port)
		d.backend.Refuse(ctx, requester, "exec", refusal)
		return refusal
	}
	url := "https://" + host + "/"
	if port != 443 {
		url = fmt.Sprintf("https://%s:%d/", host, port)
	}
	arguments, err := strictjson.Marshal(map[string]string{"method": "CONNECT", "url": url})
	if err != nil {
		return interlock.Errorf(interlock.CodeInternal, "", "the connection could not be decided")
	}
	if requester.Call, err = callID(); err != nil {
		return interlock.Errorf(interlock.CodeInternal, "", "the connection could not be decided")
	}
	answer := d.backend.ProposeBy(ctx, admission.Way{Sandboxed: true, Unseen: true}, interlock.Proposal{
		Action: interlock.Action{Kind: interlock.KindHTTP, Arguments: arguments,
			Dir: d.proposal.Action.Dir},
		Requester: requester, View: embedded.GatherView(d.settings, d.proposal.Action.Dir), Door: "exec", CanAsk: true})
	if answer.Answer.Allowed() && answer.Event != "" {
		return nil
	}
	reason := "it is not allowed"
	if f := answer.Decisive(); f != nil {
		reason = f.Rule + ": " + f.Reason
	}
	if answer.Request != "" {
		reason += "; request " + answer.Request + " waits for an operator"
	}
	return interlock.Errorf(interlock.CodeUnauthorized, "", "%s:%d: %s", host, port, reason)
}

// namesHost reports whether a setting such as example.com or example.com:8443 means a host and port.
func namesHost(named, host string, port int) bool {
	name, text, with := strings.Cut(strings.ToLower(named), ":")
	want := 443
	if with {
		var err error
		if want, err = strconv.Atoi(text); err != nil {
			return false
		}
	}
	return name == host && want == port
}

// dryRun runs a command in a throw-away copy, without network, and records what it wrote for the person who decides about it.
// What is asked about may be tried, because nothing of it stays and nothing leaves; what is denied may not.
func (c *ExecCommand) dryRun(p *cli.Program, backend *embedded.Backend, proposal interlock.Proposal, answer interlock.Answer,
	spec boxed) error {
	spec.Overlay, spec.Keep = true, false
	result, err := try(p, backend, proposal, answer, spec.Spec)
	if err != nil {
		return err
	}
	if answer.Answer.Allowed() {
		outcome := interlock.Outcome{Action: answer.Action, Event: answer.Event, Status: interlock.OutcomeSkipped,
			Detail: "dry run: " + accountOf(result)}
		if err := reportRun(p, backend, proposal.Requester, outcome); err != nil {
			return err
		}
		return toldRun(p, spec.Spec, result, nil)
	}
	fmt.Fprintf(p.Stderr, "interlock: this was a dry run in a throw-away copy; it ended with %d\n", result.Exit)
	printEffects(p.Stderr, result.Effects, result.Partial)
	return refusedRun(p, answer)
}

// try runs a command in a throw-away copy and records what it did.
func try(p *cli.Program, backend *embedded.Backend, proposal interlock.Proposal, answer interlock.Answer,
	spec sandbox.Spec) (sandbox.Result, error) {
	spec.Overlay, spec.Keep, spec.Network = true, false, nil
	result, err := sandbox.Run(p.Ctx, spec)
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.Ctx), 10*time.Second)
	defer cancel()
	return result, backend.Tried(ctx, proposal.Requester,
		interlock.DryRun{Event: answer.Event, Request: answer.Request, Action: answer.Action,
			Exit: result.Exit, Stopped: result.Stopped, Effects: result.Effects, Partial: result.Partial})
}

// tryOnce makes the dry run that a rule wants before anybody says yes, if this request has none. Only the person who decides is
// shown what came of it: to the one who asks, what the command prints may be just what it is not to have.
func (c *ExecCommand) tryOnce(p *cli.Program, backend *embedded.Backend, settings config.Config, proposal interlock.Proposal,
	answer interlock.Answer, spec boxed) {
	run, err := DryRunFor(p.Ctx, backend.Store, interlock.ApprovalRequest{ID: answer.Request, Action: answer.Action})
	if err == nil && run != nil {
		return
	}
	if err == nil {
		spec, err = c.wanted(p, settings, proposal, answer, spec)
	}
	if err == nil {
		spec.Stdin, spec.Stdout, spec.Stderr = nil, io.Discard, io.Discard
		_, err = try(p, backend, proposal, answer, spec.Spec)
	}
	if err != nil {
		fmt.Fprintln(p.Stderr, "interlock: the dry run that this wants could not be made:", cli.Shown(err))
		return
	}
	fmt.Fprintln(p.Stderr, "interlock: it was tried in a throw-away copy; whoever decides is shown what it did")
}

// DryRunFor finds what the action of a request did when it was last tried in a throw-away copy, or nil.
func DryRunFor(ctx context.Context, log store.Log, request interlock.ApprovalRequest) (*interlock.DryRun, error) {
	const most = 500
	entries, err := log.Entries(ctx, interlock.EventDryRun, ledger.Before(-1, most))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if auditlog.Released(&entry) {
			break // and so are those before: none of them is of a request that is open
		}
		run, err := auditlog.DryRunOf(entry)
		if err != nil {
			return nil, err
		}
		if run.Request == request.ID && run.Action == request.Action {
			return &run, nil
		}
	}
	return nil, nil
}

// ShownRun is a request with the dry run that a yes to it is shown, where a rule wants one.
func ShownRun(request interlock.ApprovalRequest, run *interlock.DryRun) interlock.ApprovalRequest {
	if run != nil && request.Owes(interlock.ObligationDryRun) {
		request.DryRun = run.ID
	}
	return request
}

// PrintDryRun shows what a dry run did.
func PrintDryRun(w io.Writer, run interlock.DryRun) {
	if run.Form != "" {
		how := "it went well"
		if run.Exit != 0 {
			how = "it failed"
		}
		fmt.Fprintf(w, "\nits dry run, or the same in another place, was carried out: %s\n", how)
		if run.Detail != "" {
			fmt.Fprintf(w, "  %s\n", cli.Printable(run.Detail))
		}
		return
	}
	fmt.Fprintf(w, "\ntried in a throw-away copy without network: it ended with %d", run.Exit)
	if run.Stopped != "" {
		fmt.Fprintf(w, ", stopped by the limit on %s", cli.Printable(run.Stopped))
	}
	if len(run.Effects) == 0 {
		fmt.Fprint(w, ", and wrote nothing")
	}
	fmt.Fprintln(w)
	printEffects(w, run.Effects, run.Partial)
}
