package admission_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/spec"
)

func context85(value int) interlock.Signal {
	return interlock.Signal{Kind: interlock.SignalContext, Agent: "claude", Run: "run-1", Value: value, Reason: "token hunter2"}
}

// TestSignal: what an observer tells is recorded, people are told of each level once, and nothing that it says lets anything happen.
func TestSignal(t *testing.T) {
	spec.Covers(t, "EC-1.9")
	spec.Covers(t, "EC-T1.11")
	spec.Covers(t, "EC-ENV-16")
	h := newHouse(t)
	goesOn(t, h, "before", interlock.Allow)
	var told []int
	for _, value := range []int{50, 70, 72, 85, 84, 95, 99, 70} {
		answer, err := h.Signal(t.Context(), "meter", context85(value))
		if err != nil || answer.Event == "" || answer.Stopped {
			t.Fatalf("%d: %+v, %v", value, answer, err)
		}
		if answer.Told {
			told = append(told, value)
		}
	}
	if text, _ := json.Marshal(told); string(text) != "[70,85,95]" || h.count(interlock.EventSignal) != 8 || len(h.alerts) != 3 ||
		!strings.Contains(h.alerts[1], "warning") || !strings.Contains(h.alerts[2], "signal-context") {
		t.Errorf("told of %s, %d events, alerts %q", text, h.count(interlock.EventSignal), h.alerts)
	}
	if other, err := h.Signal(t.Context(), "meter", interlock.Signal{Kind: interlock.SignalContext, Agent: "claude", Run: "run-2",
		Value: 70}); err != nil || !other.Told {
		t.Errorf("another run: %+v, %v", other, err)
	}
	goesOn(t, h, "after signals about it", interlock.Allow)
	for name, s := range map[string]interlock.Signal{
		"/kind":   {Kind: "weather", Agent: "claude"},
		"/agent":  {Kind: interlock.SignalDrift, Agent: " "},
		"/value":  {Kind: interlock.SignalDrift, Agent: "claude", Value: 101},
		"/reason": {Kind: interlock.SignalDrift, Agent: "claude", Reason: strings.Repeat("x", 501)},
	} {
		if _, err := h.Signal(t.Context(), "meter", s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := h.Signal(t.Context(), "meter", interlock.Signal{Kind: interlock.SignalDrift, Agent: "claude", Value: -1}); err == nil {
		t.Error("less than nothing is taken")
	}
}

// TestToldOnce: however many signals come at once, people are told of a level once.
func TestToldOnce(t *testing.T) {
	spec.Covers(t, "EC-1.9")
	h := newHouse(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := h.Signal(t.Context(), "meter", context85(90)); err != nil {
				t.Error(err)
			}
		})
	}
	if all.Wait(); len(h.alerts) != 1 {
		t.Errorf("told %d times", len(h.alerts))
	}
}

// TestSignalKills: what the settings name stops everything once it is critical, and nothing else does.
func TestSignalKills(t *testing.T) {
	spec.Covers(t, "EC-ENV-22")
	h, throws := switched(t, func(c *admission.Config) {
		c.KillOn = []interlock.SignalKind{interlock.SignalFraud, interlock.SignalAnomaly}
	})
	for name, s := range map[string]interlock.Signal{
		"another kind":  {Kind: interlock.SignalDLP, Agent: "claude", Value: 100},
		"not so grave":  {Kind: interlock.SignalAnomaly, Agent: "claude", Value: 79},
		"not as it was": {Kind: interlock.SignalFraud, Agent: "claude", Value: 0},
	} {
		if answer, err := h.Signal(t.Context(), "desk", s); err != nil || answer.Stopped {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
	goesOn(t, h, "so far", interlock.Allow)
	answer, err := h.Signal(t.Context(), "desk", interlock.Signal{Kind: interlock.SignalAnomaly, Agent: "claude", Value: 80, Reason: "burst"})
	if err != nil || !answer.Stopped || answer.Severity != phase.Critical {
		t.Errorf("%+v, %v", answer, err)
	}
	goesOn(t, h, "then", interlock.Halt)
	if stop, thrown := throws.Thrown(); !thrown || stop.By != "desk" || !strings.Contains(stop.Why, "anomaly by claude: burst") {
		t.Errorf("%+v", stop)
	}
}

// TestObserversProposeNothing, whatever door they come through.
func TestObserversProposeNothing(t *testing.T) {
	h := newHouse(t)
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Observer: true, Trust: interlock.TrustCommunityReviewed,
		Created: h.now}); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git status"); a.Answer.Allowed() || !strings.Contains(a.Decisive().Reason, "observer") {
		t.Errorf("%v: %+v", a.Answer, a.Findings)
	}
}

// TestSignalsAreForgotten: what was told is remembered for a day and no longer.
func TestSignalsAreForgotten(t *testing.T) {
	body := ledger.SignalBody{Signal: context85(70), At: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	about, err := ledger.NewBook().About(body.Row())
	if err != nil || len(about.Marks) != 1 || about.Marks[0].At != body.At.Add(24*time.Hour).UnixNano() || about.Binds {
		t.Errorf("%+v, %v", about, err)
	}
}

// TestSignalsTighten: where an autonomy tier is in force, a signal moves its agent to a stricter phase or opens its breaker, and never
// back; without one people are told, and that is all.
func TestSignalsTighten(t *testing.T) {
	spec.Covers(t, "EC-I-2")
	for _, test := range []struct {
		signal  interlock.Signal
		tier    int
		on      string
		verdict interlock.Verdict
	}{
		{interlock.Signal{Kind: interlock.SignalDrift, Value: 60}, 2, "agent:claude", interlock.Deny},
		{interlock.Signal{Kind: interlock.SignalDrift, Value: 59}, 2, "", interlock.Allow},
		{interlock.Signal{Kind: interlock.SignalDrift, Value: 99}, 1, "", interlock.Allow},
		{interlock.Signal{Kind: interlock.SignalAnomaly, Value: 80}, 3, "agent:claude", interlock.Deny},
		{interlock.Signal{Kind: interlock.SignalContext, Value: 85}, 2, "agent:claude", interlock.Deny},
		{interlock.Signal{Kind: interlock.SignalContext, Value: 99}, 1, "", interlock.Allow},
		{interlock.Signal{Kind: interlock.SignalQuality, Value: 40}, 1, "breaker:agent:claude", interlock.Deny},
		{interlock.Signal{Kind: interlock.SignalQuality, Value: 41}, 1, "", interlock.Allow},
		{interlock.Signal{Kind: interlock.SignalFraud, Value: 1}, 1, "agent:claude", interlock.Halt},
		{interlock.Signal{Kind: interlock.SignalDLP, Value: 1}, 0, "", interlock.Allow},
		{interlock.Signal{Kind: interlock.SignalHealth, Value: 0}, 3, "", interlock.Allow},
	} {
		h := newHouse(t, atTier(t, test.tier))
		test.signal.Agent = "claude"
		answer, err := h.Signal(t.Context(), "observer", test.signal)
		if err != nil || answer.Tightened != test.on {
			t.Errorf("%+v at tier %d: %+v, %v", test.signal, test.tier, answer, err)
		}
		goesOn(t, h, string(test.signal.Kind), test.verdict)
		well := test.signal
		well.Value = map[bool]int{true: 100, false: 0}[well.Kind == interlock.SignalQuality || well.Kind == interlock.SignalHealth]
		if _, err := h.Signal(t.Context(), "observer", well); err != nil {
			t.Fatal(err)
		}
		goesOn(t, h, "all is well with "+string(test.signal.Kind), test.verdict)
	}
}
