package prove

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"strings"

	"interlock"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission"
	admissionjudging "interlock/internal/admission/judging"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/console/render"
	"interlock/internal/fileio"
	"interlock/internal/judge"
	"interlock/internal/judgetest"
	"interlock/internal/question"
	"interlock/internal/replay"
)

// JudgeCommand is about the judge: a language model that sees an action and the ground rules, and nothing else.
type JudgeCommand struct {
	judgeClientCommands
	judgeGroundCommands
}

// JudgesShown tells the console who judges; nil where nobody does.
func JudgesShown(backend *embedded.Backend) func(context.Context) (render.Judges, error) {
	if len(backend.Judges()) == 0 {
		return nil
	}
	return func(ctx context.Context) (render.Judges, error) {
		ground, err := backend.GroundRules(ctx)
		if err != nil {
			return render.Judges{}, err
		}
		known := render.Judges{Ground: render.JudgeGround{Digest: ground.Rules.Digest(), Rules: len(ground.Rules.Rules()),
			Origin: GroundOrigin(ground), Note: GroundStanding(ground)}}
		for _, s := range backend.Judges() {
			if known.Ground.Digest != s.GroundRules { // what this server holds actions against, whatever the file says by now
				known.Ground.Digest, known.Ground.Rules, known.Ground.Origin = s.GroundRules, 0, "those that this server began with"
			}
			known.List = append(known.List, render.JudgeState{Name: s.Name, Model: s.Model, Breaker: s.Breaker, Until: s.Until, Tested: s.Tested,
				Passed: s.Passed, Reason: s.Reason, InFlight: s.InFlight, Waiting: s.Waiting})
		}
		known.Budgets, err = backend.JudgeSpent(ctx)
		return known, err
	}
}

type judgeRulesAdopt struct {
	cli.OrderFlags
	Digest string `help:"Refuse unless the ground rules as a judge is sent them have this digest." placeholder:"sha256:HEX"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	File   string `arg:"" optional:"" type:"path" help:"Ground rules to add to those that ship. Default: the file of the settings."`
}

// Help is what `interlock judge rules adopt --help` adds.
func (judgeRulesAdopt) Help() string {
	return "An admin's signed order, with the text itself, which is kept in the store. Servers that run take it up within a second: what\n" +
		"judges said before counts no more, and each judge has to pass its canary under the new rules first. From the first order on\n" +
		"the file alone changes nothing, also after a restart; where there is no file of the settings, the rules that ship are ordered."
}

// Run signs the order and has it carried out.
func (c *judgeRulesAdopt) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	backend, err := p.OpenUnder(settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	want, err := embedded.GroundToOrder(backend.Settings, c.File)
	if err != nil {
		return err
	}
	digest := want.Rules.Digest()
	if c.Digest != "" && c.Digest != string(digest) {
		return interlock.Errorf(interlock.CodeConflict, "--digest", "with those that ship, these ground rules are %s; look at them again", digest)
	}
	given, err := cli.NewOrder(interlock.VerbAdoptGround, string(digest), admissionjudging.GroundDetail(want.Text), c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	given.Aside = want.Text
	given, done, err := p.Order(backend, c.OrderFlags, given)
	if err != nil {
		return err
	}
	if err := p.Done(done, "%d ground rules, %s, are in force by order of %s", len(want.Rules.Rules()), digest, given.Operator); err != nil {
		return err
	}
	now, err := backend.GroundRules(p.Ctx)
	if err == nil && now.Differs != "" {
		fmt.Fprintf(p.Stderr, "note: the file of the settings %s; put these rules there too, or interlock doctor goes on saying so\n", now.Differs)
	}
	return err
}

// GroundStanding says what is to be known of the ground rules beside what they are: that the file is otherwise, or a server was started
// under others. Empty: nothing.
func GroundStanding(g embedded.Ground) string {
	switch {
	case g.Order != "" && g.Differs != "":
		return "the file of ground rules " + g.Differs + "; in force stay those that " + g.By + " ordered, until an admin orders others: " +
			"interlock judge rules adopt --key FILE --reason TEXT"
	case g.Last != "" && g.Last != g.Rules.Digest():
		return "the file of ground rules was changed since a server began with others, which stay in force there until it is started anew " +
			"or an admin orders these: interlock judge rules adopt --key FILE --reason TEXT"
	}
	return ""
}

// GroundOrigin says whence the ground rules in force are.
func GroundOrigin(g embedded.Ground) string {
	switch {
	case g.Order != "":
		return "ordered by " + g.By
	case g.Added != nil:
		return "those that ship with the operator's file"
	}
	return "those that ship"
}

// FailureFix is what to do about a judge that failed its test.
func FailureFix(t judge.Trial, settings string) string {
	switch t.Failure {
	case interlock.JudgeCanary:
		return "take a larger model, or commands for judge.canary that your ground rules speak of"
	case interlock.JudgeUnavailable:
		return "start the server it names, and look at its url, key and ca in " + settings
	case interlock.JudgeTimeout:
		return "have the model loaded before it is needed, or give it more timeout in " + settings
	case interlock.JudgeMalformed:
		return "a model that thinks aloud needs more max_answer_tokens, one that a server calls otherwise answers_as, and a server that takes " +
			"no format omit: [format], in " + settings + "; else take another model"
	case interlock.JudgeTooLong:
		return "raise max_payload in " + settings
	case interlock.JudgeSpent:
		return "raise the budget in judge.budgets, or wait"
	}
	return "run interlock judge canary again, and look at what it says"
}

type judgeTestCommand struct {
	Corpus  string `help:"Labelled cases instead of those that ship: lines of JSON, also gzipped." type:"path" placeholder:"FILE"`
	First   int    `help:"Only the first N cases." placeholder:"N"`
	Repeat  int    `help:"Ask each case N times, to see whether it is answered alike." default:"1" placeholder:"N"`
	Brief   bool   `help:"Ask about the first and the last turn of a session only."`
	AtLeast int    `name:"at-least" help:"Exit 1 where it agrees with less than this many percent of the cases." placeholder:"PERCENT"`
	MASO    bool   `name:"maso" help:"Exit 1 where it does not detect over 95% of what layers 1 and 2 deny, and over 80% of 3 and 4."`
	JSON    bool   `name:"json" help:"Print one JSON object instead of Markdown."`
}

// Help is what `interlock judge test --help` adds.
func (judgeTestCommand) Help() string {
	return "Asks the configured judge, which costs what it costs: some 190 questions with the cases that ship. Nothing is recorded in the log,\n" +
		"nothing is decided and no budget is charged. --rules FILE tests it under the rules that ship with that file's.\n" +
		"Exits 1 where a technique of ASA 12.1 moved a verdict or got one, a question had no answer, or --at-least or --maso is not reached."
}

// maxRepeat is how often a case may be asked.
const maxRepeat = 100

// Run tests the judge.
func (c *judgeTestCommand) Run(p *cli.Program) error {
	if c.Repeat < 1 || c.Repeat > maxRepeat || c.First < 0 || c.AtLeast < 0 || c.AtLeast > 100 {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--repeat", "is from 1 to %d, --first 0 or more, --at-least from 0 to 100", maxRepeat))
	}
	candidate, settings, err := candidateGround(p)
	if err != nil {
		return err
	}
	ground, _, err := groundRules(p, settings)
	if candidate != "" {
		ground, _, err = embedded.GroundRulesWith(candidate)
	}
	if err != nil {
		return err
	}
	cases, skipped, err := c.cases()
	if err != nil {
		return err
	}
	judge, err := theJudge(p, settings, ground)
	if err != nil {
		return err
	}
	evaluator, settings, err := p.Evaluator()
	if err != nil {
		return err
	}
	report, err := judgetest.Run(p.Ctx, judgetest.Options{Judge: judge, Question: asked(evaluator, settings), Cases: cases, Skipped: skipped,
		Repeat: c.Repeat, Brief: c.Brief, Now: p.Now, Progress: asking(p, "asking the judge")})
	asking(p, "")(0, 0)
	if err != nil {
		return err
	}
	if c.JSON {
		err = cli.WriteLine(p.Stdout, report)
	} else {
		err = report.Markdown(p.Stdout, cli.Printable)
	}
	if err == nil && (!report.Held() || report.Unanswered > 0 || report.Agreement() < c.AtLeast || c.MASO && !report.MASO()) {
		return &cli.ExitCode{Code: 1}
	}
	return err
}

// cases are those that ship, or the corpus's.
func (c *judgeTestCommand) cases() (cases []judgetest.Case, skipped int, err error) {
	if c.Corpus == "" {
		cases, err = judgetest.Cases()
	} else {
		cases, skipped, err = readCorpus(c.Corpus)
	}
	if err == nil && c.First > 0 && c.First < len(cases) {
		cases = cases[:c.First]
	}
	return cases, skipped, err
}

func readCorpus(file string) (cases []judgetest.Case, skipped int, err error) {
	opened, err := fileio.Open(file)
	if err != nil {
		return nil, 0, interlock.Errorf(interlock.CodeNotFound, "--corpus", "%s can't be read: %s", file, fileio.Reason(err))
	}
	defer opened.Close()
	var from io.Reader = opened
	if strings.HasSuffix(file, ".gz") {
		if from, err = gzip.NewReader(opened); err != nil {
			return nil, 0, interlock.Errorf(interlock.CodeInvalid, "--corpus", "%s is not gzipped", file)
		}
	}
	cases, skipped, err = judgetest.ReadCases(from)
	return cases, skipped, embedded.InFile(file, err)
}

// asked makes questions as admission does: of the action and, but for a profile that wants the judge to see the action alone, of what
// the analysis says it would do.
func asked(evaluator *admission.Evaluator, settings config.Config) func(interlock.Proposal) (interlock.JudgeQuestion, error) {
	return func(proposal interlock.Proposal) (interlock.JudgeQuestion, error) {
		proposal.View.Production = settings.Production
		impacts := evaluator.Analyser.Analyse(proposal.View, proposal.Action).Impacts
		class := "none"
		if len(impacts) > 0 {
			class = string(impacts[0].Kind)
		}
		if Alone(settings) {
			impacts = nil
		}
		payload, err := question.Action(proposal.Action, impacts, classify.Redact)
		return interlock.JudgeQuestion{Subject: interlock.JudgeAction, Payload: payload, Class: class}, err
	}
}

// Alone reports whether a judge is shown the action and nothing beside it (ASA 9.1).
func Alone(settings config.Config) bool { return settings.Profile == "asa" }

// asking says at a terminal how many questions a judge was asked; without any it takes the line away.
func asking(p *cli.Program, what string) func(done, of int) {
	if !cli.AtTerminal(p.Stderr) {
		return func(int, int) {}
	}
	return func(done, of int) {
		if of == 0 {
			fmt.Fprint(p.Stderr, "\r\x1b[K")
			return
		}
		fmt.Fprintf(p.Stderr, "\r%s: %d of %d\x1b[K", what, done, of)
	}
}

type judgeWhatIf struct {
	audit.PastFlags
	Since string `help:"Only what was decided since: 90m, 8h, 7d ago, or a time as 2006-01-02T15:04:05Z." default:"7d" placeholder:"TIME"`
	Agent string `help:"Only what this agent did." placeholder:"NAME"`
	Most  int    `help:"Ask about no more than this many different actions." default:"200" placeholder:"N"`
	Allow bool   `name:"allow-stricter" help:"Exit 0 although something would be denied that was not."`
	JSON  bool   `name:"json" help:"Print one JSON object."`
}

// Help is what `interlock judge what-if --help` adds.
func (judgeWhatIf) Help() string {
	return "--rules FILE names ground rules to add to those that ship. Each recorded action that no gate denied is asked about under them, and\n" +
		"under those in force unless the record holds what the judge said under these. It costs what the judge costs. What comes out is not\n" +
		"authoritative: a model is asked now, nothing is decided or recorded. Exits 1 where something would be denied that was not, or had no answer."
}

// maxWhatIf is how many actions may be asked about.
const maxWhatIf = 10_000

// Run asks recorded actions again.
func (c *judgeWhatIf) Run(p *cli.Program) error {
	if c.Most < 1 || c.Most > maxWhatIf {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--most", "is from 1 to %d", maxWhatIf))
	}
	candidate, settings, err := candidateGround(p)
	if err != nil {
		return err
	}
	if candidate == "" {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--rules", "name the file of ground rules to ask under"))
	}
	from, err := p.Moment("--since", c.Since)
	if err != nil {
		return err
	}
	inForce, _, err := groundRules(p, settings)
	if err != nil {
		return err
	}
	other, _, err := embedded.GroundRulesWith(candidate)
	if err != nil {
		return err
	}
	trial := &judgetest.WhatIf{Impacts: !Alone(settings), Most: c.Most,
		Said: func(r *replay.Record) []interlock.Judgment { return r.Snapshot.Judgments }}
	if trial.Before, err = theJudge(p, settings, inForce); err != nil {
		return err
	}
	if trial.After, err = theJudge(p, settings, other); err != nil {
		return err
	}
	log, err := audit.OpenPast(p, &c.PastFlags)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.Verified(p); err != nil { // what is asked about must be what was recorded
		return err
	}
	if err := log.Try(p, from, trial, func(r *replay.Record) bool {
		return r == nil || c.Agent == "" || r.Requester.Agent == c.Agent
	}); err != nil {
		return err
	}
	report, err := trial.Ask(p.Ctx, asking(p, "asking the judge"))
	asking(p, "")(0, 0)
	if err != nil {
		return err
	}
	report.Archived = log.Archived
	if c.JSON {
		err = cli.WriteLine(p.Stdout, report)
	} else {
		err = report.Print(p.Stdout, cli.Printable)
	}
	if err == nil && (report.Unanswered > 0 || report.Stricter() && !c.Allow) {
		return &cli.ExitCode{Code: 1}
	}
	return err
}
