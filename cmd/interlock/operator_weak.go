package main

import (
	"fmt"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

type operatorWeak struct {
	What   string `arg:"" enum:"permit,refuse" help:"permit or refuse."`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	peopleFlags
}

// Help is what `interlock operator weak-keys --help` adds.
func (operatorWeak) Help() string {
	return "A key without a passphrase signs for anything of its owner's user, so it signs nothing here unless one home " +
		"is told to let it. That takes\n" +
		"a passkey, in the console, or a security key. What such keys sign from then on is marked in its event."
}

// Run has an order about weak keys signed and carried out.
func (c *operatorWeak) Run(p *program) error {
	address, err := c.address(p)
	if err != nil {
		return err
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	detail, said := admission.WeakKeysMay, "keys without a passphrase may sign here; what they sign is marked\n"
	if c.What == "refuse" {
		detail, said = admission.WeakKeysMayNot, "keys without a passphrase sign nothing here\n"
	}
	given, err := newOrder(interlock.VerbWeakKeys, admission.WeakKeysSubject, detail, c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	err = p.orderPeople(backend, c.peopleFlags, address, given, func(ledger.Standing) bool {
		may, err := backend.WeakKeysMaySign(p.ctx)
		return err == nil && may == (c.What == "permit")
	})
	if err == nil {
		_, err = fmt.Fprint(p.stdout, said)
	}
	return err
}
