package main

import (
	"fmt"

	"interlock"
	"interlock/internal/strictjson"
)

// record makes the check that a server makes daily, and prints what the log says of it now.
func (c *auditVerifyCommand) record(p *program) error {
	if c.From != "" || c.Key != "" || len(c.Checkpoint)+len(c.Archive)+len(c.Witness) > 0 || c.Cosigned > 0 {
		return interlock.Errorf(interlock.CodeInvalid, "--record", "goes with --json alone: it checks the home's own log with the home's own key")
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	found, err := backend.CheckIntegrity(p.ctx, p.now())
	if err != nil {
		return err
	}
	if c.JSON {
		line, err := strictjson.Marshal(found)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s\n", line)
	} else {
		fmt.Fprintf(p.stdout, "%s: %d entries, %d with a signature of their own, %d signed heads, %d snapshots\n",
			interlock.EventIntegritySummary, found.Events, found.Signed, found.Heads, found.Snapshots)
	}
	if len(found.Failures) == 0 {
		return nil
	}
	for _, failure := range found.Failures {
		fmt.Fprintf(p.stderr, "%s: %s\n", interlock.EventIntegrity, printable(failure))
	}
	return &exitCode{code: 1}
}

// noteUnsound appends to a log what verification found wrong with it, where this program may write there. That it can't is said, and
// changes nothing of the verdict.
func (p *program) noteUnsound(failure string) {
	backend, err := p.open()
	if err == nil {
		defer backend.Close()
		err = backend.NoteIntegrity(p.ctx, []string{failure})
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "interlock: the failure could not be recorded in the log: %s\n", shown(err))
	}
}
