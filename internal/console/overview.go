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
	Reading   *counting // how far the log is counted, while that goes on
	Failed    bool      // it could not be counted
	Since     time.Time

	All        tallies
	Sum        int
	Asked      int
	Yes, No    int
	Expired    int
	There      int // were answered in their harness, or their run went on
	Median     time.Duration
	Tail       time.Duration // within which 95 of 100 answers came
	Answers    int           // that these times are of
	Latency    *Latency
	Activity   plot
	People     plot
	Agents     []barRow
	Rules      []barRow
	Ages       []barRow
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
	come := c.counter.view(r.Context(), func(rolled *rollup) { page.count(rolled, now) })
	if page.Failed = come.failed != nil; page.Failed || !come.Whole {
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

// overviewNow adds what stands at this moment.
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
func (p *overview) count(r *rollup, now time.Time) {
	step := p.Stretch.step
	last := (hourOf(now)/step + 1) * step // the first hour after the newest step
	first := last - p.Stretch.Hours
	p.Since = time.Unix(first*3600, 0).UTC()
	steps := int(p.Stretch.Hours / step)
	sums := make([]hourly, steps)
	for i := range sums {
		sums[i] = hourly{hour: first + int64(i)*step, from: -1}
		for h := sums[i].hour; h < sums[i].hour+step; h++ {
			sums[i].take(r.hours[h%rollupHours], h)
		}
	}
	whole := hourly{hour: first, from: -1}
	for _, one := range sums {
		whole.take(one, one.hour)
	}
	p.All, p.Asked, p.Yes, p.No, p.Expired, p.There = whole.decided, whole.asked, whole.yes, whole.no, whole.expired, whole.there
	p.Sum = p.All.sum()
	p.AskedHref, p.DeniedHref = p.feed(nil, "verdict", "ask"), p.feed(nil, "verdict", "deny")
	p.draw(sums)
	p.drawAnswers(sums)
	p.Agents = p.named(r, r.agents, first, last, "agent")
	p.Rules = p.named(r, r.rules, first, last, "rule")
	p.timed(r.taken)
	if whole.alerts > 0 {
		p.Checks = append(p.Checks, check{Name: "Alerts", State: "warn", Says: numbered(whole.alerts, "alert", "alerts") + " in this time",
			Href: "/audit?type=ALERT"})
	}
	p.Checks = append(p.Checks, peopleCheck(r.taken))
}

// take adds an hour, if it is the one that is meant.
func (h *hourly) take(other hourly, hour int64) {
	if other.hour != hour {
		return
	}
	h.decided.Allow += other.decided.Allow
	h.decided.Ask += other.decided.Ask
	h.decided.Deny += other.decided.Deny
	h.decided.Halt += other.decided.Halt
	h.asked += other.asked
	h.yes += other.yes
	h.no += other.no
	h.expired += other.expired
	h.there += other.there
	h.alerts += other.alerts
	if other.from >= 0 && (h.from < 0 || other.from < h.from) {
		h.from = other.from
	}
	h.to = max(h.to, other.to)
}

func (t tallies) sum() int { return t.Allow + t.Ask + t.Deny + t.Halt }

// feed is the address of the decisions that a number counts: in one step of time, or in the whole stretch where there is none.
func (p *overview) feed(of *hourly, name, value string) string {
	query := url.Values{"since": {p.Since.Format(time.RFC3339)}}
	if value != "" {
		query.Set(name, value)
	}
	if of != nil {
		from := time.Unix(of.hour*3600, 0).UTC()
		query.Set("since", from.Format(time.RFC3339))
		query.Set("until", from.Add(time.Duration(p.Stretch.step)*time.Hour).Format(time.RFC3339))
		query.Set("before", strconv.FormatInt(of.to, 10))
	}
	return address("/feed", query)
}

// draw makes the plot of what was decided: what was held back above, on a scale of its own, and what was allowed below.
func (p *overview) draw(sums []hourly) {
	classes := []string{"ask", "deny", "halt"}
	p.Activity = plot{ID: "activity", Title: "Decisions over time", Href: p.feed(nil, "", ""), Wide: len(sums) * stepWide,
		Hourly: p.Stretch.step < 24,
		Series: []measure{{"asked", "ask", p.AskedHref, p.All.Ask}, {"denied", "deny", p.DeniedHref, p.All.Deny},
			{"halted", "halt", p.feed(nil, "verdict", "halt"), p.All.Halt},
			{"allowed", "allow", p.feed(nil, "verdict", "allow"), p.All.Allow}},
		Says: fmt.Sprintf("Of %s in %s, %s were allowed, %s asked, %s denied and %s halted.", numbered(p.Sum, "decision", "decisions"),
			p.Stretch.Title, comma(int64(p.All.Allow)), comma(int64(p.All.Ask)), comma(int64(p.All.Deny)), comma(int64(p.All.Halt)))}
	held, passed := lane{Name: "Held back"}, lane{Name: "Allowed"}
	for _, one := range sums {
		held.Most = max(held.Most, one.decided.sum()-one.decided.Allow)
		passed.Most = max(passed.Most, one.decided.Allow)
	}
	held.Most, passed.Most = roundUp(held.Most), roundUp(passed.Most)
	for i := range sums {
		one := &sums[i]
		d := one.decided
		if d.sum() == 0 {
			continue
		}
		says := fmt.Sprintf("%d asked, %d denied, %d halted, %s allowed", d.Ask, d.Deny, d.Halt, comma(int64(d.Allow)))
		bar := plotBar{X: i*stepWide + 2, Wide: stepWide - 4, Href: p.feed(one, "", ""), Says: says}
		bar.Parts = stacked(held.Most, classes, []int{d.Ask, d.Deny, d.Halt})
		held.Bars = append(held.Bars, bar)
		bar.Parts = stacked(passed.Most, []string{"allow"}, []int{d.Allow})
		passed.Bars = append(passed.Bars, bar)
		p.Activity.Rows = append(p.Activity.Rows, plotRow{time.Unix(one.hour*3600, 0).UTC(), bar.Href,
			[]int{d.Ask, d.Deny, d.Halt, d.Allow}})
	}
	p.Activity.Lanes, p.Activity.Axis = []lane{held, passed}, axis(sums)
	slices.Reverse(p.Activity.Rows)
}

// drawAnswers makes the plot of questions and what people said.
func (p *overview) drawAnswers(sums []hourly) {
	p.People = plot{ID: "answers", Title: "Questions and their answers", Href: "/pending", Wide: len(sums) * stepWide,
		Hourly: p.Stretch.step < 24,
		Series: []measure{{"put", "put", p.AskedHref, p.Asked}, {"yes", "allow", "", p.Yes}, {"no", "deny", "", p.No},
			{"in the harness", "there", "", p.There}, {"expired", "late", "", p.Expired}},
		Says: fmt.Sprintf("%s put; people said yes to %d and no to %d, and %d expired.", numbered(p.Asked, "question was", "questions were"),
			p.Yes, p.No, p.Expired)}
	if p.There > 0 {
		p.People.Says += fmt.Sprintf(" %s answered in the harness.", numbered(p.There, "was", "were"))
	}
	if p.Asked > p.Yes+p.No+p.Expired+p.There {
		p.People.Says += " The others wait."
	}
	only := lane{}
	for _, one := range sums {
		only.Most = max(only.Most, one.asked, one.yes+one.no+one.there+one.expired)
	}
	only.Most = roundUp(only.Most)
	for i := range sums {
		one := &sums[i]
		if one.asked+one.yes+one.no+one.there+one.expired == 0 {
			continue
		}
		says := fmt.Sprintf("%d put; %d yes, %d no, %d in the harness, %d expired", one.asked, one.yes, one.no, one.there, one.expired)
		href := p.feed(one, "verdict", "ask")
		only.Bars = append(only.Bars,
			plotBar{X: i*stepWide + 2, Wide: stepWide/2 - 3, Href: href, Says: says,
				Parts: stacked(only.Most, []string{"put"}, []int{one.asked})},
			plotBar{X: i*stepWide + stepWide/2, Wide: stepWide/2 - 3, Href: href, Says: says,
				Parts: stacked(only.Most, []string{"allow", "deny", "there", "late"}, []int{one.yes, one.no, one.there, one.expired})})
		p.People.Rows = append(p.People.Rows, plotRow{time.Unix(one.hour*3600, 0).UTC(), href,
			[]int{one.asked, one.yes, one.no, one.there, one.expired}})
	}
	p.People.Lanes, p.People.Axis = []lane{only}, axis(sums)
	slices.Reverse(p.People.Rows)
}

// axis picks the times that are written along the foot of a plot.
func axis(sums []hourly) (marks []mark) {
	for i := 0; i < len(sums); i += max(len(sums)/4, 1) {
		marks = append(marks, mark{time.Unix(sums[i].hour*3600, 0).UTC()})
	}
	return marks
}

// named lists the agents that were asked about most, or the rules that spoke most, with a link to what is counted.
func (p *overview) named(r *rollup, by map[string]*named, first, last int64, field string) []barRow {
	var rows []barRow
	for name, one := range by {
		all, asked := 0, 0
		for h := first; h < last; h++ {
			n, put := r.in(one, h)
			all, asked = all+n, asked+put
		}
		row := barRow{Name: name, Href: p.feed(nil, field, name), Count: all, Says: numbered(asked, "question", "questions")}
		if field == "agent" {
			query := url.Values{"since": {p.Since.Format(time.RFC3339)}, "agent": {name}, "verdict": {"ask"}}
			row.Count, row.Says, row.Href = asked, percent(asked, all)+" of "+comma(int64(all)), address("/feed", query)
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
	return scaled(rows[:min(len(rows), topNamed)])
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
func (c *Console) ages(ctx context.Context) ([]barRow, error) {
	requests, err := c.config.Backend.Requests(ctx, maxWaiting)
	if err != nil {
		return nil, err
	}
	now := c.config.Now()
	rows := make([]barRow, len(ageBands()))
	for i, band := range ageBands() {
		rows[i] = barRow{Name: band.Title, Href: "/pending?age=" + band.Name, Class: band.class}
	}
	for i := range requests.Rows {
		if waitsHere(&requests.Rows[i]) {
			rows[bandOf(now.Sub(requests.Rows[i].Created))].Count++
		}
	}
	if !slices.ContainsFunc(rows, func(r barRow) bool { return r.Count > 0 }) {
		return nil, nil
	}
	return scaled(rows), nil
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
