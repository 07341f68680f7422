package main

import (
	"fmt"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
)

type operatorProbe struct {
	Count  int    `help:"How many questions with seeded errors to put, 1 to 20." default:"5" placeholder:"N"`
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
	Report bool   `help:"Report how many of the seeded errors were found, instead of seeding any."`
	Since  string `help:"How far back the report looks." default:"90d" placeholder:"TIME"`
	JSON   bool   `name:"json" help:"Print the report as one JSON object."`
}

// Help is what `interlock operator probe --help` adds.
func (operatorProbe) Help() string {
	return "The questions look like others and wait among them; each states one thing and does another. Whatever is answered permits nothing,\n" +
		"they are in no count of answers, and the log marks them. The report ends with 1 where not more than 80 % of those answered were found."
}

// Run seeds errors, or reports.
func (c *operatorProbe) Run(p *program) error {
	length, err := period(c.Since)
	if err != nil {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--since", "%s", err))
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if c.Report {
		return c.report(p, backend, now().Add(-length))
	}
	if err := p.person(backend, "probes"); err != nil {
		return err
	}
	ids, err := backend.Probe(p.ctx, c.Count, c.Reason)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s with seeded errors among those that wait; `interlock operator probe --report` says how many were found\n",
		plural(len(ids), "question"))
	return err
}

// report counts from the log.
func (c *operatorProbe) report(p *program, backend *embedded.Backend, since time.Time) error {
	seeded, answers := 0, []interlock.ApprovalRequest(nil)
	err := backend.Store.Walk(p.ctx, func(e interlock.Entry) error {
		switch e.Type {
		case interlock.EventProbe:
			put, at, err := auditlog.ProbesOf(e)
			if err == nil && at.After(since) {
				seeded += len(put)
			}
			return err
		case interlock.EventApproval:
			request, approval, err := auditlog.ApprovalOf(e)
			if err == nil && request.Created.After(since) {
				request.Approval = &approval
				answers = append(answers, request)
			}
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	found := quorum.ProbedOf(seeded, answers)
	if c.JSON {
		err = writeLine(p.stdout, found)
	} else {
		verdict := "PASS"
		if !found.Passed {
			verdict = "FAIL"
		}
		_, err = fmt.Fprintf(p.stdout, "%d seeded, %d answered, %d found, %d approved, %d not answered\nfound  %.0f %% of those answered, more "+
			"than 80 %% is asked for: %s\n", found.Seeded, found.Answered, found.Found, found.Missed, found.Expired, 100*found.Share, verdict)
	}
	if err == nil && !found.Passed {
		err = &exitCode{code: 1}
	}
	return err
}
