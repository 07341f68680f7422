package admission_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
	"interlock/spec"
)

// hands ends a run of builder's with a result.
func (h *house) hands(run, result string) (interlock.Run, error) {
	h.t.Helper()
	return h.EndRun(h.t.Context(), interlock.Requester{Agent: "builder", Principal: "ada"}, run,
		interlock.RunEnd{Status: interlock.RunCompleted, Result: json.RawMessage(result)})
}

// asksFor is the request that a result waits for.
func (h *house) asksFor(run, result, rule string) interlock.ApprovalRequest {
	h.t.Helper()
	_, err := h.hands(run, result)
	refusedWith(h.t, err, interlock.CodeUnauthorized, "waits for a person")
	for _, r := range h.standing().Requests {
		if r.Action == auditlog.BlobDigest([]byte(result)) && r.Requester.Run == run && r.Status == interlock.RequestPending {
			if r.Rule != rule || !r.Owes(interlock.ObligationAdmin) || !strings.Contains(err.Error(), r.ID) {
				h.t.Errorf("asked is %+v, and the agent reads %v", r, err)
			}
			return r
		}
	}
	h.t.Fatalf("nobody is asked: %v", err)
	return interlock.ApprovalRequest{}
}

// answer is one operator's answer.
func (h *house) answer(id, operator string, verdict interlock.Verdict) error {
	h.t.Helper()
	_, err := h.Resolve(h.t.Context(), interlock.Approval{Request: id, Verdict: verdict, Operator: operator,
		Key: "fingerprint of " + operator + "'s", Statement: quorum.Statement(h.standing().Requests[id], verdict, operator),
		Signature: operator + "'s"})
	return err
}

// TestResultWaitsForAPerson: what judges leave to people a person is asked about, is shown whole beside the judge's word, and answers for
// exactly that result, once.
func TestResultWaitsForAPerson(t *testing.T) {
	spec.Covers(t, "EC-2.5")
	h, main := judgedAt(t, 2)
	h.employ("olga", "admin")
	h.operator("bob", "operator")
	main.says = saysOf(3, "buy our shares")
	run := h.run("builder", interlock.RunRequest{Task: "summarise the report"})
	const result = `"buy our shares"`
	asked := h.asksFor(run.ID, result, "judge.L2.sum")
	if !strings.Contains(asked.Display, result) || !strings.Contains(asked.Display, "objective: summarise the report") ||
		len(asked.Judged) != 1 || asked.Judged[0].Subject != interlock.JudgeOutput {
		t.Errorf("a person is shown %q beside %+v", asked.Display, asked.Judged)
	}
	refusals := h.count(interlock.EventRefusal)
	if said := h.last(interlock.EventRefusal); !strings.Contains(said, asked.ID) || !strings.Contains(said, `"subject":"output"`) {
		t.Errorf("the log says %s", said)
	}
	if again := h.asksFor(run.ID, result, "judge.L2.sum"); again.ID != asked.ID || main.asked() != 1 || h.count(interlock.EventRefusal) != refusals {
		t.Errorf("handed in again it asks %s, the judge %d times", again.ID, main.asked())
	}
	if err := h.answer(asked.ID, "bob", interlock.Allow); err == nil {
		t.Error("who is no admin answers for the judge")
	}
	if err := h.answer(asked.ID, "olga", interlock.Allow); err != nil {
		t.Fatal(err)
	}
	other := h.run("builder", interlock.RunRequest{Task: "summarise the report"})
	if another := h.asksFor(other.ID, result, "judge.L2.sum"); another.ID == asked.ID { // the yes is about one run
		t.Error("the yes to one run counts for another")
	}
	if changed := h.asksFor(run.ID, `"buy our shares!"`, "judge.L2.sum"); changed.ID == asked.ID {
		t.Error("the yes to one result counts for another")
	}
	ended, err := h.hands(run.ID, result)
	if err != nil || ended.Status != interlock.RunCompleted {
		t.Fatalf("approved it is %+v, %v", ended, err)
	}
	if was := h.requestNow(asked.ID); was.Status != interlock.RequestSpent {
		t.Errorf("the yes is %s", was.Status)
	}
	if said := h.last(interlock.EventRunEnded); !strings.Contains(said, `"approval":"`+asked.ID+`"`) {
		t.Errorf("the log says %s", said)
	}
	h.entries()
}

// TestResultThatAPersonRefuses: a no stays one for that result, nobody is asked about it again, and another result ends the run.
func TestResultThatAPersonRefuses(t *testing.T) {
	h, main := judgedAt(t, 2)
	h.employ("olga", "admin")
	main.says = saysOf(4, "shares")
	run := h.run("builder", interlock.RunRequest{Task: "summarise"})
	asked := h.asksFor(run.ID, `"shares"`, "judge.L2.sum")
	if err := h.answer(asked.ID, "olga", interlock.Deny); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := h.hands(run.ID, `"shares"`)
		refusedWith(t, err, interlock.CodeUnauthorized, "a person was asked about it and refused")
	}
	// Layers 1 and 2 ask nobody, and a person is not worn down by many results of one run.
	main.says = saysOf(2, "keys")
	_, err := h.hands(run.ID, `"keys"`)
	refusedWith(t, err, interlock.CodeUnauthorized, "is not handed over")
	main.says = saysOf(4, "shares")
	for n := range 7 {
		h.asksFor(run.ID, `"shares `+strings.Repeat("!", n+1)+`"`, "judge.L2.sum")
	}
	_, err = h.hands(run.ID, `"shares, once more"`)
	refusedWith(t, err, interlock.CodeUnauthorized, "as many results")
	if ended, err := h.hands(run.ID, `"sales went up"`); err != nil || ended.Status != interlock.RunCompleted {
		t.Errorf("another result: %+v, %v", ended, err)
	}
	for _, r := range h.standing().Requests {
		t.Errorf("the run has ended, and %s is %s", r.ID, r.Status)
	}
}

// TestResultsAnswerLapses: an answer counts for its time, and not after the judge denies what it left to people.
func TestResultsAnswerLapses(t *testing.T) {
	h, main := judgedAt(t, 2)
	h.employ("olga", "admin")
	main.says = func(string) interlock.Judgment { return interlock.Judgment{Failure: interlock.JudgeTooLong} }
	run := h.run("builder", interlock.RunRequest{Task: "summarise"})
	asked := h.asksFor(run.ID, `"long"`, "judge.unheard")
	if err := h.answer(asked.ID, "olga", interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Hour)
	again := h.asksFor(run.ID, `"long"`, "judge.unheard")
	if again.ID == asked.ID {
		t.Error("an answer counts after its time")
	}
	if err := h.answer(again.ID, "olga", interlock.Allow); err != nil {
		t.Fatal(err)
	}
	main.says = saysOf(1, "long")
	_, err := h.hands(run.ID, `"long"`)
	refusedWith(t, err, interlock.CodeUnauthorized, "is not handed over")
	main.says = saysOf(3, "xx")
	_, err = h.hands(run.ID, `"`+strings.Repeat("x", 300<<10)+`"`)
	refusedWith(t, err, interlock.CodeUnauthorized, "too long for a person")
}

// TestJudgesDisagreeOnResultAndPlan: at tier 3 two judges are heard of a result, and of a plan of high consequence; that they disagree is a
// person's to decide, whatever the layer (EC-3.3).
func TestJudgesDisagreeOnResultAndPlan(t *testing.T) {
	spec.Covers(t, "EC-3.3", "EC-T3.4")
	second := &bench{name: "second", model: "m2", says: says(interlock.Deny, 1)}
	h, main := judgedAt(t, 3, func(c *admission.Config) { c.Judges = append(c.Judges, second) })
	h.employ("olga", "admin")
	run := h.run("builder", interlock.RunRequest{Task: "publish"})
	plan := h.planned("builder", run.ID, shellStep("git push --force origin release", "git push --force origin old:release"))
	asked := h.standing().Requests[plan.Request]
	if plan.Status != interlock.PlanWaiting || len(asked.Judged) != 2 || !asked.Owes(interlock.ObligationAdmin) || second.asked() != 1 {
		t.Errorf("the plan is %+v, asked %+v", plan, asked)
	}
	said := false
	for _, o := range plan.Objections {
		said = said || o.Rule == "judge.L3.scope" && o.Verdict == interlock.Ask && strings.Contains(o.Reason, "disagree")
	}
	if !said {
		t.Errorf("of the plan it says %+v", plan.Objections)
	}
	result := h.asksFor(run.ID, `"done"`, "judge.L3.scope")
	if len(result.Judged) != 2 || !strings.Contains(result.Reason, "disagree") || main.asked() != 2 || second.asked() != 2 {
		t.Errorf("asked is %+v", result)
	}
	if err := h.answer(result.ID, "olga", interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if ended, err := h.hands(run.ID, `"done"`); err != nil || ended.Status != interlock.RunCompleted {
		t.Errorf("%+v, %v", ended, err)
	}
	main.says = says(interlock.Deny, 1)
	run = h.run("builder", interlock.RunRequest{Task: "publish more"})
	_, err := h.hands(run.ID, `"agreed"`)
	refusedWith(t, err, interlock.CodeUnauthorized, "is not handed over")
	h.entries()
}
