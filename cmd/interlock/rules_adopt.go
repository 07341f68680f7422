package main

import (
	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
)

type rulesAdoptCommand struct {
	orderFlags
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock rules adopt --help` adds.
func (rulesAdoptCommand) Help() string {
	return "An admin's signed order that the rules in the rules directory, as they are now, be those in force. Rules that were put there by\n" +
		"hand are nobody's order: the log and doctor say so, and where rules_signed is required they are not in force."
}

// Run signs the order and has it carried out.
func (c *rulesAdoptCommand) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	settings.RulesSigned = config.SigningNoted // so that what the order is about can be looked at
	backend, err := embedded.OpenToAdopt(p.ctx, settings, p.clock)
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
	digest, err := admission.DocumentsDigest(admission.Documents(documents))
	if err != nil {
		return err
	}
	given, err := newOrder(interlock.VerbAdoptRules, string(backend.Rules().Digest()), string(digest), c.Reason,
		interlock.Requester{})
	if err != nil {
		return err
	}
	given, done, err := p.order(backend, c.orderFlags, given)
	if err != nil {
		return err
	}
	return p.done(done, "%d files of rules, ruleset %s, are in force by order of %s", len(documents), given.Subject, given.Operator)
}
