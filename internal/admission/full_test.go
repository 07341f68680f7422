package admission_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

// TestAFullDisk: where nothing can be written the answer is a Deny that says so, whatever the mode; nothing is taken from a limit, no
// approval is used up and no outcome settles anything. What was written although the store said that it failed is charged once, however
// often it is asked about again, and is heard as no Allow.
func TestAFullDisk(t *testing.T) {
	full := fmt.Errorf("%w (commit: %w)", interlock.Errorf(interlock.CodeUnavailable, "store", "the disk is full; free some space, nothing was "+
		"recorded and nothing is lost"), syscall.ENOSPC)
	refuses := func(func() (ledger.Receipt, error)) (ledger.Receipt, error) { return ledger.Receipt{}, full }
	writes := func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		_, err := next()
		return ledger.Receipt{}, errors.Join(full, err)
	}
	h := newHouse(t, under(t, tenAnHour))
	said := func(what string, a interlock.Answer, used int64) {
		t.Helper()
		if f := a.Decisive(); a.Answer != interlock.Deny || a.Event != "" || !strings.Contains(f.Reason, "the disk is full") {
			t.Errorf("%s: %v %+v", what, a.Answer, f)
		}
		if got := h.used("team.calls", "agent", "claude"); got != used {
			t.Errorf("%s: %d are charged, want %d", what, got, used)
		}
	}
	h.store.commit = refuses
	said("a harmless action", h.propose("ls"), 0)
	said("one that is refused", h.propose("rm -rf /"), 0)
	h.store.commit = nil
	asked := h.propose("git push --force origin feature")
	if err := h.approve(asked.Request, interlock.Allow); err != nil {
		t.Fatal(err)
	}
	h.store.commit = refuses
	said("one with a yes", h.propose("git push --force origin feature"), 0)
	if r := h.requestNow(asked.Request); r.Status != interlock.RequestApproved {
		t.Errorf("the yes is %s", r.State())
	}
	h.store.commit = nil
	if a := h.propose("git push --force origin feature"); a.Answer != interlock.Allow || h.used("team.calls", "agent", "claude") != 1 {
		t.Errorf("with room again: %v %+v", a.Answer, a.Decisive())
	}
	h.store.commit = writes
	said("written, and not known", h.propose("ls b", event("PreToolUse", "call-1")), 2)
	h.store.commit = nil
	if a := h.propose("ls b", event("PreToolUse", "call-1")); h.used("team.calls", "agent", "claude") > 3 {
		t.Errorf("asked again: %v, %d are charged", a.Answer, h.used("team.calls", "agent", "claude"))
	}
	h.entries()
	monitored := newHouse(t, func(c *admission.Config) { c.Mode = interlock.Monitoring })
	monitored.store.commit = refuses
	if a := monitored.propose("ls"); a.Answer != interlock.Deny {
		t.Errorf("monitoring: %v", a.Answer)
	}
}

// TestAFullDiskSettlesNothing: an outcome that can't be recorded gives nothing back, and is told once there is room.
func TestAFullDiskSettlesNothing(t *testing.T) {
	h := newHouse(t, under(t, `
limits:
  - {id: team.bytes, per: agent, measure: bytes, most: 1000, unknown: 100, match: {kind: [read]}}
`))
	a := h.propose("cat notes")
	who := interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}
	o := interlock.Outcome{Action: a.Action, Event: a.Event, Status: interlock.OutcomeSkipped}
	h.store.commit = func(func() (ledger.Receipt, error)) (ledger.Receipt, error) { return ledger.Receipt{}, syscall.ENOSPC }
	if err := h.Carried(t.Context(), who, o, interlock.Measured{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("an outcome that was not recorded: %v", err)
	}
	if got := h.used("team.bytes", "agent", "claude"); got != 100 {
		t.Errorf("%d are charged", got)
	}
	h.store.commit = nil
	for range 2 {
		if err := h.Carried(t.Context(), who, o, interlock.Measured{}); err != nil || h.used("team.bytes", "agent", "claude") != 0 {
			t.Errorf("with room again: %v, %d are charged", err, h.used("team.bytes", "agent", "claude"))
		}
	}
}
