package rollback

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/dataflow"
	"interlock/internal/ruleset"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func rules(t *testing.T, text string) *ruleset.Ruleset {
	t.Helper()
	r, err := ruleset.Load(nil, map[string][]byte{"own.yaml": []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const declared = `
resolutions:
  - {tool: mcp__bank__transfer, compensate: mcp__bank__refund, within: 48h, partial: dangerous, locks: 10m, note: tell the treasurer}
  - {tool: mcp__crm__*, rollbackable: true, completable: true, partial: harmless}
`

func impact(kind interlock.ImpactKind, target string, r interlock.Reversibility) interlock.Impact {
	return interlock.Impact{Kind: kind, Target: target, Reversibility: r, Confidence: interlock.Parsed}
}

// TestHow: what undoing takes is what the tool declares, else what the analysis says; what can't be undone is named among what stays.
func TestHow(t *testing.T) {
	set := rules(t, declared)
	done := interlock.OutcomeSuccess
	for name, test := range map[string]struct {
		a    dataflow.Action
		undo Undo
		by   string
		how  string
		left string
	}{
		"read": {dataflow.Action{Status: done, Impacts: []interlock.Impact{impact(interlock.ImpactRead, "/w/x", interlock.Readonly)}},
			UndoNothing, ByNobody, "it only read", ""},
		"write": {dataflow.Action{Status: done, Impacts: []interlock.Impact{impact(interlock.ImpactWrite, "/w/x", interlock.Reversible)}},
			UndoReverse, ByPerson, "put back as it was before: write /w/x", ""},
		"message": {dataflow.Action{Agent: "c", Status: done, Impacts: []interlock.Impact{impact(interlock.ImpactMessage, "a@x.org",
			interlock.Irreversible)}}, UndoNever, ByPerson, "it can't be undone", "c: message a@x.org"},
		"request": {dataflow.Action{Status: done, Impacts: []interlock.Impact{impact(interlock.ImpactNetwork, "https://x.org/", interlock.Window)}},
			UndoWithin, ByPerson, "it can be undone for a while, or by whoever runs it: network https://x.org/", ""},
		"copy": {dataflow.Action{Status: done, Discarded: true, Impacts: []interlock.Impact{impact(interlock.ImpactWrite, "/w/x",
			interlock.Reversible)}}, UndoDiscarded, ByNobody, "throw-away copy", ""},
		"copy with a message": {dataflow.Action{Agent: "c", Status: done, Discarded: true, Impacts: []interlock.Impact{
			impact(interlock.ImpactMessage, "a@x.org", interlock.Irreversible)}}, UndoNever, ByPerson, "can't be undone", "c: message a@x.org"},
		"declared to be compensated": {dataflow.Action{Tool: "mcp__bank__transfer", At: noon, Status: done, Impacts: []interlock.Impact{
			impact(interlock.ImpactSpend, "acme", interlock.Irreversible)}}, UndoCompensate, ByPerson,
			"carry out mcp__bank__refund for it, until 2026-03-06T12:00:00Z; tell the treasurer", ""},
		"declared to be undone": {dataflow.Action{Tool: "mcp__crm__put", Status: done, Impacts: []interlock.Impact{impact(interlock.ImpactWrite,
			"contact", interlock.Irreversible)}}, UndoReverse, ByPerson, "its tool can undo it", ""},
		"nothing known": {dataflow.Action{Status: done}, UndoReverse, ByPerson, "whatever it did", ""},
		"half done, declared": {dataflow.Action{Tool: "mcp__crm__put", Status: interlock.OutcomeUnknown, Impacts: []interlock.Impact{
			impact(interlock.ImpactWrite, "contact", interlock.Reversible)}}, UndoReverse, ByPerson,
			"half of it does no harm, it can be completed without the agent; its tool can undo it", ""},
		"half done": {dataflow.Action{Status: interlock.OutcomeUnknown, Impacts: []interlock.Impact{impact(interlock.ImpactWrite, "/w/x",
			interlock.Reversible)}}, UndoReverse, ByPerson, "its tool declares no resolution", ""},
		"work": {dataflow.Action{Giving: dataflow.GivingWork, Gave: dataflow.Context{Agent: "b", Run: "run_1"}, Status: done}, UndoEnd,
			ByInterlock, "the run run_1 is ended", ""},
		"result": {dataflow.Action{Giving: dataflow.GivingResult, Status: done}, UndoNothing, ByNobody, "can't be unheard", ""},
	} {
		s := stepOf(1, &dataflow.Reached{Action: &test.a}, set.Resolve(test.a.Tool, test.a.Text))
		if s.Undo != test.undo || s.By != test.by || !strings.Contains(s.How, test.how) || s.Residue != test.left {
			t.Errorf("%s: %+v", name, s)
		}
		if half := strings.HasPrefix(name, "half done"); half != s.Unfinished || s.Dangerous != (name == "half done") {
			t.Errorf("%s: unfinished %v, dangerous %v", name, s.Unfinished, s.Dangerous)
		}
	}
}

// TestCheck refuses what names nothing, and says which flag is wrong.
func TestCheck(t *testing.T) {
	event := strings.Repeat("ab", 32)
	for want, seed := range map[string]dataflow.Seed{
		"--agent": {}, "--event": {Event: "ab"}, "--since": {Agent: "a"}, "": {Event: event}, " ": {Agent: "a", Since: noon},
		"--event ": {Event: event, Agent: "a"}, "--agent ": {Agent: strings.Repeat("a", 300), Since: noon},
	} {
		err := Check(seed)
		if want = strings.TrimSpace(want); want == "" {
			if err != nil {
				t.Error(err)
			}
		} else if e, is := err.(*interlock.Error); !is || e.Field != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestPlanIsOneText: the same log, seed and rules give the same bytes, with lists where there is nothing; other rules give others.
func TestPlanIsOneText(t *testing.T) {
	plan := Make(&dataflow.Log{}, dataflow.Seed{Agent: "a", Since: noon}, rules(t, declared))
	text, err := plan.Text()
	if err != nil || !json.Valid(text) || !strings.Contains(string(text), `"steps":[]`) || !strings.Contains(string(text), `"residue":[]`) {
		t.Fatalf("%s, %v", text, err)
	}
	one, err := plan.Digest()
	if err != nil {
		t.Fatal(err)
	}
	other := Make(&dataflow.Log{}, dataflow.Seed{Agent: "a", Since: noon}, rules(t, "maso: {tier: 1}"))
	if two, err := other.Digest(); err != nil || one == two {
		t.Errorf("%s, %v", two, err)
	}
}
