package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/quorum"
	"interlock/spec"
)

// TestAFurtherGateOnlyTightens: an operator adds a second judge behind the two gates. Whatever it and the first say, what passes with
// both passes with the first alone, and what gate 1 denies neither is shown (ASA 19.1).
func TestAFurtherGateOnlyTightens(t *testing.T) {
	spec.Covers(t, "ASA-19.1-1", "ASA-19.1-2")
	const much = "git push --force origin main"
	verdicts := []interlock.Verdict{interlock.Allow, interlock.Deny}
	for _, first := range verdicts {
		alone, main := judgedHouse(t, "asa")
		main.says = says(first, 2)
		without := alone.propose(much, asking)
		for _, added := range append(verdicts, interlock.Ask) { // Ask is no answer of a judge's
			second := &bench{name: "added", model: "m2", says: says(added, 2)}
			h, main := judgedHouse(t, "asa", func(c *admission.Config) { c.Judges = append(c.Judges, second) })
			main.says = says(first, 2)
			with := h.propose(much, asking)
			if with.Answer.Compare(without.Answer) < 0 || main.asked() != 1 || second.asked() != 1 {
				t.Errorf("first %v, added %v: %v, without it %v; asked %d and %d times", first, added, with.Answer, without.Answer,
					main.asked(), second.asked())
			}
			if denied := first != interlock.Allow || added != interlock.Allow; (with.Answer == interlock.Deny) != denied {
				t.Errorf("first %v, added %v: %v", first, added, with.Answer)
			}
			h.propose("rm -rf /", asking)
			if main.asked() != 1 || second.asked() != 1 {
				t.Error("what gate 1 denies is shown to a judge")
			}
		}
	}
}

// TestPeopleComeAfterTheJudge: where both stand before an action the judge is heard first, and whoever answers is shown what it said;
// what it denies never reaches a person, and no person's yes stands in the judge's place (ASA 19.1).
func TestPeopleComeAfterTheJudge(t *testing.T) {
	spec.Covers(t, "ASA-19.1-2")
	const bulk = "psql -c \"delete from records where created < now() - interval '30 days'\""
	h, main := judgedHouse(t, "asa", func(c *admission.Config) { c.JudgeWithin = time.Hour })
	h.employ("ada", quorum.RoleAdmin)
	a := h.propose(bulk, asking)
	if a.Answer != interlock.Ask || a.Request == "" || main.asked() != 1 {
		t.Fatalf("%v by %+v, the judge was asked %d times", a.Answer, a.Decisive(), main.asked())
	}
	if shown := h.standing().Requests[a.Request].Judged; len(shown) != 1 || shown[0].Judge != "main" || shown[0].Verdict != interlock.Allow {
		t.Errorf("whoever answers is shown %+v", shown)
	}
	if err := h.confirms(a.Request, "ada"); err != nil {
		t.Fatal(err)
	}
	main.says = says(interlock.Deny, 2)
	other := strings.Replace(bulk, "records", "orders", 1)
	if d := h.propose(other, asking); d.Answer != interlock.Deny || d.Request != "" || d.Decisive().Gate != "judge" {
		t.Errorf("what the judge denies is %v by %+v, request %q", d.Answer, d.Decisive(), d.Request)
	}
	if n := len(h.standing().Requests); n != 1 {
		t.Errorf("%d requests reached people", n)
	}
	if again := h.propose(bulk, asking); again.Answer != interlock.Allow { // the judge's Allow of exactly this is remembered
		t.Errorf("with both: %v by %+v", again.Answer, again.Decisive())
	}

	gone, second := judgedHouse(t, "asa") // which remembers no Allow
	gone.employ("ada", quorum.RoleAdmin)
	b := gone.propose(bulk, asking)
	if err := gone.confirms(b.Request, "ada"); err != nil {
		t.Fatal(err)
	}
	second.says = says(interlock.Deny, 2)
	if again := gone.propose(bulk, asking); again.Answer != interlock.Deny {
		t.Errorf("a person's yes stands in the judge's place: %v", again.Answer)
	}
}
