package people

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

type SettingsCommand struct {
	Show  settingsShow  `cmd:"" help:"List the settings that govern: what is in force, and what is written and has no effect."`
	Adopt settingsAdopt `cmd:"" help:"Have the settings, as they are now, count as ordered. An admin signs."`
}

type settingsAdopt struct {
	Reason string `required:"" help:"Why, for the record." placeholder:"TEXT"`
	peopleFlags
}

// Help is what `interlock settings adopt --help` adds.
func (settingsAdopt) Help() string {
	return "An admin's signed order that the settings be as they are now: in the settings file and in the flags before this command, as in\n" +
		"interlock --mode monitoring settings adopt. Once somebody governs, settings that are weaker than was ordered have no effect;\n" +
		"stricter ones need no order. Processes that run go on under what they began with: start them again."
}

// Run shows what the order says, and has it signed and carried out.
func (c *settingsAdopt) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	words, list, err := SaySettings(settings)
	if err != nil {
		return err
	}
	backend, err := embedded.OpenToOrder(p.Ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	given, err := cli.NewOrder(interlock.VerbAdoptSettings, governance.SettingsSubject, words.Detail, c.Reason,
		interlock.Requester{})
	if err != nil {
		return err
	}
	given.Aside = words.Aside
	said := "the settings are to be the default"
	if list != "" {
		said = "the settings are to be the default but for:\n" + list
	}
	fmt.Fprintln(p.Stderr, strings.TrimRight(said, "\n"))
	err = orderPeople(p, backend, c.peopleFlags, given, func(ledger.Standing) bool {
		order, err := backend.SettingsOrder(p.Ctx)
		return err == nil && order.Problem == "" && order.Says(words.Detail)
	})
	if err == nil {
		_, err = fmt.Fprint(p.Stdout, "the settings are in force by order; start again what runs, such as `interlock up`\n")
	}
	return err
}

func isPrivate(name string) bool {
	return slices.ContainsFunc(config.Settings(), func(g config.Governing) bool { return g.Name == name && g.Private })
}

// SaySettings says what settings are other than by default, as an order does, and lists them for people, one to a line. Where there are
// none the list is empty.
func SaySettings(c config.Config) (said governance.SaidSettings, list string, err error) {
	departures, err := config.Departures(c)
	if err != nil {
		return said, "", err
	}
	if said.Detail, said.Aside, err = governance.SaySettings(departures, isPrivate); err != nil {
		return said, "", err
	}
	var b strings.Builder
	for _, g := range config.Settings() {
		if _, departs := departures[g.Name]; departs {
			fmt.Fprintf(&b, "  %s: %s\n", g.Name, cli.Printable(g.Shown(c)))
		}
	}
	return said, b.String(), nil
}

type settingsShow struct{}

// Run lists every setting that governs.
func (settingsShow) Run(p *cli.Program) error {
	settings, err := p.Settings()
	if err != nil {
		return err
	}
	backend, err := embedded.OpenBrief(p.Ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	settled := backend.Settled
	switch order := settled.Order; {
	case order.ID == "":
		fmt.Fprintln(p.Stdout, "no admin has ordered any settings")
	case order.Problem != "":
		fmt.Fprintf(p.Stdout, "the order of %s counts no more: %s\n", cli.Printable(order.Operator), order.Problem)
	default:
		fmt.Fprintf(p.Stdout, "as %s ordered on %s (%s)\n", cli.Printable(order.Operator), cli.Day(order.At), order.ID)
	}
	table := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tIN FORCE\tWRITTEN, WITHOUT EFFECT")
	for _, g := range config.Settings() {
		if !g.Governs() {
			continue
		}
		without := "-"
		if slices.ContainsFunc(settled.Refused, func(r embedded.Refusal) bool { return r.Name == g.Name }) {
			without = cli.Printable(g.Shown(settings))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", g.Name, cli.Printable(g.Shown(settled.Config)), without)
	}
	return table.Flush()
}

// SaySettled warns of settings that have no effect, where a command begins that lasts.
func SaySettled(p *cli.Program, backend *embedded.Backend) {
	if said := backend.Settled.Says(); said != "" {
		fmt.Fprintln(p.Stderr, "interlock: "+said)
	}
}
