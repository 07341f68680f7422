package main

import (
	"fmt"
	"strconv"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

type commitmentsCommand struct {
	List   commitmentsList   `cmd:"" default:"withargs" help:"List what was decided where the rules hold agents to it, newest first."`
	Unlock commitmentsUnlock `cmd:"" help:"Let what went to and fro, and is locked, be decided anew."`
}

type commitmentsList struct {
	listFlags
	Locked bool `help:"Those that are locked alone."`
	JSON   bool `name:"json" help:"Print JSON."`
}

// Run lists commitments.
func (c *commitmentsList) Run(p *program) error {
	opened, _, err := p.auditStore()
	if err != nil {
		return err
	}
	defer opened.Close()
	mark := ledger.All
	if c.Locked {
		mark = ledger.CommitmentsLocked
	}
	list, err := admission.CommitmentsUnder(p.ctx, opened, mark, c.limit())
	if err != nil {
		return err
	}
	defer c.more(p, list.More())
	if c.JSON {
		return writeLine(p.stdout, append([]ledger.CommitmentBody{}, list.Rows...))
	}
	if len(list.Rows) == 0 {
		_, err = fmt.Fprintln(p.stdout, "nothing is committed")
		return err
	}
	t, at := newTable("COMMITMENT", "RULE", "AGE", "STATE", "REVERSED", "AGENT*", "CHOICE**", "ABOUT**"), now()
	for _, l := range list.Rows {
		state := "stands"
		if !l.Locked.IsZero() {
			state = "locked"
		}
		t.row(l.Name, printable(l.Rule), age(at.Sub(l.At)), state, strconv.Itoa(len(l.Reversals)), printable(l.Agent), printable(l.Says),
			printable(l.About))
	}
	s := p.screen()
	t.print(s)
	return s.show()
}

type commitmentsUnlock struct {
	orderFlags
	Name   string `arg:"" help:"The commitment, as it is listed." placeholder:"NAME"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock commitments unlock --help` adds.
func (commitmentsUnlock) Help() string {
	return "A signed order, recorded as COMMITMENT_UNLOCKED. What was decided last stands, and may be reversed as often as one that was made anew."
}

// Run unlocks a commitment.
func (c *commitmentsUnlock) Run(p *program) error {
	return holdOrder(p, c.orderFlags, interlock.VerbUnlockCommitment, c.Name, c.Reason, "%s is unlocked, by order of %s")
}
