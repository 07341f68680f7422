package judgetest_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/judgetest"
	"interlock/internal/replay"
)

// past is a record of a command, decided at some minute by findings.
func past(index int64, command string, findings ...interlock.Finding) (*replay.Record, interlock.Decision) {
	return &replay.Record{Index: index, Requester: interlock.Requester{Agent: "claude", Run: "r" + command},
		Event: auditlog.Event{ID: "e" + command, Recorded: time.Unix(index*60, 0)},
		Inputs: auditlog.Inputs{Action: interlock.Action{Kind: interlock.KindShell, Input: command, Hint: "the user said so"},
			Impacts: []interlock.Impact{{Kind: interlock.ImpactRead, Target: "x"}}}}, interlock.Decision{Findings: findings}
}

// TestWhatIf: what would be said otherwise is told once for each action, with by which rule; what gates denied is not asked about, nor what
// the same judge has said under the same rules.
func TestWhatIf(t *testing.T) {
	denies := func(commands ...string) func(int, string) interlock.Judgment {
		return func(_ int, payload string) interlock.Judgment {
			if strings.Contains(payload, "the user said so") || !strings.Contains(payload, `"impacts"`) {
				t.Errorf("the question is another one: %s", payload)
			}
			for _, c := range commands {
				command, rule, _ := strings.Cut(c, ":")
				if rule == "timeout" && strings.Contains(payload, command) {
					return interlock.Judgment{Failure: interlock.JudgeTimeout}
				}
				if strings.Contains(payload, command) {
					return interlock.Judgment{Verdict: interlock.Deny, Rule: rule, Layer: int(rule[1] - '0'), Reason: "by " + rule}
				}
			}
			return interlock.Judgment{Verdict: interlock.Allow, Reason: "fine"}
		}
	}
	before := &fake{name: "j", rules: "sha256:old", says: denies("loosened:L3.scope", "moved:L3.scope", "late:timeout")}
	after := &fake{name: "j", rules: "sha256:new", says: denies("tightened:L3.own-x", "moved:L2.self")}
	w := &judgetest.WhatIf{Before: before, After: after, Impacts: true, Most: 6,
		Said: func(r *replay.Record) []interlock.Judgment {
			is := interlock.Judgment{Judge: "j", Model: "fake-1", GroundRules: "sha256:old", Verdict: interlock.Deny, Rule: "L4.honest"}
			if r.Inputs.Action.Input == "told" {
				return []interlock.Judgment{{Judge: "j", Model: "fake-0", GroundRules: "sha256:old"}, is}
			}
			is.GroundRules = "sha256:older"
			return []interlock.Judgment{is}
		}}
	byJudge := interlock.Finding{Gate: "judge", Verdict: interlock.Deny}
	byRules := interlock.Finding{Gate: "rules", Verdict: interlock.Deny}
	for n, command := range []string{"same", "tightened", "denied", "loosened", "moved", "late", "told", "tightened", "beyond"} {
		record, was := past(int64(n+1), command, byJudge)
		if command == "denied" {
			record, was = past(int64(n+1), command, byJudge, byRules)
		}
		w.Try(record, was, classify.Redact)
	}
	w.Skip(&replay.Failure{Code: replay.MissingSnapshot})
	report, err := w.Ask(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if report.Authoritative || report.Decisions != 9 || report.Denied != 1 || report.Actions != 6 || report.Left != 1 || report.Same != 1 ||
		report.Unanswered != 1 || report.Skipped[replay.MissingSnapshot] != 1 || before.asked != 5 || after.asked != 6 ||
		report.TokensIn != 110 || report.Cost["EUR"] != 11*1_500_000 || !report.Stricter() {
		t.Errorf("%d and %d asked: %+v", before.asked, after.asked, report)
	}
	var text strings.Builder
	if err := report.Print(&text, func(s string) string { return s }); err != nil {
		t.Fatal(err)
	}
	const want = `NOT AUTHORITATIVE: the judge j, model fake-1, was asked now; nothing was decided or recorded
ground rules in force sha256:old
candidate             sha256:new
9 decisions, 1 denied by gates before any judge; 6 different actions asked about: 1 the same, 4 otherwise, 1 unanswered
not asked: 1 records of actions over the bound (--most), 1 MISSING_SNAPSHOT
allow -> deny by L3.own-x  2 times  claude  event 2: shell tightened
    by L3.own-x
deny by L3.scope -> allow  1 times  claude  event 4: shell loosened
    by L3.scope
deny by L4.honest -> allow  1 times  claude  event 7: shell told
deny by L3.scope -> deny by L2.self  1 times  claude  event 5: shell moved
    by L2.self
110 tokens in, 22 out, 16.500000 EUR
`
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}

// TestWhatIfAlone: where a judge sees the action alone, it does here, too.
func TestWhatIfAlone(t *testing.T) {
	judge := &fake{name: "j", says: func(_ int, payload string) interlock.Judgment {
		if strings.Contains(payload, "impacts") {
			t.Errorf("the question holds impacts: %s", payload)
		}
		return interlock.Judgment{Verdict: interlock.Allow}
	}}
	w := &judgetest.WhatIf{Before: judge, After: judge, Most: 1}
	record, was := past(1, "cat token ghp_abcdefghijklmnopqrstuvwxyz0123456789")
	w.Try(record, was, classify.Redact)
	if report, err := w.Ask(t.Context(), nil); err != nil || report.Actions != 1 || report.Same != 1 || report.Stricter() {
		t.Errorf("%+v, %v", report, err)
	}
}
