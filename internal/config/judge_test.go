package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/config"
	"interlock/spec"
)

func TestJudge(t *testing.T) {
	c, err := config.Load(write(t, `
judge:
  rules: rules-of-ours.md
  canary: {every: 5m, deny: rm -rf /, allow: pwd}
  judges:
  - name: local
    wire: openai-chat
    url: http://127.0.0.1:11434/v1
    model: qwen3:8b
    answers_as: qwen3
    seed: 7
    omit: [format]
    timeout: 20s
    max_payload: 16KB
    max_answer_tokens: 200
    in_flight: 2
    waiting: 0
  - {name: far, wire: anthropic, url: https://api.anthropic.com, model: m-1, key: env:JUDGE_KEY, price_in: 0.15, price_out: 6, price_cached: 0,
     currency: USD, ca: /etc/ca.pem, proxy: "http://proxy:3128"}
  - {name: own, wire: command, command: [/opt/judge, --fast], sandbox: build}
  reasoning:
  - {url: https://api.anthropic.com, model: m-2, key: env:ANTHROPIC_API_KEY}
`), "")
	none, free := 0, 0.0
	want := config.Judge{Rules: "rules-of-ours.md", Canary: config.JudgeCanary{Every: config.Duration(5 * time.Minute), Deny: "rm -rf /", Allow: "pwd"},
		Judges: []config.JudgeModel{
			{Name: "local", Wire: "openai-chat", URL: "http://127.0.0.1:11434/v1", Model: "qwen3:8b", AnswersAs: "qwen3", Seed: 7,
				Omit: []string{"format"}, Timeout: config.Duration(20 * time.Second), MaxPayload: 16 << 10, MaxTokens: 200, InFlight: 2, Waiting: &none},
			{Name: "far", Wire: "anthropic", URL: "https://api.anthropic.com", Model: "m-1", Key: "env:JUDGE_KEY", PriceIn: 0.15, PriceOut: 6,
				PriceCached: &free, Currency: "USD", CA: "/etc/ca.pem", Proxy: "http://proxy:3128"},
			{Name: "own", Wire: "command", Command: []string{"/opt/judge", "--fast"}, Sandbox: "build"}},
		Reasoning: []config.ReasoningModel{{URL: "https://api.anthropic.com", Model: "m-2", Key: "env:ANTHROPIC_API_KEY"}}}
	if err != nil || cmp.Diff(want, c.Judge) != "" {
		t.Errorf("%v\n%s", err, cmp.Diff(want, c.Judge))
	}
	filled := config.JudgeModel{PriceIn: 2}.Filled()
	if filled.Timeout != config.JudgeTimeout || *filled.Waiting != config.JudgeWaiting || *filled.PriceCached != 2 || filled.MaxTokens == 0 {
		t.Errorf("%+v", filled)
	}
	if got := (config.Judge{}).RulesFile("/h"); got != "/h/ground-rules.md" {
		t.Error(got)
	}
}

// TestJudgeApart: a judge is not the model that it judges, nor pays with its credential, however the place is written.
func TestJudgeApart(t *testing.T) {
	spec.Covers(t, "ASA-9.1-1")
	file := func(judge, reasoning string) string {
		return "judge:\n  judges: [{name: one, wire: openai-chat, " + judge + "}]\n  reasoning: [{" + reasoning + "}]\n"
	}
	for _, c := range []struct{ judge, reasoning, want string }{
		{"url: https://api.example/v1, model: big-1", "url: https://api.example/v1, model: big-1", "judge.judges.one.model"},
		{"url: https://api.example:443/v1/, model: BIG-1", "url: https://API.example./other, model: big-1", "judge.judges.one.model"},
		{"url: http://127.0.0.1:8080, model: big-1", `url: "http://localhost:8080", model: big-1`, "judge.judges.one.model"},
		{"url: https://api.example, model: small, answers_as: big-1", "url: https://api.example, model: big-1", "judge.judges.one.model"},
		{"url: https://api.example, model: big-1", "model: big-1", "judge.judges.one.model"},
		{"url: https://api.example, model: small, key: env:KEY", "url: https://other.example, model: big-1, key: env:KEY", "judge.judges.one.key"},
		{"url: https://api.example, model: small, key: sk-plain-secret", "model: big-1", "judge.judges.one.key"},
		{"url: https://api.example, model: small", "url: https://api.example", "judge.reasoning"},
		{"url: https://api.example, model: small", "model: m, key: sk-plain-secret", "judge.reasoning"},
		{"url: https://api.example, model: small", "url: https://api.example, model: big-1", ""},
		{"url: https://api.example, model: big-1", "url: https://other.example, model: big-1", ""},
		{"url: http://127.0.0.1:8081, model: big-1", "url: http://127.0.0.1:8080, model: big-1", ""},
	} {
		_, err := config.Load(write(t, file(c.judge, c.reasoning)), "")
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sk-plain")) {
			t.Errorf("%s, %s: %v, want %q", c.judge, c.reasoning, err, c.want)
		}
	}
	for _, text := range []string{"judge: {judges: [{name: One}]}", "judge: {judges: [{wire: command}]}", "judge: {judges: [{name: a}, {name: a}]}",
		"judge: {judges: [{name: a, temperature: 1}]}", "judge: {canary: {every: 0s}}"} {
		if _, err := config.Load(write(t, text+"\n"), ""); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
