package anomaly_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/anomaly"
	"interlock/spec"
)

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// A worker is an agent whose days are made up.
type worker struct {
	anomaly.Profile
	kind *anomaly.Profile
}

// acts has the worker do something n times, spread over ten minutes that begin at a time.
func (w *worker) acts(at time.Time, n int, f anomaly.Fact) {
	for i := range n {
		f.At = at.Add(time.Duration(i) * 9 * time.Minute / time.Duration(n))
		w.Add(f, w.kind)
	}
}

// day is six hours of ordinary work: reading and building, a failure now and then, once in a while somebody is written to.
func (w *worker) day(at time.Time) {
	for slot := range 36 {
		from := at.Add(time.Duration(slot) * 10 * time.Minute)
		w.acts(from, 6+slot%7, anomaly.Fact{Decided: true, Tools: []string{"shell", "cat", "go"}, Data: 10})
		w.acts(from, 5+slot%4, anomaly.Fact{Ended: true, Took: time.Duration(300+slot*5) * time.Millisecond})
		if slot%5 == 0 {
			w.acts(from.Add(9*time.Minute), 1, anomaly.Fact{Ended: true, Failed: true, Took: time.Second})
		}
		if slot%12 == 0 {
			w.acts(from.Add(9*time.Minute), 1, anomaly.Fact{Message: true, Places: []string{"mail.example.com"}})
		}
	}
}

// seasoned is somebody who has worked for so many days.
func seasoned(days int) (w *worker, next time.Time) {
	w = &worker{}
	for n := range days {
		w.day(monday.AddDate(0, 0, n))
	}
	return w, monday.AddDate(0, 0, days)
}

// codes are the alarms of the slot that runs.
func (w *worker) codes() (codes []string) {
	for _, a := range w.Score(w.kind, anomaly.Told{}).Alarms {
		codes = append(codes, a.Code)
	}
	return codes
}

// TestAnOrdinaryDay raises nothing, at any moment of it.
func TestAnOrdinaryDay(t *testing.T) {
	w, next := seasoned(5)
	worst := 0
	for day := range 5 {
		for slot := range 36 {
			at := next.AddDate(0, 0, day).Add(time.Duration(slot) * 10 * time.Minute)
			w.acts(at, 5+(slot*7+day)%9, anomaly.Fact{Decided: true, Tools: []string{"go", "cat"}, Data: 9})
			w.acts(at, 5+slot%3, anomaly.Fact{Ended: true, Took: 500 * time.Millisecond})
			if s := w.Score(nil, anomaly.Told{}); len(s.Alarms) > 0 || s.Value >= 40 || s.Drift >= 40 {
				t.Fatalf("day %d, slot %d: %+v", day, slot, s)
			} else {
				worst = max(worst, s.Value)
			}
		}
	}
	if worst > 20 {
		t.Errorf("it came to %d", worst)
	}
}

// TestAlarms: each thing that is unusual is an alarm, and what is a little more than usual is none.
func TestAlarms(t *testing.T) {
	many := func(n int) func(*worker, time.Time) {
		return func(w *worker, at time.Time) { w.acts(at, n, anomaly.Fact{Decided: true, Tools: []string{"go"}}) }
	}
	probe := func(n int, text string) func(*worker, time.Time) {
		return func(w *worker, at time.Time) {
			for i := range n {
				text := strings.ReplaceAll(text, "%d", fmt.Sprint(i))
				w.acts(at.Add(time.Duration(i)*time.Second), 1, anomaly.Fact{Ended: true, Failed: true, Probe: anomaly.Name(text),
					Families: anomaly.Families(text)})
			}
		}
	}
	for name, c := range map[string]struct {
		does func(*worker, time.Time)
		want []string
	}{
		"a new host": {func(w *worker, at time.Time) {
			w.acts(at, 1, anomaly.Fact{Decided: true, Places: []string{"evil.example"}})
		}, []string{"tools"}},
		"a new tool": {func(w *worker, at time.Time) { w.acts(at, 1, anomaly.Fact{Decided: true, Tools: []string{"nc"}}) }, []string{"tools"}},
		"what it knows": {func(w *worker, at time.Time) {
			w.acts(at, 1, anomaly.Fact{Decided: true, Places: []string{"mail.example.com"}})
		}, nil},
		"burning":           {many(400), []string{"cost"}},
		"busy":              {many(200), nil},
		"refused again":     {func(w *worker, at time.Time) { w.acts(at, 3, anomaly.Fact{Decided: true, Refused: true}) }, []string{"content"}},
		"refused twice":     {func(w *worker, at time.Time) { w.acts(at, 2, anomaly.Fact{Decided: true, Refused: true}) }, nil},
		"writing to all":    {func(w *worker, at time.Time) { w.acts(at, 40, anomaly.Fact{Message: true}) }, []string{"messages"}},
		"writing to some":   {func(w *worker, at time.Time) { w.acts(at, 5, anomaly.Fact{Message: true}) }, nil},
		"failing":           {func(w *worker, at time.Time) { w.acts(at, 40, anomaly.Fact{Ended: true, Failed: true}) }, []string{"errors"}},
		"failing tests":     {func(w *worker, at time.Time) { w.acts(at, 10, anomaly.Fact{Ended: true, Failed: true}) }, nil},
		"reading it all":    {func(w *worker, at time.Time) { w.acts(at, 3, anomaly.Fact{Decided: true, Data: 40_000}) }, []string{"cost"}},
		"reading some":      {func(w *worker, at time.Time) { w.acts(at, 3, anomaly.Fact{Decided: true, Data: 400}) }, nil},
		"one after another": {probe(11, "curl https://api.example/users/%d"), []string{"content"}},
		"the same again":    {probe(11, "go test ./..."), nil},
		"nine of them":      {probe(9, "curl https://api.example/users/%d"), nil},
	} {
		w, next := seasoned(4)
		w.acts(next, 3, anomaly.Fact{Decided: true, Tools: []string{"go"}})
		c.does(w, next.Add(time.Minute))
		if got := w.codes(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		begins := &worker{} // of whom nothing is known nothing is unusual, but for what tries one name after another
		c.does(begins, next)
		if got := begins.codes(); len(got) > 0 && name != "one after another" {
			t.Errorf("%s, at the very beginning: %q", name, got)
		}
	}
}

// TestProbingByWord: names from a list differ by one word, and so does a search for one thing after another in many places; what
// differs by two is no pattern.
func TestProbingByWord(t *testing.T) {
	names := []string{"admin", "backup", "login", "config", "hidden", "private", "secret", "internal", "old", "test", "dev"}
	for text, alarms := range map[string]bool{"curl https://shop.example/%s": true, "cat /etc/%s.conf": true, "cat %s/%s.go": false} {
		w, next := seasoned(3)
		for n, name := range names {
			line := fmt.Sprintf(text, name)
			if text == "cat %s/%s.go" {
				line = fmt.Sprintf(text, name, names[(n+3)%len(names)])
			}
			w.acts(next.Add(time.Duration(n)*time.Second), 1, anomaly.Fact{Decided: true, Probe: anomaly.Name(line), Families: anomaly.Families(line)})
		}
		if got := slices.Contains(w.codes(), "content"); got != alarms {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestTenTimesAsLong: ten times the usual latency, of an orchestration or of actions, is an anomaly, and nine times is none.
func TestTenTimesAsLong(t *testing.T) {
	spec.Covers(t, "EC-I-5")
	for times, alarms := range map[float64]bool{1: false, 5: false, 9: false, 10: true, 40: true} {
		w, next := seasoned(2)
		for n := range 8 {
			w.Add(anomaly.Fact{At: next.Add(time.Duration(n) * time.Minute), Done: true, Unsure: true, Run: time.Minute}, nil)
		}
		w.Add(anomaly.Fact{At: next.Add(9 * time.Minute), Done: true, Unsure: true, Run: time.Duration(times * float64(time.Minute))}, nil)
		if got := slices.Contains(w.codes(), "latency"); got != alarms {
			t.Errorf("an orchestration, %v times: %v", times, got)
		}
		w, next = seasoned(2)
		w.acts(next, 5, anomaly.Fact{Ended: true, Took: time.Duration(times * 420 * float64(time.Millisecond))})
		if got := slices.Contains(w.codes(), "latency"); got != alarms {
			t.Errorf("actions, %v times: %v %+v", times, got, w.Score(nil, anomaly.Told{}).Of)
		}
	}
	w, next := seasoned(2) // and of what was seen four times nobody knows what is usual
	for n := range 4 {
		w.Add(anomaly.Fact{At: next.Add(time.Duration(n) * time.Minute), Done: true, Unsure: true, Run: time.Minute}, nil)
	}
	w.Add(anomaly.Fact{At: next.Add(9 * time.Minute), Done: true, Unsure: true, Run: time.Hour}, nil)
	if got := w.codes(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestNoWordOfDoubt: completing everything without naming anything uncertain lowers the quality; naming something, or failing, ends
// that; and it never makes an observer's word better.
func TestNoWordOfDoubt(t *testing.T) {
	spec.Covers(t, "EC-I-4")
	quality := func(runs int, last anomaly.Fact, told *int) (value float64, known bool) {
		w := &worker{}
		for n := range runs {
			w.Add(anomaly.Fact{At: monday.Add(time.Duration(n) * time.Minute), Done: true, Whole: true}, nil)
		}
		if last.Done {
			last.At = monday.Add(time.Hour)
			w.Add(last, nil)
		}
		for _, d := range w.Score(nil, anomaly.Told{Quality: told}).Of {
			if d.Name == anomaly.DimQuality {
				return d.Value, d.Known
			}
		}
		return 0, false
	}
	for name, c := range map[string]struct {
		runs  int
		last  anomaly.Fact
		value float64
		known bool
	}{
		"nine":                      {9, anomaly.Fact{}, 0, false},
		"ten":                       {10, anomaly.Fact{}, .5, true},
		"ten, and one with a doubt": {10, anomaly.Fact{Done: true, Whole: true, Unsure: true}, 0, false},
		"ten, and one that failed":  {10, anomaly.Fact{Done: true}, 0, false},
		"ten, and one more like it": {10, anomaly.Fact{Done: true, Whole: true}, .5, true},
	} {
		if value, known := quality(c.runs, c.last, nil); value != c.value || known != c.known {
			t.Errorf("%s: %v %v", name, value, known)
		}
	}
	for _, said := range []int{0, 30, 50, 90, 100} {
		without, _ := quality(3, anomaly.Fact{}, &said)
		with, _ := quality(30, anomaly.Fact{}, &said)
		if with < without || with < .5 {
			t.Errorf("an observer says %d: %v, and complete without a doubt %v", said, without, with)
		}
	}
}

// TestSlowDrift: thirteen days of which each is a little more than the one before look ordinary beside the last week, and not beside how
// it began (RT-16).
func TestSlowDrift(t *testing.T) {
	drift := func(step float64) (most int, alarmed []string) {
		w := &worker{}
		for day := range 16 {
			for slot := range 36 {
				at := monday.AddDate(0, 0, day).Add(time.Duration(slot) * 10 * time.Minute)
				grown := 1 + step*float64(max(day-2, 0))
				w.acts(at, int(float64(20+slot%9)*grown), anomaly.Fact{Decided: true, Data: int64(100 * grown), Tools: []string{"db"}})
				s := w.Score(nil, anomaly.Told{})
				most = max(most, s.Drift)
				for _, a := range s.Alarms {
					alarmed = append(alarmed, a.Code)
				}
			}
		}
		return most, alarmed
	}
	if most, alarmed := drift(.35); most < 40 || len(alarmed) > 0 {
		t.Errorf("a drift comes to %d, and %q", most, alarmed)
	}
	if most, alarmed := drift(0); most >= 20 || len(alarmed) > 0 {
		t.Errorf("no drift comes to %d, and %q", most, alarmed)
	}
}

// TestWeights: they come to 1.10 and are held against what they come to; what is not known is left out and the rest weighs more.
func TestWeights(t *testing.T) {
	sum := 0.0
	for _, d := range anomaly.Weights() {
		sum += d.Weight
	}
	if math.Abs(sum-1.10) > 1e-9 {
		t.Errorf("they come to %v", sum)
	}
	w := &worker{}
	if s := w.Score(nil, anomaly.Told{}); s.Value != 0 || len(s.Alarms) > 0 {
		t.Errorf("of nothing: %+v", s)
	}
	none, full := 0, 95
	if s := w.Score(nil, anomaly.Told{Quality: &none}); s.Value != 67 { // 0.20 of 0.30
		t.Errorf("one that is known, at its worst: %d", s.Value)
	}
	if s := w.Score(nil, anomaly.Told{Context: &full}); s.Value != 33 {
		t.Errorf("a full context alone, which has bounds of its own: %d", s.Value)
	}
	fine := 100
	if s := w.Score(nil, anomaly.Told{Quality: &fine, Context: &full}); s.Value != 33 { // 0.10 of 0.30
		t.Errorf("two that are known: %d", s.Value)
	}
}

// TestPeers: an agent of which too little is known is held against its type, what its type knows is not new to it, and one that does
// much more than the others of its type is seen.
func TestPeers(t *testing.T) {
	kind := &anomaly.Profile{}
	for n := range 5 {
		w := &worker{kind: kind}
		w.day(monday.Add(time.Duration(n) * 7 * time.Hour))
	}
	next := monday.AddDate(0, 0, 3)
	young := &worker{kind: kind}
	young.acts(next, 5, anomaly.Fact{Decided: true, Tools: []string{"go", "cat"}})
	if s := young.Score(kind, anomaly.Told{}); len(s.Alarms) > 0 || s.Value > 20 {
		t.Errorf("one of them: %+v", s)
	}
	young.acts(next.Add(time.Minute), 500, anomaly.Fact{Decided: true, Tools: []string{"go"}})
	young.acts(next.Add(2*time.Minute), 4, anomaly.Fact{Decided: true, Tools: []string{"nmap"}, Refused: true})
	if got := young.codes(); !slices.Equal(got, []string{"tools", "content", "cost", "peers"}) {
		t.Errorf("%q", got)
	}
	if s := young.Score(kind, anomaly.Told{}); s.Value < 50 {
		t.Errorf("%d: %+v", s.Value, s.Of)
	}
}

// TestExplained: a person's word that what was unusual is explained has everything learned anew.
func TestExplained(t *testing.T) {
	w, next := seasoned(4)
	w.acts(next, 400, anomaly.Fact{Decided: true})
	w.Add(anomaly.Fact{At: next.Add(10 * time.Minute), Begin: true}, nil)
	if w.acts(next.Add(20*time.Minute), 400, anomaly.Fact{Decided: true}); len(w.codes()) > 0 || w.Base.Slots > 1 {
		t.Errorf("%q, %d", w.codes(), w.Base.Slots)
	}
}

// TestAProfileIsBounded: whatever is recorded, a profile stays small, says the same once it was written and read, and adding to a copy
// leaves the first as it was. A clock that is set back makes nothing usual.
func TestAProfileIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p, kind anomaly.Profile
		at := monday
		for range rapid.IntRange(1, 400).Draw(t, "facts") {
			at = at.Add(time.Duration(rapid.IntRange(-3600, 36_000).Draw(t, "seconds")) * time.Second)
			text := rapid.StringMatching(`[a-z]{1,60} [a-z0-9/]{0,80} [a-z]{0,5}`).Draw(t, "text")
			p.Add(anomaly.Fact{At: at, Decided: true, Failed: true, Ended: true, Tools: []string{text}, Places: []string{text, "x" + text},
				Took: time.Duration(rapid.Int64().Draw(t, "took")), Cost: rapid.Int64().Draw(t, "cost"), Probe: anomaly.Name(text),
				Families: anomaly.Families(text), Run: time.Duration(rapid.Int64().Draw(t, "run"))}, &kind)
		}
		for _, one := range []*anomaly.Profile{&p, &kind} {
			text, err := json.Marshal(one)
			if err != nil || len(text) > 64<<10 {
				t.Fatalf("%d bytes, %v", len(text), err)
			}
			var read anomaly.Profile
			if err := json.Unmarshal(text, &read); err != nil {
				t.Fatal(err)
			}
			again := p.Score(&kind, anomaly.Told{})
			if diff := cmp.Diff(again, p.Score(&kind, anomaly.Told{})); diff != "" {
				t.Fatal(diff)
			}
			if again.Value < 0 || again.Value > 100 || again.Drift < 0 || again.Drift > 100 {
				t.Fatalf("%+v", again)
			}
			if diff := cmp.Diff(read.Score(nil, anomaly.Told{}), one.Score(nil, anomaly.Told{})); diff != "" {
				t.Fatal(diff)
			}
			twin := one.Clone()
			twin.Add(anomaly.Fact{At: at.Add(time.Hour), Decided: true, Tools: []string{"another"}, Families: anomaly.Families("one more")}, nil)
			if after, _ := json.Marshal(one); string(after) != string(text) {
				t.Fatal("adding to a copy changed the profile")
			}
		}
	})
}
