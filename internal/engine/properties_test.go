package engine

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
	"interlock/spec"
)

// A question is everything Decide is asked with.
type question struct {
	rules     *ruleset.Ruleset
	snapshot  interlock.Snapshot
	action    interlock.Action
	analysis  impact.Analysis
	findings  []interlock.Finding
	approvals []interlock.ApprovalRequest
	now       time.Time
}

func (q question) decide() interlock.Decision {
	return Decide(q.rules, q.snapshot, q.action, q.analysis, q.findings, q.approvals, q.now)
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func oneOf[T any](t *rapid.T, name string, list ...T) T { return rapid.SampledFrom(list).Draw(t, name) }

func drawImpact(t *rapid.T) interlock.Impact {
	i := interlock.Impact{
		Kind:          oneOf(t, "kind", append(interlock.ImpactKinds(), "", "fly")...),
		Reach:         oneOf(t, "reach", append(interlock.Reaches(), "")...),
		Reversibility: oneOf(t, "reversibility", append(interlock.Reversibilities(), "")...),
		Confidence:    oneOf(t, "confidence", interlock.Parsed, interlock.Parsed, interlock.Inferred, interlock.Unknown, ""),
		Target:        oneOf(t, "target", "", "/etc/passwd", "a.txt", "https://example.com/x"),
		Via:           oneOf(t, "via", "", "rm", "git push", "tool"),
		Amount:        oneOf(t, "amount", int64(0), 5, 5000),
	}
	traits := rapid.SliceOfNDistinct(rapid.SampledFrom(fact.Traits()), 0, 3, rapid.ID).Draw(t, "traits")
	i.Traits = append(i.Traits, traits...)
	return i
}

func drawFinding(t *rapid.T) interlock.Finding {
	return interlock.Finding{
		Gate: oneOf(t, "gate", "limit", "judge", "rules"), Rule: oneOf(t, "rule", "a", "b", "c"), Layer: rapid.IntRange(-1, 5).Draw(t, "layer"),
		Verdict: interlock.Verdict(rapid.IntRange(0, 5).Draw(t, "verdict")), Reason: oneOf(t, "reason", "one", "two"),
		Heuristic: rapid.Bool().Draw(t, "heuristic"),
	}
}

func drawQuestion(t *rapid.T) question {
	q := question{rules: shipped(t), now: noon}
	q.snapshot = interlock.Snapshot{
		Mode:     oneOf(t, "mode", interlock.Enforcing, interlock.Enforcing, interlock.Enforcing, interlock.Monitoring),
		Profile:  oneOf(t, "profile", append(q.rules.Profiles(), "guard", "guard", "missing")...),
		Attended: rapid.Bool().Draw(t, "attended"),
		Agent: interlock.AgentRecord{ID: "agent", Principal: "user",
			Trust: oneOf(t, "trust", interlock.TrustUntested, interlock.TrustValidated, interlock.TrustCertified)},
	}
	if rapid.Bool().Draw(t, "registered") {
		q.snapshot.Agent.Created = noon
	}
	q.action = interlock.Action{Kind: oneOf(t, "action", interlock.Kinds()...), Tool: oneOf(t, "tool", "", "Bash", "drop_all"), Input: "x"}
	q.analysis.Impacts = rapid.SliceOfN(rapid.Custom(drawImpact), 0, 4).Draw(t, "impacts")
	for _, text := range rapid.SliceOfN(rapid.SampledFrom([]string{"rm -rf /", "git push", "interlock approve 1", "ls"}), 0, 3).Draw(t, "texts") {
		q.analysis.Texts = append(q.analysis.Texts, fact.Text{Kind: interlock.KindShell, Value: text})
	}
	q.findings = rapid.SliceOfN(rapid.Custom(drawFinding), 0, 3).Draw(t, "findings")
	if rapid.Bool().Draw(t, "approved") {
		q.approvals = []interlock.ApprovalRequest{approvalFor(q)}
	}
	return q
}

// approvalFor is an approval that answers the question's Ask.
func approvalFor(q question) interlock.ApprovalRequest {
	action, _ := strictjson.ActionDigest(q.action)
	return interlock.ApprovalRequest{ID: "r1", Action: action, Ruleset: q.rules.Digest(),
		Requester: interlock.Requester{Agent: q.snapshot.Agent.ID, Principal: q.snapshot.Agent.Principal},
		Created:   noon.Add(-time.Minute), Expires: noon.Add(time.Minute), Status: interlock.RequestApproved,
		Approval: &interlock.Approval{Request: "r1", Verdict: interlock.Allow}}
}

func marshal(t testing.TB, d interlock.Decision) []byte {
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func marshalRapid(t *rapid.T, d interlock.Decision) []byte {
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecideTwiceGivesEqualBytes(t *testing.T) {
	spec.Covers(t, "ASA-8.1-3")
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		if one, two := marshalRapid(t, q.decide()), marshalRapid(t, q.decide()); !bytes.Equal(one, two) {
			t.Fatalf("%s\n%s", one, two)
		}
	})
}

func TestOrderOfGatesChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		want := q.decide()
		shuffled := rapid.Permutation(gate.Gates()).Draw(t, "gates")
		got := decide(gate.Gates(), shuffled, "", q.rules, q.snapshot, q.action, q.analysis, q.findings, q.approvals, q.now)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestOrderOfFindingsAndApprovalsChangesNothing(t *testing.T) {
	spec.Covers(t, "MACE-CAN-2")
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		other := approvalFor(q)
		other.ID, other.Approval = "r0", &interlock.Approval{Request: "r0", Verdict: interlock.Allow}
		q.approvals = append(q.approvals, other)
		want := q.decide()
		q.findings = rapid.Permutation(q.findings).Draw(t, "findings")
		q.approvals = rapid.Permutation(q.approvals).Draw(t, "approvals")
		got := q.decide()
		if want.Verdict != got.Verdict || want.Answer != got.Answer || want.Approval != got.Approval {
			t.Fatalf("have %v %v %q, want %v %v %q", got.Verdict, got.Answer, got.Approval, want.Verdict, want.Answer, want.Approval)
		}
	})
}

func TestAddingAFindingNeverLoosens(t *testing.T) {
	spec.Covers(t, "ASA-4-5", "ASA-6.5-1", "ASA-13-1", "ASA-13-2", "EC-AC-4")
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		before := q.decide()
		q.findings = append(q.findings, drawFinding(t))
		after := q.decide()
		if after.Verdict.Compare(before.Verdict) < 0 || after.Answer.Compare(before.Answer) < 0 {
			t.Fatalf("%v/%v became %v/%v", before.Verdict, before.Answer, after.Verdict, after.Answer)
		}
	})
}

func TestAddingAnImpactNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		if len(q.analysis.Impacts) == 0 {
			q.analysis.Impacts = []interlock.Impact{{Kind: interlock.ImpactRead, Reach: interlock.ReachWorkspace,
				Reversibility: interlock.Readonly, Confidence: interlock.Parsed}} // asa asks about an action without impacts
		}
		before := q.decide()
		q.analysis.Impacts = append(q.analysis.Impacts[:len(q.analysis.Impacts):len(q.analysis.Impacts)], drawImpact(t))
		after := q.decide()
		if after.Verdict.Compare(before.Verdict) < 0 {
			t.Fatalf("%v became %v", before.Verdict, after.Verdict)
		}
	})
}

func TestRemovingAnApprovalNeverLoosens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		with := q.decide()
		q.approvals = nil
		without := q.decide()
		if without.Answer.Compare(with.Answer) < 0 || without.Verdict != with.Verdict {
			t.Fatalf("%v/%v became %v/%v", with.Verdict, with.Answer, without.Verdict, without.Answer)
		}
		if with.Approval != "" && (with.Verdict != interlock.Ask || with.Answer != interlock.Allow) {
			t.Fatalf("an approval was spent on %v answered %v", with.Verdict, with.Answer)
		}
	})
}

func TestGarbageIsNeverAllowed(t *testing.T) {
	spec.Covers(t, "MACE-1-1")
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		q.approvals = nil
		q.snapshot.Mode = interlock.Enforcing
		garbage := drawImpact(t)
		switch rapid.IntRange(0, 4).Draw(t, "garbage") {
		case 0:
			garbage.Confidence = interlock.Unknown
		case 1:
			garbage.Kind = "fly"
		case 2:
			garbage.Reach = "moon"
		case 3:
			garbage.Reversibility = "never"
		case 4:
			q.action.Kind = "what"
		}
		q.analysis.Impacts = append(q.analysis.Impacts, garbage)
		if d := q.decide(); d.Verdict.Allowed() || d.Answer.Allowed() {
			t.Fatalf("garbage was allowed: %+v", garbage)
		}
	})
}

func TestDenyIsNamedWithTheLowestLayer(t *testing.T) {
	spec.Covers(t, "ASA-13-3", "ASA-20-3")
	rapid.Check(t, func(t *rapid.T) {
		d := drawQuestion(t).decide()
		for _, f := range d.Findings {
			if f.Verdict == d.Verdict && f.Layer < d.Findings[0].Layer {
				t.Fatalf("layer %d is named before layer %d", d.Findings[0].Layer, f.Layer)
			}
			if f.Verdict.Compare(d.Verdict) > 0 {
				t.Fatalf("a finding argues for %v, decided %v", f.Verdict, d.Verdict)
			}
		}
		if (len(d.Findings) == 0) != (d.Verdict == interlock.Allow) {
			t.Fatalf("%v with %d findings", d.Verdict, len(d.Findings))
		}
	})
}

// Whatever valid document an operator adds, no decision becomes looser; autoApprove is the exception and overrules only
// what is inferred or merely asked by the profile.
func TestOperatorsOnlyAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		q.approvals = nil
		document := drawDocument(t)
		data, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		before := q.decide()
		if q.rules, err = ruleset.Load(shippedFiles(t), map[string][]byte{"team.json": data}); err != nil {
			t.Fatal(err)
		}
		after := q.decide()
		if after.Verdict.Compare(before.Verdict) >= 0 {
			return
		}
		if len(document.Policy.AutoApprove) == 0 {
			t.Fatalf("%v became %v under %s", before.Verdict, after.Verdict, data)
		}
		for _, f := range before.Findings {
			guess := f.Heuristic || f.Gate == "profile" && f.Verdict == interlock.Ask
			if (!guess || f.Layer == 1) && f.Verdict.Compare(after.Verdict) > 0 {
				t.Fatalf("autoApprove overruled %s", f.Rule)
			}
		}
	})
}

func drawDocument(t *rapid.T) ruleset.Document {
	globs := func(name string) []string {
		return rapid.SliceOfN(rapid.SampledFrom([]string{"rm*", "git*", "Bash", "*push*", "ls", "interlock*"}), 0, 2).Draw(t, name)
	}
	d := ruleset.Document{Policy: ruleset.Policy{Deny: globs("deny"), RequiresApproval: globs("approval"), AutoApprove: globs("auto")},
		Production: globs("production")}
	if rapid.Bool().Draw(t, "rule") {
		d.Rules = []*ruleset.Rule{{ID: "team.rule", Layer: rapid.IntRange(1, 4).Draw(t, "layer"), Reason: "team rule",
			Verdict: oneOf(t, "verdict", interlock.Ask, interlock.Deny, interlock.Halt), Heuristic: rapid.Bool().Draw(t, "guess"),
			Match: ruleset.Match{Predicate: ruleset.Predicate{Kind: []interlock.ImpactKind{oneOf(t, "kind", interlock.ImpactKinds()...)}}}}}
	}
	if rapid.Bool().Draw(t, "danger") {
		d.Danger = []ruleset.DangerRule{{Name: oneOf(t, "name", "*", "rm", "Bash"), Level: interlock.Danger(rapid.IntRange(0, 4).Draw(t, "level"))}}
	}
	if rapid.Bool().Draw(t, "scope") {
		d.Scope = []ruleset.Scope{{Agent: oneOf(t, "agent", "*", "agent", "other"), Allow: []string{"git*"}}}
	}
	return d
}
