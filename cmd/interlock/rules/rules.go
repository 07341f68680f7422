// Package rules holds the commands about rules.
package rules

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/tune"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// ruleTable lists rules by id.
func ruleTable(rules []*ruleset.Rule) *cli.Table {
	t := cli.NewTable("RULE", "VERDICT", "LAYER", "WHOSE", "REASON**")
	for _, r := range rules {
		whose := "default"
		if r.User() {
			whose = "yours"
		}
		t.Row(r.ID, r.Verdict.String(), fmt.Sprintf("layer %d", r.Layer), whose, cli.Printable(r.Reason))
		t.Styled("VERDICT", cli.VerdictStyle(r.Verdict))
	}
	return t
}

type RulesCommand struct {
	List rulesListCommand `cmd:"" help:"List the rules in force and the digest that names them."`
	Show rulesShowCommand `cmd:"" help:"Show one rule or one profile whole, with its tests."`
	Test rulesTestCommand `cmd:"" help:"Run every rule's own tests through the whole decision."`
	Lint rulesLintCommand `cmd:"" help:"Point at rules that never fire, never decide or fire too widely."`
	Diff rulesDiffCommand `cmd:"" help:"Say what a directory of rules would change."`
	Hits rulesHitsCommand `cmd:"" help:"Count how often each rule objected, from the log."`

	Shadow  rulesShadowCommand  `cmd:"" help:"Have other rules decide beside the ones in force, answering nobody, or say which do."`
	Adopt   rulesAdoptCommand   `cmd:"" help:"Have the rules in the rules directory count as ordered: an admin's signed order."`
	Promote rulesPromoteCommand `cmd:"" help:"Put the rules that decide in the shadow into force: an admin's signed order."`

	Suppress     rulesSuppressCommand     `cmd:"" help:"Keep one rule silent in a scope for a while: an operator's signed order."`
	Suppressions rulesSuppressionsCommand `cmd:"" help:"List the orders by which rules are kept silent."`
	cli.PlainOrders
}

type rulesListCommand struct {
	JSON bool `name:"json" help:"Print one JSON object per line."`
}

// Run lists the rules by id.
func (c *rulesListCommand) Run(p *cli.Program) error {
	set, err := readRules(p)
	if err != nil {
		return err
	}
	if c.JSON {
		for _, r := range set.Rules() {
			if err := cli.WriteLine(p.Stdout, r); err != nil {
				return err
			}
		}
		return nil
	}
	s := p.Screen()
	ruleTable(set.Rules()).Print(s)
	fmt.Fprintf(s, "%d rules, profiles %s, ruleset %s\n", len(set.Rules()), strings.Join(set.Profiles(), " "), set.Digest())
	return s.Show()
}

type rulesShowCommand struct {
	ID string `arg:"" help:"Id of a rule, or name of a profile."`
}

// Run prints a rule or profile as JSON, which is also valid YAML.
func (c *rulesShowCommand) Run(p *cli.Program) error {
	set, err := readRules(p)
	if err != nil {
		return err
	}
	if rule, ok := set.Rule(c.ID); ok {
		return cli.WriteIndented(p.Stdout, rule)
	}
	if profile, ok := set.Profile(c.ID); ok {
		return cli.WriteIndented(p.Stdout, profile)
	}
	return interlock.Errorf(interlock.CodeNotFound, "ID",
		"%.60q is neither a rule nor a profile; `interlock rules list` names them", c.ID)
}

type rulesDiffCommand struct {
	Dir    string `arg:"" optional:"" help:"Directory of YAML rules to compare with the ones in force." type:"path"`
	Shadow bool   `help:"Where the rules that decide in the shadow have parted from the ones in force instead."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Run prints one line per difference; the status is 0 whether there are any or not.
func (c *rulesDiffCommand) Run(p *cli.Program) error {
	switch {
	case c.Shadow == (c.Dir != ""):
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "DIR", "name a directory of rules, or --shadow"))
	case c.Shadow:
		return shadowDiff(p, c.JSON)
	}
	from, err := readRules(p)
	if err != nil {
		return err
	}
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	settings.Rules = c.Dir
	evaluator, err := embedded.NewEvaluator(settings)
	if err != nil {
		return err
	}
	changes, err := ruleset.Diff(from, evaluator.Rules)
	if err != nil {
		return err
	}
	if c.JSON {
		return printChanges(p.Stdout, changes, from.Digest(), evaluator.Rules.Digest())
	}
	for _, change := range changes {
		if _, err := fmt.Fprintf(p.Stdout, "%s %s\n", change.How, change.What); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(p.Stdout, "%d differences; %s -> %s\n", len(changes), from.Digest(), evaluator.Rules.Digest())
	return err
}

// printChanges prints what differs between two rulesets as one JSON object.
func printChanges(w io.Writer, changes []ruleset.Change, from, to interlock.Digest) error {
	type change struct {
		How  string `json:"how"`
		What string `json:"what"`
	}
	list := make([]change, 0, len(changes))
	for _, c := range changes {
		list = append(list, change{c.How, c.What})
	}
	return cli.WriteLine(w, struct {
		From    interlock.Digest `json:"from"`
		To      interlock.Digest `json:"to"`
		Changes []change         `json:"changes"`
	}{from, to, list})
}

// readRules loads the rules in force.
func readRules(p *cli.Program) (*ruleset.Ruleset, error) {
	evaluator, _, err := p.Evaluator()
	if err != nil {
		return nil, err
	}
	return evaluator.Rules, nil
}

type rulesAdoptCommand struct {
	cli.OrderFlags
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock rules adopt --help` adds.
func (rulesAdoptCommand) Help() string {
	return "An admin's signed order that the rules in the rules directory, as they are now, be those in force. Rules that were put there by\n" +
		"hand are nobody's order: the log and doctor say so, and where rules_signed is required they are not in force."
}

// Run signs the order and has it carried out.
func (c *rulesAdoptCommand) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	settings.RulesSigned = config.SigningNoted // so that what the order is about can be looked at
	backend, err := embedded.OpenToAdopt(p.Ctx, settings, p.Clock)
	if err != nil {
		return err
	}
	defer backend.Close()
	documents, err := embedded.UserRules(settings.Rules)
	if err != nil {
		return err
	}
	if len(documents) == 0 {
		return interlock.Errorf(interlock.CodeNotFound, "",
			"there are no rules in the rules directory; the program's own need no order")
	}
	digest, err := governance.DocumentsDigest(governance.Documents(documents))
	if err != nil {
		return err
	}
	given, done, err := p.OrderNew(backend, c.OrderFlags, interlock.VerbAdoptRules,
		string(backend.Rules().Digest()), string(digest), c.Reason)
	if err != nil {
		return err
	}
	return p.Done(done, "%d files of rules, ruleset %s, are in force by order of %s", len(documents), given.Subject, given.Operator)
}

type rulesHitsCommand struct {
	Since string `help:"Count from then on: a length of time ago (90m, 8h, 7d) or a time as 2006-01-02T15:04:05Z." default:"7d" placeholder:"TIME"`
	Until string `help:"Count up to then; likewise. Default: now." placeholder:"TIME"`
	All   bool   `help:"Name rules without a hit too."`
	JSON  bool   `name:"json" help:"Print one JSON object per line."`
}

// Run counts the log's decisions by rule, most hits first.
func (c *rulesHitsCommand) Run(p *cli.Program) error {
	from, err := p.Moment("--since", c.Since)
	if err != nil {
		return err
	}
	until := cli.Now()
	if c.Until != "" {
		if until, err = p.Moment("--until", c.Until); err != nil {
			return err
		}
	}
	byRule := map[string]*auditlog.Hits{}
	if c.All {
		set, err := readRules(p)
		if err != nil {
			return err
		}
		for _, r := range set.Rules() {
			byRule[r.ID] = &auditlog.Hits{Rule: r.ID}
		}
	}
	decisions, err := c.count(p, from, until, byRule)
	if err != nil {
		return err
	}
	return c.print(p, auditlog.Ranked(byRule), decisions)
}

// count goes through the log from its end and counts what was decided in between.
func (c *rulesHitsCommand) count(p *cli.Program, from, until time.Time,
	byRule map[string]*auditlog.Hits) (decisions int, err error) {
	store, _, err := p.AuditStore()
	if err != nil {
		return 0, err
	}
	defer store.Close()
	for before := int64(-1); ; {
		entries, err := store.Entries(p.Ctx, "", ledger.Before(before, tune.HitsPage))
		if err != nil || len(entries) == 0 {
			return decisions, err
		}
		for _, e := range entries {
			before = e.Index
			if auditlog.Released(&e) {
				continue // archived, and not counted
			}
			event, err := auditlog.ParseEvent(e.Body)
			if err != nil {
				return decisions, fmt.Errorf("event %d: %w", e.Index, err)
			}
			if event.Recorded.Before(from) {
				return decisions, nil
			}
			if event.Recorded.After(until) {
				continue
			}
			decided, err := auditlog.ReadDecision(e)
			if err != nil || decided.Canary {
				continue // an event of another type, or one of doctor's
			}
			decisions++
			auditlog.Tally(byRule, decided.Decision, event.Recorded)
		}
		if before == 0 {
			return decisions, nil
		}
	}
}

func (c *rulesHitsCommand) print(p *cli.Program, list []*auditlog.Hits, decisions int) error {
	if c.JSON {
		for _, h := range list {
			if err := cli.WriteLine(p.Stdout, h); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RULE\tASKED\tDENIED\tDECISIVE\tSUPPRESSED\tLAST")
	for _, h := range list {
		last := "-"
		if !h.Last.IsZero() {
			last = h.Last.Local().Format("2006-01-02 15:04")
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%s\n", h.Rule, h.Asked, h.Denied, h.Decisive, h.Suppressed, last)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.Stdout, "%d decisions\n", decisions)
	return err
}
