package replay_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/replay"
	"interlock/internal/ruleset"
	"interlock/rules"
)

// TestLimitedRows: what a decision was refused by a limit is held against the row that it says it met.
func TestLimitedRows(t *testing.T) {
	set, err := ruleset.Load(rules.Defaults(), map[string][]byte{"team.yaml": []byte(
		"limits:\n  - {id: team.calls, per: agent, measure: actions, most: 10, within: 1h, escalate_at: 50%}\n")})
	if err != nil {
		t.Fatal(err)
	}
	l, _ := set.Limit("team.calls")
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	met := auditlog.Limited{Taken: interlock.Taken{Limit: "team.calls", Take: 1}, Room: 10, Used: 10, Met: true, Back: at.Add(time.Minute)}
	half := met
	half.Room, half.Used, half.Back = 5, 5, at
	for name, tc := range map[string]struct {
		row   func(*auditlog.Limited)
		from  auditlog.Limited
		found interlock.Finding
		wrong string
	}{
		"no room":            {nil, met, gate.NoRoom(l, false, time.Minute), ""},
		"beyond the half":    {nil, half, gate.NoRoom(l, true, 0), ""},
		"another finding":    {nil, met, gate.NoRoom(l, true, 0), "not what its row says"},
		"another wait":       {nil, met, gate.NoRoom(l, false, time.Hour), "not what its row says"},
		"there was room":     {func(r *auditlog.Limited) { r.Used = 9 }, met, gate.NoRoom(l, false, time.Minute), "had room for it"},
		"another limit":      {func(r *auditlog.Limited) { r.Limit = "team.x" }, met, gate.NoRoom(l, false, time.Minute), "no limit team.x"},
		"more than is given": {func(r *auditlog.Limited) { r.Room, r.Used = 11, 11 }, met, gate.NoRoom(l, false, time.Minute), "so much room"},
		"it was let through": {func(r *auditlog.Limited) { r.Met = false }, met, interlock.Finding{}, ""},
	} {
		if tc.row != nil {
			tc.row(&tc.from)
		}
		r := replay.Record{Event: auditlog.Event{Recorded: at}, Inputs: auditlog.Inputs{Limited: []auditlog.Limited{tc.from},
			Limits: []interlock.Finding{tc.found}}}
		if err := r.Limited(set); (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
			t.Errorf("%s: %v, want %q", name, err, tc.wrong)
		}
	}
}
