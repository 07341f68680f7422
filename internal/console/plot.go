package console

import (
	"fmt"
	"strings"
	"time"
)

// A plot is a picture of numbers over time, drawn in the page as SVG. What it shows stands beside it as a sentence and as a table, so
// that nobody needs to see it.
type plot struct {
	ID     string
	Title  string
	Href   string // of the list it counts
	Says   string
	Lanes  []lane
	Wide   int       // of its drawing, in units of its own
	Axis   []mark    // times along its foot
	Series []measure // what is counted, in the order of the table's columns
	Rows   []plotRow // the numbers, newest first; hours without any are left out
	Hourly bool      // its steps are hours, not days
}

// A lane is one row of bars with a scale of its own.
type lane struct {
	Name string
	Most int // at its top
	Bars []plotBar
}

// A plotBar is one step of time: parts on top of each other, which lead to the list they count.
type plotBar struct {
	X, Wide int
	Href    string
	Says    string
	Parts   []part
}

// A part is a piece of a bar. Its class names its colour and its pattern.
type part struct {
	Class   string
	Y, High int // of 1000
}

// A measure is one thing that is counted.
type measure struct {
	Name  string
	Class string
	Href  string
	All   int
}

// A plotRow is one step of time in the table beside a plot.
type plotRow struct {
	At     time.Time
	Href   string
	Counts []int
}

// A mark is a time along the foot of a plot.
type mark struct{ At time.Time }

// The drawing's units.
const (
	stepWide = 20
	laneHigh = 1000
)

// stacked draws counts on top of each other in a lane whose top is most; what is there at all can be seen.
func stacked(most int, classes []string, counts []int) (parts []part) {
	y := laneHigh
	for i, n := range counts {
		if n == 0 {
			continue
		}
		high := max(n*laneHigh/max(most, 1), 25)
		y = max(y-high, 0)
		parts = append(parts, part{Class: classes[i], Y: y, High: high})
	}
	return parts
}

// roundUp is the next number that reads well as the top of a scale.
func roundUp(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, step := range []int{1, 2, 3, 4, 5, 6, 8} {
			if unit*step >= n {
				return unit * step
			}
		}
	}
}

// A barRow is one line of a list of bars: an agent, a rule, an age.
type barRow struct {
	Name  string
	Href  string
	Class string
	Count int
	Share int // of the longest bar, in percent
	Says  string
}

// scaled sets how long bars are, the longest being whole.
func scaled(rows []barRow) []barRow {
	most := 1
	for _, row := range rows {
		most = max(most, row.Count)
	}
	for i := range rows {
		if rows[i].Count > 0 {
			rows[i].Share = max(rows[i].Count*100/most, 1)
		}
	}
	return rows
}

// numbered writes a number with what it counts.
func numbered(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return comma(int64(n)) + " " + more
}

// percent is a share in words.
func percent(part, of int) string {
	if of == 0 {
		return "none"
	}
	if share := float64(part) * 100 / float64(of); share > 0 && share < 1 {
		return "under 1 %"
	}
	return fmt.Sprintf("%d %%", (part*100+of/2)/of)
}

// span writes a length of time in words that one reads at a glance.
func inWords(d time.Duration) string {
	unit := func(n int64, name string) string { return numbered(int(n), name, name+"s") }
	switch {
	case d < 0:
		return "no time"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()+.5))
	case d < 90*time.Minute:
		return unit(int64(d.Minutes()+.5), "minute")
	case d < 36*time.Hour:
		return unit(int64(d.Hours()+.5), "hour")
	default:
		return unit(int64(d.Hours()/24+.5), "day")
	}
}

// ago writes when something was, seen from now.
func ago(now, at time.Time) string {
	d := now.Sub(at)
	if d < 0 {
		return "in " + inWords(-d)
	}
	if d < 5*time.Second {
		return "just now"
	}
	return inWords(d) + " ago"
}

// left writes how long something still counts.
func left(now, until time.Time) string {
	if d := until.Sub(now); d > 0 {
		return inWords(d) + " left"
	}
	return "no time left"
}

// stamp writes a time for a list: the hour of what was lately, else the day as well. It is in UTC; the page's script makes it local.
func stamp(now, t time.Time) string {
	if t = t.UTC(); now.Sub(t) < 20*time.Hour && t.Sub(now) < time.Hour {
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04")
}
