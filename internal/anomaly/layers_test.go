package anomaly_test

import (
	"testing"
	"time"

	"interlock/internal/anomaly"
)

// TestGates: five minutes at more than twice the usual are slow, three failures are a degraded layer, and where most fails, or one
// decision hangs, it is down. What is fast stays fast enough, one bad minute is none, and so is an agent that is quiet.
func TestGates(t *testing.T) {
	const usual = 40 * time.Millisecond
	minute := func(mean time.Duration, decided, failed int) anomaly.Minute {
		return anomaly.Minute{Decided: decided, Failed: failed, Took: mean * time.Duration(decided), Longest: mean}
	}
	for name, c := range map[string]struct {
		minutes []anomaly.Minute
		want    int
		trigger string
	}{
		"as usual":                {[]anomaly.Minute{minute(usual, 100, 0), minute(usual, 100, 0)}, anomaly.Fine, ""},
		"slow for five minutes":   {[]anomaly.Minute{minute(90*time.Millisecond, 100, 0)}, anomaly.Degraded, "slow"},
		"somewhat slow":           {[]anomaly.Minute{minute(70*time.Millisecond, 100, 0)}, anomaly.Fine, ""},
		"slow, but hardly any":    {[]anomaly.Minute{minute(time.Second, 10, 0)}, anomaly.Fine, ""},
		"slow every other minute": {[]anomaly.Minute{minute(time.Second, 100, 0), minute(usual, 100, 0)}, anomaly.Fine, ""},
		"three failures":          {[]anomaly.Minute{minute(usual, 100, 1)}, anomaly.Degraded, "failing"},
		"a failure now and then": {[]anomaly.Minute{minute(usual, 100, 1), minute(usual, 100, 0), minute(usual, 100, 0),
			minute(usual, 100, 0)}, anomaly.Fine, ""},
		"most fails":               {[]anomaly.Minute{minute(usual, 30, 20)}, anomaly.Down, "failing"},
		"a few, and most of these": {[]anomaly.Minute{minute(usual, 1, 1), minute(usual, 1, 0), minute(usual, 1, 0)}, anomaly.Fine, ""},
		"one hangs":                {[]anomaly.Minute{{Decided: 1, Took: 30 * time.Second, Longest: 30 * time.Second}}, anomaly.Down, "failing"},
	} {
		var g anomaly.Gates
		at := int64(1000)
		for range 15 {
			one := minute(usual, 100, 0)
			one.At = at
			if state, why, _ := g.Add(one); state != anomaly.Fine {
				t.Fatalf("while it learns: %s", why)
			}
			at++
		}
		worst, trigger := anomaly.Fine, ""
		for n := range 12 {
			one := c.minutes[n%len(c.minutes)]
			one.At = at
			if state, _, by := g.Add(one); state > worst {
				worst, trigger = state, by
			}
			at++
		}
		if worst != c.want || trigger != c.trigger {
			t.Errorf("%s: %d by %q, want %d by %q", name, worst, trigger, c.want, c.trigger)
		}
	}
	var quick anomaly.Gates // two milliseconds instead of one
	for n := range 40 {
		mean := time.Millisecond
		if n > 15 {
			mean = 5 * time.Millisecond
		}
		one := minute(mean, 100, 0)
		one.At = int64(n)
		if state, why, _ := quick.Add(one); state != anomaly.Fine {
			t.Errorf("minute %d: %s", n, why)
		}
	}
}

// TestPeople: how long a question waits beside how long it may, how many wait beside how many do, and whether anybody is there.
func TestPeople(t *testing.T) {
	const within = 10 * time.Minute
	learned := func(usual int) *anomaly.People {
		p := &anomaly.People{}
		for n := range 60 {
			p.Add(anomaly.Queue{Waiting: usual}, monday.Add(time.Duration(n)*time.Minute))
		}
		return p
	}
	for name, c := range map[string]struct {
		people  *anomaly.People
		queue   anomaly.Queue
		want    int
		trigger string
	}{
		"nothing waits": {learned(0), anomaly.Queue{}, anomaly.Fine, ""},
		"it waits":      {learned(1), anomaly.Queue{Waiting: 1, Oldest: within, Within: within}, anomaly.Fine, ""},
		"half as long again": {learned(1), anomaly.Queue{Waiting: 1, Oldest: 16 * time.Minute, Within: within},
			anomaly.Degraded, "waiting"},
		"twice":                             {learned(1), anomaly.Queue{Waiting: 1, Oldest: 21 * time.Minute, Within: within}, anomaly.Down, "waiting"},
		"five times":                        {learned(1), anomaly.Queue{Waiting: 1, Oldest: 51 * time.Minute, Within: within}, anomaly.Gone, "waiting"},
		"for ever, where nobody says":       {learned(1), anomaly.Queue{Waiting: 1, Oldest: 51 * time.Hour}, anomaly.Fine, ""},
		"many":                              {learned(4), anomaly.Queue{Waiting: 13}, anomaly.Down, "queue"},
		"three times as many":               {learned(4), anomaly.Queue{Waiting: 12}, anomaly.Fine, ""},
		"few":                               {learned(1), anomaly.Queue{Waiting: 9}, anomaly.Fine, ""},
		"many, and nobody knows the usual":  {&anomaly.People{}, anomaly.Queue{Waiting: 90}, anomaly.Fine, ""},
		"nobody is there":                   {learned(1), anomaly.Queue{Waiting: 1, Nobody: true}, anomaly.Down, "nobody"},
		"nobody is there, and nobody asks":  {learned(1), anomaly.Queue{Nobody: true}, anomaly.Fine, ""},
		"a clock that runs backwards waits": {learned(1), anomaly.Queue{Waiting: 1, Oldest: -time.Hour, Within: within}, anomaly.Fine, ""},
	} {
		if state, why, trigger := c.people.Add(c.queue, monday.Add(2*time.Hour)); state != c.want || trigger != c.trigger {
			t.Errorf("%s: %d by %q (%s)", name, state, trigger, why)
		}
	}
}
