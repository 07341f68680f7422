package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"interlock/cmd/interlock/answer"
	"interlock/cmd/interlock/audit"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/people"
	"interlock/cmd/interlock/prove"
	"interlock/cmd/interlock/rules"
	"interlock/cmd/interlock/serve"
	"interlock/cmd/interlock/setup"
	"interlock/cmd/interlock/stop"
	"interlock/cmd/interlock/try"
	"interlock/cmd/interlock/tune"
)

// A commandRow is a command: what it is called, what help says of it in one line, and what makes it. It is made when it is called.
type commandRow struct {
	name  string
	help  string
	make  func() any // a pointer to what kong fills in and whose Run is called
	alias string     // another name, if it has one
}

func of[T any]() any { return new(T) }

// commandTable lists the commands in the order of the reference; helpGroups says where help has them.
func commandTable() []commandRow {
	return []commandRow{
		{"up", "Serve the console, the HTTP API and MCP on loopback, and the hooks on a unix socket.", of[serve.UpCommand], ""},
		{"witness", "Cosign the heads of other logs, so that none of them can be cut or have two histories unseen.",
			of[audit.WitnessCommand], ""},
		{"hook", "Judge one coding-agent hook call: JSON in, the harness's answer out.", of[serve.HookCommand], ""},
		{"mcp", "Serve the MCP-AQL safety loop to an MCP client on standard input and output.", of[serve.MCPCommand], ""},
		{"gateway", "Stand between an MCP client and its servers: every call is decided before it is forwarded.",
			of[serve.GatewayCommand], ""},
		{"install", "Register the hook in a coding agent's settings, or move a client's MCP servers behind the gateway.",
			of[setup.InstallCommand], ""},
		{"uninstall", "Remove the hook from a coding agent's settings, or put a client's MCP servers back.",
			of[setup.UninstallCommand], ""},
		{"setup", "Set everything up on this machine, from the programs to the first operator, or take it back.",
			of[setup.SetupCommand], ""},
		{"doctor", "Prove that the registered hooks fire and gateways refuse, and check store, key and clock.",
			of[setup.DoctorCommand], ""},
		{"exec", "Decide a command and run it in a sandbox.", of[try.ExecCommand], ""},
		{"check", "Decide without recording. Exits 0 allow, 10 ask, 20 deny, 30 halt.", of[try.CheckCommand], ""},
		{"pending", "List the requests that wait for a human, or show one whole.", of[answer.PendingCommand], ""},
		{"approve", "Say yes to a request, signed with an operator's SSH key.", of[answer.ApproveCommand], ""},
		{"allow", "Say yes from now on to what a request asked, in this project, within bounds; signed.", of[answer.AllowCommand], ""},
		{"deny", "Say no to a request, signed with an operator's SSH key.", of[answer.DenyCommand], ""},
		{"block", "List blocked agents, have a code shown, lift a block.", of[answer.BlockCommand], ""},
		{"channels", "List the channels that codes go to, or try them.", of[tune.ChannelsCommand], ""},
		{"grant", "Give, list and end standing grants.", of[answer.GrantCommand], ""},
		{"watch", "Show requests and blocks on an operator's terminal as they arise.", of[answer.WatchCommand], ""},
		{"rules", "List, show, test, lint and compare rules.", of[rules.RulesCommand], ""},
		{"budgets", "List budgets of tokens and money, and how much of them is used.", of[tune.BudgetsCommand], ""},
		{"limits", "List limits, who has used how much of them, and what would fit.", of[tune.LimitsCommand], ""},
		{"replay", "Make recorded decisions again, and try other rules on the past.", of[audit.ReplayCommand], ""},
		{"judge", "Show and try what a judge holds actions against, and how good it is.", of[prove.JudgeCommand], ""},
		{"redteam", "Attack a throw-away home, or this one, with what is made out of a number.", of[prove.RedteamCommand], ""},
		{"ci", "Check a change of rules by their tests, lint and the past; prints Markdown.", of[prove.CICommand], ""},
		{"kill", "Stop everything, at once or in steps; say what is stopped; let it go on.", of[stop.KillCommand], ""},
		{"phase", "Show and change phases: what is isolated, supervised or stopped.", of[stop.PhaseCommand], ""},
		{"breaker", "Show, trip and reset the breakers of agents and types.", of[stop.BreakerCommand], ""},
		{"digest", "Sum up what was decided, what was new and what moved within a day.", of[audit.DigestCommand], ""},
		{"anomaly", "Show how unusual what agents do is, against what they did before.", of[audit.AnomalyCommand], ""},
		{"rollback", "Say what has to be undone of a compromised agent and all downstream, and record how that goes.",
			of[stop.RollbackCommand], ""},
		{"request", "Ask for acts of governance, vote on them, and carry out what is approved.", of[answer.RequestCommand], ""},
		{"hold", "List, set and clear holds: nothing is decided or made again under what is held.", of[audit.HoldCommand], ""},
		{"report", "Record what somebody reports to be wrong, list it, say what becomes of it.", of[audit.ReportCommand], ""},
		{"privacy", "Record what people permit to be kept of them; show, export and delete what is kept.", of[people.PrivacyCommand], ""},
		{"audit", "Read, prove, verify and export the log.", of[audit.AuditCommand], ""},
		{"settings", "Show which settings are in force, and have them count as ordered.", of[people.SettingsCommand], ""},
		{"operator", "Add, list and revoke the people who may answer requests.", of[people.OperatorCommand], ""},
		{"agent", "Add, list and revoke agents and their tokens.", of[people.AgentCommand], "agents"},
		{"module", "List and show agents that are registered as modules: policy, budgets, trust value, status.",
			of[people.ModuleCommand], "modules"},
		{"messages", "List and show the messages that agents have sent each other.", of[people.MessagesCommand], ""},
		{"memory", "List and show the facts that agents keep, hide and take back what derives from a source.",
			of[people.MemoryCommand], ""},
		{"plans", "List and show what runs are to do, step by step, and what of it can't be undone.", of[people.PlansCommand], ""},
		{"commitments", "List what agents have decided and are held to, and unlock what went to and fro.",
			of[people.CommitmentsCommand], ""},
		{"runs", "List and show the runs that agents have registered or were delegated.", of[people.RunsCommand], ""},
		{"trust", "Show, raise and lower how far agents are trusted.", of[tune.TrustCommand], ""},
		{"tools", "Show, approve and quarantine the tools of the servers behind the gateway.", of[tune.ToolsCommand], ""},
		{"conformance", "Judge the program against a specification, or print evidence for its conformance runner.",
			of[prove.ConformanceCommand], ""},
		{"maso", "Test this program by MASO Execution Control, and report how far this home is by it.", of[prove.MasoCommand], ""},
		{"completion", "Print what completes commands and flags in bash, zsh or fish.", of[completionCommand], ""},
		{"help", "Show help: interlock help COMMAND.", of[helpCommand], ""},
		{"version", "Print the version.", of[versionCommand], ""},
	}
}

// commandsFor returns the commands that a command line can be about: the one that it names, or all where none is named and help or an
// error tells what there is.
func commandsFor(args []string) []commandRow {
	all := commandTable()
	for i := 0; i < len(args); i++ {
		flag, isFlag := strings.CutPrefix(args[i], "--")
		switch {
		case !isFlag:
			for _, row := range all {
				if row.name == args[i] || row.alias == args[i] {
					return []commandRow{row}
				}
			}
			return all
		case flag == "unattended" || flag == "help" || strings.Contains(flag, "="):
		case slices.Contains([]string{"home", "config", "rules", "profile", "mode"}, flag):
			i++
		default:
			return all
		}
	}
	return all
}

// newParser reads command lines that are about some of the commands into p.
func newParser(p *cli.Program, rows []commandRow, more ...kong.Option) (*kong.Kong, error) {
	options := append(more, kong.Name("interlock"),
		kong.Description("The safety interlock between an AI agent's intent and the world."),
		kong.Writers(p.Stdout, p.Stderr), kong.UsageOnError(), kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.PostBuild(func(k *kong.Kong) error { cli.Described(k.Model.Node); return nil }))
	for _, row := range rows {
		var tags []string
		if row.alias != "" {
			tags = []string{`aliases:"` + row.alias + `"`}
		}
		command := row.make()
		if group, orders := command.(interface{ Fill(group string) }); orders {
			group.Fill(row.name)
		}
		options = append(options, kong.DynamicCommand(row.name, row.help, "", command, tags...))
	}
	return kong.New(&p.Globals, options...)
}

// helpGroups is in which order and under which headings the commands stand in `interlock --help`. What is nowhere here
// comes last, under a heading of its own.
func helpGroups() []helpGroup {
	return []helpGroup{
		{"Begin:", []string{"setup", "install", "uninstall", "doctor", "up"}},
		{"Try and run:", []string{"check", "exec"}},
		{"Answer:", []string{"pending", "approve", "deny", "request", "allow", "watch", "block", "grant", "channels"}},
		{"Stop:", []string{"kill", "phase", "breaker", "rollback"}},
		{"Rules:", []string{"rules", "limits", "budgets", "judge", "replay", "ci", "redteam"}},
		{"Who may do what:", []string{"operator", "agent", "module", "trust", "tools", "runs", "messages", "memory", "plans", "commitments",
			"privacy", "settings"}},
		{"What happened:", []string{"audit", "digest", "anomaly", "hold", "report"}},
		{"Started by other programs:", []string{"hook", "mcp", "gateway", "witness"}},
	}
}

type helpGroup struct {
	title    string
	commands []string
}

// The last group, of everything else.
const otherCommands = "More:"

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as: audit verify."`
}

// Run is never reached: `help COMMAND` is read as `COMMAND --help`.
func (helpCommand) Run(*cli.Program) error { return nil }

// asHelp reads `help COMMAND` as `COMMAND --help`.
func asHelp(args []string) []string {
	if len(args) == 0 {
		return []string{"--help"}
	}
	if args[0] == "help" && !slices.Contains(args, "--help") {
		return append(slices.Clone(args[1:]), "--help")
	}
	return args
}

// printHelp shows the commands by what they are for, and the flags that every command takes once: with all commands, not with each.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	options.NoExpandSubcommands, options.FlagsLast = true, true
	if ctx.Selected() != nil {
		for _, flag := range ctx.Model.Flags {
			flag.Hidden = flag.Name != "help"
		}
		if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
			return err
		}
		_, err := ctx.Stdout.Write([]byte("\nThe flags of every command, such as --home and --rules: interlock help\n"))
		return err
	}
	var ordered []*kong.Node
	for _, g := range append(helpGroups(), helpGroup{title: otherCommands}) {
		group := &kong.Group{Key: g.title, Title: g.title}
		for _, name := range g.commands {
			if child := childNamed(ctx.Model.Node, name); child != nil {
				child.Group = group
				ordered = append(ordered, child)
			}
		}
		if g.title != otherCommands {
			continue
		}
		for _, child := range ctx.Model.Children {
			if child.Group == nil {
				child.Group = group
				ordered = append(ordered, child)
			}
		}
	}
	ctx.Model.Children = ordered
	return kong.DefaultHelpPrinter(options, ctx)
}
