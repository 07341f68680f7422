package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission/governance"
	"interlock/internal/config"
	"interlock/internal/ledger"
)

type settingsCommand struct {
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
func (c *settingsAdopt) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	words, list, err := saySettings(settings)
	if err != nil {
		return err
	}
	backend, err := embedded.OpenToOrder(p.ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	given, err := newOrder(interlock.VerbAdoptSettings, governance.SettingsSubject, words.Detail, c.Reason, interlock.Requester{})
	if err != nil {
		return err
	}
	given.Aside = words.Aside
	said := "the settings are to be the default"
	if list != "" {
		said = "the settings are to be the default but for:\n" + list
	}
	fmt.Fprintln(p.stderr, strings.TrimRight(said, "\n"))
	err = p.orderPeople(backend, c.peopleFlags, given, func(ledger.Standing) bool {
		order, err := backend.SettingsOrder(p.ctx)
		return err == nil && order.Problem == "" && order.Says(words.Detail)
	})
	if err == nil {
		_, err = fmt.Fprint(p.stdout, "the settings are in force by order; start again what runs, such as `interlock up`\n")
	}
	return err
}

func isPrivate(name string) bool {
	return slices.ContainsFunc(config.Settings(), func(g config.Governing) bool { return g.Name == name && g.Private })
}

// saySettings says what settings are other than by default, as an order does, and lists them for people, one to a line. Where there are
// none the list is empty.
func saySettings(c config.Config) (said governance.SaidSettings, list string, err error) {
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
			fmt.Fprintf(&b, "  %s: %s\n", g.Name, printable(g.Shown(c)))
		}
	}
	return said, b.String(), nil
}

type settingsShow struct{}

// Run lists every setting that governs.
func (settingsShow) Run(p *program) error {
	settings, err := p.settings()
	if err != nil {
		return err
	}
	backend, err := embedded.OpenBrief(p.ctx, settings)
	if err != nil {
		return err
	}
	defer backend.Close()
	settled := backend.Settled
	switch order := settled.Order; {
	case order.ID == "":
		fmt.Fprintln(p.stdout, "no admin has ordered any settings")
	case order.Problem != "":
		fmt.Fprintf(p.stdout, "the order of %s counts no more: %s\n", printable(order.Operator), order.Problem)
	default:
		fmt.Fprintf(p.stdout, "as %s ordered on %s (%s)\n", printable(order.Operator), day(order.At), order.ID)
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tIN FORCE\tWRITTEN, WITHOUT EFFECT")
	for _, g := range config.Settings() {
		if !g.Governs() {
			continue
		}
		without := "-"
		if slices.ContainsFunc(settled.Refused, func(r embedded.Refusal) bool { return r.Name == g.Name }) {
			without = printable(g.Shown(settings))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", g.Name, printable(g.Shown(settled.Config)), without)
	}
	return table.Flush()
}

// saySettled warns of settings that have no effect, where a command begins that lasts.
func (p *program) saySettled(backend *embedded.Backend) {
	if said := backend.Settled.Says(); said != "" {
		fmt.Fprintln(p.stderr, "interlock: "+said)
	}
}
