package anomaly

import "time"

// How layers of control are watched.
const (
	slowTimes    = 2.0
	slowMinutes  = 5
	slowAtLeast  = 50.0 // milliseconds: what is fast stays fast enough when it takes twice as long
	gateLearning = 10   // minutes
	gateCount    = 20   // decisions in a minute, before it says anything
	gateFailures = 3
	hangs        = 30 * time.Second
	queueTimes   = 3.0
	queueLeast   = 10
	queueLearns  = 60 // minutes
)

// Gates is how fast the gates decide, minute by minute, and how often they could not.
type Gates struct {
	Usual   float64  `json:"usual,omitempty"` // milliseconds
	Minutes int      `json:"minutes,omitempty"`
	Slow    int      `json:"slow,omitempty"` // minutes one after another
	Last    []Minute `json:"last,omitempty"` // five at most
}

// A Minute is what the gates did in one minute.
type Minute struct {
	At      int64         `json:"at"` // since 1970
	Decided int           `json:"decided"`
	Failed  int           `json:"failed,omitempty"`
	Took    time.Duration `json:"took_ns"` // all of them
	Longest time.Duration `json:"longest_ns,omitempty"`
}

// What layers come to.
const (
	Fine = iota
	Degraded
	Down
	Gone
)

// Add adds what was decided since the last time, and says what the layer has come to and why.
func (g *Gates) Add(m Minute) (state int, why, trigger string) {
	if n := len(g.Last); n > 0 && g.Last[n-1].At >= m.At {
		last := &g.Last[n-1]
		last.Decided, last.Failed, last.Took = last.Decided+m.Decided, last.Failed+m.Failed, last.Took+m.Took
		last.Longest = max(last.Longest, m.Longest)
	} else {
		if n > 0 {
			g.over(g.Last[n-1])
		}
		g.Last = append(g.Last, m)
		for len(g.Last) > 0 && m.At-g.Last[0].At >= slowMinutes {
			g.Last = g.Last[1:]
		}
	}
	decided, failed, longest := 0, 0, time.Duration(0)
	for _, one := range g.Last {
		decided, failed, longest = decided+one.Decided, failed+one.Failed, max(longest, one.Longest)
	}
	switch {
	case longest >= hangs:
		return Down, "a decision took thirty seconds", "failing"
	case decided >= gateCount && 2*failed > decided:
		return Down, "more than half of the decisions failed within five minutes", "failing"
	case failed >= gateFailures:
		return Degraded, "decisions failed within five minutes", "failing"
	case g.Slow >= slowMinutes:
		return Degraded, "decisions take more than twice as long as usual for five minutes", "slow"
	}
	return Fine, "", ""
}

// over learns from a minute that is over.
func (g *Gates) over(m Minute) {
	if m.Decided < gateCount {
		return
	}
	mean := float64(m.Took) / float64(time.Millisecond) / float64(m.Decided)
	if g.Minutes >= gateLearning && mean > max(slowTimes*g.Usual, slowAtLeast) {
		g.Slow++
		return
	}
	g.Slow = 0
	weight := float64(min(g.Minutes, 119))
	g.Usual = (g.Usual*weight + mean) / (weight + 1)
	g.Minutes++
}

// People is how much waits for people.
type People struct {
	Usual  float64 `json:"usual,omitempty"`  // questions that wait
	Looked int     `json:"looked,omitempty"` // minutes in which it was looked
	At     int64   `json:"at,omitempty"`
}

// A Queue is what waits for people now.
type Queue struct {
	Waiting int
	Oldest  time.Duration // for how long the one has waited that has waited longest
	Within  time.Duration // they are to be answered; 0: nobody says
	Nobody  bool          // no operator is in office
}

// Add looks at the queue, and says what the layer has come to and why.
func (p *People) Add(q Queue, now time.Time) (state int, why, trigger string) {
	usual, known := p.Usual, p.Looked >= queueLearns
	longer := known && q.Waiting >= queueLeast && float64(q.Waiting) > queueTimes*max(usual, 1)
	if minute := now.Unix() / 60; minute > p.At {
		p.At = minute
		if !longer {
			weight := float64(min(p.Looked, 10_079)) // a week
			p.Usual = (p.Usual*weight + float64(q.Waiting)) / (weight + 1)
			p.Looked++
		}
	}
	over := func(tenths time.Duration) bool { return q.Within > 0 && q.Oldest*10 > q.Within*tenths }
	switch {
	case over(50):
		return Gone, "a question has waited five times as long as it may", "waiting"
	case q.Nobody && q.Waiting > 0:
		return Down, "questions wait and no operator is in office", "nobody"
	case over(20):
		return Down, "a question has waited twice as long as it may", "waiting"
	case longer:
		return Down, "more than three times as many questions wait as usual", "queue"
	case over(15):
		return Degraded, "a question has waited half as long again as it may", "waiting"
	}
	return Fine, "", ""
}
