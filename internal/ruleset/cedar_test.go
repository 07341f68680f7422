package ruleset_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

const nights = `
types: [{name: clerk, role: clerk, accountable: ada, tools: ["*"]}]
cedar:
  - policy: |
      @id("team.nights")
      @verdict("ask")
      @layer("2")
      @reason("clerks change nothing at night")
      forbid (principal, action, resource)
      when { principal.role == "clerk" && resource.reversibility != "readonly" && (context.hour >= 22 || context.hour < 6) };
  - policy: |
      @id("team.guests")
      @reason("guests are kept out of the vault")
      forbid (principal in Type::"guest", action, resource) when { resource.target like "/vault/*" };
  - policy: |
      @id("team.broken")
      @reason("what can't be told is refused")
      forbid (principal, action == Action::"sql", resource) when { context.nothing == 1 };
`

// TestCedar: policies object by role, agent, resource and time; one that can't be evaluated objects too.
func TestCedar(t *testing.T) {
	r, err := typed(t, nights)
	if err != nil {
		t.Fatal(err)
	}
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	write := interlock.Impact{Kind: interlock.ImpactWrite, Target: "/vault/x", Reversibility: interlock.Reversible}
	read := interlock.Impact{Kind: interlock.ImpactRead, Target: "/vault/x", Reversibility: interlock.Readonly}
	for name, tc := range map[string]struct {
		q    ruleset.CedarQuery
		want string
	}{
		"at night": {ruleset.CedarQuery{Agent: interlock.AgentRecord{ID: "c", Type: "clerk"},
			Impacts: []interlock.Impact{read, write}, At: at(23)}, "team.nights"},
		"in the zone of UTC": {ruleset.CedarQuery{Agent: interlock.AgentRecord{ID: "c", Type: "clerk"},
			Impacts: []interlock.Impact{write}, At: at(21).In(time.FixedZone("", 7200))}, ""},
		"by day": {ruleset.CedarQuery{Agent: interlock.AgentRecord{ID: "c", Type: "clerk"},
			Impacts: []interlock.Impact{write}, At: at(12)}, ""},
		"looking": {ruleset.CedarQuery{Agent: interlock.AgentRecord{ID: "c", Type: "clerk"},
			Impacts: []interlock.Impact{read}, At: at(23)}, ""},
		"no clerk": {ruleset.CedarQuery{Agent: interlock.AgentRecord{ID: "c", Type: "other"},
			Impacts: []interlock.Impact{write}, At: at(23)}, ""},
		"a guest": {ruleset.CedarQuery{Agent: interlock.AgentRecord{ID: "guest"}, Impacts: []interlock.Impact{read},
			At: at(12)}, "team.guests"},
		"what can't be asked": {ruleset.CedarQuery{Action: interlock.Action{Kind: interlock.KindSQL}, At: at(12)}, "team.broken"},
	} {
		var got []string
		for _, hit := range r.Forbidden(tc.q) {
			got = append(got, hit.ID)
			if hit.ID == "team.nights" && (hit.Verdict != interlock.Ask || hit.Layer != 2 || len(hit.Impacts) != 1 || hit.Impacts[0] != 1) {
				t.Errorf("%s: %+v", name, hit)
			}
			if hit.ID == "team.guests" && (hit.Verdict != interlock.Deny || hit.Layer != 3) {
				t.Errorf("%s: %+v", name, hit)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	less, err := typed(t, strings.Replace(nights, "context.hour >= 22", "context.hour >= 23", 1))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ruleset.Loosened(r, less); err != nil || strings.Join(got, " ") != "cedar team.nights" {
		t.Errorf("loosened: %q, %v", got, err)
	}
	if p := r.Plain(); p.Typed() || len(p.Cedar()) > 0 || p.Digest() != r.Digest() || !r.Typed() {
		t.Error("a plain ruleset has types or policies, or the other has none any more")
	}
}

// TestCedarThatIsRefused: what permits, names itself not or says what it does not know is refused with what to do.
func TestCedarThatIsRefused(t *testing.T) {
	policy := func(text string) string { return "cedar:\n  - policy: |\n      " + text }
	const good = `@id("t.x") @reason("no") `
	for text, want := range map[string]string{
		policy(good + `permit (principal, action, resource);`):                      "cedar[0].policy: permits, and policies may only object; write forbid",
		policy(good + `forbid (principal, action);`):                                "is no Cedar policy",
		policy(`@reason("no") forbid (principal, action, resource);`):               "by no @id",
		policy(`@id("T X") @reason("no") forbid (principal, action, resource);`):    "by no @id",
		policy(`@id("t.x") forbid (principal, action, resource);`):                  "gives no @reason",
		policy(good + `@verdict("allow") forbid (principal, action, resource);`):    "@verdict is ask, deny or halt",
		policy(good + `@verdict("never") forbid (principal, action, resource);`):    "@verdict is ask, deny or halt",
		policy(good + `@layer("5") forbid (principal, action, resource);`):          "@layer is 1, 2, 3 or 4",
		policy(good + `@level("5") forbid (principal, action, resource);`):          "known are @id, @reason, @verdict and @layer",
		policy(good+`forbid (principal, action, resource);`) + "\n    effect: deny": "effect",
		"cedar: [null]": "cedar[0]: the policy is empty",
		policy(good+`forbid (principal, action, resource);`) + "\n  - policy: '" + good +
			"forbid (principal, action, resource);'": "the id t.x stands in team.yaml already",
	} {
		_, err := typed(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
