package phase_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"interlock/internal/phase"
)

// TestTheGuidesTable: the guide names every trigger, as the table does.
func TestTheGuidesTable(t *testing.T) {
	guide, err := os.ReadFile("../../docs/phases.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| on | from | to | when | from tier | whose act |\n|---|---|---|---|---|---|\n"
	for _, row := range phase.Triggers() {
		table += fmt.Sprintf("| %s | %s | %s | %s | %d | %s |\n", row.On, row.From, row.To, row.When, row.Tier, row.By)
	}
	if !strings.Contains(string(guide), table) {
		t.Errorf("docs/phases.md does not hold this table:\n%s", table)
	}
}

// TestTriggersAreNamed once each, and every one that a machine writes into a hold says which it is.
func TestTriggersAreNamed(t *testing.T) {
	var ids []string
	for _, row := range phase.Triggers() {
		if row.ID == "" || row.When == "" || slices.Contains(ids, row.ID) {
			t.Errorf("%+v", row)
		}
		if row.By == phase.ByMachine && row.Name == "" {
			t.Errorf("%s names no trigger", row.ID)
		}
		if !slices.Contains([]string{phase.ByMachine, phase.ByPeople, phase.ByObserver, phase.Later}, row.By) {
			t.Errorf("%s is whose act?", row.ID)
		}
		ids = append(ids, row.ID)
	}
}

// TestShared: more than a fifth, and two at least.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		isolated, all int
		want          bool
	}{{2, 9, true}, {2, 10, false}, {3, 10, true}, {1, 1, false}, {2, 2, true}, {0, 0, false}, {200, 1000, false}, {201, 1000, true}} {
		if got := phase.Shared(c.isolated, c.all); got != c.want {
			t.Errorf("%d of %d: %v", c.isolated, c.all, got)
		}
	}
}
