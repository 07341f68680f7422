package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
	"interlock/spec"
)

// whereObserved is a house in which people have five minutes to decline what an observer wants stopped.
func whereObserved(t *testing.T) *house {
	h, _ := switched(t, func(c *admission.Config) { c.KillConfirm = 5 * time.Minute })
	return h
}

// wish has an observer ask to stop everything.
func (h *house) wish(observer string) ledger.HoldBody {
	h.t.Helper()
	asked, err := h.ProposeKill(h.t.Context(), observer, "card testing")
	if err != nil {
		h.t.Fatal(err)
	}
	return asked
}

// TestAnObserverAsks: what an observer wants stopped is stopped once nobody has declined it in time, whether anybody acts meanwhile or not; until
// then all goes on and people are told once.
func TestAnObserverAsks(t *testing.T) {
	spec.Covers(t, "EC-ENV-22")
	for _, sweep := range []bool{false, true} {
		h := whereObserved(t)
		first := h.wish("meter")
		if again := h.wish("meter"); !again.Since.Equal(first.Since) || h.count(interlock.EventKill) != 1 || len(h.alerts) != 1 ||
			!strings.Contains(h.alerts[0], "kill-proposed") {
			t.Errorf("asked twice: %+v, told %q", again, h.alerts)
		}
		h.now = h.now.Add(5*time.Minute - time.Second)
		goesOn(t, h, "while people may decline", interlock.Allow)
		h.now = h.now.Add(time.Second)
		if sweep {
			if _, err := h.Expire(t.Context()); err != nil {
				t.Fatal(err)
			}
		} else {
			goesOn(t, h, "when the time is over", interlock.Halt)
		}
		goesOn(t, h, "after it", interlock.Halt)
		if stands, any, err := h.Killed(t.Context()); err != nil || !any || stands.Mode != ledger.KillHard || stands.By != "meter" ||
			h.count(interlock.EventKill) != 2 {
			t.Errorf("sweep %v: %+v, %v", sweep, stands, err)
		}
		h.entries()
	}
}

// TestAnObserversWishIsAnswered: an admin declines it, and only an admin; a second observer or a person confirms it at once; a clock that is set
// back gives no time.
func TestAnObserversWishIsAnswered(t *testing.T) {
	h := whereObserved(t)
	asked := h.wish("meter")
	if _, err := h.CarryOut(t.Context(), killing(h, interlock.VerbReleaseKill, containment.KillID(asked), "olga")); err == nil {
		t.Error("an operator declines it")
	}
	if _, err := h.CarryOut(t.Context(), killing(h, interlock.VerbReleaseKill, containment.KillID(asked), "adam")); err != nil {
		t.Fatal(err)
	}
	h.now = h.now.Add(time.Hour)
	goesOn(t, h, "declined", interlock.Allow)
	h.wish("meter")
	h.wish("fraud desk")
	goesOn(t, h, "two observers ask", interlock.Halt)

	h = whereObserved(t)
	h.wish("meter")
	if _, err := h.CarryOut(t.Context(), killing(h, interlock.VerbKill, "hard", "olga")); err != nil {
		t.Fatal(err)
	}
	goesOn(t, h, "a person confirms", interlock.Halt)

	h = whereObserved(t)
	h.wish("meter")
	h.now = h.now.Add(-time.Hour)
	goesOn(t, h, "the clock is set back", interlock.Halt)

	h, throws := switched(t) // where nobody is waited for
	h.wish("meter")
	if _, thrown := throws.Thrown(); !thrown {
		t.Error("it waits for people where no time is set")
	}
}

// TestAStopKeepsEvidence: what waited and what was open when everything was stopped is kept in the log, by digest, so that nobody changes it
// unseen, and a stop that can't keep any is a stop all the same.
func TestAStopKeepsEvidence(t *testing.T) {
	spec.Covers(t, "EC-ENV-24")
	h, _ := switched(t)
	request := h.propose("git push --force origin main").Request
	run := h.run("claude", interlock.RunRequest{Task: "look", Box: 3600})
	if _, err := h.Kill(t.Context(), ledger.KillHard, "a drill", "ada"); err != nil {
		t.Fatal(err)
	}
	var named string
	for _, e := range h.log() {
		if e.Type == interlock.EventKill {
			event, err := auditlog.ParseEvent(e.Body)
			if err != nil {
				t.Fatal(err)
			}
			named = event.Snapshots[auditlog.SnapshotPace]
		}
	}
	text, found, err := h.store.Blob(t.Context(), interlock.Digest(named))
	if err != nil || !found || auditlog.BlobDigest(text) != interlock.Digest(named) {
		t.Fatalf("nothing is kept under %q: %v", named, err)
	}
	var kept auditlog.PaceSnapshot
	if err := strictjson.DecodeTrusted(text, &kept); err != nil {
		t.Fatal(err)
	}
	if len(kept.Requests) != 1 || kept.Requests[0].ID != request || len(kept.Runs) != 1 || kept.Runs[0].Run.ID != run.ID || kept.On != ledger.KillName {
		t.Errorf("kept: %+v", kept)
	}
	h.entries()
}
