package admission_test

import (
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
)

// TestAgentsThatReasonWithAJudge: telemetry that names a judge's model, however it is called there, is an alert, once per agent and day;
// another model of the same provider is none.
func TestAgentsThatReasonWithAJudge(t *testing.T) {
	h := newHouse(t, func(c *admission.Config) {
		c.JudgeModels = []core.JudgeModel{{Judge: "far", Model: "claude-3-5-haiku-20241022"}, {Judge: "near", Model: "qwen3:8b"},
			{Judge: "own"}}
	})
	report := func(agent string, models ...string) int {
		t.Helper()
		before := h.count(interlock.EventAlert)
		if err := h.ReportModels(t.Context(), interlock.Requester{Agent: agent, Principal: "alice"}, models); err != nil {
			t.Fatal(err)
		}
		return h.count(interlock.EventAlert) - before
	}
	for _, other := range []string{"claude-3-5-sonnet-20241022", "claude-sonnet-4-5", "anthropic/claude-3-opus", "qwen3:32b", "qwen3", "", "gpt-5"} {
		if n := report("claude", other); n != 0 {
			t.Errorf("%q: %d alerts", other, n)
		}
	}
	same := []string{"claude-3-5-haiku-20241022", "claude-3-5-haiku", "anthropic/claude-3.5-haiku", "claude-3-5-haiku-latest",
		"Claude-3-5-Haiku@20241022",
		"us.anthropic.claude-3-5-haiku-20241022-v1:0", "openrouter/anthropic/claude-3.5-haiku", "ollama/qwen3:8b", "claude-3-5-haiku-2024-10-22[1m]"}
	for n, model := range same {
		if got := report("agent-"+string(rune('a'+n)), "gpt-5", model); got != 1 {
			t.Errorf("%q: %d alerts, want 1", model, got)
		}
	}
	if n := report("agent-a", same...); n != 1 {
		t.Errorf("%d alerts of one agent that was told of before, want 1, of the other judge", n)
	}
	h.ticks.Lock()
	h.now = h.now.Add(25 * time.Hour)
	h.ticks.Unlock()
	if n := report("agent-a", same[0]); n != 1 {
		t.Errorf("%d alerts the day after", n)
	}
}
