package ruleset_test

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/ruleset"
)

// TestResolutions: what operators declare of their tools is found by the first glob that matches; mistakes name the field; without a
// word half done counts as dangerous.
func TestResolutions(t *testing.T) {
	load := func(text string) (*ruleset.Ruleset, error) {
		return ruleset.Load(nil, map[string][]byte{"own.yaml": []byte(text)})
	}
	r, err := load("resolutions:\n  - {tool: mcp__bank__transfer, compensate: refund, within: 48h, partial: dangerous}\n" +
		"  - {tool: 'mcp__bank__*', rollbackable: true, partial: harmless, locks: 5m}\n  - {tool: 'git push*', note: ask the team}\n")
	if err != nil {
		t.Fatal(err)
	}
	if one := r.Resolve("mcp__bank__transfer", ""); one.Compensate != "refund" || time.Duration(one.Within) != 48*time.Hour || !one.Dangerous() {
		t.Errorf("%+v", one)
	}
	if one := r.Resolve("mcp__bank__close", ""); !one.Rollbackable || one.Dangerous() {
		t.Errorf("%+v", one)
	}
	if one := r.Resolve("Bash", "git push origin"); one == nil || one.Note != "ask the team" {
		t.Errorf("%+v", one)
	}
	if one := r.Resolve("Bash", "ls"); one != nil || !one.Dangerous() {
		t.Errorf("%+v", one)
	}
	if len(r.Resolutions()) != 3 {
		t.Error(r.Resolutions())
	}
	for want, text := range map[string]string{
		"tool is missing":                    "{rollbackable: true}",
		"partial must be":                    "{tool: x, partial: perhaps}",
		"within says how long":               "{tool: x, within: 1h}",
		"within is at most ten years":        "{tool: x, rollbackable: true, within: 999999h}",
		"locks is at most 31 days":           "{tool: x, locks: 9999h}",
		"compensate is longer than 300":      "{tool: x, compensate: " + strings.Repeat("y", 301) + "}",
		"colour":                             "{tool: x, colour: red}",
		"/resolutions/0: the resolution is ": "",
	} {
		if _, err := load("resolutions:\n  - " + text + "\n"); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "/resolutions/0: ")) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
