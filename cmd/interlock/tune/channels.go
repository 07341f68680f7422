package tune

import (
	"fmt"
	"text/tabwriter"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/notice"
)

type ChannelsCommand struct {
	Test bool `help:"Send a notice without a code through each channel, and say which took it."`
	JSON bool `name:"json" help:"Print one JSON object per line."`
}

// Help is what `interlock channels --help` adds.
func (ChannelsCommand) Help() string {
	return "Lists the channels that codes go to, in the order they are tried. With --test it exits 1 if one of them fails: better now than when\n" +
		"an agent is blocked and nobody hears of it."
}

// Run lists the channels, or tries them.
func (c *ChannelsCommand) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	if settings, err = p.InForce(settings); err != nil {
		return err
	}
	channels, err := embedded.Channels(settings)
	if err != nil {
		return err
	}
	list := channels.List()
	if len(list) == 0 && !c.JSON {
		_, err := fmt.Fprintln(p.Stdout, "no channel is configured: a code reaches nobody until an operator asks for one")
		return err
	}
	shown := make([]channelShown, 0, len(list))
	failed := 0
	for _, l := range list {
		one := channelShown{Name: l.Name, Kind: l.Kind, Floor: l.Floor, Always: l.Always}
		if c.Test {
			one.Test = "took it"
			if err := channels.Try(p.Ctx, l.Name,
				notice.Notice{Severity: interlock.TierDangerZone, Kind: "test",
					Requester: interlock.Requester{Agent: "nobody"},
					Reason:    "an operator tries this channel",
					Display:   "Nothing happened and nothing is to be done.\n"}); err != nil {
				one.Test, failed = err.Error(), failed+1
			}
		}
		shown = append(shown, one)
	}
	if err := printChannels(p, c.JSON, shown); err != nil {
		return err
	}
	if failed > 0 {
		return interlock.Errorf(interlock.CodeUnavailable, "", "%d of %d channels failed", failed, len(list))
	}
	return nil
}

// A channelShown is a channel as it is listed.
type channelShown struct {
	Name   string         `json:"name"`
	Kind   string         `json:"kind"`
	Floor  interlock.Tier `json:"floor"`
	Always bool           `json:"always,omitempty"`
	Test   string         `json:"test,omitempty"` // what became of a try
}

func printChannels(p *cli.Program, asJSON bool, list []channelShown) error {
	if asJSON {
		for _, one := range list {
			if err := cli.WriteLine(p.Stdout, one); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, l := range list {
		line := fmt.Sprintf("%s\t%s\tfrom %s", cli.Printable(l.Name), l.Kind, l.Floor)
		if l.Always {
			line += ", always"
		}
		if l.Test != "" {
			line += "\t" + l.Test
		}
		fmt.Fprintln(table, line)
	}
	return table.Flush()
}
