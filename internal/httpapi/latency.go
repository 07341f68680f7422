package httpapi

import "time"

// Latency is how many decisions this server has made, and within which bounds half of them and 95 of 100 came: bounds of the
// histogram at /metrics. What took longer than all of them counts as the last.
func (s *Server) Latency() (decisions int64, median, tail time.Duration) {
	var counts [len(latencyBounds) + 1]int64
	for i := range counts {
		counts[i] = s.metrics.latency[i].Load()
		decisions += counts[i]
	}
	within := func(hundredths int64) time.Duration {
		sum := int64(0)
		for i, bound := range latencyBounds {
			if sum += counts[i]; sum*100 >= decisions*hundredths {
				return bound
			}
		}
		return latencyBounds[len(latencyBounds)-1]
	}
	if decisions == 0 {
		return 0, 0, 0
	}
	return decisions, within(50), within(95)
}
