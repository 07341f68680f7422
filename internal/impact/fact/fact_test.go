package fact

import (
	"fmt"
	"strings"
	"testing"

	"interlock"

	"github.com/google/go-cmp/cmp"
)

func impact(target string) interlock.Impact {
	return interlock.Impact{Kind: interlock.ImpactDelete, Target: target, Reach: interlock.ReachWorkspace, Reversibility: interlock.Irreversible}
}

// A payload that is over a bound is not read, and that it was not read is said.
func TestPayloadsOverABoundAreSaid(t *testing.T) {
	for _, c := range []struct{ name, input, trait string }{
		{"too long", strings.Repeat("a", MaxInput+1), TraitOversize},
		{"no text", "a\xff", TraitEncoding},
		{"as long as may be", strings.Repeat("a", MaxInput), ""},
	} {
		read := 0
		s := Collector{Read: func(interlock.Kind, string) { read++ }}
		s.Nested(interlock.KindShell, c.input)
		switch {
		case c.trait == "" && (read != 1 || len(s.Impacts) > 0):
			t.Errorf("%s: read %d times, %+v", c.name, read, s.Impacts)
		case c.trait != "" && (read != 0 || len(s.Impacts) != 1 || s.Impacts[0].Confidence != interlock.Unknown || !s.Impacts[0].Has(c.trait)):
			t.Errorf("%s: read %d times, %+v", c.name, read, s.Impacts)
		}
		if s.Depth != 0 {
			t.Errorf("%s: %d payloads were never left", c.name, s.Depth)
		}
	}
}

// Payloads inside payloads end, and where they end is said once.
func TestNestingEnds(t *testing.T) {
	read := 0
	var s Collector
	s.Read = func(kind interlock.Kind, input string) {
		read++
		s.Nested(kind, input)
	}
	s.Nested(interlock.KindShell, "ls")
	if read != MaxDepth || len(s.Impacts) != 1 || !s.Impacts[0].Has(TraitNested) || s.Depth != 0 {
		t.Errorf("read %d times, then depth %d and %+v", read, s.Depth, s.Impacts)
	}
}

// Impacts over the bound are not kept, but the work is over then, which whoever reads on sees; what is unknown is always kept.
func TestTooManyImpactsAreNotPassedOver(t *testing.T) {
	var s Collector
	for n := range MaxImpacts + 10 {
		s.Work = 0
		s.Add(impact(fmt.Sprint(n)))
	}
	if len(s.Impacts) != MaxImpacts {
		t.Errorf("%d impacts are kept", len(s.Impacts))
	}
	if s.Spend(0) {
		t.Error("impacts were left out, and the work bound says that all was read")
	}
	if s.Unknown("shell", TraitNested); !s.Impacts[len(s.Impacts)-1].Has(TraitNested) {
		t.Error("that something is unknown was left out")
	}
}

// An impact stands once, with its traits in order and a confidence.
func TestImpactsStandOnce(t *testing.T) {
	var s Collector
	one := impact("a")
	one.Traits = []string{"recursive", "force", "recursive"}
	s.Add(one)
	other := impact("a")
	other.Traits = []string{"force", "recursive"}
	s.Add(other)
	s.Add(impact("a"))
	if len(s.Impacts) != 2 {
		t.Fatalf("%+v", s.Impacts)
	}
	if diff := cmp.Diff([]string{"force", "recursive"}, s.Impacts[0].Traits); diff != "" || s.Impacts[0].Confidence != interlock.Parsed {
		t.Errorf("%s, confidence %q", diff, s.Impacts[0].Confidence)
	}
}

func TestTextsStandOnce(t *testing.T) {
	var s Collector
	for range 3 {
		s.Executes(interlock.KindShell, "ls")
	}
	s.Executes(interlock.KindSQL, "ls")
	if len(s.Texts) != 2 {
		t.Errorf("%+v", s.Texts)
	}
}

func TestSpend(t *testing.T) {
	var s Collector
	if !s.Spend(MaxWork) || s.Spend(1) {
		t.Errorf("%d steps are within the bound of %d, one more is not", MaxWork, MaxWork)
	}
}

// The tree of an explanation notes where an impact was first found, and ends.
func TestTraceEnds(t *testing.T) {
	root := &Traced{}
	tracer := &Tracer{Root: root, At: root, Arose: map[Arising]*Traced{}}
	s := Collector{Trace: tracer, Read: func(interlock.Kind, string) {}}
	for n := range maxTraced + 50 {
		s.Nested(interlock.KindShell, fmt.Sprint(n))
	}
	if tracer.At != root || len(root.inner) != maxTraced {
		t.Errorf("%d steps are noted", len(root.inner))
	}
	tracer.full = 0
	s.Read = func(interlock.Kind, string) { s.Add(impact("x")) }
	tracer.steps = 0
	s.Nested(interlock.KindShell, "rm x")
	s.Nested(interlock.KindShell, "rm x again")
	if at := tracer.Arose[ArisingOf(s.Impacts[0])]; at == nil || at.Step.Text != "rm x" {
		t.Errorf("the impact is said to arise in %+v", at)
	}
}
