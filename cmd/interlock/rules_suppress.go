package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

type rulesSuppressCommand struct {
	Rule    string `arg:"" help:"Id of the rule, or of a profile's row, as decisions name it."`
	Reason  string `required:"" help:"Why, for the record and for every decision it touches." placeholder:"TEXT"`
	For     string `required:"" help:"How long: 90m, 8h, 7d; at most 90d." placeholder:"TIME"`
	Agent   string `help:"Only for agents this glob matches." placeholder:"GLOB"`
	Path    string `help:"Only where everything the rule objects to lies in this directory." type:"path" placeholder:"DIR"`
	Command string `help:"Only if each command that would run matches this glob as a whole." placeholder:"GLOB"`
	As      string `help:"Order as this operator. Default: the operator whose key signs." placeholder:"NAME"`
	Key     string `help:"Private key file to sign with. Default: the operator's key in the SSH agent." placeholder:"FILE"`
}

// Help is what `interlock rules suppress --help` adds.
func (rulesSuppressCommand) Help() string {
	return "Name at least one of --agent, --path and --command. What protects systems or Interlock itself can't be suppressed, and a rule " +
		"that denies takes an admin. Everything else that objects still does. docs/rules.md says more."
}

// Run signs an order and hands it in. Whether it counts is decided behind Suppress, in the transaction that takes it.
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
	standing, err := backend.Standing(p.ctx)
	if err != nil {
		return err
	}
	id := make([]byte, 6)
	if _, err := io.ReadFull(rand.Reader, id); err != nil {
		return fmt.Errorf("reading randomness: %w", err)
	}
	created := now().UTC().Truncate(time.Second)
	order := interlock.Suppression{ID: "sup_" + hex.EncodeToString(id), Rule: c.Rule, Agent: c.Agent, Path: c.Path,
		Command: c.Command,
		Denials: denies, Reason: c.Reason, Created: created, Expires: created.Add(length)}
	if err := c.sign(p, standing, &order); err != nil {
		return err
	}
	receipt, err := backend.Suppress(p.ctx, order)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s is suppressed %s until %s, by order of %s, recorded as event %s\n", order.ID,
		order.Rule, scopeOf(order),
		order.Expires.Local().Format("2006-01-02 15:04"), order.Operator, receipt.Events[0])
	return err
}

// sign fills in the operator, the key and the signature.
func (c *rulesSuppressCommand) sign(p *program, standing interlock.Standing, order *interlock.Suppression) error {
	answer := answerFlags{As: c.As, Key: c.Key}
	signer, name, err := answer.operator(p, standing, "who may suppress rules")
	if err != nil {
		return err
	}
	defer signer.Close()
	order.Operator, order.Key = name, signer.PublicKey().Fingerprint()
	if err := quorum.MaySuppress(*order, standing.Operators[name], now()); err != nil {
		return err
	}
	order.Statement = quorum.SuppressionStatement(*order)
	order.Signature, err = signer.SignApproval(rand.Reader, order.Statement)
	return err
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
	JSON bool `name:"json" help:"Print one JSON object per line, with what was signed."`
}

// Run lists the orders that have not been lifted, those that have expired marked as such.
func (c *rulesSuppressionsCommand) Run(p *program) error {
	backend, standing, err := p.openStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	orders := oldestFirst(standing.Suppressions, func(s interlock.Suppression) (time.Time, string) { return s.Created, s.ID })
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
	As     string `required:"" help:"The operator who ends it." placeholder:"NAME"`
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
}

// Run ends an order. It makes decisions stricter, so it takes an operator's name and no signature.
func (c *rulesUnsuppressCommand) Run(p *program) error {
	backend, standing, err := p.openStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	if operator, known := standing.Operators[c.As]; !known || !operator.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeUnauthorized, "--as",
			"no operator of this name is in office; `interlock operator list` shows them")
	}
	receipt, err := backend.Lift(p.ctx, c.ID, c.As, c.Reason)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s ended by %s, recorded as event %s\n", printable(c.ID), c.As, receipt.Events[0])
	return err
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
