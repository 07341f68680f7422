package module

import (
	"encoding/json"
	"testing"

	"interlock/spec"
)

func TestTrustVectors(t *testing.T) {
	spec.Covers(t, "MACE-APT-1")
	right, wrong := Event{CouncilApproval, true}, Event{GroundTruth, false}
	timeout, failed := Event{Kind: Timeout}, Event{Kind: Exception}
	for _, v := range []struct {
		from string
		by   []Event
		want string
	}{
		{"0.500000000", []Event{right}, "0.599500000"},
		{"0.500000000", []Event{wrong}, "0.499500000"},
		{"0.800000000", []Event{timeout}, "0.549200000"},
		{"0.500000000", []Event{timeout, right}, "0.349250500"},
		{"0.500000000", []Event{right, failed}, "0.348900500"},
		{"0.950000000", []Event{right}, "1.000000000"},
		{"0.200000000", []Event{timeout}, "0.000000000"},
		{"0.000000500", []Event{wrong}, "0.000000500"}, // 499.5 to the even neighbour
		{"0.000001500", []Event{wrong}, "0.000001498"}, // 1498.5 likewise
		{"0.500000000", []Event{{Kind: Note}, {Kind: Feedback, Right: true}, {Kind: "NONE"}, {Kind: Success}}, "0.500000000"},
	} {
		var h Health
		if err := h.Trust.UnmarshalText([]byte(v.from)); err != nil {
			t.Fatal(err)
		}
		for _, e := range v.by {
			h = h.After(e)
		}
		if got := h.Trust.String(); got != v.want {
			t.Errorf("%s after %v is %s, not %s", v.from, v.by, got, v.want)
		}
	}
}

func TestTrustIsSpelledOneWay(t *testing.T) {
	text, err := json.Marshal(New())
	if err != nil || string(text) != `{"apt":"0.500000000","events":0,"consecutive_failures":0}` {
		t.Errorf("%s %v", text, err)
	}
	for _, wrong := range []string{"", "1", "0.5", "00.500000000", "1.000000001", "-0.500000000", "0.50000000a", "+.500000000", "0.5000000000"} {
		var v Value
		if err := v.UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q was read as %s", wrong, v)
		}
	}
}

func TestStatus(t *testing.T) {
	spec.Covers(t, "MACE-SR-1")
	known := Health{Trust: One, Events: MinEvents}
	with := func(change func(h *Health)) Health {
		h := known
		change(&h)
		return h
	}
	for name, v := range map[string]struct {
		h    Health
		held bool
		want Status
	}{
		"trusted":                   {known, false, Healthy},
		"at the threshold":          {with(func(h *Health) { h.Trust = Low }), false, Healthy},
		"below it":                  {with(func(h *Health) { h.Trust = Low - 1 }), false, Degraded},
		"one failure":               {with(func(h *Health) { h.Failures = 1 }), false, Degraded},
		"fresh":                     {New(), false, Degraded},
		"two failures":              {with(func(h *Health) { h.Failures = 2 }), false, Degraded},
		"three failures":            {with(func(h *Health) { h.Failures = 3 }), false, Offline},
		"at the block":              {with(func(h *Health) { h.Trust = Block }), false, Degraded},
		"below the block":           {with(func(h *Health) { h.Trust = Block - 1 }), false, Offline},
		"one event below it":        {Health{Trust: Block - 1, Events: 1}, false, Degraded},
		"however many failures":     {with(func(h *Health) { h.Failures, h.Trust = 1000, 0 }), false, Offline},
		"people have held it":       {known, true, Quarantined},
		"mended":                    {with(func(h *Health) { h.Failures = 2 }).After(Event{Kind: Success}), false, Healthy},
		"mended and not trusted":    {Health{Trust: Low - 1, Events: 9, Failures: 1}.After(Event{Kind: Success}), false, Degraded},
		"three failures from new":   {New().After(Event{Kind: Timeout}).After(Event{Kind: Exception}).After(Event{Kind: Timeout}), false, Offline},
		"two approvals from new":    {New().After(Event{CouncilApproval, true}).After(Event{CouncilApproval, true}), false, Healthy},
		"two rejections from new":   {New().After(Event{CouncilApproval, false}).After(Event{CouncilApproval, false}), false, Degraded},
		"released after quarantine": {known, false, Healthy},
	} {
		if got := v.h.Status(v.held); got != v.want {
			t.Errorf("%s: %s, not %s", name, got, v.want)
		}
		if why := v.h.Why(v.want); (why == "") != (v.want == Healthy) {
			t.Errorf("%s: why %q", name, why)
		}
	}
}

func TestAvailable(t *testing.T) {
	h := Health{Trust: 800_000_000, Events: 5}
	for _, v := range []struct {
		s     Status
		lacks bool
		want  string
	}{
		{Healthy, false, "0.800000000"}, {Healthy, true, "0.400000000"}, {Degraded, false, "0.480000000"}, {Degraded, true, "0.240000000"},
		{Offline, false, "0.000000000"}, {Quarantined, true, "0.000000000"}, {"", false, "0.000000000"},
	} {
		if got := h.Available(v.s, v.lacks).String(); got != v.want {
			t.Errorf("%s, lacks %v: %s, not %s", v.s, v.lacks, got, v.want)
		}
	}
}

func TestRetries(t *testing.T) {
	for seed, want := range map[string]int{"seed-0001": 0, "seed-100": 1, "seed-200": 0} {
		if got := Retries(seed); got != want {
			t.Errorf("%s is retried %d times, not %d", seed, got, want)
		}
	}
}
