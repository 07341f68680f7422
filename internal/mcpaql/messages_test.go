package mcpaql_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/mcpaql"
)

// TestPlansAndMessagesOverMCP: an agent hands over a plan, sends a message, sees what waits for it, receives it in the form that its media
// type says and is done with it, each as whom its connection's credential names; what is no plan or message is refused by its parameter.
func TestPlansAndMessagesOverMCP(t *testing.T) {
	f := newFixture(t, nil)
	plan := f.data(mcpaql.Create, `{"operation":"submit_plan","params":{"run":"run_1","steps":[{"kind":"shell","input":"make test",`+
		`"compensation":{"kind":"shell","input":"make clean"}},{"kind":"tool","tool":"t","arguments":{"a":1},"takes_seconds":9}]}}`)
	if plan["id"] != "pln_1" || plan["status"] != "accepted" {
		t.Errorf("planned: %v", plan)
	}
	sent := f.data(mcpaql.Create, `{"operation":"send_message","params":{"to":"clerk","type":"note","run":"run_1","version":2,"body":{"n":1},`+
		`"follows":["msg_0"],"key":"k"}}`)
	if sent["answer"] != "allow" || sent["message"].(map[string]any)["id"] != "msg_1" {
		t.Errorf("sent: %v", sent)
	}
	refused := f.data(mcpaql.Create, `{"operation":"send_message","params":{"to":"nobody","type":"note","data":"AAE="}}`)
	if refused["answer"] != "deny" || refused["reason"] == "" || refused["message"] != nil ||
		refused["violation"].(map[string]any)["side"] != "schema" {
		t.Errorf("refused: %v", refused)
	}
	for id, member := range map[string]string{"msg_1": "body", "msg_2": "text", "msg_3": "data"} {
		got := f.data(mcpaql.Execute, `{"operation":"receive_message","params":{"message":"`+id+`","run":"run_1"}}`)
		want := map[string]any{"body": map[string]any{"n": 1.0}, "text": `{"n":1}`, "data": "eyJuIjoxfQ=="}[member]
		if diff := cmp.Diff(want, got[member]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	if waiting := f.data(mcpaql.Read, `{"operation":"waiting_messages"}`); len(waiting["messages"].([]any)) != 1 {
		t.Errorf("waiting: %v", waiting)
	}
	if done := f.data(mcpaql.Execute, `{"operation":"acknowledge_message","params":{"message":"msg_1"}}`); done["acknowledged"] != true {
		t.Errorf("done: %v", done)
	}
	taken := f.backend.taken()
	for n, want := range map[int]string{0: "PLAN of run_1 by " + caller.Agent + ": 2 steps, the first make test",
		1: "SEND by " + caller.Agent + ` in run_1: {To:clerk Type:note Version:2 Media: Body:[123 34 110 34 58 49 125] Text: Data:[] ` +
			`Follows:[msg_0] Key:k}`,
		2: "SEND by " + caller.Agent + ` in : {To:nobody Type:note Version:0 Media: Body:[] Text: Data:[0 1] Follows:[] Key:}`} {
		if taken[n] != want {
			t.Errorf("%q, want %q", taken[n], want)
		}
	}
	f.failure(mcpaql.Create, `{"operation":"submit_plan","run":"run_1"}`, mcpaql.CodeMissingParam)
	f.failure(mcpaql.Create, `{"operation":"submit_plan","run":"run_1","steps":["ls"]}`, mcpaql.CodeInvalidType)
	f.failure(mcpaql.Create, `{"operation":"submit_plan","run":"run_1","steps":[{"kind":"shell","input":"ls","verdict":"allow"}]}`,
		mcpaql.CodeInvalidType)
	f.failure(mcpaql.Create, `{"operation":"send_message","to":"clerk"}`, mcpaql.CodeMissingParam)
	f.failure(mcpaql.Create, `{"operation":"send_message","to":"clerk","type":"note","from":"planner","text":"x"}`, mcpaql.CodeUnknownParam)
	f.failure(mcpaql.Create, `{"operation":"send_message","to":"clerk","type":"note","data":"no base64"}`, mcpaql.CodeInvalidType)
	f.failure(mcpaql.Execute, `{"operation":"receive_message","message":"msg_9"}`, mcpaql.CodeNoResource)
}
