package config_test

import (
	"strings"
	"testing"
	"time"

	"interlock/internal/config"
)

// TestJudgeBudgets: what judges may cost is read exactly, and what nobody could keep to is refused with its field.
func TestJudgeBudgets(t *testing.T) {
	judge := "judge:\n  judges: [{name: one, wire: openai-chat, url: https://a.example, model: m, currency: USD}]\n"
	for _, c := range []struct{ text, want string }{
		{"  budgets: [{name: day, most: USD 5, window: 24h}]", ""},
		{"  budgets: [{name: day, most: USD 0.000001, per: agent}, {name: all, most: USD 100}]", ""},
		{"  budgets: [{name: day, most: USD 5, window: 24h, per: team}]", "judge.budgets.day.per"},
		{"  budgets: [{name: Day, most: USD 5}]", "judge.budgets.name"},
		{"  budgets: [{name: day, most: USD 5}, {name: day, most: USD 6}]", "judge.budgets.name"},
		{"  budgets: [{name: day, most: 5 USD}]", "judge.budgets.day.most"},
		{"  budgets: [{name: day, most: USD 0}]", "judge.budgets.day.most"},
		{"  budgets: [{name: day, most: USD -5}]", "judge.budgets.day.most"},
		{"  budgets: [{name: day, most: USD 5.0000001}]", "judge.budgets.day.most"},
		{"  budgets: [{name: day, most: USD 99999999999999999999}]", "judge.budgets.day.most"},
		{"  budgets: [{name: day, most: EUR 5}]", "judge.budgets.day.most"},
		{"  budgets: [{name: day, most: USD 5, window: 1s}]", "judge.budgets.day.window"},
		{"  remember: 48h", "judge.remember"},
		{"  remember: 0s", "judge.remember"},
		{"  remember: 1s", ""},
		{"  when: sometimes", "judge.when"},
		{"  when: outward", ""},
	} {
		_, err := config.Load(write(t, judge+c.text+"\n"), "")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(strings.ReplaceAll(err.Error(), "/", "."), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	free := "judge:\n  judges: [{name: one, wire: openai-chat, url: https://a.example, model: m}]\n  budgets: [{name: day, most: USD 5}]\n"
	if _, err := config.Load(write(t, free), ""); err == nil || !strings.Contains(err.Error(), "currency") {
		t.Errorf("a budget over a judge whose price nobody knows: %v", err)
	}
	amount, currency, err := config.JudgeBudget{Most: "USD 12.5"}.Amount()
	if amount != 12_500_000 || currency != "USD" || err != nil {
		t.Error(amount, currency, err)
	}
	if got := (config.Judge{}).Remembered(); got != 5*time.Minute {
		t.Error(got)
	}
}
