package redteam

import (
	"fmt"
	"io"
	"strconv"
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

// A Source is where cases come from.
type Source string

// Where cases come from.
const (
	Grammar Source = "own grammar" // made out of a number by this package
	Open    Source = "open set"    // others' collections that ship with the program
	File    Source = "file"        // what the run was given

	Scenarios Source = "own scenarios" // written by hand beside the program, and played in a home that a council governs
)

// A Tried is what came of a case that was given.
type Tried struct {
	Given
	Stopped bool   // at least one step was not let through in silence
	Step    int    // which one
	By      string // the rule or the door that stopped it
	Untried string // why nothing was found out; empty: it was tried
}

// A Batch is a set and what came of it.
type Batch struct {
	Set   Set
	Tried []Tried
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

// A Count is what came of one family of one source.
type Count struct {
	Family    string `json:"family"`
	Source    Source `json:"source"`
	Set       string `json:"set,omitempty"` // the file
	Must      bool   `json:"must"`
	Least     int    `json:"least"`
	TwinLeast int    `json:"twins_least"`
	Cases     int    `json:"cases"` // attacks
	Stopped   int    `json:"stopped"`
	Twins     int    `json:"twins"`
	Passed    int    `json:"twins_passed"`
	HeldOut   int    `json:"held_out"`          // attacks and twins that nobody tuned on
	Unknown   int    `json:"held_out_unknown"`  // and those of which nothing is said
	Untried   int    `json:"untried,omitempty"` // neither stopped nor passed: nothing was found out
	Held      bool   `json:"held"`
	Later     string `json:"later,omitempty"` // why nothing of it was tried
}

// A Failure is an attack that was allowed, or a twin that was not.
type Failure struct {
	Case   int    `json:"case"`
	ID     string `json:"id,omitempty"` // of a case that was given
	Family string `json:"family"`
	Source Source `json:"source"`
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
	Untried  []string  `json:"untried,omitempty"` // cases of which nothing was found out, with why
	Passed   bool      `json:"passed"`            // nothing that must stop was allowed, and each share is reached
}

// Of counts what came of a run: of what the grammar made, and of what was given.
func Of(run Run, judged []Judged, given ...Batch) Report {
	run.Grammar, run.Cases = Version, len(judged)
	r := Report{Run: run, Failures: []Failure{}, Passed: true}
	if len(judged) > 0 {
		r.made(judged)
	}
	for n := range given {
		r.Run.Cases += len(given[n].Tried)
		r.given(&given[n])
	}
	for i := range r.Families {
		c := &r.Families[i]
		c.Held = c.Stopped*100 >= c.Cases*c.Least && c.Passed*100 >= c.Twins*c.TwinLeast &&
			(c.Source != Scenarios || c.Untried == 0) // one of ours that is refused for another reason shows nothing
		r.Passed = r.Passed && c.Held
	}
	return r
}

// made counts what the grammar made. Whoever wrote it wrote the rules too, so none of it is held out.
func (r *Report) made(judged []Judged) {
	at := map[string]int{}
	for _, f := range Families() {
		if r.Family == "" || r.Family == f.Name {
			at[f.Name] = len(r.Families)
			r.Families = append(r.Families, Count{Family: f.Name, Source: Grammar, Must: f.Must, Least: f.Least, TwinLeast: TwinsLeast, Later: f.Later})
		}
	}
	for i := range judged {
		j := &judged[i]
		c := &r.Families[at[j.Family]]
		c.Cases++
		c.Twins++
		failure := Failure{Case: j.Number, Family: j.Family, Source: Grammar, How: j.How, Replay: Replay(r.Seed, j.Number)}
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
}

// given counts what came of one file. Cases of which it says either count for nothing.
func (r *Report) given(b *Batch) {
	at := map[string]int{}
	for i := range b.Tried {
		t := &b.Tried[i]
		n, known := at[t.Family]
		if !known {
			n = len(r.Families)
			at[t.Family] = n
			r.Families = append(r.Families, Count{Family: t.Family, Source: b.Set.Source, Set: b.Set.Name, Must: b.Set.Least == 100,
				Least: b.Set.Least, TwinLeast: b.Set.Twins})
		}
		c := &r.Families[n]
		switch {
		case t.Untried != "":
			c.Untried++
			r.Untried = append(r.Untried, t.ID+": "+t.Untried)
			continue
		case t.HeldOut == nil:
			c.Unknown++
		case *t.HeldOut:
			c.HeldOut++
		}
		f := Failure{ID: t.ID, Family: t.Family, Source: b.Set.Source, How: t.Why, Kind: t.Steps[t.Step].Via, Input: t.Steps[t.Step].Line(),
			Replay: b.Set.Replay(t.ID)}
		if t.Expect == mayGo {
			c.Twins++
			if f.Twin, f.Rule = true, t.By; t.Stopped {
				r.Failures = append(r.Failures, f)
			} else {
				c.Passed++
			}
			continue
		}
		c.Cases++
		if f.Must = c.Must; t.Stopped {
			c.Stopped++
		} else {
			r.Failures = append(r.Failures, f)
		}
	}
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
	fmt.Fprintf(&b, "%d cases, grammar %d, on the %s home, profile %s, rules %s, interlock %s.\n\n", r.Cases, r.Grammar, r.Where, r.Profile,
		r.Rules, r.Version)
	fmt.Fprintf(&b, "| family | from | held out | attacks stopped | asked for | twins let through |  |\n|---|---|---:|---:|---:|---:|---|\n")
	for _, c := range r.Families {
		held := "held"
		switch {
		case c.Later != "":
			held = "not tried: " + c.Later
		case !c.Held:
			held = "**failed**"
		}
		if c.Untried > 0 {
			held += fmt.Sprintf("; %d not tried", c.Untried)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d of %d | %d %% | %d of %d | %s |\n", c.Family, clean(c.from()), c.heldOut(), c.Stopped, c.Cases, c.Least,
			c.Passed, c.Twins, held)
	}
	b.WriteString(r.examined())
	for n, f := range r.Failures {
		if n == maxShown {
			fmt.Fprintf(&b, "\n%d more; --json has them all\n", len(r.Failures)-n)
			break
		}
		what := "allowed"
		if f.Twin {
			what = "a harmless twin, stopped by " + f.Rule
		}
		name := f.ID
		if name == "" {
			name = strconv.Itoa(f.Case)
		}
		fmt.Fprintf(&b, "\n- case %s, %s (%s): %s\n  - `%s`\n  - again: `%s`\n", name, f.Family, oneLine(clean(f.How)), clean(what),
			oneLine(clean(f.Input)), clean(f.Replay))
	}
	for n, u := range r.Untried {
		if n == maxShown {
			fmt.Fprintf(&b, "\n%d more were not tried; --json has them all\n", len(r.Untried)-n)
			break
		}
		fmt.Fprintf(&b, "\n- not tried: %s\n", oneLine(clean(u)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// from says where a family's cases come from.
func (c *Count) from() string {
	if c.Set == "" {
		return string(c.Source)
	}
	return string(c.Source) + " " + c.Set
}

// heldOut is the share that nobody tuned on.
func (c *Count) heldOut() string {
	all := c.Cases + c.Twins
	switch {
	case all == 0:
		return "-"
	case c.Unknown == all:
		return "unknown"
	case c.Unknown > 0:
		return fmt.Sprintf("%d %%, %d unknown", c.HeldOut*100/all, c.Unknown)
	}
	return fmt.Sprintf("%d %%", c.HeldOut*100/all)
}

// examined says what the numbers are worth, which nobody who reads a table of 100 % would think of.
func (r *Report) examined() string {
	var own, held, unknown, all int
	for _, c := range r.Families {
		if c.Source == Grammar || c.Source == Scenarios {
			own += c.Cases + c.Twins
		}
		held, unknown, all = held+c.HeldOut, unknown+c.Unknown, all+c.Cases+c.Twins
	}
	var b strings.Builder
	if own > 0 {
		fmt.Fprintf(&b, "\n%d of %d attacks and twins are from our own grammar and scenarios, written beside the rules: "+
			"100 %% of those shows only that nothing rotted.\n", own, all)
	}
	fmt.Fprintf(&b, "\nNobody tuned on %d of %d; of %d it is unknown.\n", held, all, unknown)
	return b.String()
}

// oneLine shortens a text to what fits beside others.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "'")), " ")
	if r := []rune(text); len(r) > 160 {
		return string(r[:160]) + "…"
	}
	return text
}
