package digest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/spec"
)

func decided(gate string, v interlock.Verdict) *auditlog.Decided {
	d := &auditlog.Decided{}
	d.Decision = interlock.Decision{Verdict: v, Answer: v}
	if v != interlock.Allow {
		d.Decision.Findings = []interlock.Finding{{Gate: gate, Rule: "r", Layer: 2, Verdict: v, Reason: "no"}}
	}
	return d
}

// TestDrop: a gate that denies a third of its share of before or less is named, each gate by itself; less work, little work and a little
// less are no drop.
func TestDrop(t *testing.T) {
	spec.Covers(t, "ASA-16.1-1", "ASA-17.3-1")
	for name, tc := range map[string]struct {
		before, deniedBefore, now, denied int
		want                              bool
	}{
		"a third":           {1000, 90, 200, 6, true},
		"more than a third": {1000, 90, 200, 7, false},
		"none at all":       {100, 20, 100, 0, true},
		"as before":         {1000, 90, 1000, 90, false},
		"more":              {1000, 90, 200, 90, false},
		"little before":     {99, 30, 200, 0, false},
		"little now":        {1000, 90, 98, 0, false},
		"few denials":       {1000, 19, 200, 0, false},
	} {
		m := New(time.Time{}, time.Time{})
		add := func(n, denied int, within bool) {
			for i := range n {
				v := interlock.Allow
				if i < denied {
					v = interlock.Deny
				}
				m.gate(decided("rules", v), within)
			}
		}
		add(tc.before, tc.deniedBefore, false)
		add(tc.now, tc.denied, true)
		m.gate(decided("judge", interlock.Deny), true) // the other gate is counted by itself
		d := m.Sum()
		if d.Gates[0].Dropped != tc.want || (d.Drop() != "") != tc.want {
			t.Errorf("%s: %+v, says %q", name, d.Gates, d.Drop())
		}
		if len(d.Gates) != 2 || d.Gates[1].Gate != 2 || d.Gates[1].Denied != 1 || d.Gates[1].Dropped {
			t.Errorf("%s: the judge is counted as %+v", name, d.Gates)
		}
	}
}

// TestReview: the sample is of permits alone, bounded, and the same in whatever order the log is read.
func TestReview(t *testing.T) {
	one, other := New(time.Time{}, time.Time{}), New(time.Time{}, time.Time{})
	for i := range 40 {
		one.keep(fmt.Sprintf("%02d", i), decided("rules", interlock.Allow))
		other.keep(fmt.Sprintf("%02d", 39-i), decided("rules", interlock.Allow))
	}
	one.keep("0", decided("rules", interlock.Deny))
	approved := decided("rules", interlock.Ask)
	approved.Decision.Answer, approved.Decision.Approval = interlock.Allow, "apr_1"
	one.keep("00a", approved)
	other.keep("00a", approved)
	a, b := one.Sum().Review, other.Sum().Review
	if len(a) != sample || fmt.Sprint(a) != fmt.Sprint(b) || a[0].Event != "00" || a[1].By != "person" {
		t.Errorf("the samples are\n%v\n%v", a, b)
	}
}

// TestReviewOfTheJudge: the sample says by whom each was permitted, and half of it is of what a judge let pass, however rarely one is asked.
func TestReviewOfTheJudge(t *testing.T) {
	spec.Covers(t, "ASA-16.1-1")
	m := New(time.Time{}, time.Time{})
	for i := range 40 {
		m.keep(fmt.Sprintf("%02d", i), decided("rules", interlock.Allow))
	}
	judged := func(id string, said ...interlock.Judgment) {
		d := decided("judge", interlock.Allow)
		d.Judgments = said
		m.keep(id, d)
	}
	allow, owed := interlock.Judgment{Verdict: interlock.Allow}, interlock.Judgment{Verdict: interlock.Deny, Failure: interlock.JudgeOwed}
	for i := range 4 {
		judged(fmt.Sprintf("%02d", 50+i), allow)
	}
	judged("60", owed)
	judged("61", allow)
	judged("62", allow, interlock.Judgment{Verdict: interlock.Deny, Failure: interlock.JudgeTimeout}) // it was not heard
	judged("000", interlock.Judgment{Verdict: interlock.Deny, Failure: interlock.JudgeUnsampled, Share: 1, Draw: 1})
	by := map[string]int{}
	sampled := m.Sum().Review
	for _, r := range sampled {
		by[r.By]++
	}
	if len(sampled) != sample || by[ByJudge] != 4 || by[ByAfter] != 1 || by[ByUnsampled] != 1 || by[ByRules] != 4 {
		t.Errorf("the sample is %v", sampled)
	}
	few := New(time.Time{}, time.Time{})
	few.keep("a", decided("rules", interlock.Allow))
	if got := few.Sum().Review; len(got) != 1 {
		t.Errorf("of one: %v", got)
	}
}

// event is an entry of the log with a payload.
func event(t *testing.T, kind interlock.EventType, at time.Time, payload []byte) interlock.Entry {
	t.Helper()
	body := `{"actor_id":"x","content_hash":"sha256:` + strings.Repeat("0", 64) + `","event_id":"` + auditlog.EventID("s", 1, kind) +
		`","event_type":"` + string(kind) + `","job_seed":"s","payload":` + string(payload) + `,"prev_hash":"","role":"system","schema":"` +
		auditlog.Schema + `","sequence_index":1,"snapshot_ids":{},"trace_id":"","ts_recorded":"` + at.Format("2006-01-02T15:04:05.000000Z") +
		`","ts_seeded":"2000-01-01T00:00:01Z"}`
	e := interlock.Entry{Type: kind, Body: []byte(body)}
	if _, err := auditlog.Read(e, &struct{}{}); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestLateDenials: what the judge denied after it was let through is counted apart from what it denied before.
func TestLateDenials(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	m := New(at, at.Add(time.Hour))
	m.gate(decided("judge", interlock.Deny), true)
	for n, result := range []string{auditlog.JudgedDeny, auditlog.JudgedDeny, auditlog.JudgedUnheard, auditlog.JudgedAllow} {
		payload, err := auditlog.JudgedAfterRecord{Event: fmt.Sprint(n), Result: result}.Payload()
		if err != nil {
			t.Fatal(err)
		}
		m.Add(event(t, interlock.EventJudgedLate, at, payload))
		m.Add(event(t, interlock.EventJudgedLate, at.Add(-time.Hour), payload)) // before its time
	}
	d := m.Sum()
	if len(d.Gates) != 1 || d.Gates[0].Gate != 2 || d.Gates[0].Denied != 1 || d.Gates[0].Late != 2 || d.Gates[0].Unheard != 1 {
		t.Errorf("%+v", d.Gates)
	}
	if !strings.Contains(d.Text(), "gate       2 denied 1 of 1; before 0 of 0; afterwards it denied 2 more, and was not heard in time of 1") {
		t.Error(d.Text())
	}
}
