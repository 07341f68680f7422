package dataflow

import (
	"slices"
	"sort"
	"strings"
	"time"
)

// A Seed says what was compromised: one action, or whatever an agent did from a time on.
type Seed struct {
	Event string
	Agent string
	Since time.Time
}

// is says whether an action is what was compromised, and how sure that is.
func (s *Seed) is(a *Action) (sure Certainty, is bool) {
	switch {
	case s.Event != "":
		return Certain, a.Event == s.Event
	case a.Agent != s.Agent:
		return "", false
	case !a.At.Before(s.Since):
		return Certain, true
	}
	return Possible, a.Giving == GivingNothing && a.until().After(s.Since) // it was under way
}

// maxReasons bounds how many reasons of one action are kept.
const maxReasons = 3

// Downstream is what was compromised and everything after it that used, or may have used, what that left, in the order of the log.
func (l *Log) Downstream(seed Seed) []Reached {
	f := newFlow(l.Actions())
	for n, a := range f.actions {
		if sure, is := seed.is(a); is {
			f.reach(n, sure, Reason{})
			f.reached[n].Itself = true
		}
	}
	f.spread(Certain) // what is certain is found by certain steps alone, so it goes first
	for n := range f.actions {
		if f.reached[n] != nil {
			f.queue = append(f.queue, n)
		}
	}
	f.spread(Possible)
	var list []Reached
	for _, r := range f.reached {
		if r != nil {
			list = append(list, *r)
		}
	}
	return list
}

// A flow is a search for what is downstream.
type flow struct {
	actions []*Action
	touched []touched
	reached []*Reached
	queue   []int

	reads  index
	known  map[Context][]int          // actions by where what they read is known
	named  map[string][]int           // actions by the events that their agents say they use
	anyIn  map[string][]int           // actions that may have read whatever lies in a workspace
	files  map[string][]int           // actions that read any file, by workspace
	all    []int                      // actions that may have read whatever there is
	since  map[Context]int            // the first action downstream in a run
	tooled map[Context]map[string]int // how often a tool was called before, to say whether a value can only be of one call
}

func newFlow(actions []*Action) *flow {
	f := &flow{actions: actions, touched: make([]touched, len(actions)), reached: make([]*Reached, len(actions)),
		known: map[Context][]int{}, named: map[string][]int{}, anyIn: map[string][]int{}, files: map[string][]int{},
		since: map[Context]int{}, tooled: map[Context]map[string]int{}}
	for n, a := range actions {
		t := touches(a)
		f.touched[n] = t
		for _, read := range t.reads {
			f.reads.add(read, n)
		}
		for _, c := range a.contexts {
			f.known[c] = append(f.known[c], n)
			if f.tooled[c] == nil {
				f.tooled[c] = map[string]int{}
			}
			f.tooled[c][a.Tool]++
		}
		for _, event := range a.Uses {
			f.named[event] = append(f.named[event], n)
		}
		switch {
		case t.anywhere:
			f.all = append(f.all, n)
		case t.readsAny:
			f.anyIn[a.Workspace] = append(f.anyIn[a.Workspace], n)
		}
		if slices.ContainsFunc(t.reads, func(r touch) bool { return strings.HasPrefix(r.name, onDisk) }) || t.readsAny {
			f.files[a.Workspace] = append(f.files[a.Workspace], n)
		}
	}
	f.reads.sort()
	return f
}

// reach notes that an action is downstream, and has what it left looked for if that is news.
func (f *flow) reach(n int, sure Certainty, why Reason) {
	r := f.reached[n]
	if r == nil {
		r = &Reached{Action: f.actions[n], Sure: sure}
		f.reached[n] = r
		f.queue = append(f.queue, n)
	}
	if why.Why == "" || r.Itself || len(r.Because) >= maxReasons ||
		slices.ContainsFunc(r.Because, func(b Reason) bool { return b.From == why.From }) {
		return
	}
	r.Because = append(r.Because, why)
}

// spread goes on from what is in the queue by steps that are at least as sure.
func (f *flow) spread(least Certainty) {
	for len(f.queue) > 0 {
		n := f.queue[0]
		f.queue = f.queue[1:]
		f.from(n, least)
	}
}

// step is one use of what action n left by action m.
func (f *flow) step(n, m int, sure Certainty, least Certainty, why string) {
	if n == m {
		return
	}
	may, parallel := f.actions[m].after(f.actions[n])
	if !may {
		return
	}
	if parallel {
		sure = Possible
	}
	if least == Certain && (sure != Certain || f.reached[n].Sure != Certain) {
		return
	}
	f.reach(m, weaker(sure, f.reached[n].Sure), Reason{From: f.actions[n].Event, Sure: sure, Why: why})
}

// from looks for whatever used what one action left.
func (f *flow) from(n int, least Certainty) {
	a, t := f.actions[n], &f.touched[n]
	for _, m := range f.named[a.Event] {
		f.step(n, m, Certain, least, "its agent says that it uses this")
	}
	for _, wrote := range t.writes {
		f.reads.each(wrote.name, func(u use) {
			if sure, meets := wrote.covers(u.touch); meets {
				f.step(n, u.action, sure, least, "it read "+shown(u.name))
			}
		})
	}
	if a.Giving != GivingNothing {
		f.given(n, least)
	}
	if least == Certain {
		f.values(n)
		return
	}
	f.unknown(n)
	for _, c := range a.contexts {
		f.goesOn(n, c)
	}
}

// given follows what was given to a run: its work is its agent's from then on, and a result may have been looked at.
func (f *flow) given(n int, least Certainty) {
	a := f.actions[n]
	sure, why := Certain, "its work came of this"
	if a.Giving == GivingResult {
		sure, why = Possible, "what came of the run went back to it"
	}
	for _, m := range f.known[a.Gave] {
		if m > n {
			f.step(n, m, sure, least, why)
		}
	}
}

// values follows what a run was returned into the actions of the same run that hold a value of it. Where the tool was called more than
// once it may be another call's, and then that the run goes on says as much.
func (f *flow) values(n int) {
	a := f.actions[n]
	if a.Tool == "" {
		return
	}
	for _, c := range a.contexts {
		if f.tooled[c][a.Tool] != 1 {
			continue
		}
		for _, m := range f.known[c] {
			if m > n && f.actions[m].Source == a.Tool {
				f.step(n, m, Certain, Certain, "a value in it came from what this returned")
			}
		}
	}
}

// unknown follows what can't be known: what a program reads or writes that the analysis does not see through.
func (f *flow) unknown(n int) {
	a, t := f.actions[n], &f.touched[n]
	onFiles := slices.ContainsFunc(t.writes, func(w touch) bool { return strings.HasPrefix(w.name, onDisk) })
	if onFiles || t.writesAny {
		for _, m := range f.anyIn[a.Workspace] {
			f.step(n, m, Possible, Possible, "it ran something that may have read what this wrote")
		}
	}
	if len(t.writes) > 0 || t.writesAny {
		for _, m := range f.all {
			f.step(n, m, Possible, Possible, "nobody knows what it read")
		}
	}
	if t.writesAny {
		for _, m := range f.files[a.Workspace] {
			f.step(n, m, Possible, Possible, "it read files where this ran something that may have written them")
		}
	}
}

// goesOn follows what a run knows after it has read or heard something. Of several such actions in a run the first is enough.
func (f *flow) goesOn(n int, c Context) {
	if first, known := f.since[c]; known && first <= n {
		return
	}
	f.since[c] = n
	for _, m := range f.known[c] {
		if m > n {
			f.step(n, m, Possible, Possible, "the same run went on with what it knew by then")
		}
	}
}

// shown is a thing as people know it.
func shown(name string) string {
	for _, sort := range [][2]string{{onDisk, ""}, {onServer, "from the server of "}, {ofTable, "table "}, {aMessage, "message "}} {
		if rest, is := strings.CutPrefix(name, sort[0]); is {
			return sort[1] + rest
		}
	}
	return name
}

// A use is one action that reads a thing.
type use struct {
	touch
	action int
}

// An index finds who reads a thing, or something above or below it.
type index struct {
	names []string
	uses  map[string][]use
}

func (x *index) add(t touch, action int) {
	if x.uses == nil {
		x.uses = map[string][]use{}
	}
	if _, known := x.uses[t.name]; !known {
		x.names = append(x.names, t.name)
	}
	x.uses[t.name] = append(x.uses[t.name], use{t, action})
}

func (x *index) sort() { slices.Sort(x.names) }

func (x *index) each(name string, visit func(use)) {
	for _, u := range x.uses[name] {
		visit(u)
	}
	for above := name; ; {
		at := strings.LastIndexByte(above, '/')
		if at <= 0 {
			break
		}
		above = above[:at]
		for _, exact := range []string{above, above + "/"} {
			if exact != name {
				for _, u := range x.uses[exact] {
					visit(u)
				}
			}
		}
	}
	from := strings.TrimSuffix(name, "/") + "/"
	for at := sort.SearchStrings(x.names, from); at < len(x.names) && strings.HasPrefix(x.names[at], from); at++ {
		if x.names[at] != name {
			for _, u := range x.uses[x.names[at]] {
				visit(u)
			}
		}
	}
}
