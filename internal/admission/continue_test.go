package admission_test

import (
	"errors"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
)

func continues(id string) func(*admission.Case) {
	return func(p *admission.Case) { p.Continues = id }
}

// TestACallThatIsContinued: the approval that was spent on a call counts for the rest of that call, and for nothing else; without
// the door's word for it, it is spent.
func TestACallThatIsContinued(t *testing.T) {
	const risky = "git push --force origin feature"
	begin := func(t *testing.T) (*house, string) {
		h := newHouse(t, func(c *admission.Config) { c.Attended = true })
		first := h.propose(risky, func(p *admission.Case) { p.CanAsk = true })
		if err := h.approve(first.Request, interlock.Allow); err != nil {
			t.Fatal(err)
		}
		if a := h.propose(risky); a.Answer != interlock.Allow || a.Approval != first.Request {
			t.Fatalf("%v by %q", a.Answer, a.Approval)
		}
		return h, first.Request
	}
	t.Run("its rest", func(t *testing.T) {
		h, id := begin(t)
		for range 2 {
			if a := h.propose(risky, continues(id)); a.Answer != interlock.Allow || a.Verdict != interlock.Ask || a.Approval != id || a.Event == "" {
				t.Errorf("%v by %q", a.Answer, a.Approval)
			}
		}
		if r, err := h.Asked(t.Context(), interlock.Requester{Principal: "alice", Agent: "claude"}, id); err != nil || r.Status != interlock.RequestSpent {
			t.Errorf("the approval is %s, %v", r.Status, err)
		}
		if a := h.propose(risky); a.Answer == interlock.Allow {
			t.Error("a call of its own passed by it")
		}
		h.entries()
	})
	for name, refused := range map[string]func(h *house, id string) interlock.Answer{
		"another action": func(h *house, id string) interlock.Answer { return h.propose(risky+" --tags", continues(id)) },
		"another agent": func(h *house, id string) interlock.Answer {
			return h.propose(risky, continues(id), func(p *admission.Case) { p.Requester.Agent = "codex" })
		},
		"another owner": func(h *house, id string) interlock.Answer {
			return h.propose(risky, continues(id), func(p *admission.Case) { p.Requester.Principal = "mallory" })
		},
		"what is denied": func(h *house, id string) interlock.Answer { return h.propose("rm -rf /", continues(id)) },
		"no approval":    func(h *house, id string) interlock.Answer { return h.propose(risky, continues("apr_000000000000")) },
		"too late": func(h *house, id string) interlock.Answer {
			h.now = h.now.Add(3 * time.Hour)
			return h.propose(risky, continues(id))
		},
		"a signature that does not hold": func(h *house, id string) interlock.Answer {
			h.verify = errors.New("the signature is not bob's")
			return h.propose(risky, continues(id))
		},
		"an operator who was revoked": func(h *house, id string) interlock.Answer {
			if err := h.PutOperator(h.t.Context(),
				interlock.OperatorRecord{Name: "bob", Role: "operator", SSHKey: "key", Created: h.now, Revoked: h.now}); err != nil {
				h.t.Fatal(err)
			}
			return h.propose(risky, continues(id))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, id := begin(t)
			if a := refused(h, id); a.Answer == interlock.Allow || a.Approval != "" || a.Event == "" {
				t.Errorf("%v by %q", a.Answer, a.Approval)
			}
			h.verify = nil
			h.entries()
		})
	}
	t.Run("one that was not used", func(t *testing.T) {
		h := newHouse(t)
		first := h.propose(risky)
		if err := h.approve(first.Request, interlock.Allow); err != nil {
			t.Fatal(err)
		}
		if a := h.propose(risky, continues(first.Request)); a.Answer != interlock.Allow {
			t.Errorf("%v", a.Answer)
		}
		if a := h.propose(risky); a.Answer == interlock.Allow {
			t.Error("it was not spent")
		}
	})
}
