package main

import (
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

type runsExtend struct {
	orderFlags
	ID     string        `arg:"" help:"The run's id." placeholder:"ID"`
	For    time.Duration `required:"" help:"How much time it has from now on, such as 30m." placeholder:"DURATION"`
	Reason string        `required:"" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool          `name:"json" help:"Print JSON."`
}

// Help is what `interlock runs extend --help` adds.
func (runsExtend) Help() string {
	return "A signed order, recorded as RUN_CHANGED. A run is given at most as much at once as its agent's type lets (time_box), or a day.\n" +
		"What it had asked before its time was over stays withdrawn: its agent asks again. What it has delegated is given more by itself."
}

// Run gives a run more time.
func (c *runsExtend) Run(p *program) error {
	return runOrder(p, c.orderFlags, c.ID, admission.ExtendDetail(c.For), c.Reason, c.JSON, "the run %s goes on, by order of %s")
}

type runsAccept struct {
	orderFlags
	ID     string `arg:"" help:"The run's id." placeholder:"ID"`
	Digest string `arg:"" help:"The digest of the constraints, as the refused checkpoint names it." placeholder:"DIGEST"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock runs accept --help` adds.
func (runsAccept) Help() string {
	return "A signed order, recorded as RUN_CHANGED. The run's next checkpoint may have exactly these constraints, which hold from then on."
}

// Run accepts constraints.
func (c *runsAccept) Run(p *program) error {
	return runOrder(p, c.orderFlags, c.ID, admission.AcceptDetail(interlock.Digest(c.Digest)), c.Reason, c.JSON,
		"the next checkpoint of the run %s may have these constraints, by order of %s")
}

// runOrder gives an order about a run.
func runOrder(p *program, who orderFlags, id, detail, reason string, asJSON bool, says string) error {
	if !ledger.Registered(id) {
		return interlock.Errorf(interlock.CodeInvalid, "ID", "is no id of a registered run: run_ and 24 digits")
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, err := newOrder(interlock.VerbChangeRun, id, detail, reason, interlock.Requester{})
	if err != nil {
		return err
	}
	given, done, err := p.order(backend, who, given)
	if err != nil {
		return err
	}
	return p.moved(asJSON, given, done, says)
}
