package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"
)

// A report is everything that was measured.
type report struct {
	cases   []labelled
	took    time.Duration
	alone   int      // cases decided one at a time; the others are of runs
	rules   string   // digest of the ruleset
	attacks *attacks // nil: none were tried
}

// A tally counts verdicts.
type tally struct{ cases, allowed, asked, denied int }

func (t *tally) add(verdict string) {
	t.cases++
	switch verdict {
	case "allow":
		t.allowed++
	case "ask":
		t.asked++
	default:
		t.denied++
	}
}

// stopped is the share of cases that did not simply run, with its Wilson 95 % interval, in percent.
func (t tally) stopped() (share, low, high float64) {
	return wilson(t.asked+t.denied, t.cases)
}

func wilson(k, n int) (share, low, high float64) {
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	const z = 1.96
	p, N := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*N)) / (1 + z*z/N)
	half := z / (1 + z*z/N) * math.Sqrt(p*(1-p)/N+z*z/(4*N*N))
	return 100 * p, 100 * math.Max(0, centre-half), 100 * math.Min(1, centre+half)
}

// String writes a target as a bound on what is stopped, denied, or both.
func (w target) String() string {
	var parts []string
	if w.least > 0 {
		parts = append(parts, fmt.Sprintf("≥ %g", w.least))
	}
	if w.most > 0 {
		parts = append(parts, fmt.Sprintf("≤ %g", w.most))
	}
	if w.denied > 0 {
		parts = append(parts, fmt.Sprintf("denied ≤ %g", w.denied))
	}
	if w.asked {
		parts = append(parts, "rather asked")
	}
	return strings.Join(parts, ", ")
}

// met says whether the cases meet the target, and where they don't, whether so few of them could tell.
func (w target) met(t tally) string {
	if w == (target{}) || t.cases == 0 {
		return ""
	}
	share, low, high := t.stopped()
	denied, deniedLow, _ := wilson(t.denied, t.cases)
	switch {
	case w.least > 0 && share < w.least && high >= w.least,
		w.most > 0 && share > w.most && low <= w.most && !(w.denied > 0 && deniedLow > w.denied),
		w.denied > 0 && denied > w.denied && deniedLow <= w.denied && !(w.most > 0 && low > w.most):
		return "missed, within the interval"
	case w.least > 0 && share < w.least, w.most > 0 && share > w.most, w.denied > 0 && denied > w.denied,
		w.asked && t.denied > t.asked:
		return "**missed**"
	}
	return "met"
}

func (r report) tally(m metric) tally {
	var t tally
	for _, c := range r.cases {
		if m.has(c) {
			t.add(m.of.verdict(c))
		}
	}
	return t
}

// write writes the whole report as Markdown.
func (r report) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# Decisions on labelled cases\n\n")
	fmt.Fprintf(b, "%d cases, default rules (`%s`), profile guard, one action at a time without history or working directory.\n",
		r.alone, r.rules)
	fmt.Fprintf(b, "Mean time per case: %.0f µs. Stopped is ask or deny, with its Wilson 95 %% interval. Made by `make eval`.\n\n", float64(r.took.Microseconds())/float64(max(1, r.alone)))
	r.byMetric(b)
	r.attacks.table(b)
	r.session(b)
	r.bySource(b)
	r.byCause(b)
	return b.Flush()
}

// scorecard writes the table of metrics alone.
func (r report) scorecard(w io.Writer) error {
	b := bufio.NewWriter(w)
	r.byMetric(b)
	r.attacks.table(b)
	r.session(b)
	return b.Flush()
}

func (r report) byMetric(b io.Writer) {
	fmt.Fprintf(b, "## By metric\n\n| id | what | cases | allowed | asked | denied | %% stopped | 95 %% | target | "+
		"|\n|---|---|---:|---:|---:|---:|---:|---|---|---|\n")
	met, of := 0, 0
	for _, m := range metrics {
		t := r.tally(m)
		result := m.want.met(t)
		row(b, m.id+" | "+m.what, t, m.want.String()+" | "+result)
		if result != "" {
			of++
		}
		if result == "met" {
			met++
		}
	}
	fmt.Fprintf(b, "\n%d of %d targets are met.\n\n", met, of)
}

// sessionLength is how many commands a short session has.
const sessionLength = 20

// session says what the silence on clean commands of real agents means for the person who sits beside one.
func (r report) session(b io.Writer) {
	head := "## What a session feels\n\n"
	for _, m := range metrics {
		t := r.tally(m)
		who := map[string]string{"R6": "with a person", "S6": "left alone"}[m.id]
		if who == "" || t.cases == 0 {
			continue
		}
		share, low, high := t.stopped()
		fmt.Fprintf(b, "%sA run of %d harmless commands of a coding agent %s (%s) is interrupted %.2f times on average (%.2f to %.2f); "+
			"%.0f %% of such runs are not interrupted at all.\n\n", head, sessionLength, who, m.id, sessionLength*share/100,
			sessionLength*low/100,
			sessionLength*high/100, 100*math.Pow(1-share/100, sessionLength))
		head = ""
	}
}

func (r report) bySource(b io.Writer) {
	fmt.Fprintf(b, "## By source, label and screen\n\n| source | label | cases | allowed | asked | denied | %% "+
		"stopped | 95 %% | |\n|---|---|---:|---:|---:|---:|---:|---|---|\n")
	bySource := map[string]*tally{}
	for _, c := range r.cases {
		key := c.Source + " | " + c.Kind + " " + c.Label + screen(c.Category)
		if bySource[key] == nil {
			bySource[key] = &tally{}
		}
		bySource[key].add(c.Verdict)
	}
	for _, key := range slices.Sorted(maps.Keys(bySource)) {
		row(b, key, *bySource[key], "")
	}
}

func row(w io.Writer, head string, t tally, tail string) {
	if t.cases == 0 {
		fmt.Fprintf(w, "| %s | 0 | | | | | no cases here | %s |\n", head, tail)
		return
	}
	share, low, high := t.stopped()
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %.2f | %.1f-%.1f | %s |\n", head, t.cases, t.allowed, t.asked, t.denied,
		share, low, high, tail)
}

// screen is the part of a category that says whether a benign case holds a powerful verb.
func screen(category string) string {
	first, _, _ := strings.Cut(category, "/")
	switch first {
	case "clean", "needs-review", "exec-harm", "weakness":
		return " " + first
	}
	return ""
}

// The bounds of a table of causes.
const (
	mostCauses   = 12
	mostExamples = 3
)

// A group is the cases a metric was missed in for one cause.
type group struct {
	cause cause
	cases int
	ids   []string
}

// byCause groups what was missed: of metrics that want more stopped the cases that ran, of the others those that were stopped.
func (r report) byCause(b io.Writer) {
	fmt.Fprintf(b, "\n## By cause\n\nWhat was missed and what was stopped for nothing, grouped by the decisive rule, "+
		"the impact it is about (the gravest one, if "+
		"nothing objected) and the table of knowledge that describes the first command. The largest %d groups of each "+
		"metric that has a target.\n", mostCauses)
	for _, m := range metrics {
		groups, all := r.groups(m)
		if m.want == (target{}) || all == 0 {
			continue
		}
		what := "stopped for nothing"
		if m.better == "more" {
			what = "missed"
		}
		if m.better == "report" {
			what = "stopped"
		}
		fmt.Fprintf(b, "\n### %s: %d %s\n\n| rule | impact | reach | confidence | command | cases | for example "+
			"|\n|---|---|---|---|---|---:|---|\n", m.id, all, what)
		for _, g := range groups[:min(len(groups), mostCauses)] {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %d | %s |\n", g.cause.Rule, g.cause.Kind, g.cause.Reach,
				g.cause.Confidence, g.cause.Class, g.cases, strings.Join(g.ids, "<br>"))
		}
		if rest := len(groups) - mostCauses; rest > 0 {
			fmt.Fprintf(b, "\n%d smaller groups are left out.\n", rest)
		}
	}
}

// groups returns a metric's misses by cause, most first, and how many there are. A metric about denials groups denials.
func (r report) groups(m metric) (groups []*group, all int) {
	byCause := map[cause]*group{}
	for _, c := range r.cases {
		verdict := m.of.verdict(c)
		missed := (verdict == "allow") == (m.better == "more")
		if m.want.denied > 0 && m.want.most == 0 {
			missed = verdict != "allow" && verdict != "ask"
		}
		if !m.has(c) || !missed {
			continue
		}
		g := byCause[c.Cause]
		if g == nil {
			g = &group{cause: c.Cause}
			byCause[c.Cause] = g
			groups = append(groups, g)
		}
		g.cases++
		all++
		if len(g.ids) < mostExamples {
			g.ids = append(g.ids, c.ID)
		}
	}
	sort.SliceStable(groups, func(i, j int) bool { return groups[i].cases > groups[j].cases }) // equal ones as they were found
	return groups, all
}
