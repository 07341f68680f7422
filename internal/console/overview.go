package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/console/render"
	"interlock/internal/console/stats"
	"interlock/internal/quorum"
)

// A stretch is how much of the past the overview shows, in how large steps.
type stretch struct {
	Name  string
	Title string
	Hours int64
	step  int64 // hours
	Here  bool
}

func stretches() []stretch {
	return []stretch{{Name: "day", Title: "24 hours", Hours: 24, step: 1}, {Name: "week", Title: "7 days", Hours: 168, step: 6},
		{Name: "month", Title: "30 days", Hours: 720, step: 24}}
}

// The bounds of the overview's lists.
const (
	topNamed   = 7
	latestRows = 6
)

// An overview is what the first page shows.
type overview struct {
	Stretch   stretch
	Stretches []stretch
	Reading   *stats.Counting // how far the log is counted, while that goes on
	Failed    bool            // it could not be counted
	Since     time.Time

	All        stats.Tallies
	Sum        int
	Asked      int
	Yes, No    int
	Expired    int
	There      int // were answered in their harness, or their run went on
	Median     time.Duration
	Tail       time.Duration // within which 95 of 100 answers came
	Answers    int           // that these times are of
	Latency    *Latency
	Activity   render.Plot
	People     render.Plot
	Agents     []render.BarRow
	Rules      []render.BarRow
	Ages       []render.BarRow
	Checks     []check
	Latest     []row
	Waiting    counts
	Empty      bool // there is no decision in the log at all
	AskedHref  string
	DeniedHref string
}

// A Latency is how long decisions took lately, as the server measured it.
type Latency struct {
	Decisions    int64
	Median, Tail time.Duration // at most: these are bounds of a histogram; 95 of 100 were within Tail
}

// overviewPage shows how things are: what was decided and asked, whether people answer, and whether all that should work does.
func (c *Console) overviewPage(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if slices.ContainsFunc([]string{"q", "agent", "verdict", "kind", "rule", "before"}, query.Has) { // where the feed once was
		http.Redirect(w, r, address("/feed", query), http.StatusSeeOther)
		return
	}
	page := overview{Stretches: stretches()}
	for i := range page.Stretches {
		one := &page.Stretches[i]
		one.Here = query.Get("range") == one.Name || i == 0 && query.Get("range") == ""
		if one.Here {
			page.Stretch = *one
		}
	}
	if page.Stretch.Hours == 0 {
		c.fail(w, r, interlock.Errorf(interlock.CodeInvalid, "range", "is day, week or month"))
		return
	}
	now := c.config.Now()
	come := c.counter.View(r.Context(), func(rolled *stats.Rollup) { page.count(rolled, now) })
	if page.Failed = come.Failed != nil; page.Failed || !come.Whole {
		page.Reading = &come
	}
	if c.config.Latency != nil {
		if l := c.config.Latency(); l.Decisions > 0 {
			page.Latency = &l
		}
	}
	if err := c.overviewNow(r, &page); err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "overview.html", "Overview", page)
}

// overviewNow adds what is in force at this moment.
func (c *Console) overviewNow(r *http.Request, page *overview) error {
	rows, before, _, err := c.decisions(r, filter{Before: -1}, -1, latestRows)
	if err != nil {
		return err
	}
	page.Latest, page.Empty = rows, len(rows) == 0 && before == 0
	if page.Waiting, err = c.waiting(r.Context()); err != nil {
		return err
	}
	if page.Ages, err = c.ages(r.Context()); err != nil {
		return err
	}
	page.Checks = append(page.Checks, c.checks(r)...)
	return nil
}

// count takes from a rollup what the page's stretch holds.
func (p *overview) count(r *stats.Rollup, now time.Time) {
	step := p.Stretch.step
	last := (stats.HourOf(now)/step + 1) * step // the first hour after the newest step
	first := last - p.Stretch.Hours
	p.Since = time.Unix(first*3600, 0).UTC()
	steps := int(p.Stretch.Hours / step)
	sums := make([]stats.Hourly, steps)
	for i := range sums {
		sums[i] = stats.Hourly{Hour: first + int64(i)*step, From: -1}
		for h := sums[i].Hour; h < sums[i].Hour+step; h++ {
			sums[i].Take(r.Hours[h%stats.RollupHours], h)
		}
	}
	whole := stats.Hourly{Hour: first, From: -1}
	for _, one := range sums {
		whole.Take(one, one.Hour)
	}
	p.All, p.Asked, p.Yes, p.No, p.Expired, p.There = whole.Decided, whole.Asked, whole.Yes, whole.No, whole.Expired, whole.There
	p.Sum = p.All.Sum()
	p.AskedHref, p.DeniedHref = p.feed(nil, "verdict", "ask"), p.feed(nil, "verdict", "deny")
	p.draw(sums)
	p.drawAnswers(sums)
	p.Agents = p.named(r, r.Agents, first, last, "agent")
	p.Rules = p.named(r, r.Rules, first, last, "rule")
	p.timed(r.Taken)
	if whole.Alerts > 0 {
		p.Checks = append(p.Checks, check{Name: "Alerts", State: "warn", Says: render.Numbered(whole.Alerts, "alert", "alerts") +
			" in this time", Href: "/audit?type=ALERT"})
	}
	p.Checks = append(p.Checks, peopleCheck(r.Taken))
}

// feed is the address of the decisions that a number counts: in one step of time, or in the whole stretch where there is none.
func (p *overview) feed(of *stats.Hourly, name, value string) string {
	query := url.Values{"since": {p.Since.Format(time.RFC3339)}}
	if value != "" {
		query.Set(name, value)
	}
	if of != nil {
		from := time.Unix(of.Hour*3600, 0).UTC()
		query.Set("since", from.Format(time.RFC3339))
		query.Set("until", from.Add(time.Duration(p.Stretch.step)*time.Hour).Format(time.RFC3339))
		query.Set("before", strconv.FormatInt(of.To, 10))
	}
	return address("/feed", query)
}

// draw makes the plot of what was decided: what was held back above, on a scale of its own, and what was allowed below.
func (p *overview) draw(sums []stats.Hourly) {
	classes := []string{"ask", "deny", "halt"}
	p.Activity = render.Plot{ID: "activity", Title: "Decisions over time", Href: p.feed(nil, "", ""),
		Wide: len(sums) * render.StepWide, Hourly: p.Stretch.step < 24,
		Series: []render.Measure{{Name: "asked", Class: "ask", Href: p.AskedHref, All: p.All.Ask},
			{Name: "denied", Class: "deny", Href: p.DeniedHref, All: p.All.Deny},
			{Name: "halted", Class: "halt", Href: p.feed(nil, "verdict", "halt"), All: p.All.Halt},
			{Name: "allowed", Class: "allow", Href: p.feed(nil, "verdict", "allow"), All: p.All.Allow}},
		Says: fmt.Sprintf("Of %s in %s, %s were allowed, %s asked, %s denied and %s halted.",
			render.Numbered(p.Sum, "decision", "decisions"),
			p.Stretch.Title, render.Comma(int64(p.All.Allow)), render.Comma(int64(p.All.Ask)), render.Comma(int64(p.All.Deny)),
			render.Comma(int64(p.All.Halt)))}
	held, passed := render.Lane{Name: "Held back"}, render.Lane{Name: "Allowed"}
	for _, one := range sums {
		held.Most = max(held.Most, one.Decided.Sum()-one.Decided.Allow)
		passed.Most = max(passed.Most, one.Decided.Allow)
	}
	held.Most, passed.Most = render.RoundUp(held.Most), render.RoundUp(passed.Most)
	for i := range sums {
		one := &sums[i]
		d := one.Decided
		if d.Sum() == 0 {
			continue
		}
		says := fmt.Sprintf("%d asked, %d denied, %d halted, %s allowed", d.Ask, d.Deny, d.Halt, render.Comma(int64(d.Allow)))
		bar := render.PlotBar{X: i*render.StepWide + 2, Wide: render.StepWide - 4, Href: p.feed(one, "", ""), Says: says}
		bar.Parts = render.Stacked(held.Most, classes, []int{d.Ask, d.Deny, d.Halt})
		held.Bars = append(held.Bars, bar)
		bar.Parts = render.Stacked(passed.Most, []string{"allow"}, []int{d.Allow})
		passed.Bars = append(passed.Bars, bar)
		p.Activity.Rows = append(p.Activity.Rows, render.PlotRow{At: time.Unix(one.Hour*3600, 0).UTC(), Href: bar.Href,
			Counts: []int{d.Ask, d.Deny, d.Halt, d.Allow}})
	}
	p.Activity.Lanes, p.Activity.Axis = []render.Lane{held, passed}, axis(sums)
	slices.Reverse(p.Activity.Rows)
}

// drawAnswers makes the plot of questions and what people said.
func (p *overview) drawAnswers(sums []stats.Hourly) {
	p.People = render.Plot{ID: "answers", Title: "Questions and their answers", Href: "/pending", Wide: len(sums) * render.StepWide,
		Hourly: p.Stretch.step < 24,
		Series: []render.Measure{{Name: "put", Class: "put", Href: p.AskedHref, All: p.Asked}, {Name: "yes", Class: "allow", Href: "",
			All: p.Yes}, {Name: "no", Class: "deny", Href: "", All: p.No},
			{Name: "in the harness", Class: "there", Href: "", All: p.There}, {Name: "expired", Class: "late", Href: "", All: p.Expired}},
		Says: fmt.Sprintf("%s put; people said yes to %d and no to %d, and %d expired.", render.Numbered(p.Asked, "question was",
			"questions were"),
			p.Yes, p.No, p.Expired)}
	if p.There > 0 {
		p.People.Says += fmt.Sprintf(" %s answered in the harness.", render.Numbered(p.There, "was", "were"))
	}
	if p.Asked > p.Yes+p.No+p.Expired+p.There {
		p.People.Says += " The others wait."
	}
	only := render.Lane{}
	for _, one := range sums {
		only.Most = max(only.Most, one.Asked, one.Yes+one.No+one.There+one.Expired)
	}
	only.Most = render.RoundUp(only.Most)
	for i := range sums {
		one := &sums[i]
		if one.Asked+one.Yes+one.No+one.There+one.Expired == 0 {
			continue
		}
		says := fmt.Sprintf("%d put; %d yes, %d no, %d in the harness, %d expired", one.Asked, one.Yes, one.No, one.There, one.Expired)
		href := p.feed(one, "verdict", "ask")
		only.Bars = append(only.Bars,
			render.PlotBar{X: i*render.StepWide + 2, Wide: render.StepWide/2 - 3, Href: href, Says: says,
				Parts: render.Stacked(only.Most, []string{"put"}, []int{one.Asked})},
			render.PlotBar{X: i*render.StepWide + render.StepWide/2, Wide: render.StepWide/2 - 3, Href: href, Says: says,
				Parts: render.Stacked(only.Most, []string{"allow", "deny", "there", "late"}, []int{one.Yes, one.No, one.There, one.Expired})})
		p.People.Rows = append(p.People.Rows, render.PlotRow{At: time.Unix(one.Hour*3600, 0).UTC(), Href: href,
			Counts: []int{one.Asked, one.Yes, one.No, one.There, one.Expired}})
	}
	p.People.Lanes, p.People.Axis = []render.Lane{only}, axis(sums)
	slices.Reverse(p.People.Rows)
}

// axis picks the times that are written along the foot of a plot.
func axis(sums []stats.Hourly) (marks []render.Mark) {
	for i := 0; i < len(sums); i += max(len(sums)/4, 1) {
		marks = append(marks, render.Mark{At: time.Unix(sums[i].Hour*3600, 0).UTC()})
	}
	return marks
}

// named lists the agents that were asked about most, or the rules that spoke most, with a link to what is counted.
func (p *overview) named(r *stats.Rollup, by map[string]*stats.Named, first, last int64, field string) []render.BarRow {
	var rows []render.BarRow
	for name, one := range by {
		all, asked := 0, 0
		for h := first; h < last; h++ {
			n, put := r.In(one, h)
			all, asked = all+n, asked+put
		}
		row := render.BarRow{Name: name, Href: p.feed(nil, field, name), Count: all, Says: render.Numbered(asked, "question",
			"questions")}
		if field == "agent" {
			query := url.Values{"since": {p.Since.Format(time.RFC3339)}, "agent": {name}, "verdict": {"ask"}}
			row.Count, row.Says, row.Href = asked, render.Percent(asked, all)+" of "+render.Comma(int64(all)), address("/feed", query)
		}
		if name == "" {
			row.Name, row.Href = "all others", p.Activity.Href
		}
		if row.Count > 0 {
			rows = append(rows, row)
		}
	}
	sort.Slice(rows, func(i, j int) bool {
		return rows[i].Count > rows[j].Count || rows[i].Count == rows[j].Count && rows[i].Name < rows[j].Name
	})
	return render.Scaled(rows[:min(len(rows), topNamed)])
}

// timed says how long people took within the stretch.
func (p *overview) timed(answers []quorum.Answered) {
	var took []time.Duration
	for _, a := range answers {
		if !a.At.Before(p.Since) {
			took = append(took, max(a.At.Sub(a.Asked), 0))
		}
	}
	if p.Answers = len(took); p.Answers > 0 {
		slices.Sort(took)
		p.Median, p.Tail = took[len(took)/2], took[(len(took)*95-1)/100]
	}
}

// ages lists how long the questions that wait have waited.
func (c *Console) ages(ctx context.Context) ([]render.BarRow, error) {
	requests, err := c.config.Backend.Requests(ctx, maxWaiting)
	if err != nil {
		return nil, err
	}
	now := c.config.Now()
	rows := make([]render.BarRow, len(ageBands()))
	for i, band := range ageBands() {
		rows[i] = render.BarRow{Name: band.Title, Href: "/pending?age=" + band.Name, Class: band.class}
	}
	for i := range requests.Rows {
		if waitsHere(&requests.Rows[i]) {
			rows[bandOf(now.Sub(requests.Rows[i].Created))].Count++
		}
	}
	if !slices.ContainsFunc(rows, func(r render.BarRow) bool { return r.Count > 0 }) {
		return nil, nil
	}
	return render.Scaled(rows), nil
}

// An ageBand is how long a question has waited, roughly.
type ageBand struct {
	Name  string
	Title string
	upTo  time.Duration
	class string
}

func ageBands() []ageBand {
	return []ageBand{{"minute", "under a minute", time.Minute, "fresh"}, {"ten", "1 to 10 minutes", 10 * time.Minute, "fresh"},
		{"hour", "10 to 60 minutes", time.Hour, "aging"}, {"older", "over an hour", 0, "old"}}
}

func bandOf(age time.Duration) int {
	bands := ageBands()
	for i, band := range bands {
		if age < band.upTo {
			return i
		}
	}
	return len(bands) - 1
}

// titleList joins names as a sentence does.
func titleList(names []string) string { return strings.Join(names, ", ") }
