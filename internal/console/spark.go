package console

import (
	"fmt"
	"strings"
	"time"
)

// A spark is a small drawing of counts over time with its sentence. It is two paths, however many steps it has, because a list draws
// many of them.
type spark struct {
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
	monthSteps = 30
	monthStep  = 24
)

// spark draws what was counted under one name, up to the step that this moment is in; nil where there was nothing.
func (r *rollup) spark(one *named, now time.Time, steps int, hours int64) *spark {
	if one == nil {
		return nil
	}
	last := (hourOf(now)/hours + 1) * hours
	first := last - int64(steps)*hours
	all, asked := make([]int, steps), make([]int, steps)
	s, most := &spark{Wide: steps * stepWide, Class: "allow"}, 0
	for h := max(first, 0); h < last; h++ {
		at := (h - first) / hours
		n, put := r.in(one, h)
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
		for n, part := range stacked(most, []string{"ask", "other"}, []int{asked[i], all[i] - asked[i]}) {
			to := &other
			if n == 0 && part.Class == "ask" {
				to = &put
			}
			fmt.Fprintf(to, "M%d %dh%dv%dh-%dz", i*stepWide, part.Y, stepWide-4, part.High, stepWide-4)
		}
	}
	s.Asked, s.Other = put.String(), other.String()
	return s
}

// Told is the same drawing with another number beside it.
func (s *spark) Told(n int) *spark {
	other := *s
	other.Says = comma(int64(n))
	return &other
}

// week draws an agent's week.
func (r *rollup) week(agent string, now time.Time) *spark {
	s := r.spark(r.agents[agent], now, weekSteps, weekStep)
	if s != nil {
		s.Says = fmt.Sprintf("%.1f questions a day", float64(s.Put)/7)
	}
	return s
}

// month draws a rule's month.
func (r *rollup) month(rule string, now time.Time) *spark {
	s := r.spark(r.rules[rule], now, monthSteps, monthStep)
	if s != nil {
		s.Says, s.Class = comma(int64(s.All))+" in 30 days", "deny"
	}
	return s
}

// between counts what was counted under one name from one time to another, in whole hours, and says in which it was last.
func (r *rollup) between(one *named, from, to time.Time) (all int, last time.Time) {
	if one == nil {
		return 0, last
	}
	begin, end := hourOf(from), hourOf(to)
	if end-begin >= rollupHours {
		begin = end - rollupHours + 1
	}
	for h := max(begin, 0); h <= end; h++ {
		if count, _ := r.in(one, h); count > 0 {
			all, last = all+count, time.Unix(h*3600, 0).UTC()
		}
	}
	return all, last
}
