package admission_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/messages"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/spec"
)

// mace is a house under the profile of MACE that can read its log.
func mace(c *admission.Config) { c.Profile, c.Log = "mace-stage1", c.Store.(*faulty) }

// TestSafetyEventsAreTold: what is blocked, taken out or flagged is told of by an alert for each agent, of the first at once and of what
// follows once an hour; each is told of once, and where the profile does not want it none is.
func TestSafetyEventsAreTold(t *testing.T) {
	spec.Covers(t, "MACE-10-1")
	tell := func(h *house) (said []string) {
		t.Helper()
		before := len(h.alerts)
		if _, err := h.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, alert := range h.alerts[before:] {
			if strings.HasPrefix(alert, "safety: ") {
				said = append(said, alert)
			}
		}
		return said
	}
	h := newHouse(t, keyed, mace)
	if said := tell(h); said != nil {
		t.Errorf("of nothing people are told %q", said)
	}
	h.propose("rm -rf /")
	h.propose("rm -rf /etc")
	h.propose("rm -rf /", from("codex", "bob", "r"))
	said := tell(h)
	if len(said) != 2 || !strings.Contains(said[0], "claude: ") || !strings.Contains(said[0], ": 2 SAFETY_BLOCK_EVENT; ") ||
		!strings.Contains(said[1], "codex: ") || strings.Contains(strings.Join(said, ""), "rm -rf") {
		t.Errorf("people are told %q", said)
	}
	if e := h.newest(interlock.EventAlert); e.Actor != "codex" || !strings.Contains(string(e.Payload), `"code":"safety"`) || e.Signature == "" {
		t.Errorf("the last alert is %s of %s", e.Payload, e.Actor)
	}
	h.propose("rm -rf /usr")
	if _, err := h.Screened(t.Context(), messages.Screening{Requester: interlock.Requester{Agent: "claude", Run: "run-1"}, Where: "a text", Text: "x",
		Classification: "REDACT", Rule: "personal.email", Ruleset: "sha256:01", Found: 1,
		Personal: []messages.Personal{{Type: "EMAIL", Tier: "medium", Value: "ada@analytical.org"}}}); err != nil {
		t.Fatal(err)
	}
	if said := tell(h); said != nil {
		t.Errorf("within the hour people are told %q", said)
	}
	h.now = h.now.Add(time.Hour)
	if said := tell(h); len(said) != 1 || !strings.Contains(said[0], ": 1 SAFETY_BLOCK_EVENT, 1 REDACTION_EVENT, 1 PII_FLAGGED; ") {
		t.Errorf("an hour later people are told %q", said)
	}
	h.now = h.now.Add(time.Hour)
	if said := tell(h); said != nil {
		t.Errorf("of what they know people are told %q", said)
	}
	guard := newHouse(t)
	guard.propose("rm -rf /")
	if said := tell(guard); said != nil {
		t.Errorf("under another profile people are told %q", said)
	}
}

// TestGraveEventsAlarm: what is grave raises its own alert in the change that records it, and people are told.
func TestGraveEventsAlarm(t *testing.T) {
	spec.Covers(t, "MACE-10-1")
	h := council(t)
	told := func(what interlock.EventType, do func()) {
		t.Helper()
		before, seen := len(h.alerts), len(h.entries())
		do()
		kinds := h.since(seen)
		if !slices.Contains(kinds, what) || !slices.Contains(kinds, interlock.EventAlert) || len(h.alerts) == before {
			t.Errorf("%s: entries %v, people are told %q", what, kinds, h.alerts[before:])
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	told(interlock.EventIntegrity, func() {
		must(h.IntegrityChecked(t.Context(), auditlog.IntegritySummary{Failures: []string{"entry 3"}}))
	})
	told(interlock.EventHalt, func() {
		must(h.Hold(t.Context(), ledger.HoldBody{Scope: ledger.HoldEvent, Key: "e1", Why: "its inputs are not there"}))
	})
	report := ""
	told(interlock.EventReport, func() {
		var err error
		report, err = h.ReportIncident(t.Context(), interlock.Requester{Agent: "claude"}, containment.IncidentReport{Title: "a way past a rule",
			Severity: "low", Text: "so and so"})
		must(err)
	})
	told(interlock.EventIncident, func() {
		_, err := h.CarryOut(t.Context(), h.signs(interlock.VerbTriage, report, containment.TriageConfirmed, "it is so", "ada"))
		must(err)
	})
	told(interlock.EventActionRequest, func() { h.asks("code_upload", "agent:claude", "ada") })
	told(interlock.EventSafetyOverride, func() { h.setsAside("", "ada", "member-0", "member-1", "member-2") })
	told(interlock.EventOverride, func() {
		r := h.asks(quorum.ActFreezeSnapshots, "all", "sue")
		h.votes(r.ID, "approve", "sue", "ada")
	})
	told(interlock.EventRedteam, func() { must(h.RedteamReported(t.Context(), auditlog.RedteamRecord{Passed: false})) })
}
