package gate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact/fact"
	"interlock/internal/meter"
)

// TestCooldown: what has just failed is denied for as long as it must wait, in whole seconds; and each reason is told apart.
func TestCooldown(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	write := interlock.Impact{}
	read := interlock.Impact{Kind: interlock.ImpactRead, Reversibility: interlock.Readonly}
	failed := func(count int, outcome interlock.OutcomeStatus) *interlock.Failures {
		return &interlock.Failures{Count: count, Last: noon, Outcome: outcome}
	}
	for _, test := range []struct {
		name   string
		failed *interlock.Failures
		impact interlock.Impact
		after  time.Duration
		want   string
		wait   string
	}{
		{"nothing has failed", nil, write, 0, "", ""},
		{"a write, at once", failed(1, interlock.OutcomeFailure), write, 0, "cooldown.failed", "1m0s"},
		{"a write, a moment later", failed(1, interlock.OutcomeFailure), write, time.Millisecond, "cooldown.failed", "1m0s"},
		{"a write, a second later", failed(1, interlock.OutcomeFailure), write, time.Second, "cooldown.failed", "59s"},
		{"a write, in the last moment", failed(1, interlock.OutcomeFailure), write, time.Minute - 1, "cooldown.failed", "1s"},
		{"a write, after its time", failed(1, interlock.OutcomeFailure), write, time.Minute, "", ""},
		{"a read", failed(1, interlock.OutcomeFailure), read, 9 * time.Second, "cooldown.failed", "1s"},
		{"a read, after its time", failed(1, interlock.OutcomeFailure), read, 10 * time.Second, "", ""},
		{"nobody knows how it ended", failed(1, interlock.OutcomeUnknown), write, 0, "cooldown.unknown", "1m0s"},
		{"too often", failed(meter.RetryBudget+1, interlock.OutcomeFailure), write, 0, "cooldown.budget", meter.RetryWindow.String()},
		{"too often, and nobody knows", failed(meter.RetryBudget+1, interlock.OutcomeUnknown), write, 0, "cooldown.budget",
			meter.RetryWindow.String()},
	} {
		s := guard()
		s.Failed, s.Taken = test.failed, noon.Add(test.after)
		got := gate.Cooldown(nil, s, interlock.Action{}, impacts(test.impact))
		switch {
		case test.want == "" && len(got) == 0:
		case len(got) != 1 || got[0].Rule != test.want || got[0].Verdict != interlock.Deny || len(got[0].Obligations) != 1 ||
			got[0].Obligations[0].Note != test.wait:
			t.Errorf("%s: %+v, want %s for %s", test.name, got, test.want, test.wait)
		}
	}
}

// TestNamed: what is said of every call of a tool by its name alone, and what could be otherwise in some call is not said.
func TestNamed(t *testing.T) {
	call := []fact.Text{{Kind: interlock.KindTool, Value: "drop_table"}}
	silenced := []interlock.Suppression{{ID: "sup_1", Rule: "t.drop"}}
	for _, test := range []struct {
		name   string
		rules  string
		change func(*interlock.Snapshot)
		texts  []fact.Text
		want   []string
	}{
		{"nothing", "", nil, call, []string{}},
		{"blocked", "", func(s *interlock.Snapshot) { s.Block = "c1" }, call, []string{"standing.blocked halt"}},
		{"no such profile", "", func(s *interlock.Snapshot) { s.Profile = "none" }, call,
			[]string{"profile.unknown deny", "danger.safe deny"}},
		{"not on its list", "", func(s *interlock.Snapshot) { s.Agent.Allow = []string{"get_*"} }, call, []string{"scope.not-listed deny"}},
		{"not on its list, with unknown texts", "", func(s *interlock.Snapshot) { s.Agent.Allow = []string{"get_*"} }, nil, []string{}},
		{"revoked, with unknown texts", "", func(s *interlock.Snapshot) { s.Agent.Revoked = time.Unix(1, 0) }, nil, []string{"scope.revoked deny"}},
		{"a rule", "rules: [{id: t.drop, layer: 2, verdict: deny, reason: no, match: {text: [tool], glob: [drop_*]}}]", nil, call,
			[]string{"t.drop deny"}},
		{"a rule that is silenced somewhere", "rules: [{id: t.drop, layer: 2, verdict: deny, reason: no, match: {text: [tool], glob: [drop_*]}}]",
			func(s *interlock.Snapshot) { s.Suppressions = silenced }, call, []string{}},
		{"another rule is silenced", "rules: [{id: t.other, layer: 2, verdict: deny, reason: no, match: {text: [tool], glob: [drop_*]}}]",
			func(s *interlock.Snapshot) { s.Suppressions = silenced }, call, []string{"t.other deny"}},
		{"a guess", "rules: [{id: t.drop, layer: 2, verdict: deny, heuristic: true, reason: no, match: {text: [tool], glob: [drop_*]}}]", nil, call,
			[]string{"t.drop deny guess"}},
		{"a guess that may be overruled", "policy: {autoApprove: ['drop_*']}\n" +
			"rules: [{id: t.drop, layer: 2, verdict: deny, heuristic: true, reason: no, match: {text: [tool], glob: [drop_*]}}]", nil, call, []string{}},
		{"no guess, whatever may be overruled", "policy: {autoApprove: ['drop_*']}\n" +
			"rules: [{id: t.drop, layer: 2, verdict: deny, reason: no, match: {text: [tool], glob: [drop_*]}}]", nil, call, []string{"t.drop deny"}},
		{"declared", "danger: [{name: 'drop_*', level: forbidden}]", nil, call, []string{"danger.forbidden deny"}},
		{"declared on a condition", "danger: [{name: 'drop_*', level: forbidden, when: [{parameter: all, operator: '==', value: true}]}]", nil, call,
			[]string{}},
		{"declared for another", "danger: [{name: 'get_*', level: forbidden}]", nil, call, []string{}},
		{"declared by its server", "", func(s *interlock.Snapshot) {
			s.Danger = []interlock.DangerRule{{Name: "drop_*", Level: interlock.DangerForbidden}, {Name: "*", Level: interlock.DangerSafe}}
		}, call, []string{"danger.forbidden deny"}},
		{"declared, and asked about", "danger: [{name: 'drop_*', level: dangerous}]", nil, call, []string{}},
		{"declared, and it may be overruled", "danger: [{name: 'drop_*', level: forbidden}]\npolicy: {autoApprove: ['drop_*']}", nil, call, []string{}},
		{"declared, and another may be overruled", "danger: [{name: 'drop_*', level: forbidden}]\npolicy: {autoApprove: ['get_*']}", nil, call,
			[]string{"danger.forbidden deny"}},
		{"declared, with unknown texts that may be overruled", "danger: [{name: 'drop_*', level: forbidden}]\npolicy: {autoApprove: ['get_*']}", nil, nil,
			[]string{}},
		{"denied by policy", "policy: {deny: [drop_table]}", nil, call, []string{"policy.deny deny"}},
	} {
		s := guard()
		if test.change != nil {
			test.change(&s)
		}
		if diff := cmp.Diff(test.want, says(gate.Named(load(t, test.rules), s, "drop_table", test.texts))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
