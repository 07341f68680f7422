package prove

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/internal/archive"
	"interlock/internal/replay"
	"interlock/internal/ruleset"
	"interlock/internal/ruletest"
)

type CICommand struct {
	Against string `help:"The log they are tried on: an export with inputs, an archive or a home. Default: --home." type:"path" placeholder:"DIR"`
	LogKey  string `help:"Public key that must have signed the log. Default: log.pub beside it." type:"path" placeholder:"FILE"`
	Since   string `help:"Only what was decided from then on: a length of time ago (90m, 8h, 7d) or a time as 2006-01-02T15:04:05Z." default:"90d" placeholder:"TIME"`
	Allow   bool   `name:"allow-stricter" help:"Pass although something would be denied or asked about that was not."`
	Looser  bool   `name:"no-looser" help:"Fail as well where something would be allowed, or only asked about, that was not."`
	Anew    bool   `name:"reanalyse" help:"Analyse the recorded actions anew, so that what this program knows of commands counts as well; slower."`
	audit.ArchiveFlags

	Agents    string `help:"Also hold these agents against the rules: a directory of *.json, each the registration of a module." type:"path" placeholder:"DIR"`
	Snapshots string `help:"The snapshots that the change carries. Default: snapshots.json in --rules." type:"path" placeholder:"FILE"`
	Write     bool   `name:"write-snapshots" help:"Write that file, for the change to carry, and check nothing against it."`
}

// Help is what `interlock ci --help` adds.
func (CICommand) Help() string {
	return "Checks a change of rules or agents: the rules' own tests, lint, the classifier's texts, what the policies of agents forbid, " +
		"who may order and answer what, the snapshots that the change carries, and what the rules would have decided about a log. " +
		"Prints a summary in Markdown.\n" +
		"The log must verify, together with the archives that are named; an exported one, or an archive, needs no home. " +
		"Exits 1 where a test or a case fails, lint finds something, the snapshots are others or are missing, or something would be " +
		"denied or asked about that was not."
}

// Run checks the rules and prints the summary.
func (c *CICommand) Run(p *cli.Program) error {
	audit.Spacious()
	evaluator, _, err := p.Evaluator()
	if err != nil {
		return err
	}
	cases, failed := ruletest.Run(evaluator.Rules, evaluator.Analyser)
	found := ruletest.Lint(evaluator.Rules, evaluator.Analyser)
	governance, ungoverned, err := govern(evaluator.Rules)
	if err != nil {
		return err
	}
	texts, misread := ruletest.Classify(evaluator.Texts)
	agents, err := readRegistrations(c.Agents)
	if err != nil {
		return err
	}
	held, unfit := agents.held(evaluator)
	snapshots, strayed, err := c.snapshots(p, evaluator, agents)
	if err != nil {
		return err
	}
	trial := audit.ReplayWhatIf{Since: c.Since, Anew: c.Anew, Verify: true}
	trial.LogKey, trial.ArchiveFlags = c.LogKey, c.ArchiveFlags
	switch {
	case c.Against == "":
	case cli.Exists(filepath.Join(c.Against, audit.ExportedEvents)), archive.Is(c.Against):
		trial.From = c.Against
	default:
		p.Globals.Home = c.Against
	}
	report, err := trial.Report(p, evaluator)
	if err != nil {
		return err
	}
	stricter, looser := stricterLooser(report.Changes)
	passes := len(failed)+len(found)+len(ungoverned)+len(misread)+len(unfit)+len(strayed) == 0 && (c.Allow || stricter == 0) && (!c.Looser || looser == 0) &&
		(report.Decisions > 0 || len(report.Skipped)+report.Archived+report.Sealed == 0) // a log from which nothing can be tried proves nothing
	s := summary{w: p.Stdout}
	s.verdict(passes)
	s.line("\nRuleset `%s`\n\n| check | result |\n|---|---|", report.Ruleset)
	s.line("| the rules' own tests | %d run, %d failed |", cases, len(failed))
	s.line("| lint | %d findings |", len(found))
	s.line("| classifier: texts that it blocks and passes | %d cases, %d failed |", texts, len(misread))
	if c.Agents != "" {
		s.line("| agents: what their policies forbid and allow | %d of them, %d cases, %d failed |", len(agents), held, len(unfit))
	}
	s.line("| governance: who may order and answer what | %d cases, %d failed |", governance, len(ungoverned))
	s.line("| snapshots | %s |", snapshots)
	s.line("| the past: %d decisions since %s | newly denied %d, newly asked %d, newly allowed %d |", report.Decisions, c.Since,
		report.Newly["deny"]+report.Newly["halt"], report.Newly["ask"], report.Newly["allow"])
	if skipped := audit.NotTried(&report); skipped != "" {
		s.line("| not tried | %s |", skipped)
	}
	for _, digest := range slices.Sorted(maps.Keys(report.Under)) {
		s.line("| decided then under %s | %d |", quoted(string(digest)), report.Under[digest])
	}
	s.line("| questions a day | %.1f then, %.1f under these rules |", report.Questions[0], report.Questions[1])
	s.problems("Failed tests", failed)
	s.problems("Lint", found)
	s.problems("Classifier", misread)
	s.problems("Agents", unfit)
	s.problems("Governance", ungoverned)
	s.problems("Snapshots", strayed)
	s.changes(report.Changes)
	if s.err != nil || passes {
		return s.err
	}
	return &cli.ExitCode{Code: 1}
}

// govern runs the cases of governance that ship and those of the rules.
func govern(rules *ruleset.Ruleset) (cases int, failed []ruletest.Problem, err error) {
	list, err := ruletest.ShippedGovernance()
	if err != nil {
		return 0, nil, err
	}
	list = append(list, rules.Governance()...)
	return len(list), ruletest.Govern(list), nil
}

// stricterLooser counts what would have been decided more strictly, and less.
func stricterLooser(changes []replay.Change) (stricter, looser int) {
	for n := range changes {
		if changes[n].Stricter() {
			stricter += changes[n].Count
		} else {
			looser += changes[n].Count
		}
	}
	return stricter, looser
}

// A summary writes Markdown. What comes from the log is shown as code, so that nothing of it is read as markup.
type summary struct {
	w   io.Writer
	err error
}

func (s *summary) line(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format+"\n", args...)
	}
}

func (s *summary) verdict(passes bool) {
	if passes {
		s.line("## Interlock: the rules pass")
	} else {
		s.line("## Interlock: the rules do not pass")
	}
}

func (s *summary) problems(title string, problems []ruletest.Problem) {
	if len(problems) == 0 {
		return
	}
	s.line("\n### %s\n", title)
	for _, problem := range problems {
		s.line("- %s", quoted(fmt.Sprint(problem)))
	}
}

func (s *summary) changes(changes []replay.Change) {
	if len(changes) == 0 {
		return
	}
	s.line("\n### What would have been decided otherwise\n\n| was | now | times | agent | rule | for example |\n|---|---|---:|---|---|---|")
	for n := range changes {
		change := &changes[n]
		e := change.Examples[0]
		s.line("| %s | %s | %d | %s | %s | event %d: %s |", change.Was, change.Now, change.Count, quoted(change.Agent),
			quoted(change.Rule), e.Index, quoted(e.Reason))
	}
}

// quoted is text as code in a line or a cell of Markdown.
func quoted(text string) string {
	clean := strings.NewReplacer("`", "'", "|", "¦", "\n", " ").Replace(cli.Printable(text))
	if clean == "" {
		return ""
	}
	return "`" + clean + "`"
}
