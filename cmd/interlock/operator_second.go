package main

import (
	"interlock"
)

type operatorSecond struct {
	What string `arg:"" help:"The digest of what another team is to order, as the refusal of that order, or interlock grant range --show, prints it."`
	orderFlags
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock operator second --help` adds.
func (operatorSecond) Help() string {
	return "From tier 2 on, rules, settings and pre-approved ranges that weaken how actions are classified take people of two teams. This is the\n" +
		"first word, and counts for a day, for exactly what the digest names; an admin of another team then gives the order itself."
}

// Run signs the order and has it carried out.
func (c *operatorSecond) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, err := newOrder(interlock.VerbSecond, c.What, "", c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	given, done, err := p.order(backend, c.orderFlags, given)
	if err != nil {
		return err
	}
	return p.done(done, "%s has seconded it; somebody of another team orders it within a day", given.Operator)
}
