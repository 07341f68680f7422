package otlp

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// bounds are the upper bounds of the histogram of latencies, in seconds.
var bounds = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}

// A Tally counts decisions for a collector. It is safe for concurrent use.
type Tally struct {
	mutex  sync.Mutex
	counts map[[3]string]int64 // by verdict, answer and mode
	times  []uint64
	sum    float64
}

// Add counts a decision.
func (t *Tally) Add(verdict, answer, mode string, took time.Duration) {
	at, _ := slices.BinarySearch(bounds, took.Seconds())
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.counts == nil {
		t.counts, t.times = map[[3]string]int64{}, make([]uint64, len(bounds)+1)
	}
	t.counts[[3]string{verdict, answer, mode}]++
	t.times[at]++
	t.sum += took.Seconds()
}

// Metrics are the counts as metrics.
func (t *Tally) Metrics() []Metric {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	decisions := Metric{Name: "interlock.decisions", Unit: "{decision}", Says: "Decisions by verdict of the rules, answer given and mode."}
	for k, n := range t.counts { // order-independent: sorted below
		decisions.Samples = append(decisions.Samples, Sample{Labels: [][2]string{{"verdict", k[0]}, {"answer", k[1]}, {"mode", k[2]}}, Value: float64(n)})
	}
	slices.SortFunc(decisions.Samples, func(a, b Sample) int {
		return strings.Compare(a.Labels[0][1]+a.Labels[1][1]+a.Labels[2][1], b.Labels[0][1]+b.Labels[1][1]+b.Labels[2][1])
	})
	if t.counts == nil {
		return nil
	}
	return []Metric{decisions, {Name: "interlock.decision.duration", Unit: "s", Says: "Time to decide and record one action.", Bounds: bounds,
		Samples: []Sample{{Value: t.sum, Counts: slices.Clone(t.times)}}}}
}
