package ledger_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"interlock/internal/ledger"
)

func meterWith(t *testing.T, b ledger.MeterBody, source string, readings ...ledger.Reading) (ledger.MeterBody, int64) {
	t.Helper()
	after, add, err := b.With(source, readings, usageNoon)
	if err != nil {
		t.Fatal(err)
	}
	return after, add
}

var usageNoon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestMeter: deltas count once each, what rises counts with what it has risen by, one that began anew counts whole, one that is late
// nothing; and of several sources the largest sum counts.
func TestMeter(t *testing.T) {
	var b ledger.MeterBody
	for n, step := range []struct {
		source string
		one    ledger.Reading
		add    int64
	}{
		{"metric", ledger.Reading{ID: 1, Value: 10}, 10},
		{"metric", ledger.Reading{ID: 1, Value: 10}, 0},
		{"metric", ledger.Reading{ID: 1, Value: 900}, 0}, // told once
		{"metric", ledger.Reading{ID: 2, Value: 5}, 5},
		{"metric", ledger.Reading{ID: 3, Value: -5}, 0},
		{"spans", ledger.Reading{ID: 4, Value: 12}, 0}, // the same use, told by another
		{"spans", ledger.Reading{ID: 5, Value: 7}, 4},  // which says 19 in all now
		{"metric", ledger.Reading{ID: 6, Value: 3}, 0}, // and this one 18
		{"metric", ledger.Reading{ID: 7, Rising: true, Value: 100, At: 1}, 99},
		{"metric", ledger.Reading{ID: 7, Rising: true, Value: 150, At: 2}, 50},
		{"metric", ledger.Reading{ID: 7, Rising: true, Value: 150, At: 2}, 0},
		{"metric", ledger.Reading{ID: 7, Rising: true, Value: 120, At: 1}, 0}, // late
		{"metric", ledger.Reading{ID: 7, Rising: true, Value: 20, At: 3}, 20}, // begun anew
		{"metric", ledger.Reading{ID: 8, Rising: true, Value: 5, At: 1}, 5},   // another process
	} {
		var add int64
		if b, add = meterWith(t, b, step.source, step.one); add != step.add {
			t.Errorf("step %d: %d more count, want %d", n, add, step.add)
		}
	}
	huge := ledger.Reading{ID: 20, Value: math.MaxInt64}
	if b, _ = meterWith(t, b, "metric", huge); b.Counted != math.MaxInt64 {
		t.Errorf("%d count", b.Counted)
	}
	for n := range 40 {
		after, _, err := b.With(fmt.Sprint(n), nil, usageNoon)
		if err != nil && n < 20 || err == nil && n > 35 {
			t.Errorf("source %d: %v", n, err)
		}
		b = after
	}
}

// TestMeterOnlyRises: whatever is reported, and however often, what counts never becomes less, is never more than all that was said, and
// the same report again changes nothing.
func TestMeterOnlyRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b ledger.MeterBody
		said := int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "reports") {
			var readings []ledger.Reading
			for range rapid.IntRange(0, 5).Draw(t, "readings") {
				r := ledger.Reading{ID: rapid.Uint64Range(0, 20).Draw(t, "id"), Rising: rapid.Bool().Draw(t, "rising"),
					Value: rapid.Int64Range(-100, 100).Draw(t, "value"), At: rapid.Int64Range(0, 50).Draw(t, "at")}
				readings, said = append(readings, r), said+max(r.Value, 0)
			}
			source := rapid.SampledFrom([]string{"metric", "span", "event"}).Draw(t, "source")
			after, add, err := b.With(source, readings, usageNoon)
			if err != nil || add < 0 || after.Counted != b.Counted+add || after.Counted > said {
				t.Fatalf("%d and %d are %d of %d: %v", b.Counted, add, after.Counted, said, err)
			}
			b = after
		}
	})
}

// TestBudgetSteps: of each step people are told once within the budget's time, of those below the highest not at all, and of a budget
// for ever once.
func TestBudgetSteps(t *testing.T) {
	var b ledger.BudgetBody
	told := func(within, later time.Duration, steps ...string) (tell string) {
		b, tell = b.Reached(steps, within, usageNoon.Add(later))
		return tell
	}
	for n, step := range []struct {
		later time.Duration
		steps []string
		want  string
	}{
		{0, nil, ""},
		{0, []string{"notice"}, "notice"},
		{1, []string{"notice"}, ""},
		{2, []string{"notice", "warn", "throttle"}, "throttle"},
		{3, []string{"notice", "warn"}, ""},
		{4, []string{"notice", "warn", "throttle", "degrade"}, "degrade"},
		{5, []string{"notice"}, ""},
		{time.Hour + 3, []string{"notice"}, ""}, // it was told of with the one above it
		{time.Hour + 4, []string{"notice"}, "notice"},
		{time.Hour + 5, []string{"notice"}, ""},
	} {
		if tell := told(time.Hour, step.later, step.steps...); tell != step.want {
			t.Errorf("step %d: told of %q, want %q", n, tell, step.want)
		}
	}
	b = ledger.BudgetBody{}
	if told(0, 0, "notice") != "notice" || told(0, 9000*time.Hour, "notice") != "" {
		t.Error("of a budget without a time people are told again")
	}
}
