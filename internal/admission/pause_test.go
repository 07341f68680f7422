package admission_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/spec"
)

// after reports how the step before went.
func after(outcome interlock.OutcomeStatus) func(*admission.Case) {
	return func(p *admission.Case) { p.Loop.Outcome = outcome }
}

func agent(name string) func(*admission.Case) {
	return func(p *admission.Case) { p.Requester.Agent = name }
}

const failedStep = "list the files of the project"

// failing is an agent that pauses because a step of its failed.
func failing(t *testing.T) (*house, *phone, interlock.Answer) {
	h, told := guarded(t)
	a := h.step("run", failedStep, after(interlock.OutcomeFailure))
	if a.Answer != interlock.Ask || a.Request == "" {
		t.Fatalf("after a failure: %s %+v", a.Answer, a.Findings)
	}
	return h, told, a
}

// TestNothingElseEndsAPause: whatever a paused agent reports, begins or hands in, it pauses until the request that it waits
// for is answered.
func TestNothingElseEndsAPause(t *testing.T) {
	spec.Covers(t, "AQL-8.6.4")
	for name, try := range map[string]func(h *house, told *phone) interlock.Answer{
		"the same step, which is said to have gone well": func(h *house, _ *phone) interlock.Answer {
			return h.step("run", failedStep, after(interlock.OutcomeSuccess))
		},
		"the same step, of which nothing is said": func(h *house, _ *phone) interlock.Answer { return h.step("run", failedStep) },
		"the same step, skipped": func(h *house, _ *phone) interlock.Answer {
			return h.step("run", failedStep, after(interlock.OutcomeSkipped))
		},
		"another step": func(h *house, _ *phone) interlock.Answer { return h.step("run", "read README.md") },
		"another step, asked again and again": func(h *house, _ *phone) (a interlock.Answer) {
			for range 5 {
				a = h.step("run", "read README.md", after(interlock.OutcomeSuccess))
			}
			return a
		},
		"another execution": func(h *house, _ *phone) interlock.Answer { return h.step("other", "read README.md") },
		"the same step in another execution": func(h *house, _ *phone) interlock.Answer {
			return h.step("other", failedStep)
		},
		"another process": func(h *house, _ *phone) interlock.Answer {
			h.Admission = again(h.t, h)
			return h.step("other", "read README.md")
		},
		"a door that says it does not pause": func(h *house, _ *phone) interlock.Answer {
			return h.step("run", failedStep, func(p *admission.Case) { p.Loop.Paused, p.Loop.Asked = "", "" })
		},
		"its own word": func(h *house, _ *phone) interlock.Answer {
			for id := range h.standing().Requests {
				_, _ = h.Confirm(h.t.Context(), interlock.Requester{Principal: "pat", Agent: "mcp"}, id, "")
			}
			return h.step("run", failedStep)
		},
		"a right code for a block": func(h *house, told *phone) interlock.Answer {
			stopped := h.step("run", "run `rm -rf /` to clean up")
			v, err := h.Verify(h.t.Context(), interlock.Requester{Principal: "pat", Agent: "mcp"}, stopped.Challenge, told.code(h.t))
			if err != nil || !v.Unblocked {
				h.t.Fatalf("the right code: %+v, %v", v, err)
			}
			return h.step("run", failedStep)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, told, first := failing(t)
			a := try(h, told)
			if a.Answer.Allowed() {
				t.Fatalf("goes on: %s %+v", a.Answer, a.Findings)
			}
			if a.Request != first.Request && !strings.Contains(fmt.Sprint(a.Findings), first.Request) {
				t.Errorf("does not name request %s: %+v", first.Request, a.Findings)
			}
			if n := len(h.standing().Requests); n != 1 {
				t.Errorf("%d requests wait now", n)
			}
			if elsewhere := h.step("run", "read README.md", agent("another")); elsewhere.Answer != interlock.Allow {
				t.Errorf("another agent is held: %s %+v", elsewhere.Answer, elsewhere.Findings)
			}
		})
	}
}

// TestACodeForAnotherActionEndsNoPause: an agent that pauses for an answer is blocked besides. The code that lifts the block, given in
// whatever process, lifts the block.
func TestACodeForAnotherActionEndsNoPause(t *testing.T) {
	spec.Covers(t, "AQL-8.6.4")
	h, told, first := failing(t)
	stopped := h.step("other", "run `rm -rf /` to clean up")
	if stopped.Challenge == "" {
		t.Fatalf("no block: %s %+v", stopped.Answer, stopped.Findings)
	}
	h.Admission = again(t, h)
	v, err := h.Verify(t.Context(), interlock.Requester{Principal: "pat", Agent: "mcp"}, stopped.Challenge, told.code(t))
	if err != nil || !v.Unblocked {
		t.Fatalf("the right code: %+v, %v", v, err)
	}
	for _, hint := range []string{failedStep, "read README.md"} {
		if a := h.step("run", hint); a.Answer.Allowed() {
			t.Errorf("%s goes on: %+v", hint, a.Findings)
		}
	}
	if err := h.approve(first.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	if a := h.step("run", failedStep); a.Answer != interlock.Allow {
		t.Errorf("what was answered: %s %+v", a.Answer, a.Findings)
	}
}

// TestAnAgentIsPausedOnce: while a code is waited for no process opens another pause, and the code, which counts once, ends no later one.
func TestAnAgentIsPausedOnce(t *testing.T) {
	h, told := guarded(t)
	coded := h.step("one", "calling purge_cache on the web server")
	if coded.Challenge == "" {
		t.Fatalf("no code is wanted: %s %+v", coded.Answer, coded.Findings)
	}
	code, who := told.code(t), interlock.Requester{Principal: "pat", Agent: "mcp"}
	h.Admission = again(t, h)
	if a := h.step("two", failedStep, after(interlock.OutcomeFailure)); a.Answer != interlock.Deny || a.Request != "" ||
		a.Challenge != coded.Challenge {
		t.Errorf("a step in another process: %s, request %q, challenge %q", a.Answer, a.Request, a.Challenge)
	}
	if v, err := h.Verify(t.Context(), who, coded.Challenge, code); err != nil || v.Result != "passed" {
		t.Fatalf("the right code: %+v, %v", v, err)
	}
	later := h.step("two", failedStep, after(interlock.OutcomeFailure))
	if later.Answer != interlock.Ask || later.Request == "" {
		t.Fatalf("a failure afterwards: %s %+v", later.Answer, later.Findings)
	}
	if v, err := h.Verify(t.Context(), who, coded.Challenge, code); err != nil || v.Result != "unknown" {
		t.Errorf("the same code again: %+v, %v", v, err)
	}
	if a := h.step("two", "read README.md"); a.Answer.Allowed() {
		t.Errorf("it goes on: %+v", a.Findings)
	}
}

// TestAnAgentTakesNoPauseBack: what its client or its user may take back is a question of a call, and not the request that a pause
// waits for.
func TestAnAgentTakesNoPauseBack(t *testing.T) {
	h, _, first := failing(t)
	who := interlock.Requester{Principal: "pat", Agent: "mcp"}
	if err := h.Forgo(t.Context(), who, first.Request, "never mind"); err == nil || !strings.Contains(err.Error(), "ends by its answer") {
		t.Errorf("taken back: %v", err)
	}
	if a := h.step("run", "read README.md"); a.Answer.Allowed() {
		t.Errorf("it goes on: %+v", a.Findings)
	}
}

// TestWhatEndsAPause: the answer to its request, whichever, and its time.
func TestWhatEndsAPause(t *testing.T) {
	spec.Covers(t, "AQL-8.6.4")
	t.Run("a yes", func(t *testing.T) {
		h, _, first := failing(t)
		if err := h.approve(first.Request, interlock.Allow); err != nil {
			t.Fatal(err)
		}
		if a := h.step("other", "read README.md"); a.Answer != interlock.Allow {
			t.Errorf("another step: %s %+v", a.Answer, a.Findings)
		}
		if a := h.step("run", failedStep); a.Answer != interlock.Allow || a.Approval != first.Request {
			t.Errorf("the step: %s, approval %q, %+v", a.Answer, a.Approval, a.Findings)
		}
		// It was for this once: it does not answer the next failure.
		if a := h.step("run", failedStep, after(interlock.OutcomeFailure)); a.Answer != interlock.Ask || a.Request == first.Request {
			t.Errorf("after another failure: %s, request %q", a.Answer, a.Request)
		}
	})
	t.Run("a no", func(t *testing.T) {
		h, _, first := failing(t)
		if err := h.approve(first.Request, interlock.Deny); err != nil {
			t.Fatal(err)
		}
		if a := h.step("run", "read README.md"); a.Answer != interlock.Allow {
			t.Errorf("another step: %s %+v", a.Answer, a.Findings)
		}
	})
	t.Run("time", func(t *testing.T) {
		h, _, first := failing(t)
		h.now = h.standing().Requests[first.Request].Expires.Add(-time.Second)
		if a := h.step("run", "read README.md"); a.Answer.Allowed() {
			t.Errorf("a second before: %s", a.Answer)
		}
		h.now = h.now.Add(time.Second)
		if a := h.step("run", "read README.md"); a.Answer != interlock.Allow {
			t.Errorf("after its time: %s %+v", a.Answer, a.Findings)
		}
	})
}

// TestThePauseSaysNothingOfTheStep: what a step is rated at is its own, whatever its agent waits for.
func TestThePauseSaysNothingOfTheStep(t *testing.T) {
	h, _, _ := failing(t)
	if a := h.step("run", "read README.md"); a.Answer.Allowed() || a.Tier != interlock.TierAdvisory {
		t.Errorf("a read during a pause: %s, tier %s", a.Answer, a.Tier)
	}
	if a := h.step("run", "calling purge_cache on the web server"); a.Answer.Allowed() || a.Tier != interlock.TierVerify {
		t.Errorf("a dangerous step during a pause: %s, tier %s", a.Answer, a.Tier)
	}
	if a := h.step("run", "run `rm -rf /` to clean up"); a.Answer.Allowed() || a.Tier != interlock.TierDangerZone || a.Challenge == "" {
		t.Errorf("a catastrophe during a pause: %s, tier %s, challenge %q", a.Answer, a.Tier, a.Challenge)
	}
}
