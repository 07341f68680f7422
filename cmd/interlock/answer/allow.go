package answer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/replay"
)

type AllowCommand struct {
	ID      string `arg:"" help:"The request, as the harness, the refusal or interlock pending names it, answered or not."`
	Pattern string `help:"The command with * for a part of a word, or a tool's arguments as JSON. Default: exactly what was asked." placeholder:"WORDS"`
	In      string `help:"The project: the directory in which, and below which, it holds. Default: where it was asked." type:"path" placeholder:"DIR"`
	For     string `help:"How long: 90m, 8h, 7d. Default: 7d." placeholder:"TIME"`
	Session bool   `help:"Only in the session that asked, for a day at most or --for."`
	Ever    bool   `name:"until-revoked" help:"Until somebody ends it with interlock grant end."`
	Times   int    `help:"How often in all, at most 1000. Default: as often as it comes." placeholder:"N"`
	Show    bool   `help:"Show what it would have answered, and sign nothing."`
	JSON    bool   `name:"json" help:"With --show: print JSON."`
	Reason  string `help:"Why, for the record." placeholder:"TEXT"`
	cli.OrderFlags
}

// Help is what `interlock allow --help` adds.
func (AllowCommand) Help() string {
	return "A standing yes: for this agent, in this project, where these rules ask about a command with these words. In a word * stands for\n" +
		"letters, digits, dots, underscores and dashes, never for an option, a path or another command. What it would have answered in the\n" +
		"past week is shown before anything is signed. Rules of layers 1 and 2, secrets, and what can't be undone in production are never\n" +
		"answered in advance. `interlock grant list` shows what stands, `interlock grant end ID` ends it."
}

// triedFor is how far back a standing yes is tried before it is signed.
const triedFor = 7 * 24 * time.Hour

// Run shows what a standing yes would have answered, has it signed and hands it in. Whether it counts is decided behind CarryOut.
func (c *AllowCommand) Run(p *cli.Program) error {
	aim := admission.Aim{Pattern: c.Pattern, Dir: c.In, Session: c.Session, Ever: c.Ever, Times: c.Times, Reason: c.Reason}
	var err error
	if c.For != "" {
		if aim.For, err = cli.Period(c.For); err != nil {
			return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--for", "%s", err))
		}
	}
	if c.JSON && !c.Show {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--json", "goes with --show"))
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	g, err := alwaysFor(p.Ctx, backend, c.ID, aim)
	if err != nil {
		return err
	}
	if err := quorum.CheckBounds(g); err != nil {
		return cli.Usage(err)
	}
	report, err := tryGrant(p, g, backend)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, report)
	}
	if c.Show {
		fmt.Fprint(p.Stdout, alwaysText(g)+trialText(&report))
		return nil
	}
	fmt.Fprint(p.Stderr, alwaysText(g)+trialText(&report)+"\n")
	given, done, err := p.Order(backend, c.OrderFlags, quorum.OfGrant(g))
	if err != nil {
		return err
	}
	return p.Done(done, "%s: allowed from now on for %s in %s, %s, as %s; end it with: interlock grant end %s", g.ID, cli.Printable(g.Agent),
		cli.Printable(g.Scope.Dir), lasting(g), given.Operator, g.ID)
}

// alwaysFor is the standing yes to what a request asked, as an operator wants it.
func alwaysFor(ctx context.Context, backend *embedded.Backend, id string, aim admission.Aim) (interlock.Grant, error) {
	request, found, err := backend.Request(ctx, id)
	if err != nil {
		return interlock.Grant{}, err
	}
	if !found {
		return interlock.Grant{}, interlock.Errorf(interlock.CodeNotFound, "ID", "no request has this id; `interlock pending` lists those that wait")
	}
	decided, err := askedIn(ctx, backend, request)
	if err != nil {
		return interlock.Grant{}, err
	}
	name, err := cli.NewID("grt_", 6)
	if err != nil {
		return interlock.Grant{}, err
	}
	g, err := admission.Always(name, request, decided, backend.Rules(), cli.Now())
	if err != nil {
		return g, err
	}
	return admission.Aimed(g, aim, decided.Proposal.Action, request.Requester.Run)
}

// askedIn is the decision that left a request behind, as the log holds it.
func askedIn(ctx context.Context, backend *embedded.Backend, request interlock.ApprovalRequest) (auditlog.Decided, error) {
	const page, pages = 500, 40
	missing := interlock.Errorf(interlock.CodeNotFound, "ID", "the decision that asked is not in the log any more; let it be asked again")
	before := int64(-1)
	for range pages {
		entries, err := backend.Store.Entries(ctx, interlock.EventReviewRequest, ledger.Before(before, page))
		if err != nil {
			return auditlog.Decided{}, err
		}
		for _, entry := range entries {
			if before = entry.Index; auditlog.Released(&entry) {
				return auditlog.Decided{}, missing
			}
			if auditlog.OfText(&entry) {
				continue
			}
			d, err := auditlog.ReadDecision(entry)
			if err != nil {
				return d, fmt.Errorf("reading entry %d: %w", entry.Index, err)
			}
			if d.Request == request.ID {
				return d, nil
			}
			if d.Event.Recorded.Before(request.Created.Add(-time.Minute)) {
				return auditlog.Decided{}, missing
			}
		}
		if len(entries) < page {
			break
		}
	}
	return auditlog.Decided{}, missing
}

// tryGrant says what a standing yes would have answered in the past week.
func tryGrant(p *cli.Program, g interlock.Grant, backend *embedded.Backend) (replay.GrantReport, error) {
	since := cli.Now().Add(-triedFor)
	trial := replay.NewGrantTrial(g, backend.Rules(), since)
	log, err := audit.OpenPast(p, &audit.PastFlags{})
	if err != nil {
		return replay.GrantReport{}, err
	}
	defer log.Close()
	err = log.Try(p, since, trial, func(r *replay.Record) bool { return r != nil && trial.Concerns(r) })
	report := trial.Report()
	report.Archived = log.Archived
	return report, err
}

// StandingYes makes and tries standing yeses for the console, one at a time.
func StandingYes(p *cli.Program, backend *embedded.Backend) func(context.Context, string, admission.Aim) (interlock.Grant, replay.GrantReport, error) {
	var one sync.Mutex
	return func(ctx context.Context, id string, aim admission.Aim) (interlock.Grant, replay.GrantReport, error) {
		g, err := alwaysFor(ctx, backend, id, aim)
		if err == nil {
			err = quorum.CheckBounds(g)
		}
		if err != nil {
			return g, replay.GrantReport{}, err
		}
		if !one.TryLock() {
			return g, replay.GrantReport{}, interlock.Errorf(interlock.CodeLimited, "", "another one is being tried on the past; wait until that is done")
		}
		defer one.Unlock()
		ctx, cancel := context.WithTimeout(ctx, audit.WhatIfTime)
		defer cancel()
		mine := *p
		mine.Ctx, mine.Globals.Home = ctx, backend.Settings.Home
		report, err := tryGrant(&mine, g, backend)
		if ctx.Err() != nil {
			err = interlock.Errorf(interlock.CodeUnavailable, "", "there is too much of the past to try it on here; interlock allow has the time")
		}
		return g, report, err
	}
}

// alwaysText says in words what a standing yes is for.
func alwaysText(g interlock.Grant) string {
	var b strings.Builder
	fmt.Fprintf(&b, "for %s, in %s and below, %s:\n  | %s\nwhere asked by %s\n", cli.Printable(g.Agent), cli.Printable(g.Scope.Dir), lasting(g),
		cli.Printable(strings.TrimSpace(g.Tool+" "+g.Pattern())), cli.Printable(strings.Join(g.Rules, ", ")))
	return b.String()
}

// lasting says how long and how often a standing yes holds.
func lasting(g interlock.Grant) string {
	text := "until it is ended"
	if !g.Expires.IsZero() {
		text = "until " + g.Expires.Local().Format("2006-01-02 15:04")
	}
	if g.Scope != nil && g.Scope.Run != "" {
		text += ", in the session " + cli.Printable(g.Scope.Run) + " only"
	}
	if g.Times > 0 {
		text += ", " + cli.Plural(g.Times, "time")
	}
	return text
}

// trialText says what a standing yes would have answered.
func trialText(r *replay.GrantReport) string {
	var b strings.Builder
	switch {
	case r.Questions == 0:
		b.WriteString("there were no questions of this agent in the last 7 days to try it on\n")
	case r.Besides == 0:
		fmt.Fprintf(&b, "it would have answered %d of its %s of the last 7 days, and nothing else\n", r.Answered, cli.Plural(r.Questions, "question"))
	default:
		fmt.Fprintf(&b, "it would have answered %d of its %s of the last 7 days, and %d that the rules of now would ask\n", r.Answered,
			cli.Plural(r.Questions, "question"), r.Besides)
	}
	for _, one := range r.Actions {
		fmt.Fprintf(&b, "  %4d  %s\n", one.Times, cli.Brief(one.Action))
	}
	if r.Others > 0 {
		fmt.Fprintf(&b, "        and %d more\n", r.Others)
	}
	if skipped := audit.NotTried(&replay.Report{Skipped: r.Skipped, Archived: r.Archived}); skipped != "" {
		b.WriteString("not tried: " + skipped + "\n")
	}
	return b.String()
}
