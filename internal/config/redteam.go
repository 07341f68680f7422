package config

import (
	"time"

	"interlock"
)

// A Redteam is how often this server attacks a throw-away home with its own rules, and with how many cases.
type Redteam struct {
	Every Duration `json:"every"`
	Cases int      `json:"cases"`
}

// What a schedule of red-team runs may be.
const (
	redteamCases   = 700
	redteamMost    = 20_000
	redteamSoonest = Duration(time.Hour)
)

// Filled is how many cases a run has.
func (r Redteam) Filled() int {
	if r.Cases == 0 {
		return redteamCases
	}
	return r.Cases
}

func (r Redteam) check() error {
	switch {
	case r.Every != 0 && r.Every < redteamSoonest:
		return interlock.Errorf(interlock.CodeInvalid, "redteam.every", "must be at least 1h: a run takes the processor for seconds")
	case r.Cases < 0 || r.Cases > redteamMost:
		return interlock.Errorf(interlock.CodeInvalid, "redteam.cases", "is from 1 to %d", redteamMost)
	}
	return nil
}

// oftener is the shorter of two schedules; none at all is the longest.
func oftener(base, want Duration) Duration {
	if want == 0 || base != 0 && base < want {
		return base
	}
	return want
}

// mostCases is the greater of two numbers of cases.
func mostCases(base, want int) int {
	if (Redteam{Cases: base}).Filled() > (Redteam{Cases: want}).Filled() {
		return base
	}
	return want
}
