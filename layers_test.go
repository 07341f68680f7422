package interlock_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"interlock/internal/gate"
	"interlock/spec"
)

const layersIntro = `<!-- Generated from the tables in internal/gate by: go generate . -->
# Layers of control

*sync* layers come before the answer: nothing is permitted without them. *async* layers look at an action while it runs or afterwards and can only
tighten what follows.

`

// layersPage writes docs/reference/layers.md from the tables of layers and gates.
func layersPage() string {
	var page strings.Builder
	page.WriteString(layersIntro + "| layer | timing | what it does | where it fails |\n|---|---|---|---|\n")
	for _, l := range gate.Layers() {
		fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", l.Name, l.Timing, l.Does, l.Fails)
	}
	page.WriteString("\n## Gates\n\nEvery gate is sync, and an error in one denies. The columns say which an order may suppress, " +
		"which need a person each " +
		"time, which a\npre-approved range answers, and whose refusals count towards the agent's breaker.\n\n" +
		"| gate | looks at | may be suppressed | a person answers each time | ranges answer | counts |\n|---|---|---|---|---|---|\n")
	yes := func(is bool) string {
		if is {
			return "yes"
		}
		return ""
	}
	for _, g := range gate.Gates() {
		about := string(g.About)
		if g.About == gate.AboutAgent {
			about = "agent"
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s | %s |\n", g.Name, about, yes(g.Suppressible), yes(g.Each), yes(g.Ranges), yes(g.Counts))
	}
	return page.String()
}

//go:generate go test . -run TestLayersPageIsFresh -update
func TestLayersPageIsFresh(t *testing.T) {
	spec.Covers(t, "EC-2.9")
	const name = "docs/reference/layers.md"
	page := layersPage()
	for _, l := range gate.Layers() {
		if l.Timing != gate.Sync && l.Timing != gate.Async || l.Does == "" || l.Fails == "" {
			t.Errorf("the layer %s is not said whole", l.Name)
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil || string(have) != page {
		t.Errorf("%s is stale (%v): go generate .", name, err)
	}
}
