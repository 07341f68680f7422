package main

import (
	"slices"
	"strings"
	"testing"

	"interlock/cmd/interlock/cli"
)

// TestOneCommandIsMade: a line that names a command makes it alone, whatever flags of every command stand before it, and no command
// has one of those for its own.
func TestOneCommandIsMade(t *testing.T) {
	whole, err := newParser(&cli.Program{}, commandTable())
	if err != nil {
		t.Fatal(err)
	}
	var before []string
	everywhere := map[string]bool{}
	for _, flag := range whole.Model.Flags {
		everywhere[flag.Name] = true
		before = append(before, "--"+flag.Name)
		if !flag.IsBool() {
			before = append(before, "approve") // a value, even where it reads like a command
		}
	}
	for _, row := range commandTable() {
		for _, name := range []string{row.name, row.alias} {
			if rows := commandsFor(append(slices.Clone(before), name, "deny")); name != "" && (len(rows) != 1 || rows[0].name != row.name) {
				t.Errorf("%s: %d commands are made", name, len(rows))
			}
		}
	}
	for _, line := range []string{"", "--help", "nosuch approve", "-x approve", "--nosuch approve", "--home", "--home approve"} {
		if rows := commandsFor(strings.Fields(line)); len(rows) != len(commandTable()) {
			t.Errorf("%q: %d commands are made", line, len(rows))
		}
	}
	for _, leaf := range whole.Model.Leaves(false) {
		for _, flag := range leaf.Flags {
			if everywhere[flag.Name] {
				t.Errorf("%s has --%s of its own", leaf.FullPath(), flag.Name)
			}
		}
	}
}
