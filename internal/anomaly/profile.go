package anomaly

import (
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// A Profile is what is known of how one agent, or all of one type, behave. Of a type each slot is one instance's.
type Profile struct {
	Began  time.Time `json:"began"`
	Last   time.Time `json:"last"`
	Slot   Slot      `json:"slot"`
	Days   []Sum     `json:"days,omitempty"` // the rolling baseline, the oldest first
	Base   Sum       `json:"base"`           // how it began, which nothing changes once it is made of [BaseSlots]
	Hours  [24]int   `json:"hours"`          // slots by the hour of the day, in UTC
	Tools  []string  `json:"tools,omitempty"`
	Places []string  `json:"places,omitempty"`
	Runs   int       `json:"runs,omitempty"`   // orchestrations that have ended
	Usual  float64   `json:"usual,omitempty"`  // milliseconds one takes, on average
	Whole  int       `json:"whole,omitempty"`  // runs completed one after another without a word of doubt
	Agents int       `json:"agents,omitempty"` // of a type: its instances so far
}

// Clone is a profile that may be added to without changing this one.
func (p Profile) Clone() Profile {
	p.Days, p.Tools, p.Places = slices.Clone(p.Days), slices.Clone(p.Tools), slices.Clone(p.Places)
	p.Slot.Named, p.Slot.Probes = slices.Clone(p.Slot.Named), slices.Clone(p.Slot.Probes)
	for n := range p.Slot.Probes {
		p.Slot.Probes[n].Actions = slices.Clone(p.Slot.Probes[n].Actions)
	}
	return p
}

func slotOf(at time.Time) int64 { return at.Unix() / int64(SlotLength/time.Second) }
func dayOf(slot int64) int64    { return slot / int64(24*time.Hour/SlotLength) }

// Add adds one fact to what is known of an agent, and to what is known of its type; nil is no type. A fact of before the slot that runs
// counts in that: a clock that was set back makes nothing usual.
func (p *Profile) Add(f Fact, kind *Profile) {
	if p.Began.IsZero() {
		p.Began = f.At
		if kind != nil {
			kind.Agents++
		}
	}
	if f.Begin {
		p.Days, p.Base, p.Slot, p.Whole = nil, Sum{}, Slot{At: slotOf(f.At)}, 0
		return
	}
	if at := slotOf(f.At); at > p.Slot.At {
		p.close(kind)
		p.Slot = Slot{At: at}
		p.Hours[f.At.UTC().Hour()]++
	}
	if f.At.After(p.Last) {
		p.Last = f.At
	}
	if kind != nil && f.At.After(kind.Last) {
		kind.Last = f.At
		if kind.Began.IsZero() {
			kind.Began = f.At
		}
	}
	p.count(f)
	p.used(f.Tools, maxTools, func(p *Profile) *[]string { return &p.Tools }, kind)
	p.used(f.Places, maxPlaces, func(p *Profile) *[]string { return &p.Places }, kind)
	p.probed(f)
	p.ran(f)
}

// Closes reports whether a fact is of a later slot than the one that runs.
func (p *Profile) Closes(f Fact) bool { return slotOf(f.At) > p.Slot.At }

// count adds what a fact says of each metric.
func (p *Profile) count(f Fact) {
	one := func(m Metric, is bool) {
		if is {
			p.Slot.Of[m]++
		}
	}
	one(Actions, f.Decided)
	one(Refused, f.Refused)
	one(Failed, f.Failed)
	one(Messages, f.Message)
	p.Slot.Of[Cost] += float64(max(f.Cost, 0))
	p.Slot.Of[Data] += float64(max(f.Data, 0))
	if f.Took > 0 {
		p.Slot.Took += float64(f.Took) / float64(time.Millisecond)
		p.Slot.Timed++
	}
}

// close adds the slot that ran to the baselines. What was far beyond them is added as no more than twice the usual, so that an attack
// does not make itself usual.
func (p *Profile) close(kind *Profile) {
	s := p.Slot
	if s.At == 0 || s.Of[Actions] == 0 && s.Timed == 0 && s.Of[Failed] == 0 && s.Of[Messages] == 0 {
		return
	}
	usual, known := p.usual(kind)
	if p.lately().Slots < firstSlots {
		s.Of[New] = 0 // at the beginning everything is new
	}
	one := Sum{Day: dayOf(s.At), Slots: 1}
	for m := range metrics {
		x := s.Of[m]
		if known {
			x = min(x, 2*limitOf(usual.Of[m], usual.Slots, m.floor()))
		}
		one.Of[m] = Stat{}.with(x)
	}
	if s.Timed > 0 {
		ms := s.Took / float64(s.Timed)
		if usual.Timed >= Learning {
			ms = min(ms, 3*usual.Took.Sum/float64(usual.Timed))
		}
		one.Took, one.Timed = Stat{}.with(ms), 1
	}
	p.sum(one)
	if kind != nil {
		kind.sum(one)
	}
}

func (p *Profile) sum(one Sum) {
	if p.Base.Slots < BaseSlots {
		p.Base = p.Base.plus(one)
	}
	if n := len(p.Days); n > 0 && p.Days[n-1].Day >= one.Day {
		day := p.Days[n-1].Day
		p.Days[n-1] = p.Days[n-1].plus(one)
		p.Days[n-1].Day = day
		return
	}
	p.Days = append(p.Days, one)
	p.Days = p.Days[max(len(p.Days)-MaxDays, 0):]
}

// lately is the rolling baseline.
func (p *Profile) lately() (all Sum) {
	for _, d := range p.Days {
		all = all.plus(d)
	}
	return all
}

// Slots is of how many stretches of ten minutes the rolling baseline is made.
func (p *Profile) Slots() int { return p.lately().Slots }

// usual is what an agent is held against: itself or, where there is too little of it, its type.
func (p *Profile) usual(kind *Profile) (Sum, bool) {
	own := p.lately()
	if own.Slots >= Learning {
		return own, true
	}
	if kind != nil {
		if all := kind.lately(); all.Slots >= BaseSlots {
			return all, true
		}
	}
	return own, false
}

// limitOf is how much of a metric is still usual: the most there was, or three standard deviations above the mean.
func limitOf(s Stat, slots int, floor float64) float64 {
	n := float64(max(slots, 1))
	mean := s.Sum / n
	return max(s.Max, mean+3*math.Sqrt(max(s.Sq/n-mean*mean, 0)), floor)
}

// used remembers names, the last used at the end, and counts those that neither the agent nor its type had used.
func (p *Profile) used(names []string, most int, of func(*Profile) *[]string, kind *Profile) {
	for _, name := range names {
		name = shortened(name)
		if name == "" {
			continue
		}
		before := remember(of(p), name, most)
		if kind != nil {
			before = remember(of(kind), name, most) || before
		}
		if before {
			continue
		}
		p.Slot.Of[New]++
		if len(p.Slot.Named) < maxNamed {
			p.Slot.Named = append(p.Slot.Named, name)
		}
	}
}

// remember puts a name at the end of a list, and reports whether it was there. The one that was used longest ago goes first.
func remember(list *[]string, name string, most int) bool {
	at := slices.Index(*list, name)
	if at >= 0 {
		*list = slices.Delete(*list, at, at+1)
	}
	*list = append(*list, name)
	if over := len(*list) - most; over > 0 {
		*list = slices.Delete(*list, 0, over)
	}
	return at >= 0
}

// shortened is a name of bounded length.
func shortened(name string) string {
	if len(name) <= maxName {
		return name
	}
	for n := maxName; ; n-- {
		if utf8.RuneStart(name[n]) {
			return name[:n]
		}
	}
}

// ran adds how long an orchestration took, and how a run ended. One that took far longer than usual makes that no more usual.
func (p *Profile) ran(f Fact) {
	if f.Run > 0 {
		ms := float64(f.Run) / float64(time.Millisecond)
		if p.Runs >= minRuns && p.Usual > 0 {
			p.Slot.Long = max(p.Slot.Long, ms/max(p.Usual, minUsual))
			ms = min(ms, 3*p.Usual)
		}
		weight := float64(min(p.Runs, 19))
		p.Usual = (p.Usual*weight + ms) / (weight + 1)
		p.Runs++
	}
	switch {
	case f.Done && f.Whole && !f.Unsure:
		p.Whole++
	case f.Done, f.Failed:
		p.Whole = 0
	}
}
