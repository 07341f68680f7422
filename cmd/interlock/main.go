// Command interlock is the safety interlock between an AI agent's intent and the world: a hook for coding agents, an HTTP
// API, and the tools of the people in charge. `interlock --help` lists the commands; docs/cli.md is their reference.
//
// This package is the only one that wires the others together. main.go holds the command table, program.go what every
// command shares, and each command has a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"interlock/internal/sandbox"
)

func main() {
	if sandbox.Stage(os.Args) { // this process is a sandbox's helper
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// commands is the command line. The doc strings are the help text.
type commands struct {
	Globals

	Up          upCommand          `cmd:"" help:"Serve the console, the HTTP API and MCP on loopback, and the hooks on a unix socket."`
	Witness     witnessCommand     `cmd:"" help:"Cosign the heads of other logs, so that none of them can be cut or have two histories unseen."`
	Hook        hookCommand        `cmd:"" help:"Judge one coding-agent hook call: JSON in, the harness's answer out."`
	MCP         mcpCommand         `cmd:"" name:"mcp" help:"Serve the MCP-AQL safety loop to an MCP client on standard input and output."`
	Gateway     gatewayCommand     `cmd:"" help:"Stand between an MCP client and its servers: every call is decided before it is forwarded."`
	Install     installCommand     `cmd:"" help:"Register the hook in a coding agent's settings, or move a client's MCP servers behind the gateway."`
	Uninstall   uninstallCommand   `cmd:"" help:"Remove the hook from a coding agent's settings, or put a client's MCP servers back."`
	Setup       setupCommand       `cmd:"" help:"Set everything up on this machine, from the programs to the first operator, or take it back."`
	Doctor      doctorCommand      `cmd:"" help:"Prove that the registered hooks fire and gateways refuse, and check store, key and clock."`
	Exec        execCommand        `cmd:"" help:"Decide a command and run it in a sandbox."`
	Check       checkCommand       `cmd:"" help:"Decide without recording. Exits 0 allow, 10 ask, 20 deny, 30 halt."`
	Pending     pendingCommand     `cmd:"" help:"List the requests that wait for a human, or show one whole."`
	Approve     approveCommand     `cmd:"" help:"Say yes to a request, signed with an operator's SSH key."`
	Allow       allowCommand       `cmd:"" help:"Say yes from now on to what a request asked, in this project, within bounds; signed."`
	Deny        denyCommand        `cmd:"" help:"Say no to a request, signed with an operator's SSH key."`
	Block       blockCommand       `cmd:"" help:"List blocked agents, have a code shown, lift a block."`
	Channels    channelsCommand    `cmd:"" help:"List the channels that codes go to, or try them."`
	Grant       grantCommand       `cmd:"" help:"Give, list and end standing grants."`
	Watch       watchCommand       `cmd:"" help:"Show requests and blocks on an operator's terminal as they arise."`
	Rules       rulesCommand       `cmd:"" help:"List, show, test, lint and compare rules."`
	Budgets     budgetsCommand     `cmd:"" help:"List budgets of tokens and money, and how much of them is used."`
	Limits      limitsCommand      `cmd:"" help:"List limits, who has used how much of them, and what would fit."`
	Replay      replayCommand      `cmd:"" help:"Make recorded decisions again, and try other rules on the past."`
	Judge       judgeCommand       `cmd:"" help:"Show and try what a judge holds actions against, and how good it is."`
	Redteam     redteamCommand     `cmd:"" help:"Attack a throw-away home, or this one, with what is made out of a number."`
	CI          ciCommand          `cmd:"" name:"ci" help:"Check a change of rules by their tests, lint and the past; prints Markdown."`
	Kill        killCommand        `cmd:"" help:"Stop everything, at once or in steps; say what is stopped; let it go on."`
	Phase       phaseCommand       `cmd:"" help:"Show and change phases: what is isolated, supervised or stopped."`
	Breaker     breakerCommand     `cmd:"" help:"Show, trip and reset the breakers of agents and types."`
	Digest      digestCommand      `cmd:"" help:"Sum up what was decided, what was new and what moved within a day."`
	Anomaly     anomalyCommand     `cmd:"" help:"Show how unusual what agents do is, against what they did before."`
	Rollback    rollbackCommand    `cmd:"" help:"Say what has to be undone of a compromised agent and all downstream, and record how that goes."`
	Request     requestCommand     `cmd:"" help:"Ask for acts of governance, vote on them, and carry out what is approved."`
	Hold        holdCommand        `cmd:"" help:"List, set and clear holds: nothing is decided or made again under what is held."`
	Report      reportCommand      `cmd:"" help:"Record what somebody reports to be wrong, list it, say what becomes of it."`
	Audit       auditCommand       `cmd:"" help:"Read, prove, verify and export the log."`
	Settings    settingsCommand    `cmd:"" help:"Show which settings are in force, and have them count as ordered."`
	Operator    operatorCommand    `cmd:"" help:"Add, list and revoke the people who may answer requests."`
	Agent       agentCommand       `cmd:"" aliases:"agents" help:"Add, list and revoke agents and their tokens."`
	Messages    messagesCommand    `cmd:"" help:"List and show the messages that agents have sent each other."`
	Plans       plansCommand       `cmd:"" help:"List and show what runs are to do, step by step, and what of it can't be undone."`
	Commitments commitmentsCommand `cmd:"" help:"List what agents have decided and are held to, and unlock what went to and fro."`
	Runs        runsCommand        `cmd:"" help:"List and show the runs that agents have registered or were delegated."`
	Trust       trustCommand       `cmd:"" help:"Show, raise and lower how far agents are trusted."`
	Tools       toolsCommand       `cmd:"" help:"Show, approve and quarantine the tools of the servers behind the gateway."`
	Conformance conformanceCommand `cmd:"" help:"Judge the program against a specification, or print evidence for its conformance runner."`
	MASO        masoCommand        `cmd:"" name:"maso" help:"Test this program by MASO Execution Control, and report how far this home is by it."`
	Completion  completionCommand  `cmd:"" help:"Print what completes commands and flags in bash, zsh or fish."`
	Help        helpCommand        `cmd:"" help:"Show help: interlock help COMMAND."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
}

// Globals are the flags every command understands.
type Globals struct {
	Home       string `help:"Directory of store, keys and settings." env:"INTERLOCK_HOME" type:"path" placeholder:"DIR"`
	Config     string `help:"Settings file instead of interlock.yaml in the home directory." type:"path" placeholder:"FILE"`
	RulesDir   string `name:"rules" help:"Directory of rules to add to the defaults." type:"path" placeholder:"DIR"`
	Profile    string `help:"Base verdicts: guard, supervised, managed, autonomous, mace-stage1 or asa." placeholder:"NAME"`
	Mode       string `help:"enforcing, monitoring, logging or disabled." placeholder:"MODE"`
	Unattended bool   `help:"Nobody is there to answer: every ask is refused with a request id."`
}

// exitCode carries a process exit status through Run methods. A nil err prints nothing.
type exitCode struct {
	code int
	err  error
}

func (e *exitCode) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

// usage wraps an error as misuse of the command line: exit status 2.
func usage(err error) error { return &exitCode{code: 2, err: err} }

// run is the program as a function: everything it touches comes in as a value, and it returns the exit status.
func run(ctx context.Context, args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&program{ctx: ctx, getenv: getenv, stdin: stdin, stdout: stdout, stderr: stderr, args: args}).run(args)
}

// run is what [run] does, of a program that is made.
func (p *program) run(args []string) int {
	stderr := p.stderr
	// A hook call is on the critical path of every tool call, so it is read without building the command table.
	if len(args) > 0 && args[0] == "hook" {
		if code, done := p.fastHook(args[1:]); done {
			return code
		}
	}
	var c commands
	status := -1
	parser, err := newParser(&c, p, kong.Exit(func(code int) { status = code }))
	if err != nil {
		fmt.Fprintln(stderr, "interlock:", err)
		return 1
	}
	if len(args) == 1 && args[0] == "--version" {
		args = []string{"version"}
	}
	args = asHelp(args)
	parsed, err := parser.Parse(args)
	if status >= 0 { // help was printed
		return status
	}
	if err != nil {
		fmt.Fprintln(stderr, "interlock:", err)
		return 2
	}
	p.globals = c.Globals
	return p.report(p.flagged(asTyped(parsed.Run(p), parsed.Selected())))
}

// newParser reads command lines into c.
func newParser(c *commands, p *program, more ...kong.Option) (*kong.Kong, error) {
	return kong.New(c, append(more, kong.Name("interlock"),
		kong.Description("The safety interlock between an AI agent's intent and the world."),
		kong.Writers(p.stdout, p.stderr), kong.UsageOnError(), kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))...)
}

// report prints what a command ended with and turns it into the exit status.
func (p *program) report(err error) int {
	var exit *exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintln(p.stderr, "interlock:", p.printed(exit.err.Error()))
		}
		return exit.code
	default:
		fmt.Fprintln(p.stderr, "interlock:", p.printed(err.Error()))
		return 1
	}
}
