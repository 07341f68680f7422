package audit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/auditlog"
	"interlock/internal/control"
)

type auditAccessCommand struct {
	cli.OrderFlags
	ID     string `arg:"" help:"The event's id." placeholder:"ID"`
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	Signed bool   `help:"Print the signed order in base64, for the header Interlock-Order at the control door, and read nothing."`
}

// Help is what `interlock audit access --help` adds.
func (auditAccessCommand) Help() string {
	return "An admin's or auditor's signed order, recorded as admin_access_event before anything is read. At HTTP doors an event is told without\n" +
		"what an agent wanted or people wrote; with this order the control door answers it whole."
}

// Run reads an event whole.
func (c *auditAccessCommand) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	entry, found, err := backend.Store.Entry(p.Ctx, c.ID)
	if err == nil && (!found || auditlog.Released(&entry)) {
		err = interlock.Errorf(interlock.CodeNotFound, "ID", "the log has no event of this id, or only in an archive")
	}
	if err != nil {
		return err
	}
	given, err := cli.NewOrder(interlock.VerbReadSealed, control.ReadEvent(entry.ID), "", c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	if given, err = p.Sign(backend, c.OrderFlags, given); err != nil {
		return err
	}
	if c.Signed {
		text, err := json.Marshal(given.Order)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.Stdout, base64.StdEncoding.EncodeToString(text))
		return err
	}
	if _, err := backend.CarryOut(p.Ctx, given, interlock.VerbReadSealed); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", entry.Body)
	return err
}
