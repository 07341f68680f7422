package mcpgateway_test

import (
	"testing"

	"interlock"
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
