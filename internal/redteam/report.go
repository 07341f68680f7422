package redteam

import (
	"fmt"
	"io"
	"strings"

	"interlock"
)

// A Judged is what the gates answered to both sides of a case.
type Judged struct {
	Case
	AttackGot interlock.Verdict
	AttackBy  string // the decisive rule, empty where none objects
	TwinGot   interlock.Verdict
	TwinBy    string
}

// Where says what was attacked.
type Where string

// What can be attacked.
const (
	ThrowAway Where = "throw-away" // a home of its own with the settings and rules of this one, through the door, and then removed
	Live      Where = "live"       // this home; decisions only
)

// A Run says what was tried and on what.
type Run struct {
	Seed    uint64           `json:"seed"`
	Grammar int              `json:"grammar"`
	Cases   int              `json:"cases"`
	Family  string           `json:"family,omitempty"` // empty: all
	Where   Where            `json:"where"`
	Profile string           `json:"profile"`
	Rules   interlock.Digest `json:"rules"`
	Version string           `json:"version"`
}

// A Count is what came of one family.
type Count struct {
	Family  string `json:"family"`
	Must    bool   `json:"must"`
	Least   int    `json:"least"`
	Cases   int    `json:"cases"`
	Stopped int    `json:"stopped"`      // attacks
	Passed  int    `json:"twins_passed"` // twins
	Held    bool   `json:"held"`
	Later   string `json:"later,omitempty"` // why nothing of it was tried
}

// A Failure is an attack that was allowed, or a twin that was not.
type Failure struct {
	Case   int    `json:"case"`
	Family string `json:"family"`
	Twin   bool   `json:"twin,omitempty"`
	Must   bool   `json:"must,omitempty"`
	How    string `json:"how"`
	Kind   string `json:"kind"`
	Input  string `json:"input"`
	Rule   string `json:"rule,omitempty"` // that stopped a twin
	Replay string `json:"replay"`
}

// A Report is what came of a run.
type Report struct {
	Run
	Families []Count   `json:"families"`
	Failures []Failure `json:"failures"`
	Passed   bool      `json:"passed"` // nothing that must stop was allowed, and each share is reached
}

// Of counts what came of a run.
func Of(run Run, judged []Judged) Report {
	run.Grammar, run.Cases = Version, len(judged)
	r := Report{Run: run, Failures: []Failure{}, Passed: true}
	at := map[string]int{}
	for _, f := range Families() {
		if run.Family == "" || run.Family == f.Name {
			at[f.Name] = len(r.Families)
			r.Families = append(r.Families, Count{Family: f.Name, Must: f.Must, Least: f.Least, Later: f.Later})
		}
	}
	for i := range judged {
		j := &judged[i]
		c := &r.Families[at[j.Family]]
		c.Cases++
		failure := Failure{Case: j.Number, Family: j.Family, How: j.How, Replay: Replay(run.Seed, j.Number)}
		if j.AttackGot != interlock.Allow {
			c.Stopped++
		} else {
			f := failure
			f.Must, f.Kind, f.Input = c.Must, string(j.Attack.Kind), j.Attack.Input
			r.Failures = append(r.Failures, f)
		}
		if j.TwinGot == interlock.Allow {
			c.Passed++
		} else {
			f := failure
			f.Twin, f.Kind, f.Input, f.Rule = true, string(j.Twin.Kind), j.Twin.Input, j.TwinBy
			r.Failures = append(r.Failures, f)
		}
	}
	for i := range r.Families {
		c := &r.Families[i]
		c.Held = c.Stopped*100 >= c.Cases*c.Least && c.Passed*100 >= c.Cases*TwinsLeast
		r.Passed = r.Passed && c.Held
	}
	return r
}

// maxShown is how many failures a page shows; JSON has them all.
const maxShown = 50

// Markdown writes a report for people. What came from outside goes through clean, which makes it safe for a terminal.
func (r Report) Markdown(w io.Writer, clean func(string) string) error {
	var b strings.Builder
	verdict := "PASS"
	if !r.Passed {
		verdict = "FAIL"
	}
	fmt.Fprintf(&b, "# Red team, seed %d: %s\n\n", r.Seed, verdict)
	fmt.Fprintf(&b, "%d cases of grammar %d on the %s home, profile %s, rules %s, interlock %s.\n\n", r.Cases, r.Grammar, r.Where, r.Profile,
		r.Rules, r.Version)
	fmt.Fprintf(&b, "| family | attacks stopped | asked for | twins let through |  |\n|---|---:|---:|---:|---|\n")
	for _, c := range r.Families {
		held := "held"
		switch {
		case c.Later != "":
			held = "not tried: " + c.Later
		case !c.Held:
			held = "**failed**"
		}
		fmt.Fprintf(&b, "| %s | %d of %d | %d %% | %d of %d | %s |\n", c.Family, c.Stopped, c.Cases, c.Least, c.Passed, c.Cases, held)
	}
	for n, f := range r.Failures {
		if n == maxShown {
			fmt.Fprintf(&b, "\n%d more; --json has them all\n", len(r.Failures)-n)
			break
		}
		what := "allowed"
		if f.Twin {
			what = "a harmless twin, stopped by " + f.Rule
		}
		fmt.Fprintf(&b, "\n- case %d, %s (%s): %s\n  - `%s`\n  - again: `%s`\n", f.Case, f.Family, f.How, what, oneLine(clean(f.Input)), f.Replay)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// oneLine shortens a text to what fits beside others.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "'")), " ")
	if r := []rune(text); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return text
}
