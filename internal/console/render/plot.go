package render

import (
	"fmt"
	"strings"
	"time"
)

// A Plot is a picture of numbers over time, drawn in the page as SVG. What it shows is beside it as a sentence and as a
// table, so that nobody needs to see it.
type Plot struct {
	ID     string
	Title  string
	Href   string // of the list it counts
	Says   string
	Lanes  []Lane
	Wide   int       // of its drawing, in units of its own
	Axis   []Mark    // times along its foot
	Series []Measure // what is counted, in the order of the table's columns
	Rows   []PlotRow // the numbers, newest first; hours without any are left out
	Hourly bool      // its steps are hours, not days
}

// A Lane is one row of bars with a scale of its own.
type Lane struct {
	Name string
	Most int // at its top
	Bars []PlotBar
}

// A PlotBar is one step of time: parts on top of each other, which lead to the list they count.
type PlotBar struct {
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

// A Measure is one thing that is counted.
type Measure struct {
	Name  string
	Class string
	Href  string
	All   int
}

// A PlotRow is one step of time in the table beside a plot.
type PlotRow struct {
	At     time.Time
	Href   string
	Counts []int
}

// A Mark is a time along the foot of a plot.
type Mark struct{ At time.Time }

// The drawing's units.
const (
	StepWide = 20
	laneHigh = 1000
)

// Stacked draws counts on top of each other in a lane whose top is most; what is there at all can be seen.
func Stacked(most int, classes []string, counts []int) (parts []part) {
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

// RoundUp is the next number that reads well as the top of a scale.
func RoundUp(n int) int {
	for unit := 1; ; unit *= 10 {
		for _, step := range []int{1, 2, 3, 4, 5, 6, 8} {
			if unit*step >= n {
				return unit * step
			}
		}
	}
}

// A BarRow is one line of a list of bars: an agent, a rule, an age.
type BarRow struct {
	Name  string
	Href  string
	Class string
	Count int
	Share int // of the longest bar, in percent
	Says  string
}

// Scaled sets how long bars are, the longest being whole.
func Scaled(rows []BarRow) []BarRow {
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

// Numbered writes a number with what it counts.
func Numbered(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return Comma(int64(n)) + " " + more
}

// Percent is a share in words.
func Percent(part, of int) string {
	if of == 0 {
		return "none"
	}
	if share := float64(part) * 100 / float64(of); share > 0 && share < 1 {
		return "under 1 %"
	}
	return fmt.Sprintf("%d %%", (part*100+of/2)/of)
}

// span writes a length of time in words that one reads at a glance.
func InWords(d time.Duration) string {
	unit := func(n int64, name string) string { return Numbered(int(n), name, name+"s") }
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

// Ago writes when something was, seen from now.
func Ago(now, at time.Time) string {
	d := now.Sub(at)
	if d < 0 {
		return "in " + InWords(-d)
	}
	if d < 5*time.Second {
		return "just now"
	}
	return InWords(d) + " ago"
}

// Left writes how long something still counts.
func Left(now, until time.Time) string {
	if d := until.Sub(now); d > 0 {
		return InWords(d) + " left"
	}
	return "no time left"
}

// Stamp writes a time for a list: the hour of what was lately, else the day as well. It is in UTC; the page's script makes it
// local.
func Stamp(now, t time.Time) string {
	if t = t.UTC(); now.Sub(t) < 20*time.Hour && t.Sub(now) < time.Hour {
		return t.Format("15:04:05")
	}
	return t.Format("2 Jan 15:04")
}
