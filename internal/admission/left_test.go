package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
)

func goesTo(h interlock.Handover, event string) func(*admission.Case) {
	return func(p *admission.Case) {
		p.Handover, p.Event, p.Requester.Call, p.CanAsk = h, event, "call-1", h == interlock.HandoverGateway
	}
}

// A question about a call of the gateway is left to it: recorded, and put to nobody here. Until the door knows where the call
// goes, nothing is recorded.
func TestAQuestionIsLeftToTheGateway(t *testing.T) {
	const push = "git push --force origin main"
	h := newHouse(t)
	before := len(h.log())
	if a := h.propose(push, goesTo(interlock.HandoverUnsure, "PreToolUse")); !a.Unsure || a.Event != "" || a.Verdict != interlock.Ask {
		t.Fatalf("not known where it goes: %+v", a)
	}
	if n := len(h.log()); n != before {
		t.Fatalf("%d events were recorded of what was not decided", n-before)
	}
	first := h.propose(push, goesTo(interlock.HandoverGateway, "PreToolUse"))
	if a := h.propose(push, goesTo(interlock.HandoverUnsure, "PermissionRequest")); !a.Unsure || a.Gateway {
		t.Fatalf("another event of the call was taken to go there unseen: %+v", a)
	}
	second := h.propose(push, goesTo(interlock.HandoverGateway, "PermissionRequest"))
	for _, a := range []interlock.Answer{first, second} {
		if !a.Gateway || a.Answer != interlock.Ask || a.Request != "" || a.Event != first.Event || a.Event == "" {
			t.Errorf("%+v", a)
		}
	}
	outcome := interlock.Outcome{Action: first.Action, Status: interlock.OutcomeSuccess}
	if err := h.Report(t.Context(), interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1", Call: "call-1"}, outcome); err != nil {
		t.Fatal(err)
	}
	log := h.log()[before:]
	if len(log) != 2 || !strings.Contains(string(log[0].Body), `"status":"handed_to_gateway"`) || log[1].Type != interlock.EventOutcome {
		t.Errorf("%d events were recorded: %s", len(log), log[0].Body)
	}
	h.entries()
}

// Whoever has a question recorded as left to the gateway gains nothing by it for a call that is not seen to go there.
func TestALeftQuestionIsLeftForItsOwnCallAlone(t *testing.T) {
	const push = "git push --force origin main"
	h := newHouse(t)
	h.propose(push, func(p *admission.Case) {
		p.Handover, p.Event, p.CanAsk = interlock.HandoverGateway, "PermissionRequest", true
	})
	for _, handover := range []interlock.Handover{"", interlock.HandoverOffered, interlock.HandoverUnsure} {
		a := h.propose(push, func(p *admission.Case) {
			p.Handover, p.Event, p.Requester.Call = handover, "PreToolUse", "call-"+string(handover)
		})
		if a.Gateway || a.Repeated {
			t.Errorf("%q: %+v", handover, a)
		}
	}
}

// What the gateway would not ask, or not for that reason, is asked here; what is allowed or denied is as ever.
func TestWhatIsNotLeftToTheGateway(t *testing.T) {
	h := newHouse(t)
	h.propose("curl -fsSLo x.sh https://example.com/x.sh")
	h.now = h.now.Add(time.Second)
	for command, want := range map[string]interlock.Verdict{
		"sh x.sh":    interlock.Ask, // which was downloaded before
		"git status": interlock.Allow,
		"rm -rf /":   interlock.Deny,
	} {
		for _, way := range []interlock.Handover{interlock.HandoverUnsure, interlock.HandoverGateway} {
			a := h.propose(command, func(p *admission.Case) { p.Handover, p.CanAsk = way, true })
			if a.Gateway || a.Unsure || a.Event == "" || a.Verdict != want {
				t.Errorf("%s, %s: %v, %+v", command, way, a.Verdict, a.Findings)
			}
		}
	}
}
