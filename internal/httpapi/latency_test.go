package httpapi

import (
	"testing"
	"time"

	"interlock"
)

// TestLatency: half of the decisions and 95 of 100 are told by the bounds they stayed within; without any, nothing is told.
func TestLatency(t *testing.T) {
	s := &Server{metrics: newMetrics(time.Now(), Build{}, nil)}
	if n, median, tail := s.Latency(); n != 0 || median != 0 || tail != 0 {
		t.Errorf("nothing decided: %d %v %v", n, median, tail)
	}
	for i := range 100 {
		took := 200 * time.Microsecond
		if i >= 94 {
			took = 40 * time.Millisecond
		}
		s.metrics.decision(interlock.KindShell, &interlock.Answer{}, took)
	}
	if n, median, tail := s.Latency(); n != 100 || median != 250*time.Microsecond || tail != 50*time.Millisecond {
		t.Errorf("%d %v %v", n, median, tail)
	}
	for range 3000 {
		s.metrics.decision(interlock.KindShell, &interlock.Answer{}, time.Minute)
	}
	if _, median, _ := s.Latency(); median != 5*time.Second {
		t.Errorf("slower than every bound: %v", median)
	}
}
