package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/spec"
)

// TestModule: what a module's policy forbids is denied whatever else allows it, what it does not have is denied, it reaches no external service
// but those it declares, and the seed of its job says whether what has failed is tried once more.
func TestModule(t *testing.T) {
	spec.Covers(t, "MACE-5.3-1", "MACE-5.2-1", "MACE-2-4", "MACE-1-6")
	const retried, not = "seed-100", "seed-0001" // by their SHA-256
	policy := func(edit ...func(*interlock.Module)) interlock.Snapshot {
		s := guard()
		s.Agent.Module = &interlock.Module{Type: "agent", Version: "1", Attempts: interlock.ModuleAttempts,
			Timeout: interlock.ModuleTimeout}
		for _, e := range edit {
			e(s.Agent.Module)
		}
		return s
	}
	failed := func(seed string, count int, outcome interlock.OutcomeStatus, changed bool) interlock.Snapshot {
		s := policy()
		s.Run, s.Failed = &interlock.RunBasis{Run: seed}, &interlock.Failures{Count: count, Outcome: outcome, Changed: changed}
		return s
	}
	allows := func(globs ...string) func(*interlock.Module) {
		return func(m *interlock.Module) { m.Policy.Allowed = globs }
	}
	forbids := func(globs ...string) func(*interlock.Module) {
		return func(m *interlock.Module) { m.Policy.Forbidden = globs }
	}
	calls := func(hosts ...string) func(*interlock.Module) {
		return func(m *interlock.Module) { m.Services = hosts }
	}
	out := func(target string, traits ...string) impact.Analysis {
		return impacts(interlock.Impact{Kind: interlock.ImpactNetwork, Target: target, Reach: interlock.ReachExternal,
			Confidence: interlock.Parsed,
			Traits:     traits})
	}
	made := func(globs ...string) func(*interlock.Module) {
		return func(m *interlock.Module) { m.Code = globs }
	}
	changed := func(kind interlock.ImpactKind, target string, traits ...string) impact.Analysis {
		return impacts(interlock.Impact{Kind: kind, Target: target, Reach: interlock.ReachSystem, Reversibility: interlock.Reversible,
			Confidence: interlock.Parsed, Traits: traits})
	}
	at := interlock.Impact{Via: "git push"}
	for _, tc := range []struct {
		name     string
		snapshot interlock.Snapshot
		action   interlock.Action
		analysis impact.Analysis
		want     []string
	}{
		{"no module", guard(), tool("drop", `{}`), out("https://example.org/"), nil},
		{"bound by nothing", policy(), tool("drop", `{}`), impacts(), nil},
		{"allowed", policy(allows("read", "ls*")), tool("read", `{}`), impacts(), nil},
		{"not allowed", policy(allows("read", "ls*")), tool("drop", `{}`), impacts(), []string{"module.not-allowed deny"}},
		{"one of two not allowed", policy(allows("ls*")), interlock.Action{Kind: interlock.KindShell}, shellTexts("ls -l", "rm x"),
			[]string{"module.not-allowed deny"}},
		{"forbidden", policy(forbids("drop*")), tool("drop_table", `{}`), impacts(), []string{"module.forbidden deny"}},
		{"forbidden and allowed", policy(allows("*"), forbids("drop")), tool("drop", `{}`), impacts(),
			[]string{"module.forbidden deny"}},
		{"one of two forbidden", policy(forbids("rm *")), interlock.Action{Kind: interlock.KindShell}, shellTexts("ls -l", "rm x"),
			[]string{"module.forbidden deny"}},
		{"forbidden by what does it", policy(forbids("git push")), tool("x", `{}`), impacts(at), []string{"module.forbidden deny"}},
		{"forbidden by its kind", policy(forbids("http")), interlock.Action{Kind: interlock.KindHTTP}, impacts(),
			[]string{"module.forbidden deny"}},
		{"a declared service", policy(calls("*.example.com")), tool("x", `{}`), out("https://api.example.com/v1"), nil},
		{"another service", policy(calls("*.example.com")), tool("x", `{}`), out("https://example.org/"),
			[]string{"module.service deny"}},
		{"a service by its user", policy(calls("*.example.com")), tool("x", `{}`), out("https://a.example.com@evil.org/"),
			[]string{"module.service deny"}},
		{"nobody can tell which", policy(calls("*.example.com")), tool("x", `{}`), out("$HOST", fact.TraitDynamic),
			[]string{"module.service ask"}},
		{"none is declared", policy(), tool("x", `{}`), out("https://example.org/"), []string{"module.service deny"}},
		{"none is declared, nobody can tell which", policy(), tool("x", `{}`), out(""), []string{"module.service deny"}},
		{"its own code", policy(made("/srv/agent/*.py")), tool("x", `{}`), changed(interlock.ImpactWrite, "/srv/agent/sub/main.py"),
			[]string{"module.code deny"}},
		{"its own code by another spelling", policy(made("/srv/agent")), tool("x", `{}`), changed(interlock.ImpactWrite,
			"/srv/x/../agent/main.py"),
			[]string{"module.code deny"}},
		{"its own code from where it stands", policy(made("/srv/agent")), interlock.Action{Kind: interlock.KindShell, Dir: "/srv"},
			changed(interlock.ImpactDelete, "agent/main.py"), []string{"module.code deny"}},
		{"a folder above its own code", policy(made("/srv/agent/*")), tool("x", `{}`), changed(interlock.ImpactDelete, "/srv"),
			[]string{"module.code deny"}},
		{"files that nobody can tell", policy(made("/srv/agent/*")), tool("x", `{}`), changed(interlock.ImpactWrite, "$F",
			fact.TraitDynamic),
			[]string{"module.code ask"}},
		{"other files", policy(made("/srv/agent/*")), tool("x", `{}`), changed(interlock.ImpactWrite, "/srv/agents/main.py"), nil},
		{"its own code, read", policy(made("/srv/agent/*")), tool("x", `{}`), impacts(interlock.Impact{Kind: interlock.ImpactRead,
			Target: "/srv/agent/main.py", Reversibility: interlock.Readonly, Confidence: interlock.Parsed}), nil},
		{"files, where it names no code", policy(), tool("x", `{}`), changed(interlock.ImpactWrite, "$F", fact.TraitDynamic), nil},
		{"on this machine", policy(), tool("x", `{}`), impacts(interlock.Impact{Kind: interlock.ImpactNetwork, Target: "localhost",
			Reach: interlock.ReachSystem}), nil},
		{"a first retry", failed(retried, 1, interlock.OutcomeFailure, false), tool("x", `{}`), impacts(), nil},
		{"a second", failed(retried, 2, interlock.OutcomeFailure, false), tool("x", `{}`), impacts(), []string{"module.retries deny"}},
		{"a job without retries", failed(not, 1, interlock.OutcomeFailure, false), tool("x", `{}`), impacts(),
			[]string{"module.retries deny"}},
		{"something has changed since", failed(not, 1, interlock.OutcomeFailure, true), tool("x", `{}`), impacts(), nil},
		{"nobody knows how it ended", failed(not, 1, interlock.OutcomeUnknown, true), tool("x", `{}`), impacts(),
			[]string{"module.retries deny"}},
		{"in no job", failed("", 2, interlock.OutcomeFailure, false), tool("x", `{}`), impacts(), nil},
		{"in no job, as often as it may", failed("", 3, interlock.OutcomeFailure, false), tool("x", `{}`), impacts(),
			[]string{"module.retries deny"}},
	} {
		got := says(gate.Module(nil, tc.snapshot, tc.action, tc.analysis))
		if diff := cmp.Diff(append([]string{}, tc.want...), append([]string{}, got...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	once := failed(retried, 1, interlock.OutcomeFailure, false)
	once.Agent.Module.Attempts = 1
	if got := says(gate.Module(nil, once, tool("x", `{}`), impacts())); len(got) != 1 {
		t.Errorf("one attempt at most: %v", got)
	}
}
