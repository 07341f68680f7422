package harness_test

import (
	"slices"
	"testing"

	"interlock/internal/harness"
	"interlock/internal/hook"
)

// A harness that lacks a member is half a harness: doctor could not try it, a person at a terminal would not be told from it, or
// its gaps would be told to nobody. So whoever adds one gives all of them, or says here why there is none.
func TestEveryHarnessHasAllMembers(t *testing.T) {
	traceless := []string{"windsurf", "grok"} // an editor without a program of its own, and a harness whose marks nobody has seen
	for _, name := range harness.All() {
		h, installable := harness.ByName(name)
		of := harness.TracesOf(name)
		_, printed := harness.Lines(name, "linux", "interlock", func(string) []string { return nil })
		switch {
		case len(harness.GapsOf(name)) == 0:
			t.Errorf("%s: no gap is known of it, and each has some", name)
		case (len(of.Programs) == 0 || len(of.Marks) == 0) != slices.Contains(traceless, name):
			t.Errorf("%s: nothing shows that it started a process", name)
		case installable == printed && name != "grok":
			t.Errorf("%s: it is either installed to or printed for a person", name)
		case installable && (h.Title == "" || h.Note == ""):
			t.Errorf("%s: it has no title, or nothing is said to who installs it", name)
		case installable && !slices.Contains(hook.Agents(), name):
			t.Errorf("%s: the hook can't be told of it", name)
		}
		if !installable {
			continue
		}
		if !slices.ContainsFunc(h.Events, func(event string) bool { return h.Blocks(event) && hook.CarriesCommand(name, event) }) {
			t.Errorf("%s: no event that it is registered for can be tried with a canary", name)
		}
		if len(harness.SettingsFiles("/home/x")) == 0 || h.Settings(harness.Place{Home: "/home/x"}) == "" {
			t.Errorf("%s: nobody knows where its settings are", name)
		}
	}
	for _, name := range hook.Agents() {
		if !slices.Contains(harness.All(), name) {
			t.Errorf("%s: package harness knows nothing of it", name)
		}
	}
}
