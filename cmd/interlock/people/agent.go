package people

import (
	"crypto/rand"
	"fmt"
	"sort"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/identity"
	"interlock/internal/ledger"
)

type AgentCommand struct {
	Add    agentAdd    `cmd:"" help:"Register an agent and print its bearer token, once."`
	List   agentList   `cmd:"" default:"withargs" help:"List agents."`
	Revoke agentRevoke `cmd:"" help:"Refuse an agent's token from now on."`
}

type agentAdd struct {
	Name      string   `arg:"" help:"1 to 64 characters of a-z, 0-9, . _ @ and -."`
	Type      string   `help:"Harness or program, such as claude." placeholder:"TYPE"`
	Trust     string   `help:"How far it was examined: untested (nothing is allowed), generated (reading), or validated (reversible work, the rest asks). Higher levels are climbed: interlock trust promote." default:"validated" placeholder:"LEVEL"`
	Principal string   `help:"The operator who answers for it, and so can't approve what it asks." placeholder:"NAME"`
	Allow     []string `help:"Glob over tools and commands; if given, nothing else is allowed. May be given more than once." placeholder:"GLOB"`
	Observer  bool     `help:"It proposes nothing: its token tells the control door what it sees of other agents."`
	NoToken   bool     `help:"Only a record, for an agent that comes through the local hook or socket."`
	peopleFlags
}

// Run registers an agent. The token alone goes to standard output, so that TOKEN=$(interlock agent add NAME) works.
func (c *agentAdd) Run(p *cli.Program) error {
	check := identity.CheckName
	if c.NoToken && strings.Contains(c.Name, ":") {
		check = identity.CheckNamed
	}
	if err := check("NAME", c.Name); err != nil {
		return cli.Usage(err)
	}
	for flag, value := range map[string]string{"--type": c.Type, "--principal": c.Principal} {
		if value == "" {
			continue
		}
		if err := identity.CheckName(flag, value); err != nil {
			return cli.Usage(err)
		}
	}
	record := interlock.AgentRecord{ID: c.Name, Type: c.Type, Principal: c.Principal, Allow: c.Allow, Observer: c.Observer, Created: cli.Now().UTC()}
	if err := record.Trust.UnmarshalText([]byte(c.Trust)); err != nil {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--trust", "%v", err))
	}
	if record.Trust > interlock.TrustValidated {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--trust",
			"%s is earned: add the agent as validated and raise it with `interlock trust promote %s`",
			record.Trust, c.Name))
	}
	backend, standing, err := p.OpenStanding(cli.Ref(ledger.Agent, c.Name))
	if err != nil {
		return err
	}
	defer backend.Close()
	if known, taken := standing.Agents[c.Name]; taken && known.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeConflict, "NAME", "an agent has this name; revoke it first to give it a new token")
	}
	token := ""
	if !c.NoToken {
		draw := identity.NewToken
		if c.Observer {
			draw = identity.NewObserverToken
		}
		if token, record.TokenHash, err = draw(rand.Reader); err != nil {
			return err
		}
	}
	if err := c.ordered(p, backend, record); err != nil {
		return err
	}
	if c.NoToken {
		_, err = fmt.Fprintf(p.Stdout, "agent %s added with trust %s and without a token\n", c.Name, record.Trust)
		return err
	}
	fmt.Fprintf(p.Stderr, "agent %s added with trust %s; this is its token, shown once and stored nowhere:\n",
		c.Name, record.Trust)
	_, err = fmt.Fprintln(p.Stdout, token)
	return err
}

// ordered registers an agent by an order of one who governs.
func (c *agentAdd) ordered(p *cli.Program, backend *embedded.Backend, record interlock.AgentRecord) error {
	detail, err := governance.Detail(governance.AgentTerms{Type: record.Type, Principal: record.Principal, Trust: record.Trust,
		Allow: record.Allow, Observer: record.Observer, Token: governance.BindToken(record.TokenHash)})
	if err != nil {
		return err
	}
	given, err := cli.NewOrder(interlock.VerbAddAgent, record.ID, detail, "", interlock.Requester{})
	if err != nil {
		return err
	}
	given.Aside = record.TokenHash
	return orderPeople(p, backend, c.peopleFlags, given, func(s ledger.Standing) bool {
		added := s.Agents[record.ID]
		return added.ID != "" && added.Revoked.IsZero() && added.TokenHash == record.TokenHash
	})
}

type agentList struct {
	cli.ListFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// agentShown is an agent as it is listed: everything but the hash of its token.
type agentShown struct {
	ID        string          `json:"id"`
	Type      string          `json:"type,omitempty"`
	Principal string          `json:"principal,omitempty"`
	Trust     interlock.Trust `json:"trust"`
	Allow     []string        `json:"allow,omitempty"`
	Token     bool            `json:"token"`
	Created   time.Time       `json:"created"`
	Revoked   time.Time       `json:"revoked,omitzero"`
}

// Run lists agents by name.
func (c *agentList) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	registered, err := core.Listed[interlock.AgentRecord](p.Ctx, backend, ledger.Agent, ledger.Every(c.Limit()))
	if err != nil {
		return err
	}
	defer c.More(p, registered.More())
	agents := []agentShown{}
	for _, a := range registered.Rows {
		agents = append(agents, agentShown{a.ID, a.Type, a.Principal, a.Trust, a.Allow, a.TokenHash != "", a.Created, a.Revoked})
	}
	sort.Slice(agents, func(i, j int) bool { return agents[i].ID < agents[j].ID })
	if c.JSON {
		return cli.WriteLine(p.Stdout, agents)
	}
	return agentTable(agents).Show(p)
}

type agentRevoke struct {
	Name string `arg:"" help:"The agent's name."`
	peopleFlags
}

// Run revokes an agent's token.
func (c *agentRevoke) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding(cli.Ref(ledger.Agent, c.Name))
	if err != nil {
		return err
	}
	defer backend.Close()
	record, known := standing.Agents[c.Name]
	if !known || !record.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeNotFound, "NAME", "no agent of this name is registered")
	}
	return revoke(p, backend, c.peopleFlags, "agent", c.Name,
		func(s ledger.Standing) bool { return !s.Agents[c.Name].Revoked.IsZero() })
}

// agentTable lists agents in the order they are given.
func agentTable(agents []agentShown) *cli.Table {
	t := cli.NewTable("NAME", "TYPE*", "TRUST", "OWNER*", "TOKEN", "ALLOW*", "ADDED", "REVOKED")
	for _, a := range agents {
		token := "no"
		if a.Token {
			token = "yes"
		}
		t.Row(a.ID, cli.OrDash(a.Type), a.Trust.String(), cli.OrDash(a.Principal), token,
			cli.OrDash(cli.Printable(strings.Join(a.Allow, " "))),
			cli.Day(a.Created), cli.Day(a.Revoked))
		if !a.Revoked.IsZero() {
			t.Styled("NAME", cli.Faint)
			t.Styled("REVOKED", cli.Red)
		}
	}
	return t
}
