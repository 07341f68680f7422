package spec

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/reference/conformance.md instead of comparing it")

// load returns the tables and the claims of this module.
func load(t *testing.T) ([]Clause, []Gap, []Claim) {
	t.Helper()
	clauses, err := Clauses()
	if err != nil {
		t.Fatal(err)
	}
	gaps, err := Gaps()
	if err != nil {
		t.Fatal(err)
	}
	claims, err := scanClaims(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	return clauses, gaps, claims
}

// TestEveryClauseIsClaimedOrAdmitted is the promise of this package.
func TestEveryClauseIsClaimedOrAdmitted(t *testing.T) {
	for _, problem := range Check(load(t)) {
		t.Error(problem)
	}
}

// TestTheFiveSpecificationsAreEntered guards the tables against being emptied: a table with nothing in it has no gaps.
func TestTheFiveSpecificationsAreEntered(t *testing.T) {
	clauses, gaps, _ := load(t)
	families := map[string]int{}
	wellFormed := regexp.MustCompile(`^(AQL|ASA|EC|MACE)-[A-Za-z0-9.-]+$`)
	for _, c := range clauses {
		if !wellFormed.MatchString(c.ID) {
			t.Errorf("%s: not the form of a clause id", c.ID)
		}
		family, _, _ := strings.Cut(c.ID, "-")
		families[family]++
	}
	for family, least := range map[string]int{"AQL": 100, "ASA": 100, "EC": 90, "MACE": 110} {
		if families[family] < least {
			t.Errorf("%s: %d clauses, want at least %d", family, families[family], least)
		}
	}
	for _, g := range gaps {
		if !strings.Contains(g.Reason, " ") || strings.ContainsAny(g.Reason, "#") {
			t.Errorf("gaps.tsv: %s: the reason %q names no part of the product", g.ID, g.Reason)
		}
	}
}

func TestTheFixedListsAreComplete(t *testing.T) {
	clauses, _, _ := load(t)
	have := map[string]bool{}
	for _, c := range clauses {
		have[c.ID] = true
	}
	var want []string
	for n := range 8 {
		want = append(want, fmt.Sprintf("ASA-14.1-%d", n+1), fmt.Sprintf("ASA-20-%d", n+1))
	}
	for n := range 6 {
		want = append(want, fmt.Sprintf("MACE-S-%02d", n+1), fmt.Sprintf("MACE-GOV-T%d", n+1))
	}
	for n := range 7 {
		want = append(want, fmt.Sprintf("MACE-REPLAY-%02d", n+1))
	}
	for tier, tests := range map[int]int{1: 12, 2: 20, 3: 7} {
		for n := range tests {
			want = append(want, fmt.Sprintf("EC-T%d.%d", tier, n+1))
		}
	}
	for tier, controls := range map[int]int{1: 10, 2: 17, 3: 6} {
		for n := range controls {
			want = append(want, fmt.Sprintf("EC-%d.%d", tier, n+1))
		}
	}
	for _, id := range append(want, "EC-1.5a", "EC-2.7a") {
		if !have[id] {
			t.Errorf("clauses.tsv has no %s", id)
		}
	}
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	clauses := []Clause{{ID: "A-1", Level: Must}, {ID: "A-2", Level: Must}, {ID: "A-3", Level: Should}, {ID: "A-4", Level: May}}
	claim := func(id string) Claim { return Claim{ID: id, File: "x_test.go", Line: 7, Test: "TestX"} }
	gap := func(id string) Gap { return Gap{ID: id, Reason: "not built"} }
	for name, tc := range map[string]struct {
		gaps   []Gap
		claims []Claim
		want   []string
	}{
		"complete":           {[]Gap{gap("A-2")}, []Claim{claim("A-1")}, nil},
		"optional ones open": {[]Gap{gap("A-1"), gap("A-2")}, nil, nil},
		"must forgotten": {[]Gap{gap("A-2")}, nil,
			[]string{"clauses.tsv: A-1 is a MUST that no test claims and gaps.tsv does not admit"}},
		"gap closed": {[]Gap{gap("A-1"), gap("A-2")}, []Claim{claim("A-1")},
			[]string{"gaps.tsv: A-1 is claimed by x_test.go:7; take it out of the gaps"}},
		"optional gap closed": {[]Gap{gap("A-2"), gap("A-3")}, []Claim{claim("A-1"), claim("A-3")},
			[]string{"gaps.tsv: A-3 is claimed by x_test.go:7; take it out of the gaps"}},
		"unknown claim": {[]Gap{gap("A-2")}, []Claim{claim("A-1"), claim("B-1")},
			[]string{"x_test.go:7: TestX claims B-1, which is no clause"}},
		"unknown gap": {[]Gap{gap("A-2"), gap("B-1")}, []Claim{claim("A-1")},
			[]string{"gaps.tsv: B-1 is no clause"}},
		"one id a prefix of another": {[]Gap{gap("A-2")}, []Claim{claim("A-10")},
			[]string{"clauses.tsv: A-1 is a MUST that no test claims and gaps.tsv does not admit",
				"x_test.go:7: TestX claims A-10, which is no clause"}},
	} {
		if diff := cmp.Diff(tc.want, Check(clauses, tc.gaps, tc.claims)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTablesRefuseMalformedRows(t *testing.T) {
	const head = "id\tlevel\tsource\tclause\n"
	for name, tc := range map[string]struct{ table, want string }{
		"header":       {"id\tlevel\n", "clauses.tsv:1: header"},
		"columns":      {head + "A-1\tMUST\tdoc\n", "clauses.tsv:2: 3 columns, want 4"},
		"too many":     {head + "A-1\tMUST\tdoc\ttext\tmore\n", "clauses.tsv:2: 5 columns, want 4"},
		"empty cell":   {head + "A-1\tMUST\t\ttext\n", `clauses.tsv:2: column "source" is empty or padded`},
		"padded cell":  {head + "A-1 \tMUST\tdoc\ttext\n", `clauses.tsv:2: column "id" is empty or padded`},
		"blank line":   {head + "\nA-1\tMUST\tdoc\ttext\n", "clauses.tsv:2: 1 columns, want 4"},
		"level":        {head + "A-1\tmust\tdoc\ttext\n", `clauses.tsv:2: level "must", want MUST, SHOULD or MAY`},
		"duplicate id": {head + "A-1\tMUST\tdoc\ttext\nA-1\tMAY\tdoc\tother\n", "clauses.tsv:3: A-1 stands in line 2 already"},
	} {
		if _, err := parseClauses(tc.table); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
	if _, err := parseGaps("id\treason\nA-1\tx y\nA-1\tz\n"); err == nil || !strings.Contains(err.Error(), "gaps.tsv:3: A-1 stands in line 2") {
		t.Errorf("duplicate gap: error %v", err)
	}
}

func TestScanFindsClaims(t *testing.T) {
	root := fstest.MapFS{
		"a/a_test.go": {Data: []byte("package a\n\nimport \"interlock/spec\"\n\nfunc TestA(t *testing.T) {\n\tspec.Covers(t, \"A-1\", `A-2`)\n\tt.Run(\"x\", func(t *testing.T) { spec.Covers(t, \"A-3\") })\n}\n")},
		"b/b_test.go": {Data: []byte("package b\n\nimport clauses \"interlock/spec\"\n\nfunc TestB(t *testing.T) { clauses.Covers(t, \"B-1\") }\n")},
		// None of these is a claim: another package's Covers, a comment, a file that is no test, test data.
		"c/c_test.go":          {Data: []byte("package c\n\nimport \"other/spec\"\n\n// spec.Covers(t, \"C-1\")\nfunc TestC(t *testing.T) { spec.Covers(t, \"C-2\") }\n")},
		"c/c.go":               {Data: []byte("package c\n\nimport \"interlock/spec\"\n\nfunc C() { spec.Covers(nil, \"C-3\") }\n")},
		"c/testdata/d_test.go": {Data: []byte("package d\n\nimport \"interlock/spec\"\n\nfunc TestD(t *testing.T) { spec.Covers(t, \"D-1\") }\n")},
		".git/e_test.go":       {Data: []byte("not go")},
		// Archives claim in their comment, in scripts behind a #, and nowhere else.
		"f/f_test.go":                  {Data: []byte("package f\n\nvar dir = \"testdata\"\n")},
		"f/testdata/v.txtar":           {Data: []byte("allow: a vector\ncovers: F-1 F-2\n-- a --\ncovers: F-9\n")},
		"f/testdata/s.txtar":           {Data: []byte("# covers: F-3\nexec covers: F-9\n")},
		"f/testdata/n.txtar":           {Data: []byte("-- a --\ncovers: F-9\n")},
		"f/testdata/deeper/d.txtar":    {Data: []byte("covers: F-9\n")},
		"f/testdata/not-archive.notes": {Data: []byte("covers: F-9\n")},
	}
	claims, err := scanClaims(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []Claim{
		{ID: "A-1", File: "a/a_test.go", Line: 6, Test: "TestA"},
		{ID: "A-2", File: "a/a_test.go", Line: 6, Test: "TestA"},
		{ID: "A-3", File: "a/a_test.go", Line: 7, Test: "TestA"},
		{ID: "B-1", File: "b/b_test.go", Line: 5, Test: "TestB"},
		{ID: "F-3", File: "f/testdata/s.txtar", Line: 1, Test: "s"},
		{ID: "F-1", File: "f/testdata/v.txtar", Line: 2, Test: "v"},
		{ID: "F-2", File: "f/testdata/v.txtar", Line: 2, Test: "v"},
	}
	if diff := cmp.Diff(want, claims); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func TestScanRefusesClaimsItCannotRead(t *testing.T) {
	for name, tc := range map[string]struct{ call, want string }{
		"variable": {`spec.Covers(t, id)`, "clause ids must be string literals"},
		"spread":   {`spec.Covers(t, ids...)`, "clause ids must be string literals"},
		"sum":      {`spec.Covers(t, "A-"+"1")`, "clause ids must be string literals"},
		"number":   {`spec.Covers(t, 1)`, "clause ids must be string literals"},
		"none":     {`spec.Covers(t)`, "Covers names no clause"},
	} {
		source := "package a\n\nimport \"interlock/spec\"\n\nfunc TestA(t *testing.T) { " + tc.call + " }\n"
		_, err := scanClaims(fstest.MapFS{"a_test.go": {Data: []byte(source)}})
		if err == nil || !strings.Contains(err.Error(), "a_test.go:5: "+tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
	for name, tc := range map[string]struct {
		root fstest.MapFS
		want string
	}{
		"archive nobody reads": {fstest.MapFS{"a/a_test.go": {Data: []byte("package a\n")}, "a/testdata/v.txtar": {Data: []byte("x\ncovers: A-1\n")}},
			"a/testdata/v.txtar:2: no test of the package reads its testdata"},
		"archive without ids": {fstest.MapFS{"a/testdata/v.txtar": {Data: []byte("covers:\n")}}, "a/testdata/v.txtar:1: covers names no clause"},
	} {
		if _, err := scanClaims(tc.root); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
	}
	if _, err := scanClaims(fstest.MapFS{"a_test.go": {Data: []byte("package")}}); err == nil {
		t.Error("a file that does not parse was passed over")
	}
}

// A recorder is a testing.TB that keeps what it is told.
type recorder struct {
	testing.TB
	attrs, errors []string
}

func (r *recorder) Helper()                {}
func (r *recorder) Attr(key, value string) { r.attrs = append(r.attrs, key+"="+value) }
func (r *recorder) Error(args ...any)      { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestCoversMarksAndRefuses(t *testing.T) {
	var r recorder
	Covers(&r, "ASA-13-1", "no-such-clause", "EC-1.2")
	Covers(&r)
	if diff := cmp.Diff([]string{"clause=ASA-13-1", "clause=EC-1.2"}, r.attrs); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	want := []string{`spec: "no-such-clause" is not a clause id; the ids are in spec/clauses.tsv`,
		"spec: Covers needs at least one clause id"}
	if diff := cmp.Diff(want, r.errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestConformancePageIsFresh(t *testing.T) {
	page := []byte(conformancePage(load(t)))
	name := filepath.Join("..", "docs", "reference", "conformance.md")
	if *update {
		if err := os.WriteFile(name, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(page) {
		t.Error("docs/reference/conformance.md is stale: go generate ./spec")
	}
}
