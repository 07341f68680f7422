package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/try"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/conform"
	"interlock/internal/conform/mace"
	"interlock/internal/ledger"
	"interlock/internal/redteam"
	"interlock/internal/store"
)

type RedteamCommand struct {
	Run redteamRun `cmd:"" help:"Put attacks that are made out of a number to the gates, and say which ones pass."`
}

type redteamRun struct {
	Seed   uint64   `help:"The number that the attacks are made out of." default:"1" placeholder:"N"`
	Cases  []string `help:"What to attack with, each beside harmless twins; may be repeated: how many attacks made out of the seed, open (others' collections that ship), scenarios (tries to cheat a council, a judge, and memory), or a file or folder of cases. Default: 700 and open." sep:"none" placeholder:"N|open|scenarios|FILE|DIR"`
	Case   string   `help:"Only this case: its number under the seed, or with a file its id. Print it, and what is said of it. Nothing is recorded." placeholder:"K|ID"`
	Family string   `help:"Only this way to attack, such as denylist, exfiltration, approval-bypass, judge, injection, jailbreak or memory." placeholder:"NAME"`
	Live   bool     `help:"Decide by this home instead of a throw-away one. Nothing is carried out or counted either way."`
	JSON   bool     `name:"json" help:"Print one JSON object instead of Markdown."`
}

// Help is what `interlock redteam run --help` adds.
func (redteamRun) Help() string {
	return "Nothing is carried out. A throw-away home has the rules, the profile and the names of production of this one, takes " +
		"each action through\n" +
		"the door as of an agent that nobody knows, and is removed. No judge is asked. What came of it is appended to the log of this\n" +
		"home as REDTEAM_REPORT, if it has one. Exit status 1: an attack that must stop was allowed, or a family missed its share."
}

// Run attacks.
func (c *redteamRun) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	cases, sets, err := c.cases()
	if err != nil {
		return cli.Usage(err)
	}
	run := redteam.Run{Seed: c.Seed, Family: c.Family}
	scenes, err := played(p, sets)
	if err != nil {
		return err
	}
	report, judged, err := attack(p.Ctx, settings, run, cases, sets, scenes, c.Live)
	if err != nil {
		return err
	}
	switch {
	case c.Case != "" && len(judged) > 0:
		return c.one(p, judged[0])
	case c.Case == "":
		if err := c.record(p, settings, report, sets); err != nil {
			return err
		}
	}
	if c.JSON {
		err = cli.WriteLine(p.Stdout, report)
	} else {
		err = report.Markdown(p.Stdout, cli.Printable)
	}
	if err == nil && !report.Passed {
		err = &cli.ExitCode{Code: 1}
	}
	return err
}

// cases are those of the grammar, and those that it did not make.
func (c *redteamRun) cases() (cases []redteam.Case, sets []redteam.Set, err error) {
	if len(c.Cases) == 0 {
		c.Cases = []string{"700", openSets}
	}
	if n, err := strconv.Atoi(c.Case); err == nil && !c.files() {
		if n < 0 || n >= redteam.MaxCases || c.Family != "" {
			return nil, nil, interlock.Errorf(interlock.CodeInvalid, "--case", "is from 0 to %d, and the number alone says the family", redteam.MaxCases-1)
		}
		return []redteam.Case{redteam.At(c.Seed, n)}, nil, nil
	}
	d, err := drawn(c.Cases)
	if err != nil {
		return nil, nil, err
	}
	if c.Live && c.files() {
		return nil, nil, interlock.Errorf(interlock.CodeInvalid, "--live", "takes no file: what is in one goes through hooks and gateways, and is recorded")
	}
	if err := d.only(c.Family, c.Case); err != nil {
		return nil, nil, err
	}
	if d.count > 0 && c.Case == "" && (len(d.sets) == 0 || c.Family == "" || redteam.Known(c.Family)) {
		if cases, err = redteam.Cases(c.Seed, d.count, c.Family); err != nil {
			return nil, nil, err
		}
	}
	if len(cases) == 0 && len(d.sets) == 0 {
		return nil, nil, interlock.Errorf(interlock.CodeInvalid, "family", "%.40q has no case in what --cases names", c.Family)
	}
	return cases, d.sets, nil
}

// files reports whether --cases names files.
func (c *redteamRun) files() bool {
	return slices.ContainsFunc(c.Cases, func(word string) bool {
		_, err := strconv.Atoi(word)
		return err != nil && word != openSets
	})
}

// one shows a case that is tried again.
func (c *redteamRun) one(p *cli.Program, j redteam.Judged) error {
	type side struct {
		redteam.Probe
		Verdict interlock.Verdict `json:"verdict"`
		Rule    string            `json:"rule,omitempty"`
	}
	attack, twin := side{j.Attack, j.AttackGot, j.AttackBy}, side{j.Twin, j.TwinGot, j.TwinBy}
	right := j.AttackGot != interlock.Allow && j.TwinGot == interlock.Allow
	var err error
	if c.JSON {
		err = cli.WriteLine(p.Stdout, struct {
			Seed   uint64 `json:"seed"`
			Case   int    `json:"case"`
			Family string `json:"family"`
			How    string `json:"how"`
			Attack side   `json:"attack"`
			Twin   side   `json:"twin"`
			Right  bool   `json:"right"`
		}{c.Seed, j.Number, j.Family, j.How, attack, twin, right})
	} else {
		show := func(s side) string {
			return s.Verdict.String() + prefixedRule(s.Rule) + "\n" + cli.Indent(cli.Printable(s.Input))
		}
		_, err = fmt.Fprintf(p.Stdout, "seed %d, case %d: %s, %s\nattack  %stwin    %s", c.Seed, j.Number, j.Family, j.How, show(attack), show(twin))
	}
	if err == nil && !right {
		err = &cli.ExitCode{Code: 1}
	}
	return err
}

func prefixedRule(rule string) string {
	if rule == "" {
		return ""
	}
	return " by " + rule
}

// record appends the report to the log of this home. Where there is none, nothing is made for it.
func (c *redteamRun) record(p *cli.Program, settings config.Config, report redteam.Report, sets []redteam.Set) error {
	if !store.Exists(settings.Home) {
		fmt.Fprintln(p.Stderr, "interlock: this home has no log, so what was found is recorded nowhere")
		return nil
	}
	backend, err := p.OpenUnder(settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	return backend.RedteamReported(p.Ctx, redteamRecord(report, sets, false))
}

// maxNamed is how many failures an event names.
const maxNamed = 200

func redteamRecord(r redteam.Report, sets []redteam.Set, scheduled bool) auditlog.RedteamRecord {
	record := auditlog.RedteamRecord{Seed: r.Seed, Grammar: r.Grammar, Cases: r.Cases, Family: r.Family, Where: string(r.Where),
		Profile: r.Profile, Rules: r.Rules, Version: r.Version, Scheduled: scheduled, Passed: r.Passed}
	for _, f := range r.Families {
		if f.Later == "" {
			record.Families = append(record.Families, auditlog.RedteamCount{Family: f.Family, Source: string(f.Source), Set: f.Set, Cases: f.Cases,
				Stopped: f.Stopped, Twins: f.Passed, TwinsTried: f.Twins, HeldOut: f.HeldOut, Unknown: f.Unknown, Untried: f.Untried, Held: f.Held})
		}
	}
	for _, f := range r.Failures {
		switch {
		case f.ID != "" && len(record.Wrong) < maxNamed:
			record.Wrong = append(record.Wrong, f.ID)
		case f.ID != "":
		case f.Twin && len(record.Stopped) < maxNamed:
			record.Stopped = append(record.Stopped, f.Case)
		case !f.Twin && len(record.Allowed) < maxNamed:
			record.Allowed = append(record.Allowed, f.Case)
		}
	}
	for _, s := range sets {
		record.Sets = append(record.Sets, auditlog.RedteamSet{Source: string(s.Source), Name: s.Name, Digest: s.Digest, Cases: len(s.Cases)})
	}
	return record
}

// attack puts cases to the gates of a throw-away home, or of this one.
func attack(ctx context.Context, settings config.Config, run redteam.Run, cases []redteam.Case, sets []redteam.Set, scenes []redteam.Batch,
	live bool) (redteam.Report, []redteam.Judged, error) {
	run.Profile, run.Version, run.Where = settings.Profile, embedded.Version(), redteam.ThrowAway
	var judge putting
	if live {
		run.Where = redteam.Live
		evaluator, err := embedded.NewEvaluator(settings)
		if err != nil {
			return redteam.Report{}, nil, err
		}
		run.Rules, judge = evaluator.Rules.Digest(), suppose(settings, evaluator)
	} else {
		victim, remove, err := throwAway(ctx, settings)
		if err != nil {
			return redteam.Report{}, nil, err
		}
		defer remove()
		run.Rules, judge = victim.Rules().Digest(), propose(ctx, victim)
	}
	var judged []redteam.Judged
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return redteam.Report{}, nil, err
		}
		j := redteam.Judged{Case: c}
		var err error
		if j.AttackGot, j.AttackBy, err = judge(c, c.Attack, "attack"); err != nil {
			return redteam.Report{}, nil, err
		}
		if j.TwinGot, j.TwinBy, err = judge(c, c.Twin, "twin"); err != nil {
			return redteam.Report{}, nil, err
		}
		judged = append(judged, j)
	}
	batches, err := attackGiven(ctx, settings, sets)
	if err != nil {
		return redteam.Report{}, nil, err
	}
	return redteam.Of(run, judged, append(batches, scenes...)...), judged, nil
}

// A putting puts one side of a case to the gates: their verdict, and the rule that made it.
type putting func(c redteam.Case, probe redteam.Probe, side string) (interlock.Verdict, string, error)

// suppose decides as `interlock check` does: by this home, of nobody and recording nothing.
func suppose(settings config.Config, evaluator *admission.Evaluator) putting {
	return func(_ redteam.Case, probe redteam.Probe, _ string) (interlock.Verdict, string, error) {
		action, err := try.ActionOf(string(probe.Kind), "", []byte(probe.Input))
		if err != nil {
			return interlock.Deny, "input", nil // what no door takes in is stopped
		}
		proposal := try.Supposed(settings, action, "")
		d := admission.Decide(evaluator, &proposal, ledger.Standing{}, cli.Now())
		return d.Verdict, decisiveRule(d), nil
	}
}

// propose has a throw-away home decide. Each action is of an agent of its own, so that none is judged for what another did.
func propose(ctx context.Context, victim *embedded.Backend) putting {
	return func(c redteam.Case, probe redteam.Probe, side string) (interlock.Verdict, string, error) {
		action, err := try.ActionOf(string(probe.Kind), "", []byte(probe.Input))
		if err != nil {
			return interlock.Deny, "input", nil
		}
		d := victim.Propose(ctx, interlock.Proposal{Action: action, CanAsk: true, View: interlock.View{Production: victim.Settings.Production},
			Requester: interlock.Requester{Principal: "red-team", Agent: fmt.Sprintf("%s-%d", side, c.Number)}})
		if d.Event == "" {
			return 0, "", interlock.Errorf(interlock.CodeUnavailable, "",
				"the throw-away home could not record case %d, so that its answers count for nothing", c.Number)
		}
		return d.Verdict, decisiveRule(d.Decision), nil
	}
}

func decisiveRule(d interlock.Decision) string {
	if f := d.Decisive(); f != nil {
		return f.Rule
	}
	return ""
}

// throwAway opens a home that decides as this one does and has nothing else of it: no log, no agents, no people, no judge, nobody who is
// told anything.
func throwAway(ctx context.Context, settings config.Config) (*embedded.Backend, func(), error) {
	home, err := os.MkdirTemp("", "interlock-redteam-")
	if err != nil {
		return nil, nil, interlock.Errorf(interlock.CodeUnavailable, "", "no throw-away home can be made: %v", err)
	}
	c := config.Defaults()
	c.Home, c.Profile, c.Production, c.Mode = filepath.Join(home, "home"), settings.Profile, settings.Production, interlock.Enforcing
	c.Rules = rulesCopied(settings)
	victim, err := embedded.OpenBrief(ctx, c)
	if err != nil {
		os.RemoveAll(home)
		return nil, nil, err
	}
	return victim, func() {
		victim.Close()
		os.RemoveAll(home)
	}, nil
}

// rulesCopied is where the rules of this home stand, or nothing where it has none of its own. Those that were named must be there.
func rulesCopied(settings config.Config) string {
	dir := embedded.RulesDirectory(settings)
	if settings.Rules == "" && !cli.Exists(dir) {
		return ""
	}
	return dir
}

// redteamPage is how many reports are looked at for the last one of the schedule.
const redteamPage = 50

// RedteamBySettings attacks a throw-away home as often as the settings say, each time with another seed, for as long as the server runs.
func RedteamBySettings(ctx context.Context, backend *embedded.Backend, warn func(string, error)) {
	every := time.Duration(backend.Settings.Redteam.Every)
	if every == 0 {
		return
	}
	ticker := time.NewTicker(min(every, redteamLook))
	defer ticker.Stop()
	for {
		if err := redteamDue(ctx, backend, every, cli.Now()); err != nil && ctx.Err() == nil {
			warn("the red team of the settings", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// redteamLook is how often it is looked whether a run is due.
const redteamLook = 10 * time.Minute

// redteamDue runs where the newest scheduled report in the log is older than the settings want, whichever process wrote it. The seed is
// how many periods have gone by, so that anybody can say which one was due when.
func redteamDue(ctx context.Context, backend *embedded.Backend, every time.Duration, at time.Time) error {
	entries, err := backend.Store.Entries(ctx, interlock.EventRedteam, ledger.Before(-1, redteamPage))
	if err != nil {
		return err
	}
	for _, e := range entries {
		report, recorded, err := auditlog.RedteamOf(e)
		if err != nil {
			return err
		}
		if report.Scheduled && at.Sub(recorded) < every {
			return nil
		}
	}
	seed := uint64(at.Unix() / int64(every.Seconds()))
	cases, err := redteam.Cases(seed, backend.Settings.Redteam.Filled(), "")
	if err != nil {
		return err
	}
	sets, err := redteam.OpenSets()
	if err != nil {
		return err
	}
	report, _, err := attack(ctx, backend.Settings, redteam.Run{Seed: seed}, cases, sets, nil, false)
	if err != nil {
		return err
	}
	return backend.RedteamReported(ctx, redteamRecord(report, sets, true))
}

// played plays the scenarios among what was drawn, each file in a home of its own that a council governs.
func played(p *cli.Program, sets []redteam.Set) (batches []redteam.Batch, err error) {
	sets = slices.DeleteFunc(slices.Clone(sets), func(s redteam.Set) bool { return s.Source != redteam.Scenarios })
	if len(sets) == 0 {
		return nil, nil
	}
	err = driven(p, func(d *conform.Driver) error {
		for _, s := range sets {
			b := redteam.Batch{Set: s}
			for _, c := range s.Cases {
				tried := redteam.Tried{Given: c, Step: len(c.Steps) - 1}
				if tried.Stopped, tried.By, err = play(p.Ctx, d, strings.TrimSuffix(s.Name, ".jsonl"), c); err != nil {
					return interlock.Errorf(interlock.CodeUnavailable, "", "case %s could not be played: %v", c.ID, err)
				}
				// What is refused for another reason than the one that it is about was not tried.
				if why := c.Steps[tried.Step].Description; tried.Stopped && !strings.Contains(tried.By, why) {
					tried.Untried = "it was refused for another reason: " + tried.By
				}
				b.Tried = append(b.Tried, tried)
			}
			batches = append(batches, b)
		}
		return nil
	})
	return batches, err
}

// play plays one scenario: before a judge, or in a home that a council governs.
func play(ctx context.Context, d *conform.Driver, home string, c redteam.Given) (stopped bool, by string, err error) {
	if c.Steps[0].Via == "judge" && len(c.Steps) == 2 {
		if c.Expect == "stop" && c.Steps[0].Text() != "" { // after a few answers that are none, a judge is not asked for a while
			home = c.ID
		}
		return conform.Persuade(ctx, d, home, c.Steps[1].Text(), c.Steps[0].Text())
	}
	var tries []mace.Try
	for _, step := range c.Steps {
		try := mace.Try{By: step.Via}
		if json.Unmarshal(step.Input, &try.Words) != nil {
			if err := json.Unmarshal(step.Input, &try); err != nil {
				return false, "", err
			}
		}
		tries = append(tries, try)
	}
	return mace.Cheat(ctx, d, home, tries)
}
