package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"interlock/internal/config"
	"interlock/internal/sandbox"
)

// printed tells whether sandboxes work here and what stops what. Its exit status is 1 where they don't.
func (c *execCommand) printed(p *program, settings config.Config) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	features := sandbox.Probe(p.ctx, filepath.Join(settings.Home, "sandbox"), self)
	if c.JSON {
		err = writeLine(p.stdout, struct {
			sandbox.Features
			Walls      []sandbox.Wall `json:"walls"`
			NotCovered []string       `json:"not_covered"`
		}{features, sandbox.WallList(), sandbox.NotCovered()})
	} else {
		err = p.printReport(features)
	}
	if err == nil && !features.Works {
		return &exitCode{code: 1}
	}
	return err
}

func (p *program) printReport(f sandbox.Features) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name, value string) { fmt.Fprintf(table, "%s\t%s\n", name, value) }
	row("system", f.System)
	row("sandboxes", yesOr(f.Missing))
	if f.Works {
		row("bubblewrap", f.Bubblewrap)
		row("memory held by", f.Walls.Memory)
		row("processes held by", f.Walls.Processes)
		row("throw-away copies", yesOr(f.NoOverlay))
		row("hosts through the proxy", yesOr(f.NoNetwork))
	}
	fmt.Fprintf(table, "\nWHAT IS TRIED\tWHAT STOPS IT\tWITHOUT THAT\n")
	for _, wall := range sandbox.WallList() {
		fmt.Fprintf(table, "%s\t%s\t%s\n", wall.Attack, wall.By, wall.Without)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	b.WriteString("\nNot covered:\n")
	for _, line := range sandbox.NotCovered() {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	_, err := fmt.Fprint(p.stdout, b.String())
	return err
}

func yesOr(missing string) string {
	if missing == "" {
		return "work"
	}
	return "don't work: " + missing
}
