package tune

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

type TrustCommand struct {
	Show    trustShow    `cmd:"" help:"Show how far an agent is trusted, and how it came to that."`
	Promote trustPromote `cmd:"" help:"Raise an agent's trust by one level, signed with an operator's SSH key."`
	Demote  trustDemote  `cmd:"" help:"Lower an agent's trust."`
}

type trustShow struct {
	Agent string `arg:"" help:"The agent's name."`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// trustShown is an agent's trust as it is shown.
type trustShown struct {
	Agent   string          `json:"agent"`
	Trust   interlock.Trust `json:"trust"`
	Until   time.Time       `json:"until,omitzero"`
	Expired bool            `json:"expired,omitempty"`
	History []trustStep     `json:"history"`
}

type trustStep struct {
	At       time.Time `json:"at"`
	Before   string    `json:"before"`
	After    string    `json:"after"`
	Operator string    `json:"operator"`
	Evidence string    `json:"evidence,omitempty"`
	Until    string    `json:"until,omitempty"`
	Event    string    `json:"event_id"`
}

// Run shows the level in force and every change of it that the log holds.
func (c *trustShow) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding(cli.Ref(ledger.Agent, c.Agent))
	if err != nil {
		return err
	}
	defer backend.Close()
	agent, known := standing.Agents[c.Agent]
	if !known {
		return interlock.Errorf(interlock.CodeNotFound, "AGENT", "no agent of this name is registered")
	}
	shown := trustShown{Agent: agent.ID, Trust: agent.TrustAt(p.Now()), Until: agent.Until}
	shown.Expired = shown.Trust != agent.Trust
	if shown.History, err = trustHistory(p, backend, c.Agent); err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, shown)
	}
	fmt.Fprintf(p.Stdout, "%s is %s", cli.Printable(shown.Agent), shown.Trust)
	switch {
	case shown.Expired:
		fmt.Fprintf(p.Stdout, " (its certificate expired on %s)", cli.Day(shown.Until))
	case !shown.Until.IsZero():
		fmt.Fprintf(p.Stdout, " until %s", cli.Day(shown.Until))
	}
	fmt.Fprintf(p.Stdout, "; registered %s\n", cli.Day(agent.Created))
	if len(shown.History) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHEN\tFROM\tTO\tBY\tEVIDENCE")
	for _, s := range shown.History {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", s.At.Local().Format("2006-01-02 15:04"), s.Before, s.After, s.Operator,
			cli.OrDash(cli.Printable(s.Evidence)))
	}
	return table.Flush()
}

// trustHistory reads an agent's changes of trust from the log, oldest first.
func trustHistory(p *cli.Program, backend *embedded.Backend, agent string) ([]trustStep, error) {
	const page = 1000
	history := []trustStep{}
	for from := int64(0); ; {
		entries, err := backend.Store.Entries(p.Ctx, "", ledger.From(from, page))
		if err != nil || len(entries) == 0 {
			return history, err
		}
		for _, e := range entries {
			if e.Type != interlock.EventTrust {
				continue
			}
			event, err := auditlog.ParseEvent(e.Body)
			if err != nil {
				return nil, err
			}
			var change struct {
				Agent string `json:"agent"`
				trustStep
			}
			if err := json.Unmarshal(event.Payload, &change); err != nil {
				return nil, fmt.Errorf("reading a change of trust: %w", err)
			}
			if change.Agent == agent {
				change.At, change.Event = event.Recorded, e.ID
				history = append(history, change.trustStep)
			}
		}
		from = entries[len(entries)-1].Index + 1
	}
}

type trustPromote struct {
	Agent    string `arg:"" help:"The agent's name."`
	Evidence string `required:"" help:"What was examined, by whom; for the record." placeholder:"TEXT"`
	To       string `help:"The level; the next one, if not given." placeholder:"LEVEL"`
	For      string `help:"How long a certificate runs: 30d, 90d; at most 400d. Needed for certified." placeholder:"TIME"`
	cli.OrderFlags
}

// Run signs an order and hands it in. Whether it counts is decided behind CarryOut, in the transaction that takes it.
func (c *trustPromote) Run(p *cli.Program) error {
	var until time.Time
	if c.For != "" {
		length, err := cli.Period(c.For)
		if err != nil {
			return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--for", "%s", err))
		}
		until = p.Now().UTC().Add(length).Truncate(time.Second)
	}
	return changeTrust(p, interlock.VerbPromote, c.Agent, c.To, c.Evidence, until, c.OrderFlags)
}

type trustDemote struct {
	Agent  string `arg:"" help:"The agent's name."`
	To     string `required:"" help:"The level: untested, generated, validated or community_reviewed." placeholder:"LEVEL"`
	Reason string `help:"Why, for the record." placeholder:"TEXT"`
	cli.OrderFlags
}

// Run lowers an agent's trust.
func (c *trustDemote) Run(p *cli.Program) error {
	return changeTrust(p, interlock.VerbDemote, c.Agent, c.To, c.Reason, time.Time{}, c.OrderFlags)
}

func changeTrust(p *cli.Program, verb interlock.Verb, name, to, reason string, until time.Time, who cli.OrderFlags) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	standing, err := backend.Ground(p.Ctx, ledger.Ref{Kind: ledger.Agent, Key: name})
	if err != nil {
		return err
	}
	agent, known := standing.Agents[name]
	if !known {
		return interlock.Errorf(interlock.CodeNotFound, "AGENT",
			"no agent of this name is registered; `interlock agent add` registers one")
	}
	before := agent.TrustAt(p.Now())
	level := min(before+1, interlock.TrustCertified)
	if to != "" {
		if err := level.UnmarshalText([]byte(to)); err != nil {
			return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--to", "%v", err))
		}
	}
	given, err := cli.NewOrder(verb, name, governance.TrustDetail(level, until), reason,
		interlock.Requester{Agent: agent.ID, Principal: agent.Principal})
	if err != nil {
		return err
	}
	given, done, err := p.Order(backend, who, given)
	if err != nil {
		return err
	}
	return p.Done(done, "%s: %s, was %s, by order of %s", cli.Printable(name), given.Detail, before, given.Operator)
}
