package memory_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/memory"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestKeys(t *testing.T) {
	long := strings.Repeat("a", 64)
	for key, valid := range map[string]bool{
		"user/person/7/colour": true, "a/b/c-d/e": true, "a_1/b_2/c_3/d_4": true, long + "/" + long + "/" + long + "/" + long: true,
		"": false, "user": false, "user/person/7": false, "user/person/7/colour/x": false, "user//7/colour": false, "User/person/7/colour": false,
		"user/per-son/7/colour": false, "user/person/7/col-our": false, "us er/person/7/colour": false, "user/person/7/colour ": false,
		"user/person/é/colour": false, "user/person/../colour": false, long + "a/b/c/d": false, "a/b/c/d\n": false, "a/b/c/d\x00": false,
	} {
		if memory.ValidKey(key) != valid {
			t.Errorf("%q: %v", key, !valid)
		}
	}
	for _, target := range []struct{ holder, key string }{{"", "a/b/c/d"}, {"builder", "a/b/c/d"}, {"the agent of ada", "a/b/c/d"}} {
		holder, key, ok := memory.ParseTarget(memory.Target(target.holder, target.key))
		if !ok || holder != target.holder || key != target.key {
			t.Errorf("%v: %q %q %v", target, holder, key, ok)
		}
	}
	for _, bad := range []string{"", "a/b/c", "a/b/c/d of ", " of builder", "a/b/c/d builder"} {
		if _, _, ok := memory.ParseTarget(bad); ok {
			t.Errorf("%q names a fact", bad)
		}
	}
	for source, valid := range map[string]bool{"agent:a": true, "run:r": true, "source:web:x": true, "agent:": false, "a": false, "tool:x": false,
		"agent:" + strings.Repeat("a", 151): false} {
		if memory.ValidSource(source) != valid {
			t.Errorf("%q: %v", source, !valid)
		}
	}
}

// version is what an agent wrote so many minutes after noon.
func version(agent string, minute int, of ...memory.Version) memory.Version {
	v := memory.Version{ID: fmt.Sprint("mem_", agent, minute), Value: fmt.Sprint(agent, minute), Agent: agent, At: noon.Add(time.Duration(minute) * time.Minute)}
	if err := v.Derive(of); err != nil {
		panic(err)
	}
	return v
}

// TestVersions: the last write wins; what derives from a source that is quarantined was never written, for as long as that is so; what
// was taken back stays so, and what the source writes later counts.
func TestVersions(t *testing.T) {
	good, bad := version("a", 1), version("b", 2)
	f := memory.Fact{}.With(good).With(bad)
	at := func(f memory.Fact, now time.Time, cuts ...memory.Cut) string {
		v, there := f.At(now, func(v memory.Version) bool { return memory.Hidden(v, cuts) })
		if !there {
			return "none"
		}
		return v.Value
	}
	later := noon.Add(time.Hour)
	if got := at(f, later); got != "b2" || f.Number != 2 {
		t.Errorf("%s, %d", got, f.Number)
	}
	if got := at(f, later, memory.Cut{Source: "agent:b"}); got != "a1" {
		t.Errorf("b is quarantined: %s", got)
	}
	if got := at(f, later, memory.Cut{Source: "agent:b"}, memory.Cut{Source: "agent:a"}); got != "none" {
		t.Errorf("both are: %s", got)
	}
	cut := memory.Cut{Source: "agent:b", Before: bad.At}
	if got := at(f, later, cut); got != "a1" {
		t.Errorf("b is taken back: %s", got)
	}
	if got := at(f.With(version("b", 3)), later, cut); got != "b3" {
		t.Errorf("b has written since: %s", got)
	}
	made := memory.Fact{}.With(version("c", 2, bad))
	if got := at(made, later, cut); got != "none" {
		t.Errorf("what c made of what b wrote: %s", got)
	}
	short := bad
	short.Until = noon.Add(10 * time.Minute)
	if got := at(memory.Fact{}.With(good).With(short), later); got != "none" {
		t.Errorf("the newest is over: %s", got)
	}
	if got := at(memory.Fact{}.With(good).With(short), later, cut); got != "a1" {
		t.Errorf("the newest is over, and taken back: %s", got)
	}
	if over := (memory.Fact{}.With(good).With(short)).Over(); !over.IsZero() {
		t.Errorf("it is over %s, and one version has no end", over)
	}
	if over := (memory.Fact{}.With(short)).Over(); !over.Equal(short.Until) {
		t.Errorf("it is over %s", over)
	}
	many := memory.Fact{}
	for n := range 10 {
		many = many.With(version("a", n))
	}
	if len(many.Versions) != 4 || many.Number != 10 || many.Newest().Value != "a9" {
		t.Errorf("%d versions, %d written, the newest %s", len(many.Versions), many.Number, many.Newest().Value)
	}
}

func TestDerive(t *testing.T) {
	v := memory.Version{Agent: "a", Run: "r", Source: "web:x", Taint: []string{memory.TaintSource}}
	of := version("b", 1)
	of.Taint = []string{memory.TaintUnheard}
	if err := v.Derive([]memory.Version{of, of}); err != nil || !slices.Equal(v.Derives, []string{"agent:a", "agent:b", "run:r", "source:web:x"}) ||
		!slices.Equal(v.Taint, []string{memory.TaintDerived, memory.TaintSource}) {
		t.Errorf("%v %v %v", v.Derives, v.Taint, err)
	}
	var many []memory.Version
	for n := range memory.MaxDerives {
		many = append(many, version(fmt.Sprint("agent", n), 1))
	}
	if err := v.Derive(many); err == nil {
		t.Error("more sources than can be kept are forgotten")
	}
}

// TestHash: the hash is of what is kept and when, in whatever order it is read, and of nothing else.
func TestHash(t *testing.T) {
	one, two := memory.Stable{Key: "a/b/c/d", Value: "x", At: noon}, memory.Stable{Key: "a/b/c/e", Value: "y", At: noon}
	hash := func(facts ...memory.Stable) string {
		sum, err := memory.Hash(facts)
		if err != nil || len(sum) != 71 {
			t.Fatal(sum, err)
		}
		return sum
	}
	if hash(one, two) != hash(two, one) {
		t.Error("it turns on the order")
	}
	seen := map[string]bool{}
	later := one
	later.At = noon.Add(time.Second)
	for _, facts := range [][]memory.Stable{{}, {one}, {two}, {one, two}, {later}, {{Key: "a/b/c/d", Value: "xy", At: noon}}} {
		if sum := hash(facts...); seen[sum] {
			t.Errorf("%v hashes as something else does", facts)
		} else {
			seen[sum] = true
		}
	}
	// [["a/b/c/d","x","2026-11-20T12:00:00Z"]]
	if got, want := hash(one), "sha256:"+goldenHash; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestMatches(t *testing.T) {
	for query, want := range map[string]bool{"": true, "GREEN": true, "green person": true, "green red": false, "colour": true} {
		if memory.Matches(query, "user/person/7/colour", "Green, they say") != want {
			t.Errorf("%q: %v", query, !want)
		}
	}
}

// goldenHash is what other programs make of that list.
const goldenHash = "e9262d4fedf90bebcd7d9900bf58b7bacbbcbeababf5e3083627b85888dcf077"
