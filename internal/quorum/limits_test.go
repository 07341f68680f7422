package quorum_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

// refused fails where an error is not the wanted one; an empty want is no error.
func refused(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
}

func long(n int) string { return strings.Repeat("x", n) }

// TestOrderLimits: the last value that is taken, and the first that is not.
func TestOrderLimits(t *testing.T) {
	at := func(made, ends time.Duration) func(*interlock.Order) {
		return func(o *interlock.Order) { o.At, o.Expires = noon.Add(made), noon.Add(ends) }
	}
	for _, test := range []struct {
		name string
		edit func(*interlock.Order)
		want string
	}{
		{"a long subject", func(o *interlock.Order) { o.Subject = long(500) }, ""},
		{"too long a subject", func(o *interlock.Order) { o.Subject = long(501) }, "too long"},
		{"a long detail", func(o *interlock.Order) { o.Detail = long(500) }, ""},
		{"too long a detail", func(o *interlock.Order) { o.Detail = long(501) }, "too long"},
		{"a long reason", func(o *interlock.Order) { o.Reason = long(500) }, ""},
		{"given now", at(0, time.Minute), ""},
		{"by a clock that is a minute ahead", at(time.Minute, 2*time.Minute), ""},
		{"by a clock that is more than a minute ahead", at(time.Minute+1, 2*time.Minute), "ten minutes"},
		{"for ten minutes", at(-time.Minute, 9*time.Minute), ""},
		{"for more", at(-time.Minute, 9*time.Minute+1), "ten minutes"},
		{"in its last moment", at(-time.Minute, 1), ""},
		{"at no time", func(o *interlock.Order) { o.At = time.Time{} }, "ten minutes"},
	} {
		o := order(interlock.VerbUnblock, "admin", test.edit)
		refused(t, test.name, quorum.OfOrder(o, request().Requester).Counts(people(), agents(), verify, noon), test.want)
	}
	record := func(n int) error {
		o := order(interlock.VerbAddOperator, "admin", func(o *interlock.Order) { o.Detail = long(n) })
		return quorum.OfOrder(o, interlock.Requester{}).Counts(people(), agents(), verify, noon)
	}
	refused(t, "a record with a long key", record(6<<10), "")
	refused(t, "a record that is too long", record(6<<10+1), "too long")
}

// TestGrantLimits: the last value that is taken, and the first that is not.
func TestGrantLimits(t *testing.T) {
	type edit = func(*interlock.Grant)
	conditions := func(n int) edit {
		return func(g *interlock.Grant) { g.Conditions = slices.Repeat(g.Conditions[:1], n) }
	}
	condition := func(parameter, value string) edit {
		return func(g *interlock.Grant) {
			g.Conditions = []interlock.Condition{{Parameter: parameter, Operator: "==", Value: json.RawMessage(value)}}
		}
	}
	text := func(n int) string { return `"` + long(n-2) + `"` }
	for _, test := range []struct {
		name string
		edit edit
		want string
	}{
		{"a short tool", func(g *interlock.Grant) { g.Tool = "ls" }, ""},
		{"one letter of a tool", func(g *interlock.Grant) { g.Tool = "l*" }, "never for everything"},
		{"once", func(g *interlock.Grant) { g.Times, g.Left = 1, 1 }, ""},
		{"a thousand times", func(g *interlock.Grant) { g.Times, g.Left = 1000, 1000 }, ""},
		{"for thirty days", func(g *interlock.Grant) { g.Expires = created.Add(30 * 24 * time.Hour) }, ""},
		{"for more", func(g *interlock.Grant) { g.Expires = created.Add(30*24*time.Hour + 1) }, "30 days"},
		{"made at no time", func(g *interlock.Grant) { g.Created = time.Time{} }, "30 days"},
		{"made when it ends", func(g *interlock.Grant) { g.Created = g.Expires }, "30 days"},
		{"without an id", func(g *interlock.Grant) { g.ID = "" }, "no id"},
		{"for no agent", func(g *interlock.Grant) { g.Agent = "" }, "name one agent"},
		{"sixteen conditions", conditions(16), ""},
		{"seventeen", conditions(17), "too many"},
		{"thirty-two rules", func(g *interlock.Grant) { g.Rules = slices.Repeat([]string{"a.b"}, 32) }, ""},
		{"thirty-three", func(g *interlock.Grant) { g.Rules = slices.Repeat([]string{"a.b"}, 33) }, "too many"},
		{"a long reason", func(g *interlock.Grant) { g.Reason = long(500) }, ""},
		{"a long parameter", condition(long(500), "1"), ""},
		{"too long a parameter", condition(long(501), "1"), "names a parameter"},
		{"a long value", condition("to", text(500)), ""},
		{"too long a value", condition("to", text(501)), "names a parameter"},
	} {
		refused(t, test.name, quorum.OfGrant(grant(test.edit)).Counts(people(), agents(), verify, noon), test.want)
	}
}

// TestConditionsThatCompare: what can be compared with a value of each type, and nothing else.
func TestConditionsThatCompare(t *testing.T) {
	operators := []string{"<", "<=", ">", ">=", "==", "!=", "matches", "in", "=", ""}
	for value, can := range map[string]string{
		`5`:      "< <= > >= == !=",
		`"text"`: "== != matches",
		`true`:   "== !=",
		`[1]`:    "in",
		`null`:   "none",
		`{}`:     "none",
	} {
		for _, operator := range operators {
			g := grant(func(g *interlock.Grant) {
				g.Conditions = []interlock.Condition{{Parameter: "p", Operator: operator, Value: json.RawMessage(value)}}
			})
			want := "a condition compares"
			if slices.Contains(strings.Fields(can), operator) {
				want = ""
			}
			refused(t, fmt.Sprintf("p %s %s", operator, value), quorum.CheckBounds(g), want)
		}
	}
}

// TestParseConditions: one a line, as people write them; what is no JSON is a text.
func TestParseConditions(t *testing.T) {
	got, err := quorum.ParseConditions("count <= 5\n\n  to\tmatches  *@example.com \r\nname == \"a b\"\n")
	want := []interlock.Condition{{Parameter: "count", Operator: "<=", Value: json.RawMessage(`5`)},
		{Parameter: "to", Operator: "matches", Value: json.RawMessage(`"*@example.com"`)},
		{Parameter: "name", Operator: "==", Value: json.RawMessage(`"a b"`)}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %s, want %s", err, got, want)
	}
	for _, text := range []string{"count", "count <=", "count <= \t"} {
		_, err := quorum.ParseConditions(text)
		refused(t, text, err, "one condition a line")
	}
}

// TestSuppressionLimits: the last value that is taken, and the first that is not.
func TestSuppressionLimits(t *testing.T) {
	verify := func(operator interlock.OperatorRecord, _, _, _ string) (string, error) {
		return "fp:" + operator.SSHKey, nil
	}
	for _, test := range []struct {
		name string
		edit func(*interlock.Suppression)
		want string
	}{
		{"without an id", func(s *interlock.Suppression) { s.ID = "" }, "name the rule"},
		{"of a command", func(s *interlock.Suppression) { s.Agent, s.Command = "", "ls *" }, ""},
		{"of one letter", func(s *interlock.Suppression) { s.Command = "l *" }, "nearly every command"},
		{"a long reason", func(s *interlock.Suppression) { s.Reason = long(500) }, ""},
		{"for ninety days", func(s *interlock.Suppression) { s.Expires = created.Add(90 * 24 * time.Hour) }, ""},
		{"for more", func(s *interlock.Suppression) { s.Expires = created.Add(90*24*time.Hour + 1) }, "at most 90 days"},
	} {
		refused(t, test.name, quorum.OfSuppression(suppression(test.edit)).Counts(people(), agents(), verify, noon), test.want)
	}
}

// TestHealthAlarmsAboveTheirBounds: a figure that is just its bound is no alarm, and one above it is.
func TestHealthAlarmsAboveTheirBounds(t *testing.T) {
	var list []quorum.Answered // one an hour, read for a minute; some hastily, some denied
	many := func(n, hasty, denied int) []quorum.Answered {
		list = answers(n, interlock.Allow, time.Minute, time.Hour, "olga")
		for i := range hasty {
			list[i].At = list[i].Asked.Add(time.Second)
		}
		for i := range denied {
			list[i].Verdict = interlock.Deny
		}
		return list
	}
	for _, test := range []struct {
		name    string
		answers []quorum.Answered
		want    int
	}{
		{"a fifth is hasty", many(10, 2, 5), 0},
		{"more than a fifth", many(10, 3, 5), 1},
		{"98 of 100 are approved", many(100, 0, 2), 0},
		{"99 of 100", many(100, 0, 1), 1},
		{"ten are enough to tell", many(10, 0, 0), 1},
		{"thirty within an hour", answers(30, interlock.Deny, time.Minute, 2*time.Minute, "olga"), 0},
		{"thirty-one", answers(31, interlock.Deny, time.Minute, time.Minute, "olga"), 1},
		{"three seconds are not hasty", answers(10, interlock.Deny, quorum.Hasty, time.Hour, "olga"), 0},
	} {
		if got := quorum.HealthOf(test.answers).Alarms; len(got) != test.want {
			t.Errorf("%s: %q", test.name, got)
		}
	}
	if got := quorum.HealthOf(answers(2, interlock.Deny, time.Minute, time.Hour, "olga")); got.Busiest != 1 {
		t.Errorf("two answers that are just an hour apart fall into one: %+v", got)
	}
}

// TestReplayTakesOneToEightOrders: eight count, nine are refused before anybody looks at them.
func TestReplayTakesOneToEightOrders(t *testing.T) {
	orders := slices.Repeat([]interlock.Order{order(interlock.VerbReplay, "operator",
		func(o *interlock.Order) { o.Subject, o.Detail = "run-1", "audit" })}, 9)
	for n, want := range map[int]string{8: "", 9: "one to eight"} {
		_, err := quorum.CheckReplay("audit", "run-1", orders[:n], people(), agents(), verify, noon)
		refused(t, fmt.Sprint(n), err, want)
	}
}
