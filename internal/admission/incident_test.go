package admission_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/auditlog"
	"interlock/internal/quorum"
	"interlock/spec"
)

// TestAReportBecomesAnIncident: what is reported is recorded and told, an operator's signed word says what becomes of it, and one that is
// so is a security incident; nobody else's word counts, and bad reports leave nothing.
func TestAReportBecomesAnIncident(t *testing.T) {
	spec.Covers(t, "MACE-9.3-1", "MACE-12-6")
	h := newHouse(t)
	h.employ("olga", quorum.RoleOperator)
	h.employ("viv", quorum.RoleViewer)
	before := len(h.entries())
	for field, r := range map[string]containment.IncidentReport{
		"title":    {Text: "x"},
		"text":     {Title: "x"},
		"severity": {Title: "x", Text: "x", Severity: "grave"},
		"from":     {Title: "x", Text: "x", From: strings.Repeat("x", 101)},
	} {
		if _, err := h.ReportIncident(t.Context(), interlock.Requester{Agent: "cli"}, r); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if len(h.entries()) != before {
		t.Errorf("bad reports left %v", h.entries()[before:])
	}
	event, err := h.ReportIncident(t.Context(), interlock.Requester{Agent: "cli"}, containment.IncidentReport{Title: "a way past",
		Text: "as follows"})
	if err != nil {
		t.Fatal(err)
	}
	wantTypes(t, h.entries()[before:], interlock.EventReport, interlock.EventAlert)
	triage := func(who string) error {
		_, err := h.CarryOut(t.Context(), ordering(h, interlock.VerbTriage, event, containment.TriageConfirmed, who))
		return err
	}
	if err := triage("viv"); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("a viewer's word: %v", err)
	}
	before = len(h.entries())
	if err := triage("olga"); err != nil {
		t.Fatal(err)
	}
	wantTypes(t, h.entries()[before:], interlock.EventTriage, interlock.EventIncident, interlock.EventAlert)
	goesOn(t, h, "one that is not grave", interlock.Allow)
}

// TestAConfirmedIncidentHalts: nothing is decided under the snapshots in force once somebody has confirmed a grave report, and nothing is
// made again under what a confirmed one is said to touch (MACE 8.3).
func TestAConfirmedIncidentHalts(t *testing.T) {
	spec.Covers(t, "MACE-8.3-1")
	for severity, want := range map[string]interlock.Verdict{"low": interlock.Allow, "medium": interlock.Allow, "high": interlock.Deny,
		"critical": interlock.Deny} {
		h := newHouse(t)
		h.employ("olga", quorum.RoleOperator)
		event, err := h.ReportIncident(t.Context(), interlock.Requester{Agent: "cli"}, containment.IncidentReport{Title: "a way past",
			Text: "as follows", Severity: severity})
		if err != nil {
			t.Fatal(err)
		}
		triage := func(detail string) error {
			_, err := h.CarryOut(t.Context(), h.signs(interlock.VerbTriage, event, detail, "seen here", "olga"))
			return err
		}
		for _, bad := range []string{"", "gone", "declined event:" + event, "confirmed agent:claude", "confirmed everything"} {
			if err := triage(bad); codeOf(err) != interlock.CodeInvalid {
				t.Errorf("%q: %v", bad, err)
			}
		}
		goesOn(t, h, severity+", refused", interlock.Allow)
		if err := triage(containment.TriageConfirmed + " event:e1 event:e1 manifest:sha256:01"); err != nil {
			t.Fatal(err)
		}
		goesOn(t, h, severity+", of something else", interlock.Allow)
		if holds, err := h.Holds(t.Context()); err != nil || len(holds) != 2 || holds[0].Cause != interlock.EventIncident {
			t.Errorf("%s holds %v, %v", severity, holds, err)
		}
		if err := triage(containment.TriageConfirmed); err != nil {
			t.Fatal(err)
		}
		goesOn(t, h, severity, want)
	}
}

// TestReportsAreBounded: nobody calls people out again and again.
func TestReportsAreBounded(t *testing.T) {
	h := newHouse(t)
	report := func(who string) error {
		_, err := h.ReportIncident(t.Context(), interlock.Requester{Agent: who}, containment.IncidentReport{Title: "x", Text: "y"})
		return err
	}
	for range 20 {
		if err := report("claude"); err != nil {
			t.Fatal(err)
		}
	}
	if err := report("claude"); codeOf(err) != interlock.CodeLimited {
		t.Errorf("the 21st within an hour: %v", err)
	}
	if err := report("codex"); err != nil {
		t.Errorf("another's first: %v", err)
	}
	h.now = h.now.Add(time.Hour)
	if err := report("claude"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// TestRedteamReported: a run is one event with its seed, and one that failed is told to people.
func TestRedteamReported(t *testing.T) {
	spec.Covers(t, "MACE-9.2-1", "MACE-12-10")
	h := newHouse(t)
	before := len(h.entries())
	record := auditlog.RedteamRecord{Seed: 1 << 63, Grammar: 1, Cases: 7, Where: "live", Passed: true}
	if err := h.RedteamReported(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	wantTypes(t, h.entries()[before:], interlock.EventRedteam)
	record.Passed, record.Allowed = false, []int{3}
	if err := h.RedteamReported(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	wantTypes(t, h.entries()[before+1:], interlock.EventRedteam, interlock.EventAlert)
	if interlock.EventRedteam != "REDTEAM_REPORT" || interlock.EventIncident != "SECURITY_INCIDENT" {
		t.Error("the names of the events are part of MACE")
	}
}

func wantTypes(t *testing.T, got []interlock.EventType, want ...interlock.EventType) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("recorded %v, want %v", got, want)
	}
	for n := range got {
		if got[n] != want[n] {
			t.Fatalf("recorded %v, want %v", got, want)
		}
	}
}
