package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
	"interlock/rules"
)

func TestADryRunIsRecordedForWhoProposedTheActionAndNobodyElse(t *testing.T) {
	h := newHouse(t)
	claude := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	asked := h.propose("git push --force origin main", func(p *admission.Case) { p.CanAsk = true })
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
	got.Effects[0].Diff, run.ID = run.Effects[0].Diff, last.ID
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
	boxed := func(p *admission.Case) { p.CanAsk, p.Sandboxed, p.Requester.Call = true, true, "exec-1" }
	asked := h.propose("rm -rf build", boxed)
	if asked.Answer != interlock.Ask {
		t.Fatalf("%v: %+v", asked.Answer, asked.Findings)
	}
	again := h.propose("rm -rf build", event("PreToolUse", ""), func(p *admission.Case) { p.CanAsk = true })
	if again.Repeated || again.Answer != interlock.Deny || again.Findings[0].Rule != "sandbox.needed" {
		t.Errorf("a door without a sandbox got %v, repeated %v, by %+v", again.Answer, again.Repeated, again.Findings)
	}
}

// Nobody says yes to what wants a dry run before there is one, of this request, by its agent; then the yes is good once.
func TestAYesNamesTheDryRunOfItsRequest(t *testing.T) {
	set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), map[string][]byte{"own.yaml": []byte(
		"rules:\n  - {id: own.tried, layer: 3, kinds: [shell], match: {kind: [delete]}, verdict: ask, reason: try it first,\n" +
			"     obligations: [{type: dry_run}], tests: {ask: [\"rm -rf build\"], pass: [\"ls\"]}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, func(c *admission.Config) { c.Rules = set })
	ask := func(p *admission.Case) { p.CanAsk = true }
	tried := func(command string, requester interlock.Requester) (interlock.Answer, string) {
		a := h.propose(command, ask, func(p *admission.Case) { p.Requester = requester })
		if err := h.Tried(t.Context(), requester, interlock.DryRun{Event: a.Event, Request: a.Request, Action: a.Action}); err != nil {
			t.Fatal(err)
		}
		log := h.log()
		return a, log[len(log)-1].ID
	}
	claude := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	asked := h.propose("rm -rf build", ask)
	if asked.Answer != interlock.Ask || !asked.Owes(interlock.ObligationDryRun) {
		t.Fatalf("%v: %+v", asked.Answer, asked.Findings)
	}
	other, otherRun := tried("rm -rf dist", claude)
	foreign, foreignRun := tried("rm -rf build", interlock.Requester{Principal: "alice", Agent: "codex"})
	for name, run := range map[string]string{"none": "", "an event that is none": asked.Event, "no event": "e7",
		"another action's": otherRun, "another agent's": foreignRun} {
		if err := h.approveShown(asked.Request, run); err == nil {
			t.Errorf("%s: the yes counts", name)
		}
	}
	if err := h.approve(other.Request, interlock.Deny); err != nil {
		t.Errorf("a no: %v", err)
	}
	if err := h.approve(foreign.Request, interlock.Deny); err != nil {
		t.Errorf("a no: %v", err)
	}
	if a := h.propose("rm -rf build", ask); a.Answer != interlock.Ask || a.Request != asked.Request {
		t.Fatalf("%v %s", a.Answer, a.Request)
	}
	_, run := tried("rm -rf build", claude)
	if err := h.approveShown(asked.Request, run); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("rm -rf build", ask); a.Answer != interlock.Allow || a.Approval != asked.Request {
		t.Errorf("approved: %v %+v", a.Answer, a.Findings)
	}
	if a := h.propose("rm -rf build", ask); a.Answer != interlock.Ask {
		t.Errorf("once more: %v", a.Answer)
	}
}

// approveShown says yes as somebody who was shown a dry run.
func (h *house) approveShown(id, run string) error {
	h.t.Helper()
	if err := h.PutOperator(h.t.Context(), interlock.OperatorRecord{Name: "bob", Role: "operator", SSHKey: "key", Created: h.now}); err != nil {
		h.t.Fatal(err)
	}
	request := h.standing().Requests[id]
	request.DryRun = run
	_, err := h.Resolve(h.t.Context(), interlock.Approval{Request: id, Verdict: interlock.Allow, Operator: "bob", Key: "fingerprint of bob's",
		Statement: quorum.Statement(request, interlock.Allow, "bob"), Signature: "bob's", DryRun: run})
	return err
}
