package answer

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

type GrantCommand struct {
	Give  grantGive  `cmd:"" help:"Say yes in advance within bounds, signed with an operator's SSH key."`
	Range grantRange `cmd:"" help:"Pre-approve a range of a tool's arguments for a type of agents, signed, after somebody of another team seconded it."`
	List  grantList  `cmd:"" help:"List the standing grants and what is left of them."`
	cli.PlainOrders
}

type grantGive struct {
	Request   string   `help:"Grant what this pending request asks, to its requester: the id, as interlock pending lists it." placeholder:"ID"`
	Agent     string   `help:"The agent, if no request is named." placeholder:"NAME"`
	ActingFor string   `help:"Whom the agent acts for. Default: the person it is registered for." placeholder:"WHO"`
	Kind      string   `help:"Kind of the actions, if no request is named: shell, sql, python, javascript, file, http, tool, hint or text." placeholder:"KIND"`
	Tool      string   `required:"" help:"Tool, or for kinds that have text each command; a glob that names something." placeholder:"GLOB"`
	Where     []string `help:"Condition on an argument, such as 'count <= 5' or 'to matches \"*@example.com\"'; all must hold. May be given more than once." sep:"none" placeholder:"CONDITION"`
	Rule      []string `help:"Answer only asks of this rule; may be given more than once. Default: any ask that one approval could answer." placeholder:"ID"`
	Times     int      `required:"" help:"How often in all, at most 1000." placeholder:"N"`
	For       string   `required:"" help:"How long: 90m, 8h, 7d; at most 30d." placeholder:"TIME"`
	cli.OrderFlags
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock grant give --help` adds.
func (grantGive) Help() string {
	return "The grant holds under the rules in force now, for one agent and whom it acts for. It answers what one approval could, and\n" +
		"nothing else: no denial, no code, no second operator. What is signed is shown first."
}

// Run signs a grant and hands it in. Whether it counts is decided behind CarryOut, in the transaction that takes it.
func (c *grantGive) Run(p *cli.Program) error {
	length, err := cli.Period(c.For)
	if err != nil {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--for", "%s", err))
	}
	conditions, err := quorum.ParseConditions(strings.Join(c.Where, "\n"))
	if err != nil {
		return cli.Usage(err)
	}
	backend, standing, err := p.OpenStanding(cli.Ref(ledger.Request, c.Request), cli.Ref(ledger.Agent, c.Agent))
	if err != nil {
		return err
	}
	defer backend.Close()
	id, err := cli.NewID("grt_", 6)
	if err != nil {
		return err
	}
	created := cli.Now().UTC().Truncate(time.Second)
	g := interlock.Grant{ID: id, Ruleset: backend.Rules().Digest(), Tool: c.Tool, Rules: c.Rule, Conditions: conditions,
		Times: c.Times, Left: c.Times, Created: created, Expires: created.Add(length), Reason: c.Reason}
	if err := c.bind(standing, &g); err != nil {
		return err
	}
	if err := quorum.CheckBounds(g); err != nil {
		return cli.Usage(err)
	}
	given, done, err := p.Order(backend, c.OrderFlags, quorum.OfGrant(g))
	if err != nil {
		return err
	}
	return p.Done(done, "%s: granted to %s, %s, until %s, as %s", g.ID, cli.Printable(g.Agent), cli.Plural(g.Times, "time"),
		g.Expires.Local().Format("2006-01-02 15:04"), given.Operator)
}

// bind names the agent, whom it acts for and the kind of action: a request's, or those of the flags.
func (c *grantGive) bind(standing ledger.Standing, g *interlock.Grant) error {
	if c.Request != "" {
		if c.Agent != "" || c.ActingFor != "" || c.Kind != "" {
			return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--request",
				"names the agent and the kind already; leave --agent, --acting-for and --kind out"))
		}
		request, known := standing.Requests[c.Request]
		if !known {
			return interlock.Errorf(interlock.CodeNotFound, "--request",
				"no request that waits has this id; `interlock pending` lists them")
		}
		g.Agent, g.Principal, g.Kind = request.Requester.Agent, request.Requester.Principal, request.Kind()
		return nil
	}
	g.Agent, g.Principal, g.Kind = c.Agent, c.ActingFor, interlock.Kind(c.Kind)
	registered := standing.Agents[c.Agent].Principal
	switch {
	case c.Agent == "" || c.Kind == "":
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--agent",
			"name the agent and the --kind of action, or a --request"))
	case registered != "" && c.ActingFor != "" && c.ActingFor != registered:
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--acting-for", "this agent is registered for %s",
			cli.Printable(registered)))
	case registered != "":
		g.Principal = registered
	case c.ActingFor == "":
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--acting-for",
			"the agent is registered for nobody; say whom it acts for, as decisions name it"))
	}
	return nil
}

type grantList struct {
	cli.ListFlags
	JSON bool `name:"json" help:"Print one JSON object per line, with what was signed."`
}

// Run lists the grants that have not been ended, those that are used up or expired marked as such.
func (c *grantList) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, err := core.Ordered[interlock.Grant](p.Ctx, backend, interlock.VerbGrant, ledger.Every(c.Limit()))
	if err != nil {
		return err
	}
	defer c.More(p, given.More())
	grants := cli.OldestFirst(given.Rows, func(g interlock.Grant) (time.Time, string) { return g.Created, g.ID })
	return cli.PrintList(p.Stdout, c.JSON, "ID\tAGENT\tFOR\tCOVERS\tLEFT\tUNTIL\tBY\tREASON", grants, func(g interlock.Grant) string {
		until := "it is ended"
		if !g.Expires.IsZero() {
			until = g.Expires.Local().Format("2006-01-02 15:04")
		}
		left := fmt.Sprintf("%d of %d", g.Left, g.Times)
		if g.Unlimited() {
			left = "always"
		}
		switch {
		case !g.Expires.IsZero() && !cli.Now().Before(g.Expires):
			until += " (expired)"
		case g.Scope != nil || g.Range != nil:
		case g.Ruleset != backend.Rules().Digest():
			until += " (given under other rules)"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", g.ID, cli.Printable(cmp.Or(g.Agent, g.Order().Subject)),
			cli.Printable(g.Principal), coverage(g), left, until,
			g.Operator, cli.Printable(g.Reason))
	})
}

// coverage says in words what a grant covers.
func coverage(g interlock.Grant) string {
	if r := g.Range; r != nil {
		return rangeCoverage(g)
	}
	if s := g.Scope; s != nil {
		text := string(g.Kind) + " " + cli.Printable(strings.TrimSpace(g.Tool+" "+g.Pattern())) + " in " + cli.Printable(s.Dir)
		if s.Run != "" {
			text += ", in the session " + cli.Printable(s.Run)
		}
		return text + ", asked by " + cli.Printable(strings.Join(g.Rules, " or "))
	}
	parts := []string{string(g.Kind) + " " + cli.Printable(g.Tool)}
	for _, c := range g.Conditions {
		parts = append(parts, cli.Printable(c.Parameter+" "+c.Operator+" "+string(c.Value)))
	}
	if len(g.Rules) > 0 {
		parts = append(parts, "asked by "+cli.Printable(strings.Join(g.Rules, " or ")))
	}
	return strings.Join(parts, ", ")
}

type grantRange struct {
	Type  string   `required:"" help:"The type of agents it is for." placeholder:"NAME"`
	Tool  string   `required:"" help:"The one tool whose arguments are bounded." placeholder:"NAME"`
	Where []string `required:"" help:"Bound of an argument, such as 'count <= 5'; all hold. May be repeated." sep:"none" placeholder:"CONDITION"`
	Free  []string `help:"Argument that may be anything. A call with any other is not covered. May be repeated." placeholder:"NAME"`
	Money string   `help:"What one call may commit at most, in one currency, such as 'EUR 500' or 'EUR 12.50'. Default: no money." placeholder:"AMOUNT"`
	Times int      `help:"How often in all, at most 1000. Default: as often as it comes." placeholder:"N"`
	For   string   `required:"" help:"How long, in whole days: 7d, 30d; at most 90d." placeholder:"TIME"`
	Show  bool     `help:"Only show what would be signed, and its digest for whoever seconds it."`
	cli.OrderFlags
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
}

// Help is what `interlock grant range --help` adds.
func (grantRange) Help() string {
	return "From tier 2 on a range answers what is asked because something is production or goes to others, for every agent of the type. It\n" +
		"never answers what can't be undone, half a cap, the first use of a tool, what a judge flags, or a denial. It takes two teams:\n" +
		"--show prints its digest, somebody of one team gives `interlock operator second DIGEST`, and an admin of another gives this."
}

// Run signs a range and hands it in.
func (c *grantRange) Run(p *cli.Program) error {
	g, err := c.grant()
	if err != nil {
		return cli.Usage(err)
	}
	digest, err := governance.RangeDigest(g)
	if err != nil {
		return err
	}
	if c.Show {
		_, err := fmt.Fprintf(p.Stdout, "%s\n%s for agents of the type %s, for %s\n", digest, coverage(g), cli.Printable(c.Type), c.For)
		return err
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	given, done, err := p.Order(backend, c.OrderFlags, quorum.OfGrant(g))
	if err != nil {
		return err
	}
	return p.Done(done, "%s: agents of the type %s may call %s within these bounds until %s, as %s", g.ID, cli.Printable(c.Type), cli.Printable(c.Tool),
		g.Expires.Local().Format("2006-01-02 15:04"), given.Operator)
}

// grant is what the flags say.
func (c *grantRange) grant() (interlock.Grant, error) {
	length, err := cli.Period(c.For)
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
	id, err := cli.NewID("grt_", 6)
	if err != nil {
		return interlock.Grant{}, err
	}
	created := cli.Now().UTC().Truncate(time.Second)
	g := interlock.Grant{ID: id, Kind: interlock.KindTool, Tool: c.Tool, Conditions: conditions, Range: &r, Times: c.Times, Left: c.Times,
		Created: created, Expires: created.Add(length), Reason: c.Reason}
	return g, quorum.CheckBounds(g)
}

// rangeCoverage says in words what a range covers.
func rangeCoverage(g interlock.Grant) string {
	parts := []string{"tool " + cli.Printable(g.Tool)}
	for _, c := range g.Conditions {
		parts = append(parts, cli.Printable(c.Parameter+" "+c.Operator+" "+string(c.Value)))
	}
	for _, name := range g.Range.Free {
		parts = append(parts, cli.Printable(name)+" free")
	}
	if g.Range.Most > 0 {
		parts = append(parts, "up to "+interlock.Money(g.Range.Most, g.Range.Currency))
	}
	return strings.Join(parts, ", ")
}
