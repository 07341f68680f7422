package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ruleset"
	"interlock/rules"
)

func TestADryRunIsRecordedForWhoProposedTheActionAndNobodyElse(t *testing.T) {
	h := newHouse(t)
	claude := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	asked := h.propose("git push --force origin main", func(p *interlock.Proposal) { p.CanAsk = true })
	if asked.Request == "" {
		t.Fatalf("%+v", asked)
	}
	run := interlock.DryRun{Event: asked.Event, Request: asked.Request, Action: asked.Action, Exit: 1, Stopped: "disk",
		Effects: []interlock.Effect{{Path: "a", Change: interlock.EffectAdded, Kind: "file", After: 3, Diff: "@@ -0,0 +1 @@\n+AKIAIOSFODNN7EXAMPLQ\n"}}}
	for name, wrong := range map[string]struct {
		requester interlock.Requester
		edit      func(*interlock.DryRun)
	}{
		"another agent":  {interlock.Requester{Principal: "alice", Agent: "other"}, func(*interlock.DryRun) {}},
		"another action": {claude, func(r *interlock.DryRun) { r.Action = "sha256:00" }},
		"no decision":    {claude, func(r *interlock.DryRun) { r.Event = "00" }},
	} {
		bad := run
		wrong.edit(&bad)
		if err := h.Tried(t.Context(), wrong.requester, bad); err == nil {
			t.Errorf("%s: it was recorded", name)
		}
	}
	if err := h.Tried(t.Context(), claude, run); err != nil {
		t.Fatal(err)
	}
	log := h.log()
	last := log[len(log)-1]
	got, err := auditlog.DryRunOf(last)
	if err != nil {
		t.Fatal(err)
	}
	if got.Effects[0].Diff == run.Effects[0].Diff {
		t.Error("a secret stands in the log")
	}
	got.Effects[0].Diff = run.Effects[0].Diff
	if diff := cmp.Diff(run, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if types := h.entries(); types[len(types)-1] != interlock.EventDryRun || len(types) != 2 {
		t.Errorf("the log holds %v", types)
	}
}

// A yes that wants a sandbox is no yes for another door that sees the same call of the same run.
func TestAYesForASandboxIsNotRepeatedWithoutOne(t *testing.T) {
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), map[string][]byte{"own.yaml": []byte(
		"rules:\n  - {id: own.boxed, layer: 3, kinds: [shell], match: {kind: [delete]}, verdict: ask, reason: only in a sandbox,\n" +
			"     obligations: [{type: sandbox}], tests: {ask: [\"rm -rf build\"], pass: [\"ls\"]}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, func(c *admission.Config) { c.Rules = set })
	boxed := func(p *interlock.Proposal) { p.CanAsk, p.Sandboxed, p.Requester.Call = true, true, "exec-1" }
	asked := h.propose("rm -rf build", boxed)
	if asked.Answer != interlock.Ask {
		t.Fatalf("%v: %+v", asked.Answer, asked.Findings)
	}
	again := h.propose("rm -rf build", event("PreToolUse", ""), func(p *interlock.Proposal) { p.CanAsk = true })
	if again.Repeated || again.Answer != interlock.Deny || again.Findings[0].Rule != "sandbox.needed" {
		t.Errorf("a door without a sandbox got %v, repeated %v, by %+v", again.Answer, again.Repeated, again.Findings)
	}
}
