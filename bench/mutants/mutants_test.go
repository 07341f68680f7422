package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestListedSurvivorsExist: each line of survivors.tsv speaks of an operator that stands in the source, of a package that is
// tried, and says nothing of lines that are not broken at all.
func TestListedSurvivorsExist(t *testing.T) {
	list, err := readSurvivors("survivors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	there := make(map[string]map[place]bool)
	for _, target := range targets() {
		there[target.dir] = make(map[place]bool)
		names, err := filepath.Glob(filepath.Join(root, target.dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if base := filepath.Base(name); strings.HasSuffix(base, "_test.go") || len(target.files) > 0 && !slices.Contains(target.files, base) {
				continue
			}
			s, err := readSource(name)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(there[target.dir], s.places())
		}
	}
	for _, s := range list {
		at := place{function: s.function, text: s.text, nth: s.nth}
		if !there[s.pkg][at] {
			t.Errorf("survivors.tsv: there is no such place any more: %s", s.row())
		}
	}
}

// TestTargetsExist: what is to be tried is there, in whole packages and in files.
func TestTargetsExist(t *testing.T) {
	for _, target := range targets() {
		names := target.files
		if len(names) == 0 {
			names = []string{"."}
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(root, target.dir, name)); err != nil {
				t.Error(err)
			}
		}
		if target.percent < 1 || target.percent > 100 || target.within <= 0 || target.patience <= 0 {
			t.Errorf("%s: %d%% within %v", target.dir, target.percent, target.within)
		}
	}
}

const sample = `package p

func (t *T[K]) Less(a, b int) bool {
	if a < b { // not <=
		return true
	}
	if a == 1 && b == 1 && a < b {
		return true
	}
	if a < b {
		return false
	}
	switch {
	case a > 1:
		return a == b
	}
	return false
}

const x = 1 + 2
`

func written(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPlacesStayWhileLinesMove: a place says the function and the line's text with its operator, never a number.
func TestPlacesStayWhileLinesMove(t *testing.T) {
	for moved, text := range map[int]string{0: sample, 3: strings.Replace(sample, "package p\n", "package p\n\nvar y = 3\n\n", 1)} {
		all, err := located(written(t, text), ".", []mutant{{"LIVED", "CONDITIONALS_BOUNDARY", "p.go", 4 + moved, 7},
			{"LIVED", "INVERT_LOGICAL", "p.go", 7 + moved, 22}, {"LIVED", "CONDITIONALS_BOUNDARY", "p.go", 10 + moved, 7},
			{"LIVED", "ARITHMETIC_BASE", "p.go", 20 + moved, 13}})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{
			".\tT.Less\tCONDITIONALS_BOUNDARY\tif a «<» b {\t1",
			".\tT.Less\tINVERT_LOGICAL\tif a == 1 && b == 1 «&&» a < b {\t1",
			".\tT.Less\tCONDITIONALS_BOUNDARY\tif a «<» b {\t2",
			".\t-\tARITHMETIC_BASE\tconst x = 1 «+» 2\t1",
		} {
			if got := all[i].row(); got != want { // without the comment, which says nothing of what a line does
				t.Errorf("moved by %d: %q, want %q", moved, got, want)
			}
		}
	}
	if _, err := located(written(t, sample), ".", []mutant{{file: "p.go", line: 5, column: 3}}); err == nil {
		t.Error("a place without an operator is believed")
	}
}

func TestParseReport(t *testing.T) {
	for line, want := range map[string]mutant{
		"      KILLED CONDITIONALS_NEGATION at order.go:190:23":         {"KILLED", "CONDITIONALS_NEGATION", "order.go", 190, 23},
		" NOT COVERED ARITHMETIC_BASE at attempts.go:13:22":             {"NOT COVERED", "ARITHMETIC_BASE", "attempts.go", 13, 22},
		"   TIMED OUT INVERT_LOGICAL at a.go:1:2":                       {"TIMED OUT", "INVERT_LOGICAL", "a.go", 1, 2},
		"Killed: 24, Lived: 1, Not covered: 4":                          {},
		"Gathering coverage... done in 12.2s":                           {},
		"       LIVED CONDITIONALS_BOUNDARY at grant.go:91:16 and more": {},
	} {
		if got, ok := parseReport(line); got != want || ok != (want != mutant{}) {
			t.Errorf("%q: %+v %v", line, got, ok)
		}
	}
}

// TestConditionsOfCasesAreReached: where a switch is reached its conditions are, and where it is not they are not.
func TestConditionsOfCasesAreReached(t *testing.T) {
	dir := written(t, sample)
	for reached, want := range map[int]string{1: "interlock/p.go:14.7,14.12 1 1\n", 0: ""} {
		profile := fmt.Sprintf("mode: set\ninterlock/p.go:3.36,4.10 1 1\ninterlock/p.go:13.2,13.9 1 %d\n", reached)
		name := filepath.Join(dir, "coverage")
		if err := os.WriteFile(name, []byte(profile), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := coverCases(dir, name); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != profile+want {
			t.Errorf("%v, %s, want beside what was there %s", err, got, want)
		}
	}
}

// TestTheSampleIsOfLinesAndNotOfNumbers: it has about as many lines as it should, the same ones wherever they stand.
func TestTheSampleIsOfLinesAndNotOfNumbers(t *testing.T) {
	drawn := 0
	for i := range 2000 {
		line := fmt.Sprintf("if a%d < b {", i)
		is := sampled("p.go", line, 25, "1")
		if is {
			drawn++
		}
		marks := strings.Count(string(without([]byte("\n\n\t"+line+"\n"), "p.go", sampler(25, "1"))), "// in the sample")
		blank := strings.Count(string(without([]byte("\n\n\n"), "p.go", sampler(25, "1"))), "// in the sample")
		if want := blank; is && marks <= 0 || !is && marks > want {
			t.Fatalf("%q is in the sample: %v, and %d lines are marked", line, is, marks)
		}
	}
	if drawn < 400 || drawn > 600 {
		t.Errorf("%d of 2000 lines are a sample of 25%%", drawn)
	}
	if sampled("p.go", "x", 0, "1") || !sampled("p.go", "x", 100, "1") {
		t.Error("none is some, or all is not all")
	}
}

// TestTheSampleIsWhatGremlinsIsTold: git's difference between the commit and the tree is just the lines of the sample, also where two
// of them stand together or say the same.
func TestTheSampleIsWhatGremlinsIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.MkdirAll(filepath.Join(dir, "pkg"), 0o700); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "line %d\nthe same\n", i/3)
	}
	name := filepath.Join(dir, "pkg", "p.go")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := drawSample(t.Context(), dir, target{dir: "pkg"}, sampler(30, "1")); err != nil {
		t.Fatal(err)
	}
	diff, err := git(t.Context(), filepath.Join(dir, "pkg"), "diff", "--merge-base", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, line := range strings.Split(text.String(), "\n") {
		if sampled("p.go", line, 30, "1") {
			want = append(want, line)
		}
	}
	for _, line := range strings.Split(string(diff), "\n") {
		if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") {
			got = append(got, line[1:])
		}
	}
	if !slices.Equal(got, want) || len(want) == 0 || !strings.Contains(string(diff), "+++ b/p.go\n") {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSay(t *testing.T) {
	at := func(status, text string) found {
		return found{mutant{status: status, file: "p.go", line: 1}, place{"p", "f", "INVERT_LOGICAL", text, 1}}
	}
	known := []survivor{{at("", "a «&&» b").place, "Nobody can tell."}, {at("", "c «&&» d").place, "Nobody could tell."}}
	killed := slices.Repeat([]found{at("KILLED", "x «&&» y")}, 18)
	for _, test := range []struct {
		name  string
		all   []found
		whole bool
		says  string
		wrong []string
	}{
		{"all noticed", killed, true, "p: 100.0% effective: 18 noticed, 0 survived", nil},
		{"known", append(slices.Clone(killed), at("LIVED", "a «&&» b"), at("LIVED", "c «&&» d")), true, "Nobody can tell.", nil},
		{"unknown", append(slices.Clone(killed), at("LIVED", "e «&&» f")), true, "p\tf\tINVERT_LOGICAL\te «&&» f\t1",
			[]string{"p has 1 survivors without a sentence in bench/mutants/survivors.tsv"}},
		{"too many", append(slices.Clone(killed), slices.Repeat([]found{at("LIVED", "a «&&» b")}, 3)...), true, "85.7% effective",
			[]string{"p is 85.7% effective and should be 90%"}},
		{"known and noticed", append(slices.Clone(killed), at("KILLED", "c «&&» d")), true, "noticed by now", nil},
		{"late and not viable", append(slices.Clone(killed), at("TIMED OUT", "a"), at("NOT VIABLE", "b"), at("NOT COVERED", "c")), true,
			"100.0% effective: 18 noticed, 0 survived; 1 ran out of time, 1 do not compile or end, 1 are reached by no test", nil},
		{"stopped", killed, false, "", []string{"p was stopped before the end"}},
		{"nothing", nil, true, "", []string{"p is 0.0% effective and should be 90%"}},
	} {
		var said strings.Builder
		wrong := say(&said, resultOf(target{dir: "p", percent: 100}, test.all, test.whole), test.all, known, false)
		if !slices.Equal(wrong, test.wrong) || !strings.Contains(said.String(), test.says) {
			t.Errorf("%s: %q and\n%s", test.name, wrong, said.String())
		}
	}
}

func TestWithRow(t *testing.T) {
	page := "before\n" + tableBegins + tableEnds + "\nafter\n"
	for _, r := range []result{{pkg: "internal/gate", percent: 100, killed: 1}, {pkg: "internal/meter", percent: 100, killed: 1,
		lived: 1},
		{pkg: "internal/gate", percent: 100, killed: 3, lived: 1}} {
		var err error
		if page, err = withRow(page, r); err != nil {
			t.Fatal(err)
		}
	}
	const want = "before\n" + tableBegins +
		"| package | its lines, % | effective, % | noticed | survived | out of time | do not compile or end | not reached |\n" +
		"|---|---|---|---|---|---|---|---|\n" +
		"| `internal/meter` | 100 | 50.0 | 1 | 1 | 0 | 0 | 0 |\n" +
		"| `internal/gate` | 100 | 75.0 | 3 | 1 | 0 | 0 | 0 |\n" + tableEnds + "\nafter\n"
	if page != want {
		t.Errorf("%s\nwant\n%s", page, want)
	}
	if _, err := withRow("no table", result{}); err == nil {
		t.Error("a page without the table's marks is written over")
	}
}

// TestThePageHasEveryPackage: README.md has a row for each package, at or above what is wanted, or says that it has none yet.
func TestThePageHasEveryPackage(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets() {
		_, row, found := strings.Cut(string(text), "\n| `"+target.dir+"` | ")
		if missing := strings.Contains(string(text), "\n* `"+target.dir+"`\n"); !found && missing {
			continue
		}
		var percent int
		var effective float64
		if _, err := fmt.Sscanf(row, "%d | %f |", &percent, &effective); !found || err != nil {
			t.Errorf("README.md has no row for %s: make mutants PKG=./%s", target.dir, target.dir)
		} else if effective < least {
			t.Errorf("README.md: %s is %.1f%% effective over %d%% of its lines", target.dir, effective, percent)
		}
	}
}

func TestChoose(t *testing.T) {
	for only, want := range map[string]int{"": len(targets()), "./internal/gate": 1, "internal/gate/": 1} {
		if got, err := choose(targets(), options{only: only}); err != nil || len(got) != want {
			t.Errorf("%q: %d, %v", only, len(got), err)
		}
	}
	if _, err := choose(targets(), options{only: "./internal/lex"}); err == nil ||
		!strings.Contains(err.Error(), "./internal/meter") {
		t.Errorf("a package that is not tried: %v", err)
	}
	if got, err := choose(targets(), options{percent: 3}); err != nil || got[0].percent != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReadSurvivors(t *testing.T) {
	const good = "p\tf\tK\ta «<» b\t1\tIt is the same.\n"
	for text, want := range map[string]string{
		"# for people\n\n" + good:       "",
		good + good:                     "listed twice",
		"p\tf\tK\ta «<» b\t1\n":         "5 columns",
		"p\tf\tK\ta «<» b\t0\tSo.\n":    "no count",
		"p\tf\tK\ta «<» b\t1\t \n":      "needs a sentence",
		"p\tf\tK\ta «<» b\t1\tnot so\n": "needs a sentence",
	} {
		name := filepath.Join(t.TempDir(), "survivors.tsv")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := readSurvivors(name)
		if want == "" && (err != nil || len(list) != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %v, want %q", text, list, err, want)
		}
	}
}

// TestAgain: survivors are remembered, only their lines are broken again, and the sum says what became of them.
func TestAgain(t *testing.T) {
	dir := written(t, sample)
	all, err := located(dir, ".", []mutant{{"LIVED", "CONDITIONALS_BOUNDARY", "p.go", 4, 7}, {"LIVED", "INVERT_LOGICAL", "p.go", 7, 22},
		{"LIVED", "CONDITIONALS_BOUNDARY", "p.go", 14, 9}, {"KILLED", "CONDITIONALS_BOUNDARY", "p.go", 10, 7}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a", "memory.tsv")
	if err := remember(name, resultOf(target{dir: ".", percent: 7}, all, true), all); err != nil {
		t.Fatal(err)
	}
	before, survived, err := recall(name)
	if want := (result{pkg: ".", percent: 7, killed: 1, lived: 3, whole: true}); err != nil || before != want || len(survived) != 3 {
		t.Fatalf("%v, %+v, want %+v; %d survived", err, before, want, len(survived))
	}
	t.Chdir(dir)
	pick := only(".", survived)
	var lines []int
	for n := range strings.Split(sample, "\n") {
		if pick("p.go", n+1, "") {
			lines = append(lines, n+1)
		}
	}
	if !slices.Equal(lines, []int{4, 7, 14}) {
		t.Errorf("lines %v are broken again", lines)
	}
	again := slices.Clone(all[:2]) // and the third is not there any more
	again[0].status = "KILLED"
	fresh := all[3]
	fresh.status, fresh.text = "LIVED", "another"
	want := result{pkg: ".", percent: 7, killed: 2, lived: 2, whole: true}
	if got := before.with(survived, append(again, fresh), true); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, text := range []string{"", "p\t1\n", "p\t1\t2\t3\t4\t5\tx\n", "p\t1\t2\t3\t4\t5\t6\np.go\tp\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := recall(name); err == nil {
			t.Errorf("%q is remembered", text)
		}
	}
}
