package quorum

import (
	"sort"
	"time"

	"interlock"
)

// The bounds beyond which answers are no longer a check: people who decide in no time, who never say no, or who are asked
// all the time have stopped looking.
const (
	Hasty        = 3 * time.Second // an answer faster than this was hardly read
	enoughToTell = 10              // answers; below it nothing is said about them
	mostHasty    = 0.2             // share of hasty answers
	mostApproved = 0.98            // share of approvals
	mostPerHour  = 30              // answers by one operator
	enoughProbes = 5               // answers to probes; below it nothing is said about them
	mostMissed   = 0.3             // share of probes that were approved
)

// An Answered is one request as a human answered it.
type Answered struct {
	Operator string
	Verdict  interlock.Verdict
	Asked    time.Time
	At       time.Time
	Probe    bool // what was asked held an error on purpose; see [ProbeAction]
}

// AnsweredFrom takes from an APPROVAL event what [HealthOf] looks at.
func AnsweredFrom(r interlock.ApprovalRequest, a interlock.Approval) Answered {
	return Answered{Operator: a.Operator, Verdict: a.Verdict, Asked: r.Created, At: a.At, Probe: IsProbe(r)}
}

// Health says whether the humans in charge still decide. Shares are of all answers.
type Health struct {
	Answers  int           `json:"answers"`
	Median   time.Duration `json:"median_to_decide_ns"`
	Approved float64       `json:"approval_rate"`
	Hasty    float64       `json:"under_3s_rate"`
	Busiest  int           `json:"busiest_hour"`     // most answers by one operator within an hour
	Probes   int           `json:"probes,omitempty"` // answers to what held an error on purpose; not among the others
	Missed   int           `json:"probes_missed,omitempty"`
	Alarms   []string      `json:"alarms,omitempty"`
}

// HealthOf computes the figures of a number of answers, in any order. Answers by a code count for nobody in particular.
func HealthOf(answers []Answered) Health {
	var h Health
	answers, h.Probes, h.Missed = apart(answers)
	if h.Answers = len(answers); h.Answers == 0 {
		h.Alarms = alarms(h)
		return h
	}
	taken := make([]time.Duration, 0, len(answers))
	approved, hasty := 0, 0
	for _, a := range answers {
		took := max(a.At.Sub(a.Asked), 0)
		taken = append(taken, took)
		if a.Verdict == interlock.Allow {
			approved++
		}
		if took < Hasty {
			hasty++
		}
	}
	sort.Slice(taken, func(i, j int) bool { return taken[i] < taken[j] })
	h.Median = (taken[(len(taken)-1)/2] + taken[len(taken)/2]) / 2
	h.Approved, h.Hasty = float64(approved)/float64(len(answers)), float64(hasty)/float64(len(answers))
	h.Busiest = busiest(answers)
	h.Alarms = alarms(h)
	return h
}

// apart leaves out the answers to probes, and counts them.
func apart(answers []Answered) (real []Answered, probes, missed int) {
	for _, a := range answers {
		switch {
		case !a.Probe:
			real = append(real, a)
			continue
		case a.Verdict == interlock.Allow:
			missed++
		}
		probes++
	}
	return real, probes, missed
}

// busiest is the most answers one operator gave within an hour.
func busiest(answers []Answered) int {
	sorted := append([]Answered(nil), answers...)
	sort.SliceStable(sorted, func(i, j int) bool {
		if sorted[i].Operator != sorted[j].Operator {
			return sorted[i].Operator < sorted[j].Operator
		}
		return sorted[i].At.Before(sorted[j].At)
	})
	most, first := 0, 0
	for i, a := range sorted {
		for sorted[first].Operator != a.Operator || a.At.Sub(sorted[first].At) >= time.Hour {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func alarms(h Health) []string {
	var out []string
	if h.Probes >= enoughProbes && float64(h.Missed) > mostMissed*float64(h.Probes) {
		out = append(out, "more than three in ten errors that were seeded on purpose were approved: nobody looks closely")
	}
	if h.Answers < enoughToTell {
		return out
	}
	if h.Median < Hasty {
		out = append(out, "half of the answers came within three seconds: requests are not read")
	}
	if h.Hasty > mostHasty {
		out = append(out, "many answers came within three seconds: requests are hardly read")
	}
	if h.Approved > mostApproved {
		out = append(out, "nearly everything is approved: either the rules ask too much, or nobody looks")
	}
	if h.Busiest > mostPerHour {
		out = append(out, "one operator answered more within an hour than anybody can think about")
	}
	return out
}
