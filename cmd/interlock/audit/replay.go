package audit

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/replay"
)

type ReplayCommand struct {
	Run    replayRun    `cmd:"" help:"Make recorded decisions again and compare them with the record."`
	WhatIf ReplayWhatIf `cmd:"" name:"what-if" help:"Tell what the rules in force here, or those of --rules, would have decided about the past."`
}

// sealedFlags let a replay read inputs that are kept sealed because they hold secrets.
type sealedFlags struct {
	Sealed bool `help:"Also make decisions again whose inputs are sealed, by an operator's signed order, which is recorded."`
	cli.OrderFlags
	Reason string `help:"Why, for the record; needed with --sealed and --replay-mode." placeholder:"TEXT"`
}

// opener is what opens sealed inputs, or nil where nobody asked for that. The order is in the log before it returns.
func (f *sealedFlags) opener(p *cli.Program) (func([]byte) ([]byte, error), error) {
	if !f.Sealed {
		return nil, nil
	}
	backend, err := p.Open()
	if err != nil {
		return nil, err
	}
	defer backend.Close()
	given, err := cli.NewOrder(interlock.VerbReadSealed, "replay", "", f.Reason, interlock.Requester{})
	if err != nil {
		return nil, err
	}
	if given, err = p.Sign(backend, f.OrderFlags, given); err != nil {
		return nil, err
	}
	open, err := embedded.InputsOpener(backend.Settings.Home)
	if err != nil {
		return nil, err
	}
	if _, err := backend.CarryOut(p.Ctx, given); err != nil {
		return nil, err
	}
	return func(sealed []byte) ([]byte, error) { return open(sealed, auditlog.MaxBlob) }, nil
}

type replayRun struct {
	PastFlags
	modeFlags
	What  string `arg:"" optional:"" help:"Only this event, by its id or number, or only the events of this run."`
	Since string `help:"Only what was decided from then on: a length of time ago (90m, 8h, 7d) or a time as 2006-01-02T15:04:05Z." placeholder:"TIME"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock replay run --help` adds.
func (replayRun) Help() string {
	return "Every decision is made again from what was recorded of it, under the rules of then, and must come out the same, byte for byte.\n" +
		"What holds secrets is sealed, and counted apart unless --sealed opens it, which takes an admin's or an auditor's order.\n" +
		"What is found missing or damaged in this home's store is recorded and held: see interlock hold.\n" +
		"With --replay-mode it takes signed orders, is recorded, and stops at the first failure. " +
		"Where this program's analysis is that of the record, the analysis is made again as well. Exits 1 if anything differs or is missing."
}

// A replayResult is what came of replaying.
type replayResult struct {
	Decisions  int                 `json:"decisions"`
	Same       int                 `json:"same"`
	Older      int                 `json:"older,omitempty"`    // besides: those that were recorded before inputs were
	Sealed     int                 `json:"sealed,omitempty"`   // those that hold secrets and wait for an order to open them
	Archived   int                 `json:"archived,omitempty"` // and those in an archive that was not named
	Reanalysed int                 `json:"reanalysed"`         // analysed again, by the same code
	Under      []under             `json:"under,omitempty"`    // what they were made under
	Failures   map[replay.Code]int `json:"failures,omitempty"`
	Examples   []replayExample     `json:"examples,omitempty"`
	Replayable bool                `json:"replayable"`
	Held       []string            `json:"held,omitempty"` // names of the holds that come of it

	broken []ledger.HoldBody

	// of a replay with a mode
	Mode          string `json:"mode,omitempty"`
	Authoritative bool   `json:"authoritative,omitempty"`
	Stopped       bool   `json:"stopped,omitempty"` // at the first failure
	Request       string `json:"request,omitempty"` // id of the event that recorded its orders
	Result        string `json:"result,omitempty"`  // id of the event that recorded what came of it
}

type replayExample struct {
	Event  string      `json:"event"`
	Index  int64       `json:"index"`
	Code   replay.Code `json:"code"`
	Detail string      `json:"detail"`
}

// maxFailures is how many decisions that differ are named.
const maxFailures = 20

// Run replays.
func (c *replayRun) Run(p *cli.Program) error {
	Spacious()
	from := time.Time{}
	if c.Since != "" {
		at, err := p.Moment("--since", c.Since)
		if err != nil {
			return err
		}
		from = at
	}
	evaluator, _, err := p.Evaluator()
	if err != nil {
		return err
	}
	ordered, err := c.order(p)
	if err != nil {
		return err
	}
	result := replayResult{Failures: map[replay.Code]int{}}
	err = c.replay(p, evaluator, ordered, from, &result)
	unheld := c.hold(p, ordered, &result)
	if err = ordered.end(p, &result, err); err != nil {
		return err
	}
	if err := c.print(p, &result); err != nil || result.Replayable {
		return err
	}
	if unheld != nil {
		return unheld
	}
	return &cli.ExitCode{Code: 1}
}

// replay makes decisions again and says in result what came of it.
func (c *replayRun) replay(p *cli.Program, evaluator *admission.Evaluator, ordered *orderedReplay, from time.Time,
	result *replayResult) error {
	log, err := OpenPast(p, &c.PastFlags)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Verified(p); err != nil {
		return err
	}
	rules := string(evaluator.Rules.Digest()) // which names what the analysis knows of commands as well
	err = log.each(p, from, func(e interlock.Entry, r *replay.Record, why error) error {
		if !c.means(e, r) {
			return nil
		}
		if errors.Is(why, replay.ErrOlder) && c.What == "" && !ordered.strict() {
			result.Older++
			return nil
		}
		if errors.Is(why, replay.ErrSealed) && !ordered.strict() {
			result.Sealed++
			return nil
		}
		result.Decisions++
		if why == nil {
			result.under(r, log.registry)
			why = log.sources.Again(r)
		}
		if why == nil && r.Base.Analyser == embedded.Revision() && r.Event.Snapshots["ruleset"] == rules {
			result.Reanalysed++
			why = r.Reanalysed(evaluator.Analyser)
		}
		code, err := result.count(e, why)
		if err == nil && why != nil && ordered.stops(code) {
			result.Stopped = true
			return errFound
		}
		return err
	})
	if err != nil && !errors.Is(err, errFound) {
		return err
	}
	if c.What != "" && result.Decisions+result.Sealed == 0 {
		if err := log.elsewhere(p, c.What); err != nil {
			return err
		}
		return interlock.Errorf(interlock.CodeNotFound, "WHAT", "no recorded decision has this event, and no run has this name")
	}
	result.Archived = log.Archived
	result.Replayable = result.Same == result.Decisions && (result.Archived == 0 || !ordered.strict()) &&
		(result.Sealed == 0 || result.Decisions > 0) // where all are sealed, nothing was shown
	return nil
}

// means reports whether the command is about an event.
func (c *replayRun) means(e interlock.Entry, r *replay.Record) bool {
	return c.What == "" || c.What == e.ID || c.What == strconv.FormatInt(e.Index, 10) || r != nil && c.What == r.Requester.Run
}

func (r *replayResult) count(e interlock.Entry, why error) (replay.Code, error) {
	if why == nil {
		r.Same++
		return "", nil
	}
	var f *replay.Failure
	if !errors.As(why, &f) {
		return "", why
	}
	r.Failures[f.Code]++
	r.broke(f)
	if len(r.Examples) < maxFailures {
		r.Examples = append(r.Examples, replayExample{Event: e.ID, Index: e.Index, Code: f.Code, Detail: f.Detail})
	}
	return f.Code, nil
}

func (c *replayRun) print(p *cli.Program, r *replayResult) error {
	if c.JSON {
		return cli.WriteLine(p.Stdout, r)
	}
	fmt.Fprintf(p.Stdout, "%d decisions, %d the same, %d of them analysed again by the same code\n", r.Decisions,
		r.Same, r.Reanalysed)
	if c.What != "" {
		r.printUnder(p.Stdout)
	}
	if r.Older > 0 {
		fmt.Fprintf(p.Stdout, "%d older ones name nothing that they were made from\n", r.Older)
	}
	if r.Sealed > 0 {
		fmt.Fprintf(p.Stdout, "%d more are sealed because they hold secrets or personal data, and were not made again; "+
			"an admin or an auditor opens them: interlock replay run --sealed --key FILE --reason TEXT\n", r.Sealed)
	}
	if r.Archived > 0 {
		fmt.Fprintf(p.Stdout, "%d older ones are archived; --archive DIR reads them\n", r.Archived)
	}
	for _, e := range r.Examples {
		fmt.Fprintf(p.Stdout, "%s  event %d  %s\n", e.Code, e.Index, cli.Printable(e.Detail)) // it may name a rule of a foreign log
	}
	if r.Stopped {
		e := r.Examples[len(r.Examples)-1]
		if e.Code == replay.ResultMismatch || e.Code == replay.Divergence {
			fmt.Fprintf(p.Stdout, "%s  event %d  it stopped there; going on takes the orders of an admin and of a member of the council\n",
				replay.ForceContinue, e.Index)
		} else {
			fmt.Fprintf(p.Stdout, "it stopped at event %d; nothing makes it go on\n", e.Index)
		}
	}
	for _, name := range r.Held {
		fmt.Fprintf(p.Stdout, "held: %s\n", cli.Printable(name))
	}
	if r.Mode != "" {
		fmt.Fprintf(p.Stdout, "mode %s, authoritative: %v, recorded as event %s\n", r.Mode, r.Authoritative, r.Result)
	}
	_, err := fmt.Fprintf(p.Stdout, "REPLAYABLE: %v\n", r.Replayable)
	return err
}

type ReplayWhatIf struct {
	PastFlags
	Since string `help:"Only what was decided from then on: a length of time ago (90m, 8h, 7d) or a time as 2006-01-02T15:04:05Z." default:"7d" placeholder:"TIME"`
	Agent string `help:"Only what this agent did." placeholder:"NAME"`
	Allow bool   `name:"allow-stricter" help:"Exit 0 although something would be denied or asked about that was not."`
	Rule  string `help:"What this one of the rules does, compared with the others alone, and not with what was decided." placeholder:"ID"`
	Anew  bool   `name:"reanalyse" help:"Analyse the recorded actions anew, so that what this program knows of commands counts as well; slower."`
	JSON  bool   `name:"json" help:"Print JSON."`

	Verify bool `kong:"-"` // the log must be sound
}

// Help is what `interlock replay what-if --help` adds.
func (ReplayWhatIf) Help() string {
	return "The rules are those of this program with those of --rules DIR or of the settings; what actions do is taken from the record.\n" +
		"Nothing is decided or recorded. Exits 1 where something would be denied or asked about that was not, 0 otherwise."
}

// Run tries the rules.
func (c *ReplayWhatIf) Run(p *cli.Program) error {
	Spacious()
	evaluator, _, err := p.Evaluator()
	if err != nil {
		return err
	}
	report, err := c.Report(p, evaluator)
	if err != nil {
		return err
	}
	if c.JSON {
		err = cli.WriteLine(p.Stdout, report)
	} else {
		err = c.print(p, &report)
	}
	if err != nil || c.Allow {
		return err
	}
	for n := range report.Changes {
		if report.Changes[n].Stricter() {
			return &cli.ExitCode{Code: 1}
		}
	}
	return nil
}

// Report tries rules on the log.
func (c *ReplayWhatIf) Report(p *cli.Program, evaluator *admission.Evaluator) (replay.Report, error) {
	from, err := p.Moment("--since", c.Since)
	if err != nil {
		return replay.Report{}, err
	}
	log, err := OpenPast(p, &c.PastFlags)
	if err != nil {
		return replay.Report{}, err
	}
	defer log.Close()
	if c.Verify {
		if err := log.Verified(p); err != nil {
			return replay.Report{}, err
		}
	}
	trial := replay.NewWhatIf(evaluator.Rules)
	if c.Anew {
		trial.Analyser = evaluator.Analyser
	}
	if c.Rule != "" {
		if _, known := evaluator.Rules.Rule(c.Rule); !known {
			return replay.Report{}, interlock.Errorf(interlock.CodeNotFound, "--rule",
				"%.60q is no rule; `interlock rules list` names them", c.Rule)
		}
		trial.Before = evaluator.Rules.Without(c.Rule)
	}
	err = log.Try(p, from, trial, func(r *replay.Record) bool {
		return r == nil || c.Agent == "" || r.Requester.Agent == c.Agent
	})
	report := trial.Report()
	report.Archived = log.Archived
	return report, err
}

func (c *ReplayWhatIf) print(p *cli.Program, r *replay.Report) error {
	fmt.Fprintf(p.Stdout, "%d decisions since %s under %s\n", r.Decisions, c.Since, r.Ruleset)
	if skipped := NotTried(r); skipped != "" {
		fmt.Fprintf(p.Stdout, "not tried: %s\n", skipped)
	}
	return PrintTrial(p, r)
}

// NotTried says which decisions could not be tried, and why.
func NotTried(r *replay.Report) string {
	var skipped []string
	for code, n := range r.Skipped { // any order: sorted below
		skipped = append(skipped, fmt.Sprintf("%d %s", n, code))
	}
	sort.Strings(skipped)
	if r.Sealed > 0 {
		skipped = append(skipped, fmt.Sprintf("%d sealed (--sealed opens them, by an order)", r.Sealed))
	}
	if r.Archived > 0 {
		skipped = append(skipped, fmt.Sprintf("%d archived (--archive DIR reads them)", r.Archived))
	}
	return strings.Join(skipped, ", ")
}

// PrintTrial says what other rules decided, or would have, and how.
func PrintTrial(p *cli.Program, r *replay.Report) error {
	fmt.Fprintf(p.Stdout, "newly denied %d, newly asked %d, newly allowed %d; questions a day: %.1f then, %.1f now\n",
		r.Newly[interlock.Deny.String()]+r.Newly[interlock.Halt.String()], r.Newly[interlock.Ask.String()],
		r.Newly[interlock.Allow.String()], r.Questions[0], r.Questions[1])
	if len(r.Changes) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WAS\tNOW\tTIMES\tAGENT\tRULE\tFOR EXAMPLE")
	for _, change := range r.Changes {
		e := change.Examples[0]
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\tevent %d: %s\n", change.Was, change.Now, change.Count, cli.Printable(change.Agent),
			cli.Printable(change.Rule), e.Index, cli.Brief(e.Reason))
	}
	return table.Flush()
}

// An under is what some decisions were made under: the digest of the manifest of snapshots, that of the registry, and that of the stable
// facts. From and Decisions say since which event, and how many.
type under struct {
	Manifest  interlock.Digest `json:"manifest,omitempty"`
	Registry  string           `json:"registry,omitempty"`
	Memory    interlock.Digest `json:"memory,omitempty"`
	From      int64            `json:"from"`
	Decisions int              `json:"decisions"`
}

// maxUnders is how many of them are told apart.
const maxUnders = 100

// under counts a decision under what it was made under.
func (r *replayResult) under(record *replay.Record, registry string) {
	is := under{Manifest: record.Base.Manifest, Registry: registry, Memory: record.Base.Memory, From: record.Index,
		Decisions: 1}
	at := slices.IndexFunc(r.Under, func(u under) bool {
		return u.Manifest == is.Manifest && u.Registry == is.Registry && u.Memory == is.Memory
	})
	switch {
	case at >= 0:
		r.Under[at].Decisions++
	case len(r.Under) < maxUnders:
		r.Under = append(r.Under, is)
	}
}

// printUnder prints what the decisions of a run were made under.
func (r *replayResult) printUnder(w io.Writer) {
	for _, u := range r.Under {
		memory := ""
		if u.Memory != "" {
			memory = ", and the memory " + cli.Printable(string(u.Memory))
		}
		fmt.Fprintf(w, "%d of them from event %d on under the snapshots %s and the registry %s%s\n", u.Decisions, u.From,
			cli.Printable(cli.OrDash(string(u.Manifest))), cli.Printable(cli.OrDash(u.Registry)), memory)
	}
}
