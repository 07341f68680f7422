package conform

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// broken is a driver whose program ends at once and does nothing.
func broken(t *testing.T) *Driver {
	t.Helper()
	program := func(context.Context, Command) int { return 1 }
	d, err := NewDriver(Env{Root: t.TempDir(), Process: program, Clocked: func(func() time.Time) Program { return program }, Now: time.Now,
		Found:  func(context.Context, Founding) error { return nil },
		NewKey: func(string) (private, public []byte, err error) { return []byte("private"), []byte("public"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// TestTheTable: every entry is about clauses that there are, no clause stands in two, and each says what it drives.
func TestTheTable(t *testing.T) {
	clauses, err := Clauses()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, check := range Checks() {
		for _, id := range check.IDs {
			if seen[id] || !slices.ContainsFunc(clauses, func(c Clause) bool { return c.ID == id }) {
				t.Errorf("%s stands twice, or is no clause", id)
			}
			seen[id] = true
		}
		if check.Drives == "" || check.Do == nil || len(check.IDs) == 0 {
			t.Errorf("%v is not whole", check.IDs)
		}
	}
	for _, check := range slices.Concat(hereTier1(), hereTier2()) {
		if !slices.ContainsFunc(clauses, func(c Clause) bool { return c.ID == check.id }) {
			t.Errorf("%s is no clause", check.id)
		}
	}
	for _, c := range clauses { // what tests prove is driven as well
		if listed := slices.Contains(undriven(), c.ID); (c.Gap == "" && !seen[c.ID]) != listed {
			t.Errorf("%s: proved %v, driven %v, said to be proved and undriven %v", c.ID, c.Gap == "", seen[c.ID], listed)
		}
	}
}

// TestTheASATable: every entry is about clauses of the draft that there are, and no clause stands in two.
func TestTheASATable(t *testing.T) {
	clauses, err := ASAClauses()
	if err != nil || len(clauses) < 100 {
		t.Fatal(len(clauses), err)
	}
	is := func(id string) bool { return slices.ContainsFunc(clauses, func(c Clause) bool { return c.ID == id }) }
	seen := map[string]bool{}
	for _, check := range ASAChecks() {
		for _, id := range check.IDs {
			if seen[id] || !is(id) {
				t.Errorf("%s stands twice, or is no clause", id)
			}
			seen[id] = true
		}
	}
	for _, id := range later {
		if !is(id) || seen[id] {
			t.Errorf("%s is no clause, or does not wait", id)
		}
	}
	for _, c := range clauses { // what tests prove is driven as well, and what waits says for what
		later := c.Gap == "" && slices.Contains(asaUndriven(), c.ID)
		if (c.Gap == "") != seen[c.ID] && !later || c.Waits && !strings.HasPrefix(c.Gap, "topology: ") {
			t.Errorf("%s: gap %q, driven %v", c.ID, c.Gap, seen[c.ID])
		}
	}
	for _, r := range Run(t.Context(), broken(t), clauses, ASAChecks(), nil) {
		if r.Word == Pass {
			t.Errorf("%s passes without a program: %s", r.ID, r.Seen)
		}
	}
	if Item("ASA-20-3") != 3 || Item("ASA-20-9") != 0 || Item("ASA-2-3") != 0 {
		t.Error("the items of section 20 are others")
	}
}

// TestNothingPassesWithoutAProgram: a check that passes though nothing answers would pass whatever is broken.
func TestNothingPassesWithoutAProgram(t *testing.T) {
	clauses, err := Clauses()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Run(t.Context(), broken(t), clauses, Checks(), nil) {
		if r.Word == Pass {
			t.Errorf("%s passes: %s", r.ID, r.Seen)
		}
	}
}

func TestRun(t *testing.T) {
	d := broken(t)
	d.secret("hunter2")
	ran := 0
	checks := []Check{
		{IDs: []string{"A", "B"}, Do: func(context.Context, *Driver) (string, error) {
			ran++
			d.note(Step{Door: "door", Sent: "the word is hunter2", Answer: strings.Repeat("x", 3*maxStep)})
			return "two\nlines in " + d.env.Root, nil
		}},
		{IDs: []string{"C"}, Do: func(context.Context, *Driver) (string, error) { return "", errors.New("hunter2 is wrong") }},
		{IDs: []string{"D"}, Do: func(context.Context, *Driver) (string, error) { return "", NotHere("no %s", "kernel") }},
		{IDs: []string{"E"}, Do: func(context.Context, *Driver) (string, error) { panic("oh") }},
	}
	clauses := []Clause{{ID: "A", Must: true}, {ID: "B"}, {ID: "C", Must: true}, {ID: "D", Must: true, Waits: true}, {ID: "E"},
		{ID: "F", Must: true, Gap: "later"}, {ID: "G", Must: true, Waits: true}}
	var told []string
	results := Run(t.Context(), d, clauses, checks, func(r Result) { told = append(told, string(r.Word)+" "+r.ID+" "+r.Seen) })
	want := []string{"pass A two lines in TMP", "pass B two lines in TMP", "fail C [secret] is wrong", "pending D not here: no kernel",
		"fail E the check itself broke: oh", "pending F not built: later", "pending G tests prove it, and no check drives it from outside yet"}
	if diff := cmp.Diff(want, told); diff != "" || ran != 1 {
		t.Errorf("ran %d times (-want +got):\n%s", ran, diff)
	}
	if s := results[0].Steps; len(s) != 1 || s[0].Sent != "the word is [secret]" || len(s[0].Answer) > maxStep+4 {
		t.Errorf("the evidence is %+v", s)
	}
	if b := results[1]; b.With != "A" || len(b.Steps) != 0 || b.Took != 0 {
		t.Errorf("a second clause of a check is %+v", b)
	}
	for _, test := range []struct {
		strict bool
		want   Tally
	}{{false, Tally{Passed: 2, Failed: 2, Pending: 3, Open: 2}}, {true, Tally{Passed: 2, Failed: 2, Pending: 3, Open: 5}}} {
		if diff := cmp.Diff(test.want, Count(results, test.strict)); diff != "" {
			t.Errorf("strict %t (-want +got):\n%s", test.strict, diff)
		}
	}
	if !Count(results[:2], true).OK || Count(results[:3], false).OK {
		t.Error("the verdict is wrong")
	}
}

func TestMember(t *testing.T) {
	r := Reply{Text: `{"a":{"b":[{"c":"x"},{"c":2}]},"d":true}`}
	for path, want := range map[string]string{"a.b.0.c": "x", "a.b.1.c": "2", "d": "true", "a.b.2.c": "", "a.b.x": "", "d.e": "",
		"f": "", "a.b.0": `{"c":"x"}`} {
		if got := r.Member(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if (Reply{Text: "no json"}).Member("a") != "" {
		t.Error("no JSON has members")
	}
}

// TestHere: what a tier asks for is asked of homes of that tier, and each lack is named.
func TestHere(t *testing.T) {
	clauses, err := Clauses()
	if err != nil {
		t.Fatal(err)
	}
	whole := Home{Tier: 2, Profile: "guard", Enforcing: true, Agents: 2, Listed: 2, Answered: 2, Observers: 1, Rates: []string{"a"},
		Caps: []string{"records", "money", "external-calls"}, Types: 1, Turns: 10, Retries: 3, Control: true, KillOn: []string{"dlp", "fraud"},
		Governors: 2, Risk: true, Answerers: 1, TTL: time.Hour, Checkpoint: true}
	for _, r := range Here(clauses, whole) {
		if r.Word != Pass {
			t.Errorf("%s %s %s", r.Word, r.ID, r.Seen)
		}
	}
	for id, spoil := range map[string]func(*Home){
		"EC-1.1":    func(h *Home) { h.Tier, h.Profile = 1, "guard" },
		"EC-1.2":    func(h *Home) { h.Listed = 1 },
		"EC-1.3":    func(h *Home) { h.Rates = nil },
		"EC-1.5":    func(h *Home) { h.Turns = 11 },
		"EC-1.7":    func(h *Home) { h.NotAlive = []string{"clerk"} },
		"EC-1.9":    func(h *Home) { h.Observers = 0 },
		"EC-1.10":   func(h *Home) { h.Retries = 4 },
		"EC-2.1":    func(h *Home) { h.Enforcing = false },
		"EC-2.2":    func(h *Home) { h.Sandbox = "no namespaces" },
		"EC-2.3":    func(h *Home) { h.Caps = []string{"records"} },
		"EC-2.4":    func(h *Home) { h.Tier = 0 },
		"EC-H-1":    func(h *Home) { h.Answerers = 0 },
		"EC-H-2":    func(h *Home) { h.TTL = 0 },
		"EC-P-2":    func(h *Home) { h.Risk = false },
		"EC-L-2":    func(h *Home) { h.Checkpoint = false },
		"EC-L-3":    func(h *Home) { h.Answered = 1 },
		"EC-ENV-16": func(h *Home) { h.Control = false },
		"EC-ENV-21": func(h *Home) { h.Control = false },
		"EC-ENV-22": func(h *Home) { h.KillOn = []string{"dlp"} },
		"EC-M-3":    func(h *Home) { h.Graduation = "it is closed" },
	} {
		h := whole
		spoil(&h)
		results := Here(clauses, h)
		n := slices.IndexFunc(results, func(r Result) bool { return r.ID == id })
		if n < 0 || results[n].Word != Fail || results[n].Seen == "" {
			t.Errorf("%s: %+v", id, results)
		}
	}
	for _, r := range Here(clauses, Home{Tier: 1}) {
		if r.ID == "EC-2.3" && (r.Word != Pending || r.Must || !strings.Contains(r.Seen, "from tier 2 on")) {
			t.Errorf("of a lower tier it is asked: %+v", r)
		}
	}
}

// undriven are clauses that tests prove and that no check drives through the doors yet: they are said to be pending. A check that
// is added takes its clauses from here.
func undriven() []string { return nil }

// asaUndriven are those of the Asimov Safety Architecture.
func asaUndriven() []string { return nil }

// TestHereAQL: what a home's settings decide of MCP-AQL is asked of it, and each lack is named.
func TestHereAQL(t *testing.T) {
	clauses, err := AQLClauses()
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range hereAQL() {
		if !slices.ContainsFunc(clauses, func(c Clause) bool { return c.ID == check.id }) {
			t.Errorf("%s is no clause", check.id)
		}
	}
	whole := Home{Profile: "guard", Enforcing: true, Governors: 1, Answerers: 1, Loop: Loop{Steps: 50, Tolerance: 50, Channels: 1, Acknowledges: true,
		CodeTTL: 5 * time.Minute, TokenTTL: 5 * time.Minute, Skew: 30 * time.Second, Unregistered: "untested"}}
	for _, r := range Here(clauses, whole) {
		if r.Word != Pass {
			t.Errorf("%s %s %s", r.Word, r.ID, r.Seen)
		}
	}
	for id, tc := range map[string]struct {
		spoil func(*Home)
		want  Word
	}{
		"AQL-8.6.4":   {func(h *Home) { h.Enforcing = false }, Fail},
		"AQL-8.7.2-1": {func(h *Home) { h.Loop.Steps = 0 }, Fail},
		"AQL-8.7.2-5": {func(h *Home) { h.Loop.Tolerance = 100 }, Fail},
		"AQL-8.8":     {func(h *Home) { h.Answerers, h.Loop.Channels = 0, 0 }, Fail},
		"AQL-8.8.2e":  {func(h *Home) { h.Loop.CodeTTL = time.Hour }, Fail},
		"AQL-8.8.3a":  {func(h *Home) { h.Governors = 0 }, Fail},
		"AQL-8.8.6":   {func(h *Home) { h.Loop.Channels = 0 }, Fail},
		"AQL-D-7.1-2": {func(h *Home) { h.Enforcing = false }, Fail},
		"AQL-SL-4.2":  {func(h *Home) { h.Loop.Acknowledges = false }, Pending},
		"AQL-T-1":     {func(h *Home) { h.Governors = 0 }, Fail},
		"AQL-T-3":     {func(h *Home) { h.Loop.Unregistered = "community_reviewed" }, Pending},
		"AQL-C-4":     {func(h *Home) { h.Loop.TokenTTL = time.Hour }, Fail},
		"AQL-C-5":     {func(h *Home) { h.Loop.Skew = 2 * time.Minute }, Fail},
	} {
		h := whole
		tc.spoil(&h)
		results := Here(clauses, h)
		n := slices.IndexFunc(results, func(r Result) bool { return r.ID == id })
		if n < 0 || results[n].Word != tc.want || results[n].Seen == "" {
			t.Errorf("%s: %+v", id, results)
		}
	}
}
