package stats

import (
	"fmt"
	"strings"
	"time"

	"interlock/internal/console/render"
)

// A Spark is a small drawing of counts over time with its sentence. It is two paths, however many steps it has, because a list
// draws many of them.
type Spark struct {
	Wide  int
	Asked string // what was asked about, at the foot
	Other string // everything else, on top of it
	Class string // how that is coloured
	All   int
	Put   int // of them, how many were questions
	Says  string
}

// The steps of the drawings: a week in quarters of a day for agents, a month in days for rules.
const (
	weekSteps  = 28
	weekStep   = 6 // hours
	MonthSteps = 30
	MonthStep  = 24
)

// spark draws what was counted under one name, up to the step that this moment is in; nil where there was nothing.
func (r *Rollup) spark(one *Named, now time.Time, steps int, hours int64) *Spark {
	if one == nil {
		return nil
	}
	last := (HourOf(now)/hours + 1) * hours
	first := last - int64(steps)*hours
	all, asked := make([]int, steps), make([]int, steps)
	s, most := &Spark{Wide: steps * render.StepWide, Class: "allow"}, 0
	for h := max(first, 0); h < last; h++ {
		at := (h - first) / hours
		n, put := r.In(one, h)
		all[at], asked[at] = all[at]+n, asked[at]+put
	}
	for i := range all {
		s.All, s.Put, most = s.All+all[i], s.Put+asked[i], max(most, all[i])
	}
	if s.All == 0 {
		return nil
	}
	var put, other strings.Builder
	for i := range all {
		for n, part := range render.Stacked(most, []string{"ask", "other"}, []int{asked[i], all[i] - asked[i]}) {
			to := &other
			if n == 0 && part.Class == "ask" {
				to = &put
			}
			fmt.Fprintf(to, "M%d %dh%dv%dh-%dz", i*render.StepWide, part.Y, render.StepWide-4, part.High, render.StepWide-4)
		}
	}
	s.Asked, s.Other = put.String(), other.String()
	return s
}

// Told is the same drawing with another number beside it.
func (s *Spark) Told(n int) *Spark {
	other := *s
	other.Says = render.Comma(int64(n))
	return &other
}

// Week draws an agent's week.
func (r *Rollup) Week(agent string, now time.Time) *Spark {
	s := r.spark(r.Agents[agent], now, weekSteps, weekStep)
	if s != nil {
		s.Says = fmt.Sprintf("%.1f questions a day", float64(s.Put)/7)
	}
	return s
}

// Month draws a rule's month.
func (r *Rollup) Month(rule string, now time.Time) *Spark {
	s := r.spark(r.Rules[rule], now, MonthSteps, MonthStep)
	if s != nil {
		s.Says, s.Class = render.Comma(int64(s.All))+" in 30 days", "deny"
	}
	return s
}

// Between counts what was counted under one name from one time to another, in whole hours, and says in which it was last.
func (r *Rollup) Between(one *Named, from, to time.Time) (all int, last time.Time) {
	if one == nil {
		return 0, last
	}
	begin, end := HourOf(from), HourOf(to)
	if end-begin >= RollupHours {
		begin = end - RollupHours + 1
	}
	for h := max(begin, 0); h <= end; h++ {
		if count, _ := r.In(one, h); count > 0 {
			all, last = all+count, time.Unix(h*3600, 0).UTC()
		}
	}
	return all, last
}
