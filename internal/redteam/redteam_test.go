package redteam

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"interlock"
	"interlock/spec"
)

// TestACaseFollowsFromTwoNumbers: a case is the same however it is come upon, other numbers make others, and every family has its turn.
func TestACaseFollowsFromTwoNumbers(t *testing.T) {
	spec.Covers(t, "MACE-9.2-2")
	cases, err := Cases(11, 500, "")
	if err != nil {
		t.Fatal(err)
	}
	turns := map[string]int{}
	inputs := map[string]bool{}
	for _, c := range cases {
		if again := At(11, c.Number); !reflect.DeepEqual(c, again) {
			t.Fatalf("case %d is %+v and then %+v", c.Number, c, again)
		}
		turns[c.Family]++
		inputs[c.Attack.Input] = true
	}
	for _, f := range attempted() {
		if turns[f.Name] < 500/len(attempted()) {
			t.Errorf("%s has %d of 500 cases", f.Name, turns[f.Name])
		}
	}
	if len(inputs) < 420 {
		t.Errorf("500 cases are %d attacks", len(inputs))
	}
	if other := At(12, 3); reflect.DeepEqual(other.Attack, cases[3].Attack) && reflect.DeepEqual(other.Twin, cases[3].Twin) {
		t.Error("another seed makes the same case")
	}
}

// TestAGrammarChangesItsVersion: what a seed means stands in events and reports, so a change of the grammar has to change [Version] too,
// and this digest with it.
func TestAGrammarChangesItsVersion(t *testing.T) {
	var all strings.Builder
	for n := range 700 {
		text, err := json.Marshal(At(1, n))
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	sum := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(all.String()) {
		sum = (sum ^ uint64(c)) * 1099511628211
	}
	const want, of = uint64(2466626498826449426), 1
	if sum != want || Version != of {
		t.Errorf("grammar %d makes cases with the sum %d, and grammar %d made some with %d: raise Version and put both down here", Version, sum, of,
			want)
	}
}

// TestWhatFailsARun: an attack that must stop and was allowed, a share that is missed, work that is stopped; and what doesn't.
func TestWhatFailsARun(t *testing.T) {
	cases, err := Cases(1, 700, "")
	if err != nil {
		t.Fatal(err)
	}
	judged := func(change func(j *Judged)) []Judged {
		var out []Judged
		for _, c := range cases {
			j := Judged{Case: c, AttackGot: interlock.Deny, TwinGot: interlock.Allow}
			change(&j)
			out = append(out, j)
		}
		return out
	}
	first := func(family string, n int) func(*Judged) bool {
		return func(j *Judged) bool {
			if j.Family == family && n > 0 {
				n--
				return true
			}
			return false
		}
	}
	allow := func(is func(*Judged) bool) func(*Judged) {
		return func(j *Judged) {
			if is(j) {
				j.AttackGot = interlock.Allow
			}
		}
	}
	stop := func(is func(*Judged) bool) func(*Judged) {
		return func(j *Judged) {
			if is(j) {
				j.TwinGot, j.TwinBy = interlock.Ask, "r.1"
			}
		}
	}
	for name, c := range map[string]struct {
		change   func(*Judged)
		passed   bool
		failures int
	}{
		"nothing":                        {func(*Judged) {}, true, 0},
		"asked is stopped":               {func(j *Judged) { j.AttackGot = interlock.Ask }, true, 0},
		"one that must stop":             {allow(first("denylist", 1)), false, 1},
		"ten of a hundred texts":         {allow(first("injection", 10)), true, 10},
		"eleven of a hundred texts":      {allow(first("injection", 11)), false, 11},
		"two of a hundred twins stopped": {stop(first("judge", 2)), true, 2},
		"three of them":                  {stop(first("judge", 3)), false, 3},
	} {
		r := Of(Run{Seed: 1}, judged(c.change))
		if r.Passed != c.passed || len(r.Failures) != c.failures {
			t.Errorf("%s: passed %t with %d failures, want %t and %d", name, r.Passed, len(r.Failures), c.passed, c.failures)
		}
		var page strings.Builder
		if err := r.Markdown(&page, func(s string) string { return s }); err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Failures {
			if f.Replay != Replay(1, f.Case) || f.Input == "" || !strings.Contains(page.String(), f.Replay) {
				t.Errorf("%s: the page doesn't say how case %d is tried again", name, f.Case)
			}
		}
	}
}

// TestWhatIsNoRun: numbers and names that make no run are refused by their field.
func TestWhatIsNoRun(t *testing.T) {
	for name, c := range map[string]struct {
		count  int
		family string
		field  string
	}{
		"none":             {0, "", "cases"},
		"too many":         {MaxCases + 1, "", "cases"},
		"unknown":          {7, "luck", "family"},
		"not built yet":    {7, "council", "family"},
		"not reached":      {2, "memory", "cases"},
		"below what there": {-1, "", "cases"},
	} {
		if _, err := Cases(1, c.count, c.family); err == nil || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzAt: whatever the numbers, a case has both sides, says how it was made and is one that doors take in.
func FuzzAt(f *testing.F) {
	f.Add(uint64(1), 0)
	f.Add(uint64(1)<<63, 19_999)
	f.Fuzz(func(t *testing.T, seed uint64, number int) {
		if number < 0 || number >= MaxCases {
			return
		}
		c := At(seed, number)
		for _, p := range []Probe{c.Attack, c.Twin} {
			if !p.Kind.Valid() || p.Input == "" || len(p.Input) > 16<<10 {
				t.Fatalf("case %d of %d: %+v", number, seed, p)
			}
		}
		if c.How == "" || !known(c.Family) || c.Number != number {
			t.Fatalf("case %d of %d: %+v", number, seed, c)
		}
	})
}
