package answer

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

type BlockCommand struct {
	List blockList `cmd:"" help:"List the agents that are blocked, and those that pause until a code is given."`
	Code blockCode `cmd:"" help:"Have a fresh code shown here, signed with an operator's SSH key."`
	Lift blockLift `cmd:"" help:"End a hard block without a code, signed with an admin's SSH key."`
}

type blockList struct {
	cli.ListFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists what is in force.
func (c *blockList) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	standing, err := backend.Challenges(p.Ctx, c.Limit())
	if err != nil {
		return err
	}
	defer c.More(p, standing.More())
	challenges := standing.Rows
	for i := range challenges {
		challenges[i].CodeHash = "" // there is nothing to learn from it
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, cli.OrEmpty(challenges))
	}
	if len(challenges) == 0 {
		_, err := io.WriteString(p.Stdout, "nobody is blocked\n")
		return err
	}
	at := cli.Now()
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CHALLENGE\tKIND\tAGE\tAGENT\tFOR\tCODE WENT TO\tACTION\tREASON")
	for _, held := range challenges {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", held.ID, held.Kind, cli.Span(at.Sub(held.Created)),
			cli.Printable(held.Requester.Agent),
			cli.Printable(held.Requester.Principal), channelsOf(held), cli.Brief(held.Display), cli.Printable(held.Reason))
	}
	return table.Flush()
}

// channelsOf says where the code in force went.
func channelsOf(c interlock.Challenge) string {
	if len(c.Channels) == 0 {
		return "nobody"
	}
	return cli.Printable(strings.Join(c.Channels, ", "))
}

// challengeFlags are what code and lift share.
type challengeFlags struct {
	ID string `arg:"" help:"The challenge's id, as interlock block list shows it."`
	cli.OrderFlags
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
}

// order gives an order about a challenge. The whole of it is shown first, on the error stream.
func (c *challengeFlags) order(p *cli.Program, verb interlock.Verb) (given quorum.Given, done core.Carried, err error) {
	backend, err := p.Open()
	if err != nil {
		return given, done, err
	}
	defer backend.Close()
	standing, err := backend.Ground(p.Ctx, ledger.Ref{Kind: ledger.Challenge, Key: c.ID})
	if err != nil {
		return given, done, err
	}
	challenge, stands := standing.Challenges[c.ID]
	if !stands {
		return given, done, interlock.Errorf(interlock.CodeNotFound, "ID",
			"no challenge with this id stands; `interlock block list` lists them")
	}
	if err := printChallenge(p.Stderr, challenge); err != nil {
		return given, done, err
	}
	if given, err = cli.NewOrder(verb, c.ID, "", c.Reason, challenge.Requester); err != nil {
		return given, done, err
	}
	return p.Order(backend, c.OrderFlags, given)
}

// printChallenge shows a challenge to the person who is to order something about it.
func printChallenge(w io.Writer, c interlock.Challenge) error {
	b := cli.Card{Width: 11}
	line := b.Line
	line("challenge", c.ID)
	line("kind", string(c.Kind))
	line("agent", c.Requester.Agent)
	line("principal", c.Requester.Principal)
	line("run", c.Requester.Run)
	line("since", c.Created.UTC().Format(time.RFC3339)+", "+cli.Span(cli.Now().Sub(c.Created))+" ago")
	line("rule", c.Rule)
	line("reason", c.Reason)
	line("request", c.Request)
	line("code", "went to "+channelsOf(c))
	b.Display(c.Display)
	_, err := io.WriteString(w, b.String())
	return err
}

type blockCode struct{ challengeFlags }

// Help is what `interlock block code --help` adds.
func (blockCode) Help() string {
	return "The code replaces the one that was sent. It counts once and for minutes. Whoever has it can let the agent go on, so look at what\n" +
		"the agent wanted before you give it away, and see that no agent can read this terminal."
}

// Run has a code issued and shows it.
func (c *blockCode) Run(p *cli.Program) error {
	_, done, err := c.order(p, interlock.VerbNewCode)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\ncounts once, until %s\n", done.Code, done.Expires.Local().Format("15:04:05"))
	return err
}

type blockLift struct{ challengeFlags }

// Run ends a block.
func (c *blockLift) Run(p *cli.Program) error {
	given, done, err := c.order(p, interlock.VerbUnblock)
	if err != nil {
		return err
	}
	return p.Did(done, given)
}
