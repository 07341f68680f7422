package anomaly

import (
	"fmt"
	"math"
	"strings"
)

// When something is an anomaly by itself, whatever the rest says.
const (
	alarmFrom    = 0.5  // of a dimension: twice what is usual
	timesLatency = 10.0 // as long as usual (MASO's pitfalls)
	minRuns      = 5    // orchestrations before one can be long
	minUsual     = 2000 // milliseconds that an orchestration is taken to last at least
	minTook      = 200  // likewise an action
	minVariants  = 10   // different reads of one pattern that went wrong within a slot
	minWhole     = 10   // runs completed one after another without a word of doubt
	minPeers     = 3    // agents of a type before others of it are compared
	graveNew     = 4    // new tools and hosts within a slot, before they are more than something new
	minDays      = 3    // before an hour of the day can be unusual
)

// A Dimension is one of the things that a score is made of.
type Dimension struct {
	Name   string  `json:"dimension"`
	Weight float64 `json:"weight"` // as its document says; they come to 1.10 and are held against what they come to
	Value  float64 `json:"value"`  // from 0, as usual, to 1
	Known  bool    `json:"known"`  // there is something to compare; what is not known is left out
	Why    string  `json:"why,omitempty"`
}

// The names of dimensions, which are codes of alarms as well.
const (
	DimTools    = "tools"
	DimQuality  = "quality"
	DimLatency  = "latency"
	DimMessages = "messages"
	DimErrors   = "errors"
	DimContent  = "content"
	DimCost     = "cost"
	DimTemporal = "temporal"
	DimPeers    = "peers"
	DimContext  = "context"
)

// Weights are those of MASO's observability page, in its order. They come to 1.10.
func Weights() []Dimension {
	return []Dimension{{Name: DimTools, Weight: .15}, {Name: DimQuality, Weight: .20}, {Name: DimLatency, Weight: .05},
		{Name: DimMessages, Weight: .10}, {Name: DimErrors, Weight: .10}, {Name: DimContent, Weight: .15}, {Name: DimCost, Weight: .05},
		{Name: DimTemporal, Weight: .10}, {Name: DimPeers, Weight: .10}, {Name: DimContext, Weight: .10}}
}

// An Alarm is one dimension that is an anomaly by itself.
type Alarm struct {
	Code string `json:"code"`
	Says string `json:"says"`
}

// A Score says how unusual what an agent does is.
type Score struct {
	Value  int         `json:"score"` // 0 to 100
	Of     []Dimension `json:"of"`
	Drift  int         `json:"drift"` // how far it has moved from how it began, 0 to 100
	Moved  string      `json:"moved,omitempty"`
	Alarms []Alarm     `json:"alarms,omitempty"`
	Grave  string      `json:"grave,omitempty"` // why both together are what an attack looks like: refusals spike, and access is unusual
}

// Told is what observers say of an agent: the newest of each kind, nil where nobody says anything.
type Told struct {
	Quality *int // 0 to 100, how good
	Context *int // percent of the window
}

// Score holds the slot that runs against what is usual. Nothing is scored before there is something to hold it against.
func (p *Profile) Score(kind *Profile, told Told) (s Score) {
	s.Of = Weights()
	usual, known := p.usual(kind)
	for n := range s.Of {
		d := &s.Of[n]
		switch d.Name {
		case DimTools:
			p.metric(d, usual, known, New)
			if len(p.Slot.Named) > 0 && d.Known {
				d.Why += " (" + strings.Join(p.Slot.Named, ", ") + ")"
			}
		case DimQuality:
			p.quality(d, told)
		case DimLatency:
			p.latency(d, usual)
		case DimMessages:
			p.metric(d, usual, known && usual.Of[Messages].Max+p.Slot.Of[Messages] > 0, Messages)
		case DimErrors:
			p.metric(d, usual, known && usual.Timed+p.Slot.Timed > 0 || known && usual.Of[Failed].Max+p.Slot.Of[Failed] > 0, Failed)
		case DimContent:
			p.content(d, usual, known)
		case DimCost:
			p.metric(d, usual, known, Actions, Cost, Data)
		case DimTemporal:
			p.temporal(d)
		case DimPeers:
			p.peers(d, kind)
		case DimContext:
			if told.Context != nil {
				d.Known, d.Value = true, clamp((float64(*told.Context)-50)/45)
				d.Why = fmt.Sprintf("%d %% of its context window is used", *told.Context)
			}
		}
	}
	s.Value = weighed(s.Of)
	s.Drift, s.Moved = p.drift()
	s.Alarms = p.alarms(s.Of)
	s.Grave = p.grave(s.Of, usual, known)
	return s
}

// grave is why refusals that spike beside unusual access are more than the sum of both: either alone is somebody who is wrong about
// something, or who does something new.
func (p *Profile) grave(of []Dimension, usual Sum, known bool) string {
	for _, d := range of {
		if d.Name == DimContent && d.Value < 1 {
			return ""
		}
	}
	switch {
	case !known:
	case excess(p.Slot.Of[Data], limitOf(usual.Of[Data], usual.Slots, Data.floor())) >= alarmFrom:
		return "refusals spike while it reads far more than usual"
	case excess(p.Slot.Of[New], limitOf(usual.Of[New], usual.Slots, New.floor())) >= 1 && p.Slot.Of[New] >= graveNew:
		return "refusals spike while it reaches for one new tool or host after another"
	}
	return ""
}

// leastWeight is what known dimensions are held against at least: one of them alone, such as how full a context is, says little about how
// unusual everything is, and has bounds of its own.
const leastWeight = .30

// weighed is the sum of what is known by weight, held against what those weights come to.
func weighed(of []Dimension) int {
	sum, weights := 0.0, 0.0
	for _, d := range of {
		if d.Known {
			sum, weights = sum+d.Weight*clamp(d.Value), weights+d.Weight
		}
	}
	return int(math.Round(100 * sum / max(weights, leastWeight)))
}

func clamp(x float64) float64 { return min(max(x, 0), 1) }

// excess is how far something is above what is usual: nothing up to that, and everything from three times as much on.
func excess(x, limit float64) float64 { return clamp((x/limit - 1) / 2) }

// metric is the worst of some metrics.
func (p *Profile) metric(d *Dimension, usual Sum, known bool, of ...Metric) {
	if !known {
		return
	}
	d.Known = true
	for _, m := range of {
		limit := limitOf(usual.Of[m], usual.Slots, m.floor())
		if v := excess(p.Slot.Of[m], limit); v > d.Value {
			d.Value = v
			d.Why = fmt.Sprintf("%.0f %s within ten minutes, of which %.0f are usual at most", p.Slot.Of[m], m, math.Floor(limit))
		}
	}
}

func (p *Profile) quality(d *Dimension, told Told) {
	if told.Quality != nil {
		d.Known, d.Value = true, clamp(float64(100-*told.Quality)/100)
		d.Why = fmt.Sprintf("an observer rates what it puts out at %d", *told.Quality)
	}
	if p.Whole >= minWhole {
		d.Known = true
		if d.Value < alarmFrom {
			d.Value = alarmFrom
			d.Why = fmt.Sprintf("%d runs one after another were completed without a word of what is uncertain", p.Whole)
		}
	}
}

// latency is how many times as long as usual actions, or an orchestration, took: ten times is an anomaly.
func (p *Profile) latency(d *Dimension, usual Sum) {
	if usual.Timed >= Learning && p.Slot.Timed > 0 {
		times := p.Slot.Took / float64(p.Slot.Timed) / max(usual.Took.Sum/float64(usual.Timed), minTook)
		d.Known, d.Value = true, clamp((times-1)/(timesLatency-1))
		if d.Value > 0 {
			d.Why = fmt.Sprintf("what it does takes %.1f times as long as usual", times)
		}
	}
	if p.Slot.Long > 0 {
		d.Known = true
		if v := clamp((p.Slot.Long - 1) / (timesLatency - 1)); v > d.Value {
			d.Value, d.Why = v, fmt.Sprintf("an orchestration took %.1f times as long as usual", p.Slot.Long)
		}
	}
}

// content is what it was refused, and whether it tries one name after another.
func (p *Profile) content(d *Dimension, usual Sum, known bool) {
	p.metric(d, usual, known, Refused)
	if n := p.variants(); n >= minVariants {
		d.Known, d.Value = true, 1
		d.Why = probing(n)
	}
}

func probing(n int) string {
	return fmt.Sprintf("%d reads within ten minutes that went wrong differ in one word alone: it tries one name after another", n)
}

// temporal is whether it works at an hour of the day at which it never does.
func (p *Profile) temporal(d *Dimension) {
	if len(p.Days) < minDays || p.Slot.At == 0 {
		return
	}
	hour, all := int(p.Slot.At/6)%24, 0
	for _, n := range p.Hours {
		all += n
	}
	if all < BaseSlots {
		return
	}
	near := p.Hours[hour] + p.Hours[(hour+1)%24] + p.Hours[(hour+23)%24]
	d.Known = true
	if near <= 6 && float64(near) < 0.02*float64(all) { // the slots of this hour are among them
		d.Value, d.Why = 1, fmt.Sprintf("it hardly ever works at %02d UTC", hour)
	}
}

// peers is how much it does beside others of its type.
func (p *Profile) peers(d *Dimension, kind *Profile) {
	if kind == nil || kind.Agents < minPeers {
		return
	}
	if all := kind.lately(); all.Slots >= BaseSlots {
		p.metric(d, all, true, Actions, Refused, Failed, Messages, Cost, Data)
		if d.Value > 0 {
			d.Why += " of its type"
		}
	}
}

// drift is how far the last day is from how it began, in standard deviations: two are worth a look, four isolate it, eight suspend it.
// It is held against what never changes, so that many small steps come to a large one.
func (p *Profile) drift() (score int, moved string) {
	if p.Base.Slots < BaseSlots || len(p.Days) == 0 {
		return 0, ""
	}
	day := p.Days[len(p.Days)-1]
	if day.Slots < 6 {
		return 0, ""
	}
	for m := range New {
		n := float64(p.Base.Slots)
		mean := p.Base.Of[m].Sum / n
		deviation := max(math.Sqrt(max(p.Base.Of[m].Sq/n-mean*mean, 0)), mean/4, m.floor()/8)
		is := day.Of[m].Sum / float64(day.Slots)
		z := (is - mean) / deviation
		v := 20 * z
		if z > 2 {
			v = 40 + 20*math.Log2(z/2)
		}
		if v := int(math.Round(100 * clamp(v/100))); v > score {
			score, moved = v, fmt.Sprintf("%.1f %s in ten minutes on average, %.1f when it began", is, m, mean)
		}
	}
	return score, moved
}

// alarms are the dimensions that are anomalies by themselves. What observers tell has alarms of its own, and the hour of the day none.
func (p *Profile) alarms(of []Dimension) (list []Alarm) {
	for _, d := range of {
		switch d.Name {
		case DimTemporal, DimContext:
			continue
		case DimLatency, DimContent: // two refusals in ten minutes may be anybody's
			if d.Value < 1 {
				continue
			}
		}
		if d.Known && d.Value >= alarmFrom && (d.Name != DimQuality || p.Whole >= minWhole) {
			list = append(list, Alarm{Code: d.Name, Says: d.Why})
		}
	}
	return list
}
