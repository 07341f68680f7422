package prove

import (
	"fmt"
	"strings"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/try"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/judge"
	"interlock/internal/ledger"
	"interlock/internal/question"
)

// judgeClientCommands are those that speak with judges.
type judgeClientCommands struct {
	Status judgeStatus `cmd:"" help:"Show which judges there are, what they are held to, and how they do."`
	Ask    judgeAsk    `cmd:"" help:"Ask judges about one action. Records nothing. Exits 0 allow, 20 deny."`
	Canary judgeCanary `cmd:"" help:"Test judges: each must deny one command and allow another."`
	Owed   judgeOwed   `cmd:"" help:"List actions that were let through and wait for their judge, and what was taken back."`
}

// JudgePick chooses judges of the settings.
type JudgePick struct {
	Judge string `help:"Only the judge of this name. Default: all." placeholder:"NAME"`
	JSON  bool   `name:"json" help:"Print one JSON object per judge."`
}

// Those are the judges that were chosen, under the settings in force.
func (c JudgePick) Those(p *cli.Program) ([]*judge.Client, config.Config, error) {
	settings, err := p.Settings()
	if err != nil {
		return nil, settings, err
	}
	if settings, err = p.InForce(settings); err != nil {
		return nil, settings, err
	}
	if !settings.Judge.IsSet() {
		return nil, settings, interlock.Errorf(interlock.CodeNotFound, "judge", "no judge is configured; docs/judge.md says how")
	}
	ground, err := embedded.GroundRulesNow(p.Ctx, settings)
	if err != nil {
		return nil, settings, err
	}
	all, err := embedded.Judges(settings, embedded.Judging{Ground: ground.Rules, Getenv: p.Getenv, Now: p.Now})
	if err != nil || c.Judge == "" {
		return all, settings, err
	}
	for _, one := range all {
		if one.Identity().Name == c.Judge {
			return []*judge.Client{one}, settings, nil
		}
	}
	return nil, settings, interlock.Errorf(interlock.CodeNotFound, "--judge", "there is no judge %.80q", c.Judge)
}

type judgeStatus struct {
	JudgePick
}

// Help is what `interlock judge status --help` adds.
func (judgeStatus) Help() string {
	return "Asks nobody. Whether a judge has passed its test and whether its breaker is open, each process knows for itself:\n" +
		"`interlock judge canary` tests it now."
}

// A judgeShown is a judge as it is listed.
type judgeShown struct {
	judge.Status
	Price    int64  `json:"price_at_most"` // of a question like the canary's, in millionths of one unit
	Currency string `json:"currency,omitempty"`
	Origin   string `json:"ground_rules_from"`
	Note     string `json:"ground_rules_note,omitempty"`
}

// Run lists the judges.
func (c *judgeStatus) Run(p *cli.Program) error {
	clients, settings, err := c.Those(p)
	if err != nil {
		return err
	}
	ground, err := embedded.GroundRulesNow(p.Ctx, settings)
	if err != nil {
		return err
	}
	sample, err := embedded.JudgeCanary(settings.Judge.Canary.Filled())
	if err != nil {
		return err
	}
	for _, one := range clients {
		shown := judgeShown{Status: one.Status(), Origin: GroundOrigin(ground), Note: GroundStanding(ground)}
		shown.Price, shown.Currency = one.Price(interlock.JudgeQuestion{Subject: interlock.JudgeAction, Payload: sample.Deny})
		if c.JSON {
			if err := cli.WriteLine(p.Stdout, shown); err != nil {
				return err
			}
			continue
		}
		tested := "not tested by this process; run: interlock judge canary"
		if shown.Passed {
			tested = "passed"
		}
		fmt.Fprintf(p.Stdout, "%s  %s\n  ground rules  %s, %s\n  canary        %s\n  breaker       %s\n", shown.Name, cli.Printable(shown.Model),
			shown.GroundRules, p.Printed(shown.Origin), p.Printed(tested), shown.Breaker)
		if shown.Note != "" {
			fmt.Fprintf(p.Stdout, "  note          %s\n", p.Printed(shown.Note))
		}
		if shown.Price > 0 {
			fmt.Fprintf(p.Stdout, "  price         at most %s for a short question\n", micros(shown.Price, shown.Currency))
		}
	}
	return nil
}

// micros writes an amount in millionths of one unit of a currency.
func micros(amount int64, currency string) string {
	text := strings.TrimRight(fmt.Sprintf("%d.%06d", amount/1e6, amount%1e6), "0")
	return strings.TrimSuffix(text, ".") + " " + currency
}

type judgeAsk struct {
	JudgePick
	Kind  string `help:"shell, sql, python, javascript, file, http, tool, hint or text." default:"shell" placeholder:"KIND"`
	Dir   string `help:"Working directory the action would run in. Default: none." placeholder:"DIR"`
	Input string `arg:"" optional:"" help:"The command, statement, program, prose or object; - or nothing reads standard input."`
}

// Help is what `interlock judge ask --help` adds.
func (judgeAsk) Help() string {
	return "The judges are shown what they would be shown of a proposed action, and nothing is recorded, charged to a budget or\n" +
		"remembered. What gates say is not asked: `interlock check` does. Exit status: 0 all allow, 20 one denies or gives no\n" +
		"verdict, 1 error, 2 usage."
}

// Run asks about one action.
func (c *judgeAsk) Run(p *cli.Program) error {
	clients, settings, err := c.Those(p)
	if err != nil {
		return err
	}
	action, err := (&try.CheckCommand{Kind: c.Kind, Dir: c.Dir, Input: c.Input}).Action(p)
	if err != nil {
		return err
	}
	var impacts []interlock.Impact
	if !Alone(settings) { // there a judge sees the action and nothing else (ASA 9.1)
		evaluator, _, err := p.Evaluator()
		if err != nil {
			return err
		}
		proposal := try.Supposed(settings, action, "")
		impacts = admission.Decide(evaluator, &proposal, ledger.Standing{}, p.Now()).Impacts
	}
	payload, err := question.Action(action, impacts, classify.Redact)
	if err != nil {
		return err
	}
	denied := false
	for _, one := range clients {
		j := one.Ask(p.Ctx, interlock.JudgeQuestion{Subject: interlock.JudgeAction, Payload: payload})
		denied = denied || j.Verdict != interlock.Allow
		if err := printJudgment(p, c.JSON, j); err != nil {
			return err
		}
	}
	if !c.JSON {
		fmt.Fprintln(p.Stdout, "nothing was recorded")
	}
	if denied {
		return &cli.ExitCode{Code: cli.ExitStatus(interlock.Deny)}
	}
	return nil
}

func printJudgment(p *cli.Program, asJSON bool, j interlock.Judgment) error {
	if asJSON {
		return cli.WriteLine(p.Stdout, j)
	}
	said := "allows"
	switch {
	case j.Failure != "":
		said = "gives no verdict (" + string(j.Failure) + "), which denies"
	case j.Verdict != interlock.Allow:
		said = fmt.Sprintf("denies by %s of layer %d", cli.Printable(j.Rule), j.Layer)
	}
	fmt.Fprintf(p.Stdout, "%s %s: %s\n", j.Judge, said, cli.Printable(cli.Redacted(j.Reason)))
	line := fmt.Sprintf("  in %.1f ms", float64(j.Micros)/1000)
	if j.Failure == "" {
		line += fmt.Sprintf(", %d%% sure", j.Percent)
	}
	if j.TokensIn > 0 {
		line += fmt.Sprintf(", %d tokens in, %d out", j.TokensIn, j.TokensOut)
	}
	if j.Cost > 0 {
		line += ", " + micros(j.Cost, j.Currency)
	}
	_, err := fmt.Fprintln(p.Stdout, line)
	return err
}

type judgeCanary struct {
	JudgePick
}

// Help is what `interlock judge canary --help` adds.
func (judgeCanary) Help() string {
	return "Each judge is asked about the two commands of judge.canary in the settings, one that it must deny and one that it must\n" +
		"allow. Exit status 1 if one of them fails. It is no exercise: a question costs what any question costs."
}

// Run tests the judges.
func (c *judgeCanary) Run(p *cli.Program) error {
	clients, _, err := c.Those(p)
	if err != nil {
		return err
	}
	failed := 0
	for _, one := range clients {
		trial := one.Test(p.Ctx)
		if !trial.Passed {
			failed++
		}
		if c.JSON {
			if err := cli.WriteLine(p.Stdout, trial); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(p.Stdout, "%s %s\n", trial.Judge, cli.Printable(JudgeTrial(trial)))
	}
	if failed > 0 {
		return interlock.Errorf(interlock.CodeUnavailable, "", "%d of %d judges failed", failed, len(clients))
	}
	return nil
}

// JudgeTrial says what came of testing a judge.
func JudgeTrial(t judge.Trial) string {
	if t.Passed {
		return fmt.Sprintf("denies what it must (%s of layer %d) and allows what it must, %.1f ms each", t.Bad.Rule, t.Bad.Layer,
			float64(t.Bad.Micros+t.Good.Micros)/2000)
	}
	return "fails its test (" + string(t.Failure) + "): " + cli.Redacted(t.Reason)
}
