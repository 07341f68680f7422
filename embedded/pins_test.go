package embedded_test

import (
	"encoding/json"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/pinning"
	"interlock/internal/quorum"
)

// TestPinsReachOtherProcesses: what is examined in one process and ordered in another binds both at the next look, and stands
// after both have gone.
func TestPinsReachOtherProcesses(t *testing.T) {
	home := t.TempDir()
	gateway, console := opened(t, home), opened(t, home)
	verdicts, err := gateway.Examine(t.Context(), pinning.Listing{Server: "files", Identity: "sha256:aa", FirstUse: true,
		Definitions: []json.RawMessage{json.RawMessage(`{"name":"list_files","description":"Lists files.","inputSchema":{"type":"object"}}`)}})
	if err != nil || len(verdicts) != 1 || !verdicts[0].Approved {
		t.Fatalf("%+v, %v", verdicts, err)
	}
	upstream := interlock.Upstream{Server: "files", Identity: "sha256:aa", Tool: "list_files", Definition: verdicts[0].Definition}
	agent := interlock.Requester{Principal: "dev", Agent: "bot"}
	want := func(allowed bool) {
		t.Helper()
		shown, err := gateway.Visible(t.Context(), agent, []pinning.Target{{Name: "files.list_files", Upstream: upstream}})
		if err != nil || shown[0] != allowed {
			t.Errorf("shown %v, %v; want %v", shown, err, allowed)
		}
		answer := gateway.ProposeBy(t.Context(), admission.Way{Upstream: &upstream}, interlock.Proposal{
			Action: interlock.Action{Kind: interlock.KindTool, Tool: "files.list_files",
				Arguments: json.RawMessage(`{"path":"."}`), Dir: "/repo"}, Requester: agent, Door: "gateway"})
		if answer.Answer.Allowed() != allowed {
			t.Errorf("a call is answered %v by %+v, want allowed %v", answer.Answer, answer.Decisive(), allowed)
		}
	}
	want(true)
	if err := console.PutOperator(t.Context(),
		interlock.OperatorRecord{Name: "olga", Role: "operator", SSHKey: "ssh-ed25519 x", Created: time.Now()}); err != nil {
		t.Fatal(err)
	}
	order := quorum.OfOrder(interlock.Order{ID: "ord_1", Verb: interlock.VerbQuarantineTool, Subject: "files.list_files", Reason: "doubt",
		Operator: "olga", At: time.Now(), Expires: time.Now().Add(time.Minute)}, interlock.Requester{})
	signature, err := console.Attest(interlock.MethodSession, "ses_1", order.Text())
	must(t, err)
	if _, err := console.CarryOut(t.Context(), order.Signed(interlock.MethodSession, "ses_1", signature)); err != nil {
		t.Fatal(err)
	}
	want(false)
	must(t, console.Close())
	must(t, gateway.Close())
	gateway = opened(t, home)
	defer gateway.Close()
	want(false)
}
