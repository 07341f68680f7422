package mcpgateway_test

import (
	"fmt"
	"strings"
	"testing"

	"interlock"
	"interlock/internal/mcpgateway"
)

// TestCancellingWithdrawsTheApproval: a task that is cancelled after somebody said yes, and before its call was made, takes the yes
// with it: no identical call passes on it. One whose client does not cancel is carried out, and cancelling afterwards changes nothing.
func TestCancellingWithdrawsTheApproval(t *testing.T) {
	for name, cancel := range map[string]bool{"cancelled": true, "not cancelled": false} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			d := newDesk(t, h, &memoryShelf{kept: map[string][]byte{}})
			made := d.sees(d.stateless("tools/call", letter, takesTasks))
			request := h.waiting(d.process)
			h.answer(d.process, request, interlock.Allow)
			want := interlock.RequestExpired
			if cancel {
				if got := d.stateless("tasks/cancel", `"taskId":"`+made.ID+`"`, takesTasks); got.Error != nil {
					t.Errorf("cancelling: %+v", got.Error)
				}
			} else {
				want = interlock.RequestSpent
			}
			again := d.sees(d.stateless("tools/call", letter, takesTasks))
			if passed := again.Type != "task"; passed == cancel {
				t.Errorf("an identical call: %+v", again)
			}
			now, err := d.process.Asked(t.Context(), interlock.Requester{Principal: "alice", Agent: "tester"}, request)
			if err != nil || now.Status != want {
				t.Errorf("the request is %s, want %s (%v)", now.Status, want, err)
			}
			d.stateless("tasks/cancel", `"taskId":"`+made.ID+`"`, takesTasks)
			if now, err = d.process.Asked(t.Context(), interlock.Requester{Principal: "alice", Agent: "tester"}, request); err != nil ||
				now.Status != want {
				t.Errorf("cancelled once more: %s, want %s (%v)", now.Status, want, err)
			}
		})
	}
}

// TestDecliningWithdrawsTheApproval: the client's user who says no after an operator said yes, and before the call was made, takes the
// yes back, also where the question had been closed before; one who says no after it was used is told that this takes nothing back.
func TestDecliningWithdrawsTheApproval(t *testing.T) {
	const declines = `,"inputResponses":{"interlock:%s":{"action":%q}}`
	alice := interlock.Requester{Principal: "alice", Agent: "tester"}
	for name, closed := range map[string]bool{"at once": false, "after closing the question": true} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			d := newDesk(t, h, &memoryShelf{kept: map[string][]byte{}})
			made := d.sees(d.stateless("tools/call", letter, takesTasks))
			request, task := h.waiting(d.process), `"taskId":"`+made.ID+`"`
			if closed {
				d.stateless("tasks/update", task+fmt.Sprintf(declines, request, "cancel"), takesTasks)
			}
			h.answer(d.process, request, interlock.Allow)
			d.stateless("tasks/update", task+fmt.Sprintf(declines, request, "decline"), takesTasks)
			if got := d.get(made.ID); got.Status != "completed" || got.Result.Structured.Code != mcpgateway.ReasonDeclined {
				t.Errorf("the task: %+v", got)
			}
			if again := d.sees(d.stateless("tools/call", letter, takesTasks)); again.Type != "task" || len(d.server.sent("tools/call")) != 0 {
				t.Errorf("an identical call: %+v, forwarded %d", again, len(d.server.sent("tools/call")))
			}
			if now, err := d.process.Asked(t.Context(), alice, request); err != nil || now.Status != interlock.RequestExpired {
				t.Errorf("the request is %s (%v)", now.Status, err)
			}
		})
	}
	t.Run("too late", func(t *testing.T) {
		h := newHouse(t)
		d := newDesk(t, h, &memoryShelf{kept: map[string][]byte{}})
		made := d.sees(d.stateless("tools/call", letter, takesTasks))
		request := h.waiting(d.process)
		h.answer(d.process, request, interlock.Allow)
		d.stateless("tools/call", letter, `{}`) // uses it
		d.stateless("tasks/update", `"taskId":"`+made.ID+`"`+fmt.Sprintf(declines, request, "decline"), takesTasks)
		if got := d.get(made.ID); got.Status != "completed" || !strings.Contains(got.Result.Content[0].Text, "declined, but too late") {
			t.Errorf("the task: %+v", got)
		}
		if now, err := d.process.Asked(t.Context(), alice, request); err != nil || now.Status != interlock.RequestSpent {
			t.Errorf("the request is %s (%v)", now.Status, err)
		}
	})
}

// TestDecliningAnApprovedQuestion: an answer to our question counts as a no also where an operator was faster with a yes.
func TestDecliningAnApprovedQuestion(t *testing.T) {
	h := newHouse(t)
	process := h.process()
	asker := h.asker(process)
	a, key := input(t, asker.Decide(t.Context(), question("1", stateless)))
	id := h.waiting(process)
	h.answer(process, id, interlock.Allow)
	settled := asker.Decide(t.Context(), back("2", a, key, "decline"))
	if got := structured(t, settled); settled.Forward || got.Code != mcpgateway.ReasonDeclined {
		t.Errorf("got %s, forwarded %v", settled.Result, settled.Forward)
	}
	if now, err := process.Asked(t.Context(), question("").Proposal.Requester, id); err != nil || now.Status != interlock.RequestExpired {
		t.Errorf("the request is %s (%v)", now.Status, err)
	}
}

// TestDecliningWhatIsUnderWay takes nothing back, and the task says so.
func TestDecliningWhatIsUnderWay(t *testing.T) {
	d := newDesk(t, newHouse(t), &memoryShelf{kept: map[string][]byte{}})
	asking(d.server, asksName)
	id := d.begun()
	name := d.asked(id)
	d.tell(id, "interlock:"+strings.TrimPrefix(id, "interlock-"), `{"action":"decline"}`)
	if now := d.stateless("tasks/get", `"taskId":"`+id+`"`, takesTasksAndForms); !strings.Contains(string(now.Result),
		"the user declined after the approval was used, which does not take it back") {
		t.Errorf("the task says %s", now.Result)
	}
	d.tell(id, name[0], `{"action":"accept","content":{"n":"Ann"}}`)
	if done := d.ended(id); done.Status != "completed" || done.Result.Content[0].Text != "done" {
		t.Errorf("it ends as %+v", done)
	}
}
