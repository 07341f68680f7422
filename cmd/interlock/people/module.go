package people

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/ledger"
	"interlock/internal/module"
)

type ModuleCommand struct {
	List moduleList `cmd:"" default:"withargs" help:"List modules, their status and trust value."`
	Show moduleShow `cmd:"" help:"Show one: its policy, services, budgets and how it does."`
}

// moduleHelp says how modules come about.
const moduleHelp = "Agents become modules, and are given more, by requests that people approve: interlock request create module_register\n" +
	"--target agent:NAME --params JSON. See docs/modules.md."

// Help is what `interlock module list --help` adds.
func (moduleList) Help() string { return moduleHelp }

// A moduleLine is a module as it is shown: its registration and how it does.
type moduleLine struct {
	Node string `json:"node_id"`
	*interlock.Module
	Status    module.Status `json:"status"`
	Why       string        `json:"status_reason,omitempty"`
	Available module.Value  `json:"availability_score"`
	module.Health
}

// moduleOf is what is known of a module.
func moduleOf(p *cli.Program, backend *embedded.Backend, agent interlock.AgentRecord) (moduleLine, error) {
	name := ledger.HoldName(ledger.HoldAgent, agent.ID)
	standing, err := backend.Ground(p.Ctx, cli.Ref(ledger.Breaker, name), cli.Ref(ledger.Hold, name))
	if err != nil {
		return moduleLine{}, err
	}
	health, status := containment.HealthOf(&standing, agent.ID)
	return moduleLine{Node: agent.ID, Module: agent.Module, Status: status, Why: health.Why(status), Available: health.Available(status, false),
		Health: health}, nil
}

type moduleList struct {
	cli.ListFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists modules.
func (c *moduleList) Run(p *cli.Program) error {
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
	lines := []moduleLine{}
	for _, agent := range registered.Rows {
		if agent.Module == nil || !agent.Revoked.IsZero() {
			continue
		}
		line, err := moduleOf(p, backend, agent)
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, lines)
	}
	if len(lines) == 0 {
		_, err := fmt.Fprintln(p.Stdout, "no agent is registered as a module")
		return err
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MODULE\tTYPE\tVERSION\tSTATUS\tTRUST\tFAILURES\tWHY")
	for _, l := range lines {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", cli.Printable(l.Node), l.Type, cli.Printable(l.Version), l.Status, l.Trust, l.Failures,
			cli.OrDash(l.Why))
	}
	return table.Flush()
}

type moduleShow struct {
	Name string `arg:"" help:"The agent's name." placeholder:"NAME"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help is what `interlock module show --help` adds.
func (moduleShow) Help() string { return moduleHelp }

// Run shows one module.
func (c *moduleShow) Run(p *cli.Program) error {
	backend, standing, err := p.OpenStanding(cli.Ref(ledger.Agent, c.Name))
	if err != nil {
		return err
	}
	defer backend.Close()
	agent := standing.Agents[c.Name]
	if agent.Module == nil || !agent.Revoked.IsZero() {
		return interlock.Errorf(interlock.CodeNotFound, "NAME", "no module of this name is registered; `interlock module list` lists them")
	}
	l, err := moduleOf(p, backend, agent)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, l)
	}
	say := func(name, value string) {
		if value != "" {
			fmt.Fprintf(p.Stdout, "%s: %s\n", name, cli.Printable(value))
		}
	}
	say("module", l.Node)
	say("name", l.Name)
	say("type", l.Type)
	say("version", l.Version)
	say("status", strings.TrimSpace(string(l.Status)+" "+l.Why))
	say("trust", l.Trust.String())
	say("availability", l.Available.String())
	say("failures in a row", strconv.Itoa(l.Failures))
	say("allowed", strings.Join(l.Policy.Allowed, " "))
	say("forbidden", strings.Join(l.Policy.Forbidden, " "))
	say("immutable", strings.Join(l.Policy.Immutable, " "))
	say("services", strings.Join(l.Services, " "))
	for _, b := range l.Budgets {
		say("budget", fmt.Sprintf("%d %s within %ds", b.Most, b.Measure, b.Within))
	}
	say("timeout", fmt.Sprintf("%d ms, %d attempts", l.Timeout, l.Attempts))
	say("registered", l.Registration.By+" "+cli.When(l.Registration.At))
	return nil
}
