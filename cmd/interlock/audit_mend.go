package main

import (
	"fmt"

	"interlock"
	"interlock/embedded"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

type auditMendCommand struct {
	orderFlags
	Reason string `help:"Why, for the record. Without it nothing is signed and nothing done." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print what would be done as JSON, and do nothing."`
}

// Help is what `interlock audit mend --help` adds.
func (auditMendCommand) Help() string {
	return "Shows what is wrong beside the log and what mending would do. With --reason an admin's signed order has exactly that done, and is\n" +
		"recorded as STORE_MENDED. What is put back is what the log says, and only where the proofs bear it out; what the log does not say\n" +
		"is left, and takes a backup. Exit status: 0 nothing is wrong or all was mended, 1 something is left."
}

// Run shows what mending would do, and with a reason has it done.
func (c *auditMendCommand) Run(p *program) error {
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if err := backend.Store.Need(store.PartMending); err != nil {
		return err
	}
	plan, err := repairs(p, backend)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := writeLine(p.stdout, plan); err != nil {
			return err
		}
		return leftOver(plan, len(plan) > 0)
	}
	if len(plan) == 0 {
		_, err = fmt.Fprintln(p.stdout, "nothing is wrong beside the log")
		return err
	}
	can := 0
	for _, r := range plan {
		if r.Can {
			can++
		}
		if _, err := fmt.Fprintf(p.stdout, "%s: %s\n", printable(r.Wrong), printable(r.Does)); err != nil {
			return err
		}
	}
	switch {
	case can == 0:
		return interlock.Errorf(interlock.CodeUnavailable, "", "none of this can be mended; put back a backup of the store")
	case c.Reason == "":
		if _, err := fmt.Fprintln(p.stdout, "nothing was done; an admin has it done with: interlock audit mend --reason TEXT"); err != nil {
			return err
		}
		return &exitCode{code: 1}
	}
	given, err := newOrder(interlock.VerbMend, interlock.MendSubject, string(ledger.PlanDigest(plan)), c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	given, done, err := p.order(backend, c.orderFlags, given)
	if err != nil {
		return err
	}
	if err := p.done(done, "%d of %d mended by order of %s", can, len(plan), given.Operator); err != nil {
		return err
	}
	return leftOver(plan, can < len(plan))
}

// repairs is what mending would do now.
func repairs(p *program, backend *embedded.Backend) ([]ledger.Repair, error) {
	said, err := embedded.SaidOf(p.ctx, backend.Store)
	if err != nil {
		return nil, err
	}
	return backend.Store.Mending.Repairs(p.ctx, said)
}

// leftOver is the exit status where something is left that is wrong.
func leftOver(plan []ledger.Repair, left bool) error {
	if left && len(plan) > 0 {
		return &exitCode{code: 1}
	}
	return nil
}
