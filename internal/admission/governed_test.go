package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/governance"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/spec"
)

// does has an operator give an order, and says how that ended.
func (h *house) does(verb interlock.Verb, subject, detail, operator string) error {
	h.t.Helper()
	h.now = h.now.Add(time.Second)
	_, err := h.CarryOut(h.t.Context(), h.signs(verb, subject, detail, "seen in review", operator))
	return err
}

// TestQuarantineIsForTheCouncil: where the council governs, no machine and no operator alone quarantines a module or ends that. What a
// machine sees contains it, the stricter phases below are anybody's, and a superadmin and an admin together quarantine in an emergency,
// which the council reviews.
func TestQuarantineIsForTheCouncil(t *testing.T) {
	spec.Covers(t, "MACE-2-3", "MACE-8.2-1")
	for _, name := range []string{"agent:claude", "type:coder"} {
		h := council(t, governs)
		scope, key, _ := ledger.Actors(name)
		seen := containment.Tightening{Scope: scope, Key: key, To: phase.Emergency, Trigger: phase.TriggerSignal,
			Why: "a defence objects"}
		h.tighten(seen)
		if p, held := h.phaseOf(name); p != phase.Contingency || held.Trigger != phase.TriggerSignal {
			t.Fatalf("%s is in %s by %s after what a machine has seen", name, p, held.Trigger)
		}
		h.tighten(seen)
		for _, operator := range []string{"ada", "sue"} {
			if err := h.does(interlock.VerbTightenPhase, name, "E", operator); codeOf(err) != interlock.CodeUnauthorized {
				t.Errorf("%s quarantined %s alone: %v", operator, name, err)
			}
		}
		if p, _ := h.phaseOf(name); p != phase.Contingency {
			t.Fatalf("%s is in %s", name, p)
		}
		h.approves(h.does(interlock.VerbTightenPhase, name, "E", "ada"), "ada")
		if err := h.does(interlock.VerbTightenPhase, name, "E", "ada"); err != nil {
			t.Fatal(err)
		}
		if p, _ := h.phaseOf(name); p != phase.Emergency {
			t.Errorf("%s is in %s after what the council approved", name, p)
		}
		if err := h.does(interlock.VerbLoosenPhase, name, "C", "sue"); codeOf(err) != interlock.CodeUnauthorized {
			t.Errorf("a quarantine of %s was ended by one: %v", name, err)
		}
		ends := h.asks(quorum.ActUnquarantine, name, "ada")
		h.votes(ends.ID, "approve", "member-0", "member-1", "member-2")
		if r, err := h.executes(ends.ID, "executing", "ada"); err != nil || r.Status != interlock.ActionExecuted {
			t.Fatal(r.Status, err)
		}
		if p, _ := h.phaseOf(name); p != "" && p != phase.Primary {
			t.Errorf("%s is in %s after the council ended its quarantine", name, p)
		}
	}
}

// TestWhatContainsNeedsNoCouncil: where the council governs, anybody who answers contains a module short of a quarantine, and what is no
// module goes to emergency as everywhere; where it does not govern, all is as it was.
func TestWhatContainsNeedsNoCouncil(t *testing.T) {
	h := council(t, governs)
	for _, order := range [][2]string{{"agent:claude", "A"}, {"agent:claude", "C"}, {"type:coder", "C"}, {"system:all", "E"}} {
		if err := h.does(interlock.VerbTightenPhase, order[0], order[1], "ada"); err != nil {
			t.Errorf("%v: %v", order, err)
		}
	}
	if err := h.does(interlock.VerbLoosenPhase, "agent:claude", "A", "ada"); err != nil {
		t.Errorf("what is no quarantine is not loosened: %v", err)
	}
	h.tighten(containment.Tightening{Scope: "layer", Key: phase.LayerJudge, To: phase.Emergency, Trigger: phase.TriggerSignal,
		Why: "gone"})
	if p, _ := h.phaseOf("layer:" + phase.LayerJudge); p != phase.Emergency {
		t.Errorf("a layer of control is in %s", p)
	}
	plain := council(t)
	plain.tighten(containment.Tightening{Scope: "agent", Key: "claude", To: phase.Emergency, Trigger: phase.TriggerSignal,
		Why: "a defence objects"})
	if p, _ := plain.phaseOf("agent:claude"); p != phase.Emergency {
		t.Errorf("without a council that governs it is in %s", p)
	}
	if err := plain.does(interlock.VerbTightenPhase, "agent:other", "E", "ada"); err != nil {
		t.Error(err)
	}
}

// TestTrustInBulk: where the council governs, one person changes the trust of one agent; of a second within a day it is an override in bulk,
// which takes the council, whoever orders it and in whichever direction. A day later it is one agent's again.
func TestTrustInBulk(t *testing.T) {
	spec.Covers(t, "MACE-2-6")
	h := council(t, governs)
	for _, name := range []string{"one", "two", "three"} {
		if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: name, Principal: "alice", Trust: interlock.TrustGenerated,
			Created: h.now}); err != nil {
			t.Fatal(err)
		}
	}
	trust := func(verb interlock.Verb, agent string, to interlock.Trust, operator string) error {
		return h.does(verb, agent, governance.TrustDetail(to, time.Time{}), operator)
	}
	level := func(agent string) interlock.Trust { return h.standing().Agents[agent].Trust }
	if err := trust(interlock.VerbPromote, "one", interlock.TrustGenerated+1, "ada"); err != nil {
		t.Fatal(err)
	}
	if err := trust(interlock.VerbPromote, "one", interlock.TrustGenerated+2, "ada"); err != nil {
		t.Errorf("the same agent once more: %v", err)
	}
	refused := trust(interlock.VerbPromote, "two", interlock.TrustGenerated+1, "sue")
	if codeOf(refused) != interlock.CodeUnauthorized || level("two") != interlock.TrustGenerated {
		t.Fatalf("a second agent: %v, and it is %s", refused, level("two"))
	}
	if err := trust(interlock.VerbDemote, "three", interlock.TrustUntested, "ada"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("a second agent, downwards: %v", err)
	}
	h.approves(refused, "ada")
	if err := trust(interlock.VerbPromote, "two", interlock.TrustGenerated+1, "ada"); err != nil ||
		level("two") != interlock.TrustGenerated+1 {
		t.Errorf("what the council approved: %v, and it is %s", err, level("two"))
	}
	h.now = h.now.Add(24 * time.Hour)
	if err := trust(interlock.VerbDemote, "three", interlock.TrustUntested, "ada"); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

// TestPolicyIsTheCouncils: where the council governs nobody alone changes rules, ground rules, what decides in their place or a constant; a
// module's change of itself, a model's and a training are requests that it takes the council to carry out; and each job says under which
// rules it was decided.
func TestPolicyIsTheCouncils(t *testing.T) {
	spec.Covers(t, "MACE-1-6", "MACE-11-1")
	h := council(t, governs)
	for verb, takes := range map[interlock.Verb]string{interlock.VerbAdoptRules: quorum.ActPolicy,
		interlock.VerbPromoteRules: quorum.ActPolicy,
		interlock.VerbAdoptGround:  quorum.ActPolicy, interlock.VerbAdoptSettings: quorum.ActConstant} {
		for _, operator := range []string{"ada", "sue"} {
			detail := "sha256:02"
			if verb == interlock.VerbAdoptSettings {
				given := h.settingsGiven(operator, `"monitoring"`, public)
				detail = given.Detail
			}
			err := h.does(verb, map[bool]string{true: governance.SettingsSubject,
				false: "sha256:01"}[verb == interlock.VerbAdoptSettings], detail, operator)
			if codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(), "request create "+takes) {
				t.Errorf("%s by %s alone: %v", verb, operator, err)
			}
		}
	}
	for _, kind := range []string{interlock.ActModuleCode, "code_upload", "model_change", "training_pipeline"} {
		r := h.asks(kind, "agent:claude", "ada")
		if r.Class != 3 || r.Ballot.Approval != interlock.ApprovalCouncil {
			t.Errorf("%s is of class %d and takes %s", kind, r.Class, r.Ballot.Approval)
		}
		if _, err := h.executes(r.ID, "executing", "sue"); codeOf(err) != interlock.CodeConflict {
			t.Errorf("%s before anybody has voted: %v", kind, err)
		}
	}
	h.propose("ls")
	if got := h.newest(interlock.EventDecision).Snapshots; got["ruleset"] != string(h.Rules().Digest()) {
		t.Errorf("a job names %v", got)
	}
}
