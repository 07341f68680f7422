package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/spec"
)

// ofType registers agents of one type.
func (h *house) ofType(kind string, agents ...string) {
	h.t.Helper()
	for _, id := range agents {
		if err := h.PutAgent(h.t.Context(), interlock.AgentRecord{ID: id, Principal: "alice", Type: kind,
			Trust: interlock.TrustCertified, Created: h.now}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func by(agent string) func(*admission.Case) {
	return func(c *admission.Case) { c.Requester.Agent = agent }
}

// TestFirstUse: from tier 2 on the first use of a tool by a type asks, once for all its agents: while somebody is asked the others are told
// so, after a yes none is asked again, after a no the next one asks anew. What only reads never asks, and nothing is asked below.
func TestFirstUse(t *testing.T) {
	spec.Covers(t, "EC-AC-2")
	h := newHouse(t, under(t, "maso: {tier: 2}"))
	h.ofType("clerk", "one", "two", "three")
	h.ofType("other", "else")

	asked := h.propose("touch notes", by("one"))
	if asked.Answer.Allowed() || asked.Verdict != interlock.Ask || asked.Request == "" || asked.Decisive().Rule != "first-use.tool" {
		t.Fatalf("the first use: %v %+v", asked.Verdict, asked.Findings)
	}
	told := h.propose("touch more", by("two"))
	if told.Verdict != interlock.Deny || told.Request != "" || !strings.Contains(told.Decisive().Reason, asked.Request) {
		t.Errorf("another instance meanwhile: %v, request %q: %+v", told.Verdict, told.Request, told.Findings)
	}
	if a := h.propose("cat notes", by("two")); a.Answer != interlock.Allow {
		t.Errorf("what only reads: %v %+v", a.Answer, a.Findings)
	}
	h.says(asked.Request, interlock.Deny)
	asked = h.propose("touch notes", by("two"))
	if asked.Verdict != interlock.Ask {
		t.Fatalf("after a no: %v %+v", asked.Verdict, asked.Findings)
	}
	h.says(asked.Request, interlock.Allow)
	for _, agent := range []string{"one", "two", "three"} { // although the one that asked has used its yes for nothing yet
		if a := h.propose("touch something "+agent, by(agent)); a.Answer != interlock.Allow {
			t.Errorf("after a yes, %s: %v %+v", agent, a.Answer, a.Findings)
		}
	}
	if a := h.propose("touch notes", by("else")); a.Verdict != interlock.Ask {
		t.Errorf("another type: %v", a.Verdict)
	}
	if a := h.propose("mkdir d", by("three")); a.Verdict != interlock.Ask {
		t.Errorf("another tool: %v", a.Verdict)
	}
	if _, found, err := h.Request(t.Context(), asked.Request); err != nil || !found {
		t.Error(found, err)
	}
	h.now = h.now.Add(31 * 24 * time.Hour)
	if a := h.propose("touch again", by("three")); a.Answer != interlock.Allow {
		t.Errorf("a month later: %v", a.Answer)
	}
	for name, edit := range map[string]func(*admission.Config){
		"tier 1":     under(t, "maso: {tier: 1}"),
		"only noted": under(t, "maso: {tier: 2, first_use: noted}"),
		"no tier":    func(*admission.Config) {},
	} {
		if a := newHouse(t, edit).propose("touch notes"); a.Answer != interlock.Allow {
			t.Errorf("%s: %v %+v", name, a.Answer, a.Findings)
		}
	}
}

// TestFirstUseAtTierOne: what people say yes to at tier 1 is known at tier 2.
func TestFirstUseAtTierOne(t *testing.T) {
	h := newHouse(t, under(t, "maso: {tier: 1}"))
	h.ofType("clerk", "one")
	asked := h.propose("git push --force origin main", by("one"))
	if asked.Verdict != interlock.Ask {
		t.Fatalf("%v", asked.Verdict)
	}
	h.says(asked.Request, interlock.Allow)
	known, err := h.Ground(t.Context(), ledger.Ref{Kind: ledger.FirstUse, Mark: ledger.UsesOf("clerk")})
	if f := known.FirstUse("clerk", "shell git"); err != nil || !f.Known() || f.By != "bob" {
		t.Errorf("%+v %v", known.Others, err)
	}
}

// says answers a request.
func (h *house) says(request string, verdict interlock.Verdict) {
	h.t.Helper()
	if err := h.approve(request, verdict); err != nil {
		h.t.Fatal(err)
	}
}
