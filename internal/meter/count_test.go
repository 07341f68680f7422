package meter_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/internal/ledger"
	"interlock/internal/meter"
)

const hour = time.Hour

// with takes from a row, and back is when there is room for that.
func with(u ledger.UsageBody, s ledger.Spend, at time.Time) (ledger.UsageBody, bool) {
	var ok bool
	u.Count, ok = u.Take(s.Take, s.Bound(), at)
	return u, ok
}

func back(u ledger.UsageBody, s ledger.Spend, at time.Time) time.Time {
	return s.Bound().Read(u.Count, s.Take, at).Back
}

// uses takes one after the other, and says which were let through.
func uses(u ledger.UsageBody, s ledger.Spend, at ...time.Duration) (ledger.UsageBody, []bool) {
	var fit []bool
	for _, after := range at {
		next, ok := with(u, s, noon.Add(after))
		if fit = append(fit, ok); ok {
			u = next
		}
	}
	return u, fit
}

// TestWindow holds that a window slides: each use counts for exactly as long as it is, and there is room again when it ends.
func TestWindow(t *testing.T) {
	s := ledger.Spend{Take: 1, Room: 2, Window: hour}
	u, fit := uses(ledger.UsageBody{}, s, 0, 30*time.Minute, 31*time.Minute, hour-1, hour, hour+1, 90*time.Minute)
	if diff := cmp.Diff([]bool{true, true, false, false, true, false, true}, fit); diff != "" {
		t.Error(diff)
	}
	at := noon.Add(90 * time.Minute)
	if u.Used(hour, at) != 2 || u.Used(2*hour, at) != 2 || u.Used(0, at) != 4 {
		t.Errorf("used %d within the hour and %d in all", u.Used(hour, at), u.Used(0, at))
	}
	if again := back(u, s, at); !again.Equal(noon.Add(2 * hour)) {
		t.Errorf("there is room again at %v", again)
	}
	if again := back(u, ledger.Spend{Take: 3, Room: 2, Window: hour}, at); !again.IsZero() {
		t.Errorf("there is never room for three, and it says %v", again)
	}
}

// TestTotal holds that a total is never free again, and that adding up stops before it overflows.
func TestTotal(t *testing.T) {
	s := ledger.Spend{Take: 4, Room: 10}
	u, fit := uses(ledger.UsageBody{}, s, 0, hour, 1000*hour)
	if diff := cmp.Diff([]bool{true, true, false}, fit); diff != "" || u.Total != 8 {
		t.Errorf("%d used; %s", u.Total, diff)
	}
	for take, room := range map[int64]int64{math.MaxInt64: math.MaxInt64, 1: 8, 11: 10, 9: 8, -1: 10} {
		if _, ok := with(u, ledger.Spend{Take: take, Room: room}, noon); ok {
			t.Errorf("%d of %d on top of 8", take, room)
		}
	}
	if u, ok := with(u, ledger.Spend{Take: math.MaxInt64 - 8, Room: math.MaxInt64}, noon); !ok || u.Total != math.MaxInt64 {
		t.Errorf("all there is: %d, %v", u.Total, ok)
	}
	if !back(u, s, noon).IsZero() {
		t.Error("a total comes back")
	}
}

// TestOtherLimit holds that other rules change what there is room for, and not what was used.
func TestOtherLimit(t *testing.T) {
	u, _ := uses(ledger.UsageBody{}, ledger.Spend{Take: 5, Room: 5, Window: hour}, 0)
	if _, ok := with(u, ledger.Spend{Take: 1, Room: 5, Window: hour}, noon); ok {
		t.Error("there was no room left")
	}
	if _, ok := with(u, ledger.Spend{Take: 1, Room: 6, Window: hour}, noon); !ok {
		t.Error("a wider limit leaves room")
	}
	if _, ok := with(u, ledger.Spend{Take: 1, Room: 4, Window: hour}, noon); ok {
		t.Error("a narrower limit leaves room")
	}
	if u, ok := with(u, ledger.Spend{Take: 1, Room: 1, Window: time.Minute}, noon.Add(time.Minute)); !ok ||
		u.Used(hour, noon.Add(time.Minute)) != 6 {
		t.Error("a shorter window forgets what a longer one held")
	}
}

// TestSettling holds that what was not used is given back once it is known which use it was, and what was more is added.
func TestSettling(t *testing.T) {
	book, s := ledger.NewBook(), ledger.Spend{Take: 5, Room: 100, Window: hour}
	settle := func(u ledger.UsageBody, by ledger.Settling) ledger.UsageBody {
		t.Helper()
		by.Key, by.Window = "k", hour
		change := ledger.Change{Events: []ledger.Draft{{}}, Writes: ledger.Rows(by)}
		rows, refusal, err := book.Steps(&change, noon, func(kind, key string) (ledger.Row, error) {
			if u.Key == "" {
				return ledger.Row{Kind: kind, Key: key}, nil
			}
			return ledger.Row{Kind: kind, Key: key, Value: u}, nil
		})
		if refusal != nil || err != nil {
			t.Fatal(refusal, err)
		}
		if len(rows) == 0 {
			return u
		}
		return rows[0].Value.(ledger.UsageBody)
	}
	u, _ := uses(ledger.UsageBody{Key: "k"}, s, 0, time.Minute, 2*time.Minute)
	at := noon.Add(2 * time.Minute)
	for name, tc := range map[string]struct {
		by   ledger.Settling
		want int64
	}{
		"less":              {ledger.Settling{Decided: noon.Add(time.Minute), Taken: 5, Charged: 2}, 12},
		"nothing":           {ledger.Settling{Decided: noon, Taken: 5}, 10},
		"as much":           {ledger.Settling{Decided: noon, Taken: 5, Charged: 5}, 15},
		"more":              {ledger.Settling{Decided: noon, At: at, Taken: 5, Charged: 9}, 19},
		"no use of then":    {ledger.Settling{Decided: noon.Add(time.Second), Taken: 5}, 15},
		"more than it took": {ledger.Settling{Decided: noon, Taken: 50}, 10},
		"of later":          {ledger.Settling{Decided: noon.Add(hour), Taken: 5}, 15},
	} {
		if got := settle(u, tc.by).Used(hour, at); got != tc.want {
			t.Errorf("%s: %d used, want %d", name, got, tc.want)
		}
	}
	if got := settle(ledger.UsageBody{}, ledger.Settling{Decided: noon, Taken: 5}); got.Total != 0 {
		t.Errorf("of nobody: %+v", got)
	}
	late, _ := uses(u, s, 2*hour) // what was taken first counts in no window any more
	if got := settle(late, ledger.Settling{Decided: noon, Taken: 5}); got.Total != 15 || got.Used(hour, noon.Add(2*hour)) != 5 {
		t.Errorf("settled late: %d in all", got.Total)
	}
}

// A taken is one use that was let through.
type taken struct {
	at time.Time
	n  int64
}

// TestNeverMoreThanRoom: whatever is asked in whatever order, however the clock goes, and however often the row is written and read
// in between, within no window is there more than the limit; up to a thousand uses nothing that fits is refused.
func TestNeverMoreThanRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.Int64Range(1, 3000).Draw(t, "room")
		window := time.Duration(rapid.Int64Range(1, int64(2*hour)).Draw(t, "window"))
		step := rapid.Int64Range(1, int64(window)).Draw(t, "step")
		clock, latest := noon, time.Time{} // the latest time at which anything was used
		u := ledger.UsageBody{Key: "k"}
		var all []taken
		for range rapid.IntRange(1, 1500).Draw(t, "spends") {
			clock = clock.Add(time.Duration(rapid.Int64Range(-step/3, step).Draw(t, "pause")))
			n := rapid.Int64Range(1, max(room/100, 2)).Draw(t, "take")
			at := clock
			if latest.After(at) {
				at = latest
			}
			held := int64(0)
			for _, one := range all {
				if one.at.After(at.Add(-window)) {
					held += one.n
				}
			}
			next, ok := with(u, ledger.Spend{Take: n, Room: room, Window: window}, clock)
			if ok && held+n > room {
				t.Fatalf("%d on top of %d in a window with room for %d", n, held, room)
			}
			if !ok && held+n <= room && !u.Coarse {
				t.Fatalf("%d on top of %d were refused, of %d", n, held, room)
			}
			if ok {
				u, all, latest = next, append(all, taken{at, n}), at
			}
			if got := u.Used(window, clock); got < held {
				t.Fatalf("%d are counted of %d", got, held)
			}
			if rapid.IntRange(0, 40).Draw(t, "written") == 0 && u.Total > 0 {
				u = again(t, u)
			}
		}
	})
}

// again is a body as it is read after it was written.
func again(t interface{ Fatal(...any) }, u ledger.UsageBody) (back ledger.UsageBody) {
	text, err := json.Marshal(u)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil {
		t.Fatal(string(text), err)
	}
	return back
}

// TestManyUses holds that a row stays small however much is used, and that then a use counts for longer and never for less long.
func TestManyUses(t *testing.T) {
	s, u, largest := ledger.Spend{Take: 1, Room: math.MaxInt64, Window: hour}, ledger.UsageBody{Key: "k"}, 0
	for n := range 20_000 {
		u, _ = with(u, s, noon.Add(time.Duration(n)*time.Second))
		at := noon.Add(time.Duration(n) * time.Second)
		if got, want := u.Used(hour, at), int64(min(n+1, 3600)); got < want || got > want+3600/63+1 {
			t.Fatalf("after %d uses %d are counted within the hour, of %d", n+1, got, want)
		}
		if n%100 == 0 {
			text, _ := json.Marshal(u)
			largest = max(largest, len(text))
		}
	}
	text, _ := json.Marshal(u)
	if !u.Coarse || largest > 12_000 || len(text) > 1200 {
		t.Errorf("coarse %v, %d bytes at most and %d at the end", u.Coarse, largest, len(text))
	}
	if u, _ = with(u, s, noon.Add(100*hour)); u.Coarse || u.Used(hour, noon.Add(100*hour)) != 1 {
		t.Errorf("after a pause it is not exact again: %+v", u)
	}
}

// FuzzUsage holds of whatever a disk or a hand makes of a row: it is refused, or what it says holds together (what a window holds is
// never negative, never more than ever was, and no longer window holds less), it is written back the same, and taking from it and giving
// back goes by the same sums.
func FuzzUsage(f *testing.F) {
	u, _ := uses(ledger.UsageBody{Key: "k"}, ledger.Spend{Take: 7, Room: 99, Window: hour}, 0, time.Minute, hour)
	for _, body := range []ledger.UsageBody{u, {Key: "k", Count: meter.Count{Last: noon, Ever: true}}} {
		text, err := json.Marshal(body)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, int64(3), int64(time.Minute))
	}
	f.Add([]byte(`{"key":"k","total":5,"before":6,"last":"2026-03-04T05:06:07Z"}`), int64(1), int64(1))
	f.Fuzz(func(t *testing.T, text []byte, take, after int64) {
		var u ledger.UsageBody
		if json.Unmarshal(text, &u) != nil {
			return
		}
		first := again(t, u)
		if cmp.Diff(mustText(t, first), mustText(t, u)) != "" {
			t.Fatalf("%s becomes %s", mustText(t, u), mustText(t, first))
		}
		at, most := u.Last.Add(time.Duration(after%int64(1000*hour))), int64(0)
		for _, window := range []time.Duration{1, time.Second, hour, 1000 * hour, 0} {
			got := u.Used(window, at)
			if got < most || got > u.Total {
				t.Fatalf("%d within %v, %d within less, of %d", got, window, most, u.Total)
			}
			most = got
		}
		s := ledger.Spend{Take: take, Room: math.MaxInt64, Window: hour}
		next, ok := with(u, s, at)
		if ok != (take >= 0 && u.Total <= math.MaxInt64-take) || ok && next.Total != u.Total+take {
			t.Fatalf("%d on top of %d: %v, %d", take, u.Total, ok, next.Total)
		}
	})
}

func mustText(t *testing.T, u ledger.UsageBody) string {
	t.Helper()
	text, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// BenchmarkUsage is the arithmetic of one spend, of a row in the middle of a day.
func BenchmarkUsage(b *testing.B) {
	for name, already := range map[string]int{"100": 100, "999": 999, "coarse": 3000} {
		b.Run(name, func(b *testing.B) {
			s, u := ledger.Spend{Take: 1, Room: math.MaxInt64, Window: hour}, ledger.UsageBody{Key: "k"}
			for n := range already {
				u, _ = with(u, s, noon.Add(time.Duration(n)*time.Second))
			}
			at := noon.Add(time.Duration(already) * time.Second)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := with(u, s, at); !ok {
					b.Fatal("no room")
				}
			}
		})
	}
}
