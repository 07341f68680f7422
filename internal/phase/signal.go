package phase

import "interlock"

// A Severity says how grave a level of a signal is.
type Severity string

// The severities.
const (
	Informational Severity = "info"
	Warning       Severity = "warning"
	Critical      Severity = "critical"
)

// A Level is a value from which on a signal is told to people.
type Level struct {
	From     int // of [interlock.Signal.Badness]
	Severity Severity
}

// Bands are from which scores of anomaly and drift on people are told, their agent is isolated, and it is suspended. The zero value is
// those of [Bands.Levels]: of the two sets that MASO's documents name, that of its observability page.
type Bands struct{ Elevated, Alternate, Contingency int }

// Levels are a kind's levels, the lowest first. Those of context are MASO's (EC-1.9), and so are the bands of anomaly and drift:
// its documents name two sets, and these are the ones of its observability page, and 60 is in both. An alarm of a data-loss
// or fraud defence is critical as soon as it says anything, and an agent that is not healthy is once it no longer answers.
func (b Bands) Levels(kind interlock.SignalKind) []Level {
	switch kind {
	case interlock.SignalContext:
		return []Level{{70, Informational}, {85, Warning}, {95, Critical}}
	case interlock.SignalAnomaly, interlock.SignalDrift:
		if b != (Bands{}) {
			return []Level{{b.Elevated, Informational}, {b.Alternate, Warning}, {b.Contingency, Critical}}
		}
		return []Level{{40, Informational}, {60, Warning}, {80, Critical}}
	case interlock.SignalQuality:
		return []Level{{40, Informational}, {60, Warning}, {80, Critical}}
	case interlock.SignalDLP, interlock.SignalFraud:
		return []Level{{1, Critical}}
	case interlock.SignalHealth:
		return []Level{{50, Warning}, {100, Critical}}
	}
	return nil
}

// Reached is the highest level that a signal has reached, if any.
func (b Bands) Reached(s interlock.Signal) (level Level, any bool) {
	for _, l := range b.Levels(s.Kind) {
		if s.Badness() >= l.From {
			level, any = l, true
		}
	}
	return level, any
}

// Told says what is to be remembered as told after a signal, and whether people are to be told of it: of each level once, until the
// signal has come down to half of its lowest level.
func (b Bands) Told(before int, s interlock.Signal) (after int, tell bool) {
	level, any := b.Reached(s)
	switch {
	case any && level.From > before:
		return level.From, true
	case any:
		return before, false
	}
	if levels := b.Levels(s.Kind); len(levels) > 0 && 2*s.Badness() < levels[0].From {
		return 0, false
	}
	return before, false
}
