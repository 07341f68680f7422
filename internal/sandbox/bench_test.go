//go:build linux

package sandbox_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"interlock/internal/sandbox"
)

// BenchmarkStart measures a program that does nothing: alone, in bubblewrap's least, in a sandbox, and in one with a
// throw-away copy, in turn, so that all have the same weather. The budget is 15 ms more than alone, at the median.
func BenchmarkStart(b *testing.B) {
	plain := func() error { return exec.Command("true").Run() }
	bare := func() error {
		return exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "true").Run()
	}
	direct := newBox(b)
	layered := newBox(b)
	layered.spec.Overlay, layered.spec.Self = true, self(b)
	boxed := func(x *box) func() error {
		return func() error {
			x.spec.Argv = []string{"true"}
			_, err := sandbox.Run(b.Context(), x.spec)
			return err
		}
	}
	kinds := []struct {
		name string
		run  func() error
		took []time.Duration
	}{{"plain", plain, nil}, {"bubblewrap", bare, nil}, {"sandbox", boxed(direct), nil}, {"overlay", boxed(layered), nil}}
	for b.Loop() {
		for i := range kinds {
			begin := time.Now()
			if err := kinds[i].run(); err != nil {
				b.Fatal(err)
			}
			kinds[i].took = append(kinds[i].took, time.Since(begin))
		}
	}
	var first float64
	for i, kind := range kinds {
		slices.Sort(kind.took)
		p50 := float64(kind.took[len(kind.took)/2].Microseconds()) / 1000
		p99 := float64(kind.took[len(kind.took)*99/100].Microseconds()) / 1000
		b.ReportMetric(p50, kind.name+"-p50-ms")
		b.ReportMetric(p99, kind.name+"-p99-ms")
		if i == 0 {
			first = p50
		} else {
			b.ReportMetric(p50/first, kind.name+"-x-plain")
		}
	}
	b.ReportMetric(0, "ns/op")
}
