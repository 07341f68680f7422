package ruleset_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ruleset"
	"interlock/rules"
)

func limits(t *testing.T, document string) *ruleset.Ruleset {
	t.Helper()
	set, err := ruleset.Load(rules.Defaults(), map[string][]byte{"team.yaml": []byte("limits:\n" + document)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestWrongLimits: every mistake in a limit is named by its field, with what would be right.
func TestWrongLimits(t *testing.T) {
	for document, want := range map[string]string{
		"{per: agent, measure: actions, most: 1}":                               "id must be lower-case words",
		"{id: A, per: agent, measure: actions, most: 1}":                        "id must be lower-case words",
		"{id: a, per: tenant, measure: actions, most: 1}":                       "per must be one of [agent type run orchestration principal everything]",
		"{id: a, measure: actions, most: 1}":                                    "per must be one of",
		"{id: a, per: agent, most: 1}":                                          "measure must be one of [actions records bytes",
		"{id: a, per: agent, measure: money, most: 1}":                          "give its ISO 4217 code",
		"{id: a, per: agent, measure: money, currency: eur, most: 1}":           "give its ISO 4217 code",
		"{id: a, per: agent, measure: actions, currency: EUR, most: 1}":         "only money has a currency",
		"{id: a, per: agent, measure: actions, most: -1}":                       "most must be from 0 to",
		"{id: a, per: agent, measure: actions, most: 9007199254740992}":         "an integer is beyond 2^53-1",
		"{id: a, per: agent, measure: money, currency: EUR, most: -5}":          "so 500 EUR are 50000",
		"{id: a, per: agent, measure: actions, most: 1, within: 1ms}":           "within must be from 1s",
		"{id: a, per: agent, measure: actions, most: 1, within: 9000h}":         "within must be from 1s",
		"{id: a, per: agent, measure: actions, most: 1, verdict: allow}":        "a limit denies or asks",
		"{id: a, per: agent, measure: actions, most: 1, verdict: halt}":         "a limit denies or asks",
		"{id: a, per: agent, measure: actions, most: 1, unknown: 1}":            "actions are always known",
		"{id: a, per: agent, measure: records, most: 1, unknown: -1}":           "unknown must be from 1",
		"{id: a, per: agent, measure: actions, most: 1, escalate_at: 0%}":       "from 1% to 100%",
		"{id: a, per: agent, measure: actions, most: 1, escalate_at: 101%}":     "from 1% to 100%",
		"{id: a, per: agent, measure: actions, most: 1, warn_at: 0.5}":          "warn_at",
		"{id: a, per: agent, measure: actions, most: 1, account_review: true}":  "give verdict: ask beside it",
		"{id: a, per: agent, measure: actions, most: 1, kinds: [walk]}":         "unknown kind of action",
		"{id: a, per: agent, measure: actions, most: 1, match: {kind: [walk]}}": "unknown impact kind",
		"{id: a, per: agent, measure: actions, most: 1, agents: ['']}":          "the glob is empty",
		"{id: a, per: agent, measure: actions, most: 1, upto: 2}":               "upto",
		"{id: a, per: agent, measure: actions, most: 1}\n" +
			"  - {id: a, per: run, measure: actions, most: 1}": "stands in team.yaml already",
	} {
		_, err := ruleset.Load(rules.Defaults(), map[string][]byte{"team.yaml": []byte("limits:\n  - " + document + "\n")})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "team.yaml:") {
			t.Errorf("%s: %v, want %q", document, err, want)
		}
	}
}

// TestCharges: what an action uses of each limit is what its impacts say, in the limit's own measure.
func TestCharges(t *testing.T) {
	spend := func(money int64, currency string, traits ...string) interlock.Impact {
		return interlock.Impact{Kind: interlock.ImpactSpend, Money: money, Currency: currency, Traits: traits}
	}
	type impacts = []interlock.Impact
	call := func(reach interlock.Reach, via, target string) interlock.Impact {
		return interlock.Impact{Kind: interlock.ImpactNetwork, Reach: reach, Via: via, Target: target}
	}
	for name, tc := range map[string]struct {
		limit   string
		kind    interlock.Kind
		impacts impacts
		want    string // amount, then what can't be told
	}{
		"an action":                  {"measure: actions", "shell", nil, "1"},
		"an action of that kind":     {"measure: actions, kinds: [shell]", "shell", nil, "1"},
		"an action of another":       {"measure: actions, kinds: [sql]", "shell", nil, "none"},
		"an action with that impact": {"measure: actions, match: {kind: [delete]}", "shell", impacts{{Kind: "delete"}, {Kind: "delete"}}, "1"},
		"an action without it":       {"measure: actions, match: {kind: [delete]}", "shell", impacts{{Kind: "read"}}, "none"},
		"records": {"measure: records", "tool", impacts{{Kind: "write", Records: 3},
			{Kind: "read", Records: 9}, {Kind: "delete", Records: 4}}, "7"},
		"records that are read": {"measure: records, match: {kind: [read]}", "tool",
			impacts{{Kind: "write", Records: 3}, {Kind: "read", Records: 9}}, "9"},
		"records nobody counted":   {"measure: records", "tool", impacts{{Kind: "write"}, {Kind: "write", Records: 2}}, "2 unknown [0]"},
		"records that are assumed": {"measure: records, unknown: 5", "tool", impacts{{Kind: "write"}, {Kind: "write", Records: 2}}, "7"},
		"fewer records than none":  {"measure: records", "tool", impacts{{Kind: "write", Records: -2}}, "0 wrong [0]"},
		"more records than there are": {"measure: records", "tool", impacts{{Kind: "write", Records: 1 << 52},
			{Kind: "write", Records: 1 << 52}}, "4503599627370496 wrong [1]"},
		"bytes":            {"measure: bytes", "http", impacts{{Kind: "network", Bytes: 10}, {Kind: "write", Bytes: 5}}, "10"},
		"recipients":       {"measure: recipients", "tool", impacts{{Kind: "message", Recipients: 3}, {Kind: "message", Target: "bob"}}, "4"},
		"nobody knows who": {"measure: recipients", "tool", impacts{{Kind: "message"}}, "0 unknown [0]"},
		"calls": {"measure: external-calls", "shell", impacts{call("external", "curl", "a"),
			{Kind: "write", Reach: "external", Via: "curl", Target: "a"}, {Kind: "read", Reach: "workspace"}, call("production", "curl", "b")}, "2"},
		"a dry run": {"measure: external-calls", "shell",
			impacts{{Kind: "network", Reach: "external", Traits: []string{"dry-run"}}}, "none"},
		"tokens":                      {"measure: tokens, unknown: 1000", "shell", impacts{{Kind: "execute"}}, "1000"},
		"money":                       {"measure: money, currency: EUR", "tool", impacts{spend(1250, "EUR"), spend(50, "EUR")}, "1300"},
		"money of no currency":        {"measure: money, currency: EUR", "tool", impacts{spend(1250, "")}, "1250"},
		"without hundredths":          {"measure: money, currency: JPY", "tool", impacts{spend(1201, "")}, "13"},
		"with thousandths":            {"measure: money, currency: BHD", "tool", impacts{spend(1201, "")}, "12010"},
		"money of a record of before": {"measure: money, currency: EUR", "tool", impacts{{Kind: "spend", Amount: 77}}, "77"},
		"foreign money":               {"measure: money, currency: EUR", "tool", impacts{spend(1250, "USD")}, "0 foreign [0]"},
		"wrong money":                 {"measure: money, currency: EUR", "tool", impacts{spend(0, "", "wrong-sum")}, "0 wrong [0]"},
		"unknown money":               {"measure: money, currency: EUR", "tool", impacts{spend(0, "")}, "0 unknown [0]"},
		"nothing to do with money":    {"measure: money, currency: EUR", "shell", impacts{{Kind: "read"}}, "none"},
		"another agent's":             {"measure: actions, agents: [codex*]", "shell", nil, "none"},
		"an agent's of that type":     {"measure: actions, agents: [clerk]", "shell", nil, "1"},
		"under another profile":       {"measure: actions, profiles: [asa]", "shell", nil, "none"},
		"under this and other ones":   {"measure: actions, profiles: [asa, guard]", "shell", nil, "1"},
	} {
		set := limits(t, "  - {id: t.x, per: agent, most: 100, "+tc.limit+"}\n")
		charges := set.Charges("guard", &interlock.AgentRecord{ID: "claude", Type: "clerk"}, tc.kind, tc.impacts)
		got := "none"
		for _, c := range charges {
			got = fmt.Sprint(c.Amount)
			for what, impacts := range map[string][]int{" unknown": c.Unknown, " wrong": c.Wrong, " foreign": c.Foreign} { // at most one
				if len(impacts) > 0 {
					got += what + " " + fmt.Sprint(impacts)
				}
			}
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	both := limits(t, "  - {id: t.eur, per: agent, measure: money, currency: EUR, most: 1}\n"+
		"  - {id: t.usd, per: agent, measure: money, currency: USD, most: 1}\n")
	charges := both.Charges("guard", &interlock.AgentRecord{ID: "a"}, "tool", impacts{spend(5, "USD")})
	if len(charges) != 2 || charges[0].Amount != 0 || charges[0].Foreign != nil || charges[1].Amount != 5 {
		t.Errorf("money that another limit counts: %+v", charges)
	}
}

// TestForWhom: each scope of a limit is counted by itself.
func TestForWhom(t *testing.T) {
	who := interlock.Requester{Agent: "claude", Principal: "pat", Run: "r1"}
	for per, want := range map[string][]string{"agent": {"claude"}, "type": {"clerk"}, "run": {"claude", "r1"},
		"orchestration": {"run_1"}, "principal": {"pat"},
		"everything": nil} {
		l, _ := limits(t, "  - {id: t.x, measure: actions, most: 1, per: "+per+"}\n").Limit("t.x")
		if got := l.Of(who, &interlock.AgentRecord{Type: "clerk"}, "run_1"); !slices.Equal(got, want) {
			t.Errorf("per %s: %q", per, got)
		}
		if forgotten := l.Window() > 0; forgotten != (per == "run" || per == "orchestration") {
			t.Errorf("per %s: a total counts for %v", per, l.Window())
		}
	}
}

// TestInTheDefaultsPlace: an operator's limit stands in the place of a shipped one of its id, and a set that leaves more room is a
// looser one.
func TestInTheDefaultsPlace(t *testing.T) {
	const id = "maso.actions-an-hour"
	shipped, err := ruleset.Load(rules.Defaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if l, _ := shipped.Limit(id); l.Most != 100 || l.User() || len(shipped.Limits("guard", &interlock.AgentRecord{ID: "a"})) != 0 ||
		len(shipped.Limits("supervised", &interlock.AgentRecord{ID: "a"})) != 1 {
		t.Errorf("%+v", l)
	}
	own := func(numbers string) *ruleset.Ruleset {
		return limits(t, "  - {id: "+id+", profiles: [supervised, managed, autonomous], per: agent, measure: actions, within: 1h, "+numbers+"}\n")
	}
	for numbers, looser := range map[string]bool{"most: 99": false, "most: 100": false, "most: 101": true, "most: 50, verdict: ask": true,
		"most: 100, escalate_at: 50%": false, "most: 100, match: {kind: [read]}": true} {
		set := own(numbers)
		if l, _ := set.Limit(id); !l.User() || len(set.AllLimits()) != len(shipped.AllLimits()) {
			t.Errorf("%s: %+v", numbers, l)
		}
		got, err := ruleset.Loosened(shipped, set)
		if err != nil || slices.Contains(got, "limit "+id) != looser {
			t.Errorf("%s: %q, %v", numbers, got, err)
		}
		changes, err := ruleset.Diff(shipped, set)
		want := []ruleset.Change{{What: "limit " + id, How: "changed"}}
		if numbers == "most: 100" {
			want = nil
		}
		if err != nil || cmp.Diff(want, changes) != "" {
			t.Errorf("%s: %+v, %v", numbers, changes, err)
		}
	}
	if got, _ := ruleset.Loosened(own("most: 5, escalate_at: 50%"), own("most: 5")); !slices.Contains(got, "limit "+id) {
		t.Error("who is asked at the half is asked no more, and nobody says so")
	}
}

// TestHeuristicsOfMisuse: those that ship ask and block nothing, and one that has nobody look at an account any more is looser.
func TestHeuristicsOfMisuse(t *testing.T) {
	shipped, err := ruleset.Load(rules.Defaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := shipped.Limits("mace-stage1", &interlock.AgentRecord{ID: "a"})
	if len(found) != 2 {
		t.Errorf("%d limits under mace-stage1", len(found))
	}
	for _, l := range found {
		if !l.Review || l.Verdict != interlock.Ask || l.Within == 0 {
			t.Errorf("%+v", l)
		}
	}
	own := func(more string) *ruleset.Ruleset {
		return limits(t, "  - {id: t.x, per: agent, measure: actions, most: 1, verdict: ask"+more+"}\n")
	}
	for _, looser := range []bool{false, true} {
		from, to := own(""), own(", account_review: true")
		if looser {
			from, to = to, from
		}
		if got, err := ruleset.Loosened(from, to); err != nil || slices.Contains(got, "limit t.x") != looser {
			t.Errorf("looser %v: %q, %v", looser, got, err)
		}
	}
}

// TestShares holds that only whole percents are read, and come back as they were written.
func TestShares(t *testing.T) {
	for text, want := range map[string]int{"50%": 50, "1%": 1, "100%": 100, "0%": -1, "101%": -1, "5": -1, "%": -1,
		"+5%": -1, "5.0%": -1, "": -1, "-1%": -1} {
		var s ruleset.Share
		err := s.UnmarshalText([]byte(text))
		if (err == nil) != (want > 0) || err == nil && (int(s) != want || s.String() != text) {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
	if ruleset.Share(50).Of(7) != 3 || ruleset.Share(100).Of(ruleset.MaxMost) != ruleset.MaxMost || ruleset.Share(33).Of(1000) != 330 {
		t.Error("shares are rounded otherwise")
	}
}
