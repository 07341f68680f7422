package main

import (
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/quorum"
)

type grantRange struct {
	Type  string   `required:"" help:"The type of agents it is for." placeholder:"NAME"`
	Tool  string   `required:"" help:"The one tool whose arguments are bounded." placeholder:"NAME"`
	Where []string `required:"" help:"Bound of an argument, such as 'count <= 5'; all hold. May be repeated." sep:"none" placeholder:"CONDITION"`
	Free  []string `help:"Argument that may be anything. A call with any other is not covered. May be repeated." placeholder:"NAME"`
	Money string   `help:"What one call may commit at most, in one currency, such as 'EUR 500' or 'EUR 12.50'. Default: no money." placeholder:"AMOUNT"`
	Times int      `help:"How often in all, at most 1000. Default: as often as it comes." placeholder:"N"`
	For   string   `required:"" help:"How long, in whole days: 7d, 30d; at most 90d." placeholder:"TIME"`
	Show  bool     `help:"Only show what would be signed, and its digest for whoever seconds it."`
	orderFlags
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock grant range --help` adds.
func (grantRange) Help() string {
	return "From tier 2 on a range answers what is asked because something is production or goes to others, for every agent of the type. It\n" +
		"never answers what can't be undone, half a cap, the first use of a tool, what a judge flags, or a denial. It takes two teams:\n" +
		"--show prints its digest, somebody of one team gives `interlock operator second DIGEST`, and an admin of another gives this."
}

// Run signs a range and hands it in.
func (c *grantRange) Run(p *program) error {
	g, err := c.grant()
	if err != nil {
		return usage(err)
	}
	digest, err := admission.RangeDigest(g)
	if err != nil {
		return err
	}
	if c.Show {
		_, err := fmt.Fprintf(p.stdout, "%s\n%s for agents of the type %s, for %s\n", digest, coverage(g), printable(c.Type), c.For)
		return err
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, done, err := p.order(backend, c.orderFlags, quorum.OfGrant(g))
	if err != nil {
		return err
	}
	return p.done(done, "%s: agents of the type %s may call %s within these bounds until %s, as %s", g.ID, printable(c.Type), printable(c.Tool),
		g.Expires.Local().Format("2006-01-02 15:04"), given.Operator)
}

// grant is what the flags say.
func (c *grantRange) grant() (interlock.Grant, error) {
	length, err := period(c.For)
	if err == nil && length%(24*time.Hour) != 0 {
		err = interlock.Errorf(interlock.CodeInvalid, "", "name whole days, such as 30d")
	}
	if err != nil {
		return interlock.Grant{}, interlock.Errorf(interlock.CodeInvalid, "--for", "%s", err)
	}
	conditions, err := quorum.ParseConditions(strings.Join(c.Where, "\n"))
	if err != nil {
		return interlock.Grant{}, err
	}
	r := interlock.Range{Type: c.Type, Free: c.Free}
	if c.Money != "" {
		var known bool
		if r.Currency, r.Most, known = quorum.ParseMoney(c.Money); !known {
			return interlock.Grant{}, interlock.Errorf(interlock.CodeInvalid, "--money",
				"write the currency and the amount, such as 'EUR 500' or 'EUR 12.50'")
		}
	}
	id, err := newID("grt_", 6)
	if err != nil {
		return interlock.Grant{}, err
	}
	created := now().UTC().Truncate(time.Second)
	g := interlock.Grant{ID: id, Kind: interlock.KindTool, Tool: c.Tool, Conditions: conditions, Range: &r, Times: c.Times, Left: c.Times,
		Created: created, Expires: created.Add(length), Reason: c.Reason}
	return g, quorum.CheckBounds(g)
}

// rangeCoverage says in words what a range covers.
func rangeCoverage(g interlock.Grant) string {
	parts := []string{"tool " + printable(g.Tool)}
	for _, c := range g.Conditions {
		parts = append(parts, printable(c.Parameter+" "+c.Operator+" "+string(c.Value)))
	}
	for _, name := range g.Range.Free {
		parts = append(parts, printable(name)+" free")
	}
	if g.Range.Most > 0 {
		parts = append(parts, "up to "+interlock.Money(g.Range.Most, g.Range.Currency))
	}
	return strings.Join(parts, ", ")
}
