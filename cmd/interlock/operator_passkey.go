package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"interlock"
	"interlock/internal/admission"
)

type operatorPasskey struct {
	List   passkeyList   `cmd:"" help:"List an operator's passkeys."`
	Remove passkeyRemove `cmd:"" help:"Remove one passkey, from now on."`
}

type passkeyList struct {
	Name string `arg:"" help:"The operator's name."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run lists what an operator may log in and sign with in the console.
func (c *passkeyList) Run(p *program) error {
	backend, standing, err := p.openStanding()
	if err != nil {
		return err
	}
	defer backend.Close()
	operator, known := standing.Operators[c.Name]
	if !known {
		return interlock.Errorf(interlock.CodeNotFound, "NAME", "no operator has this name; `interlock operator list` shows them")
	}
	if c.JSON {
		return writeLine(p.stdout, orEmpty(operator.Passkeys))
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tMADE\tFOR")
	for _, key := range operator.Passkeys {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", printable(key.ID), printable(key.Name), day(key.Created), printable(key.RelyingID))
	}
	return table.Flush()
}

type passkeyRemove struct {
	Name string `arg:"" help:"The operator's name."`
	ID   string `arg:"" optional:"" help:"The passkey's id, as interlock operator passkey list shows it."`
	All  bool   `help:"Remove every one."`
	peopleFlags
}

// Help is what `interlock operator passkey remove --help` adds.
func (passkeyRemove) Help() string {
	return "For a device that was lost. Its sessions end, and what it approved and nobody has used yet counts no longer. The operator stays;\n" +
		"`interlock operator enrol NAME` registers another passkey."
}

// Run removes a passkey.
func (c *passkeyRemove) Run(p *program) error {
	said := "passkey " + printable(c.ID)
	switch {
	case c.All == (c.ID != ""):
		return usage(interlock.Errorf(interlock.CodeInvalid, "ID", "name one passkey, or give --all"))
	case c.All:
		c.ID, said = admission.AllPasskeys, "every passkey"
	}
	err := p.change(c.Name, c.peopleFlags, admission.OperatorTerms{Passkey: c.ID}, func(o interlock.OperatorRecord) bool {
		return len(o.Passkeys) == 0 || !c.All && !slices.ContainsFunc(o.Passkeys, func(k interlock.Passkey) bool { return k.ID == c.ID })
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s of operator %s removed\n", said, c.Name)
	return err
}
