package main

import (
	"slices"

	"github.com/alecthomas/kong"
)

// helpGroups is in which order and under which headings the commands stand in `interlock --help`. What stands nowhere here
// comes last, under a heading of its own.
func helpGroups() []helpGroup {
	return []helpGroup{
		{"Begin:", []string{"setup", "install", "uninstall", "doctor", "up"}},
		{"Try and run:", []string{"check", "exec"}},
		{"Answer:", []string{"pending", "approve", "deny", "request", "allow", "watch", "block", "grant", "channels"}},
		{"Stop:", []string{"kill", "phase", "breaker", "rollback"}},
		{"Rules:", []string{"rules", "limits", "budgets", "judge", "replay", "ci", "redteam"}},
		{"Who may do what:", []string{"operator", "agent", "trust", "tools", "runs", "messages", "plans", "commitments", "settings"}},
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
func (helpCommand) Run(*program) error { return nil }

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
