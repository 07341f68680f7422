package admission_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/governance"
	"interlock/internal/store/storagetest"
	"interlock/spec"
)

// TestRightCodeLiftsTheBlock: however a human types it, from any connection of the agent, once.
func TestRightCodeLiftsTheBlock(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2c")
	h, told, answer := blocked(t)
	typed := " " + strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(told.code(t), "-", " "), "0", "o"), "1", "l")) + "\n"
	v := h.verifies("claude", answer.Challenge, typed)
	if diff := cmp.Diff(governance.Verification{Result: "passed", Reason: v.Reason, Unblocked: true}, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if free := h.propose("git status", step); free.Answer != interlock.Allow || free.Challenge != "" {
		t.Errorf("afterwards: %v, challenge %q", free.Answer, free.Challenge)
	}
	if again := h.verifies("claude", answer.Challenge, typed); again.Result != "unknown" || again.Failed != 1 {
		t.Errorf("the code counted twice: %+v", again)
	}
	h.propose("shred notes.txt", step)
	if other := h.verifies("claude", challengeOf(h), typed); other.Result != "wrong" {
		t.Errorf("the code of one challenge answered another: %+v", other)
	}
	types := h.entries()
	want := []interlock.EventType{interlock.EventVerification, interlock.EventUnblocked, interlock.EventDecision}
	if diff := cmp.Diff(want, types[4:7]); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func challengeOf(h *house) string {
	h.t.Helper()
	for id := range h.standing().Challenges {
		return id
	}
	h.t.Fatal("no challenge stands")
	return ""
}

// TestWrongAnswers: each fails, burns the code if it named a challenge of this agent, and what does not exist, belongs to
// another or is no code looks alike.
func TestWrongAnswers(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2c", "AQL-8.8.2e")
	wrong := "0000-0000-0000-0000-0000-0000-0000-0000"
	type answer struct{ agent, challenge, code string }
	for name, test := range map[string]struct {
		answer func(id, code string) answer
		result string
		burnt  bool
	}{
		"another code":             {func(id, _ string) answer { return answer{"claude", id, wrong} }, "wrong", true},
		"no code":                  {func(id, _ string) answer { return answer{"claude", id, ""} }, "unknown", true},
		"half a code":              {func(id, code string) answer { return answer{"claude", id, code[:20]} }, "unknown", true},
		"very much":                {func(id, code string) answer { return answer{"claude", id, strings.Repeat(code, 1000)} }, "unknown", true},
		"a challenge that is none": {func(_, code string) answer { return answer{"claude", "11111111-1111-4111-8111-111111111111", code} }, "unknown", false},
		"no challenge":             {func(_, code string) answer { return answer{"claude", "", code} }, "unknown", false},
		"another agent's":          {func(id, code string) answer { return answer{"codex", id, code} }, "unknown", false},
	} {
		t.Run(name, func(t *testing.T) {
			h, told, first := blocked(t)
			before := len(h.entries())
			a := test.answer(first.Challenge, told.code(t))
			v := h.verifies(a.agent, a.challenge, a.code)
			if v.Result != test.result || v.Failed != 1 || v.Unblocked {
				t.Errorf("got %+v, want %s", v, test.result)
			}
			if diff := cmp.Diff([]interlock.EventType{interlock.EventVerification, interlock.EventAlert}, h.entries()[before:]); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			want := "passed"
			if test.burnt {
				want = "expired"
			}
			if then := h.verifies("claude", first.Challenge, told.code(t)); then.Result != want {
				t.Errorf("the right code then got %s, want %s", then.Result, want)
			}
		})
	}
	t.Run("too late", func(t *testing.T) {
		h, told, first := blocked(t)
		h.now = h.now.Add(5 * time.Minute)
		if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "expired" || v.Failed != 1 {
			t.Errorf("got %+v", v)
		}
		if still := h.propose("git status"); still.Challenge != first.Challenge {
			t.Error("the block ended with its code")
		}
	})
}

// TestGuessing: the tenth failure closes the door for a minute, whatever is tried and from wherever, the next time for two; a
// right code is not looked at either; and all of it survives the process.
func TestGuessing(t *testing.T) {
	spec.Covers(t, "AQL-8.8.5", "AQL-8.8.5p")
	h, told, first := blocked(t)
	for n := 1; n <= 10; n++ {
		if v := h.verifies("claude", first.Challenge, "1111"); v.Result == "limited" || v.Failed != n {
			t.Fatalf("failure %d: %+v", n, v)
		}
	}
	if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "limited" || v.RetryAfter != time.Minute {
		t.Errorf("the eleventh: %+v", v)
	}
	if v := h.verifies("codex", first.Challenge, "1111"); v.Result != "unknown" {
		t.Errorf("another agent is limited as well: %+v", v)
	}
	h.Admission = again(t, h)
	if v := h.verifies("claude", first.Challenge, "1111"); v.Result != "limited" {
		t.Errorf("after a restart: %+v", v)
	}
	h.now = h.now.Add(time.Minute)
	for range 10 {
		if v := h.verifies("claude", first.Challenge, "1111"); v.Result == "limited" {
			t.Fatalf("a minute later: %+v", v)
		}
	}
	if v := h.verifies("claude", first.Challenge, "1111"); v.Result != "limited" || v.RetryAfter != 2*time.Minute {
		t.Errorf("the second time: %+v", v)
	}
	limited := 0
	for _, e := range h.log() {
		if e.Type == interlock.EventVerification {
			limited++
		}
	}
	if limited != 24 {
		t.Errorf("%d answers are recorded, want every one of 24", limited)
	}
}

// again is another process on the same store.
func again(t *testing.T, h *house, edit ...func(*admission.Config)) *admission.Admission {
	t.Helper()
	other, _ := guarded(t, append([]func(*admission.Config){func(c *admission.Config) {
		c.Store, c.Now = h.store, func() time.Time { return h.now }
	}}, edit...)...)
	return other.Admission
}

// TestBlockSurvivesRestart: another process on the store blocks as well, and takes the code.
func TestBlockSurvivesRestart(t *testing.T) {
	spec.Covers(t, "AQL-8.8.3a")
	h, told, first := blocked(t)
	h.Admission = again(t, h)
	if answer := h.propose("git status"); answer.Answer != interlock.Halt || answer.Challenge != first.Challenge {
		t.Errorf("challenge %q, want %q", answer.Challenge, first.Challenge)
	}
	if v := h.verifies("claude", first.Challenge, told.code(t)); !v.Unblocked {
		t.Errorf("got %+v", v)
	}
}

// TestVerifyPause: a step that wants a code pauses the agent until it is given; then exactly that step passes, once.
func TestVerifyPause(t *testing.T) {
	spec.Covers(t, "AQL-8.8")
	h, told := guarded(t)
	first := h.propose("publish notes", step)
	if first.Answer.Allowed() || first.Challenge == "" || first.Request == "" || told.notices[0].Severity != interlock.TierVerify {
		t.Fatalf("answer %v, challenge %q, request %q", first.Answer, first.Challenge, first.Request)
	}
	same := h.propose("publish notes", step)
	if same.Challenge != first.Challenge || same.Request != first.Request || len(told.notices) != 1 {
		t.Errorf("asked again: challenge %q, request %q, %d notices", same.Challenge, same.Request, len(told.notices))
	}
	v := h.verifies("claude", first.Challenge, told.code(t))
	if diff := cmp.Diff(governance.Verification{Result: "passed", Reason: v.Reason, Request: first.Request}, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := h.standing().Requests[first.Request]; got.Status != interlock.RequestApproved || got.Approval.Method != interlock.MethodCode {
		t.Errorf("the request: %+v", got)
	}
	if changed := h.propose("publish notes --all", step); changed.Answer.Allowed() || changed.Challenge == first.Challenge {
		t.Errorf("a changed step got %v under challenge %q", changed.Answer, changed.Challenge)
	}
}

// TestCodeLetsTheStepPassOnce: the identical step, and no second one.
func TestCodeLetsTheStepPassOnce(t *testing.T) {
	spec.Covers(t, "AQL-8.8.3b")
	h, told := guarded(t)
	first := h.propose("publish notes", step)
	other := h.propose("git status", step)
	if other.Answer.Allowed() || other.Challenge != first.Challenge || other.Request != "" || !strings.Contains(other.Decisive().Reason, first.Challenge) {
		t.Errorf("another step while a code is awaited: %v, challenge %q, request %q, %q", other.Answer, other.Challenge,
			other.Request, other.Decisive().Reason)
	}
	if elsewhere := h.propose("git status"); elsewhere.Answer != interlock.Allow {
		t.Errorf("what no execution reports is paused as well: %v", elsewhere.Answer)
	}
	h.verifies("claude", first.Challenge, told.code(t))
	if passed := h.propose("publish notes", step); passed.Answer != interlock.Allow || passed.Approval != first.Request {
		t.Errorf("the step got %v, approval %q", passed.Answer, passed.Approval)
	}
	if second := h.propose("publish notes", step); second.Answer.Allowed() || second.Challenge == "" {
		t.Errorf("a second time: %v, challenge %q", second.Answer, second.Challenge)
	}
	h.entries()
}

// TestAnswerEndsThePause: an operator's signed no, or a yes by passkey, is an answer as good as a code; the code then counts no more.
func TestAnswerEndsThePause(t *testing.T) {
	h, told := guarded(t)
	h.employ("bob", "operator")
	first := h.propose("publish notes", step)
	if err := h.approve(first.Request, interlock.Allow); err == nil {
		t.Error("an SSH key answered what wants a fresh proof")
	}
	if err := h.approve(first.Request, interlock.Deny); err != nil {
		t.Fatal(err)
	}
	if free := h.propose("git status", step); free.Answer != interlock.Allow {
		t.Errorf("after a no: %v by %+v", free.Answer, free.Decisive())
	}
	if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "unknown" {
		t.Errorf("the code after the answer: %+v", v)
	}
}

// TestPauseEnds: with its code or its code's time, and not with its process; the step is then evaluated afresh, and asked anew.
func TestPauseEnds(t *testing.T) {
	spec.Covers(t, "AQL-8.8.2e")
	t.Run("in time", func(t *testing.T) {
		h, told := guarded(t)
		first := h.propose("publish notes", step)
		h.now = h.now.Add(5 * time.Minute)
		if n, err := h.Expire(t.Context()); n != 1 || err != nil {
			t.Errorf("%d lapsed: %v", n, err)
		}
		types := h.entries()
		if last := types[len(types)-1]; last != interlock.EventVerification {
			t.Errorf("the log ends in %s: that nobody answered counts as a failure", last)
		}
		fresh := h.propose("publish notes", step)
		if fresh.Challenge == first.Challenge || fresh.Challenge == "" || fresh.Request != first.Request || len(told.notices) != 2 {
			t.Errorf("challenge %q after %q, request %q after %q", fresh.Challenge, first.Challenge, fresh.Request, first.Request)
		}
	})
	t.Run("not with the process", func(t *testing.T) {
		h, told := guarded(t)
		first := h.propose("publish notes", step)
		code := told.code(t)
		h.Admission = again(t, h)
		if other := h.propose("git status", step); other.Challenge != first.Challenge || other.Answer == interlock.Allow {
			t.Errorf("another step after a restart: %v, challenge %q", other.Answer, other.Challenge)
		}
		if same := h.propose("publish notes", step); same.Challenge != first.Challenge || len(told.notices) != 1 {
			t.Errorf("the same step is asked about anew: challenge %q after %q", same.Challenge, first.Challenge)
		}
		for _, row := range h.stored() {
			if plain := strings.ReplaceAll(code, "-", ""); strings.Contains(row, code) || strings.Contains(row, plain) {
				t.Errorf("the code is stored: %s", row)
			}
		}
		if v := h.verifies("claude", first.Challenge, code); v.Result != "passed" || v.Request != first.Request {
			t.Errorf("its code after a restart: %+v", v)
		}
		if then := h.propose("publish notes", step); then.Answer != interlock.Allow {
			t.Errorf("the step the code was for: %v", then.Answer)
		}
		if other := h.propose("git status", step); other.Answer != interlock.Allow {
			t.Errorf("another step after the pause: %v", other.Answer)
		}
	})
	t.Run("not with the process, and in time", func(t *testing.T) {
		h, told := guarded(t)
		first := h.propose("publish notes", step)
		h.Admission = again(t, h)
		h.now = h.now.Add(5 * time.Minute)
		if other := h.propose("git status", step); other.Answer != interlock.Allow {
			t.Errorf("another step once its time is over: %v", other.Answer)
		}
		if v := h.verifies("claude", first.Challenge, told.code(t)); v.Result != "expired" {
			t.Errorf("its code then: %+v", v)
		}
	})
}

// stored is all that stands and all that was recorded, as text.
func (h *house) stored() (all []string) {
	h.t.Helper()
	rows, _, err := h.store.Load(h.t.Context(), storagetest.Everything()...)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, row := range rows {
		text, err := json.Marshal(row.Value)
		if err != nil {
			h.t.Fatal(err)
		}
		all = append(all, string(row.Body)+string(text))
	}
	for _, e := range h.log() {
		all = append(all, string(e.Body))
	}
	return all
}
