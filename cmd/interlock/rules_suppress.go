package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

type rulesSuppressCommand struct {
	Rule    string `arg:"" help:"Id of the rule, or of a profile's row, as decisions name it."`
	Reason  string `required:"" help:"Why, for the record and for every decision it touches." placeholder:"TEXT"`
	For     string `required:"" help:"How long: 90m, 8h, 7d; at most 90d." placeholder:"TIME"`
	Agent   string `help:"Only for agents this glob matches." placeholder:"GLOB"`
	Path    string `help:"Only where everything the rule objects to lies in this directory." type:"path" placeholder:"DIR"`
	Command string `help:"Only if each command that would run matches this glob as a whole." placeholder:"GLOB"`
	orderFlags
}

// Help is what `interlock rules suppress --help` adds.
func (rulesSuppressCommand) Help() string {
	return "Name at least one of --agent, --path and --command. What protects systems or Interlock itself can't be suppressed, and a rule " +
		"that denies takes an admin. Everything else that objects still does. docs/rules.md says more."
}

// Run signs an order and hands it in. Whether it counts is decided behind CarryOut, in the transaction that takes it.
func (c *rulesSuppressCommand) Run(p *program) error {
	length, err := period(c.For)
	if err != nil {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--for", "%s", err))
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	denies, err := backend.Rules().Suppressible(c.Rule)
	if err != nil {
		return err
	}
	id, err := newID("sup_", 6)
	if err != nil {
		return err
	}
	created := now().UTC().Truncate(time.Second)
	order := interlock.Suppression{ID: id, Rule: c.Rule, Agent: c.Agent, Path: c.Path, Command: c.Command, Denials: denies,
		Reason: c.Reason, Created: created, Expires: created.Add(length)}
	given, done, err := p.order(backend, c.orderFlags, quorum.OfSuppression(order))
	if err != nil {
		return err
	}
	return p.done(done, "%s: %s is suppressed %s until %s, by order of %s", order.ID, order.Rule, scopeOf(order),
		order.Expires.Local().Format("2006-01-02 15:04"), given.Operator)
}

// scopeOf says in words where an order holds.
func scopeOf(s interlock.Suppression) string {
	var parts []string
	for _, part := range [][2]string{{"for agents ", s.Agent}, {"in ", s.Path}, {"for commands ", s.Command}} {
		if part[1] != "" {
			parts = append(parts, part[0]+printable(part[1]))
		}
	}
	return strings.Join(parts, " ")
}

type rulesSuppressionsCommand struct {
	listFlags
	JSON bool `name:"json" help:"Print one JSON object per line, with what was signed."`
}

// Run lists the orders that have not been lifted, those that have expired marked as such.
func (c *rulesSuppressionsCommand) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, err := admission.Ordered[interlock.Suppression](p.ctx, backend, interlock.VerbSuppress, ledger.Every(c.limit()))
	if err != nil {
		return err
	}
	defer c.more(p, given.More())
	orders := oldestFirst(given.Rows, func(s interlock.Suppression) (time.Time, string) { return s.Created, s.ID })
	return printList(p.stdout, c.JSON, "ID\tRULE\tSCOPE\tBY\tUNTIL\tREASON", orders, func(s interlock.Suppression) string {
		until := s.Expires.Local().Format("2006-01-02 15:04")
		if !s.InForce(now()) {
			until += " (expired)"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", s.ID, s.Rule, scopeOf(s), s.Operator, until, printable(s.Reason))
	})
}

type rulesUnsuppressCommand struct {
	ID     string `arg:"" help:"The suppression's id, as interlock rules suppressions lists it."`
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
	orderFlags
}

// Run ends an order.
func (c *rulesUnsuppressCommand) Run(p *program) error {
	return p.endOrder(interlock.VerbLift, c.ID, c.orderFlags, c.Reason)
}

// period reads a length of time, also in whole days.
func period(text string) (time.Duration, error) {
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 10000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%.40q is no length of time; write one as 90m, 8h or 7d", text)
}
