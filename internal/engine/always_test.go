package engine

import (
	"encoding/json"
	"testing"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
)

// TestAlwaysAnswersItsNeighboursNot: a standing yes answers what it is for, and whatever differs from that in one thing is asked.
func TestAlwaysAnswersItsNeighboursNot(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	type at struct {
		grant  interlock.Grant
		asked  interlock.Decision
		agent  interlock.AgentRecord
		action interlock.Action
		now    time.Time
	}
	begin := func() at {
		ask := interlock.Finding{Gate: "rules", Rule: "git.force-push", Layer: 3, Verdict: interlock.Ask}
		return at{
			grant: interlock.Grant{ID: "grt_1", Agent: "claude", Principal: "alice", Kind: interlock.KindShell,
				Rules: []string{"git.force-push", "profile.guard.irreversible"}, Created: now.Add(-time.Hour), Expires: now.Add(time.Hour),
				Scope: &interlock.Scope{Dir: "/repo", Words: []string{"git", "push", "--force", "origin", "feature/*"}}},
			asked: interlock.Decision{Verdict: interlock.Ask, Ruleset: "sha256:rules", Findings: []interlock.Finding{ask,
				{Gate: "profile", Rule: "profile.guard.irreversible", Layer: 3, Verdict: interlock.Ask}},
				Impacts: []interlock.Impact{{Kind: interlock.ImpactNetwork, Reach: interlock.ReachExternal,
					Reversibility: interlock.Irreversible, Confidence: interlock.Parsed}}},
			agent:  interlock.AgentRecord{ID: "claude", Principal: "alice"},
			action: interlock.Action{Kind: interlock.KindShell, Input: "git push --force origin feature/x", Dir: "/repo/sub"},
			now:    now,
		}
	}
	touch := func(i interlock.Impact) func(*at) {
		return func(c *at) { c.asked.Impacts = append(c.asked.Impacts, i) }
	}
	owe := func(kind string) func(*at) {
		return func(c *at) { c.asked.Obligations = []interlock.Obligation{{Type: kind}} }
	}
	for name, tc := range map[string]struct {
		edit    func(*at)
		answers bool
	}{
		"itself":               {func(*at) {}, true},
		"one word quoted":      {func(c *at) { c.action.Input = `git push --force origin "feature/x"` }, true},
		"fewer questions":      {func(c *at) { c.asked.Findings = c.asked.Findings[:1] }, true},
		"other rules in force": {func(c *at) { c.asked.Ruleset = "sha256:others" }, true},
		"until it is ended":    {func(c *at) { c.grant.Expires = time.Time{} }, true},
		"so many times":        {func(c *at) { c.grant.Times, c.grant.Left = 3, 1 }, true},
		"a note beside it": {func(c *at) {
			c.asked.Findings = append(c.asked.Findings, interlock.Finding{Gate: "suppression", Verdict: interlock.Allow})
		}, true},
		"used up":                 {func(c *at) { c.grant.Times = 3 }, false},
		"expired":                 {func(c *at) { c.now = now.Add(time.Hour) }, false},
		"not begun":               {func(c *at) { c.now = now.Add(-2 * time.Hour) }, false},
		"revoked":                 {func(c *at) { c.grant.Ended = now }, false},
		"another agent":           {func(c *at) { c.agent.ID = "codex" }, false},
		"nobody":                  {func(c *at) { c.agent.ID = "" }, false},
		"for somebody else":       {func(c *at) { c.agent.Principal = "bob" }, false},
		"another project":         {func(c *at) { c.action.Dir = "/repository" }, false},
		"nowhere":                 {func(c *at) { c.action.Dir = "" }, false},
		"another rule":            {func(c *at) { c.asked.Findings[0].Rule = "git.discard" }, false},
		"a rule more":             {func(c *at) { c.asked.Findings = append(c.asked.Findings, also("git.discard", 3, interlock.Ask)) }, false},
		"the rule at layer 2":     {func(c *at) { c.asked.Findings[0].Layer = 2 }, false},
		"the rule at layer 1":     {func(c *at) { c.asked.Findings[0].Layer = 1 }, false},
		"a denial of the rule":    {func(c *at) { c.asked.Findings[0].Verdict = interlock.Deny }, false},
		"the origin of a value":   {func(c *at) { c.asked.Findings[0].Gate = "origin" }, false},
		"a limit":                 {func(c *at) { c.asked.Findings[0].Gate = "limit" }, false},
		"a gate that nobody has":  {func(c *at) { c.asked.Findings[0].Gate = "new" }, false},
		"another kind":            {func(c *at) { c.action.Kind = interlock.KindHint }, false},
		"another branch":          {func(c *at) { c.action.Input = "git push --force origin main" }, false},
		"an option more":          {func(c *at) { c.action.Input += " --mirror" }, false},
		"an option in place":      {func(c *at) { c.action.Input = "git push --force origin --all" }, false},
		"a command more":          {func(c *at) { c.action.Input += " && git push --force origin main" }, false},
		"a command before":        {func(c *at) { c.action.Input = "cd /x; " + c.action.Input }, false},
		"into a pipe":             {func(c *at) { c.action.Input += " | tee log" }, false},
		"into a file":             {func(c *at) { c.action.Input += " > log" }, false},
		"under a variable":        {func(c *at) { c.action.Input = "GIT_SSH=x " + c.action.Input }, false},
		"with a variable":         {func(c *at) { c.action.Input = "git push --force origin $B" }, false},
		"with what is run":        {func(c *at) { c.action.Input = "git push --force origin feature/$(id)" }, false},
		"with a glob":             {func(c *at) { c.action.Input = "git push --force origin feature/*" }, false},
		"another refspec":         {func(c *at) { c.action.Input = "git push --force origin feature/x:main" }, false},
		"for PowerShell":          {func(c *at) { c.action.Tool = "PowerShell" }, false},
		"a secret is read":        {touch(interlock.Impact{Kind: interlock.ImpactCredential, Confidence: interlock.Parsed}), false},
		"a secret is named":       {touch(interlock.Impact{Kind: interlock.ImpactRead, Traits: []string{fact.TraitSecret}}), false},
		"production, for ever":    {touch(interlock.Impact{Reach: interlock.ReachProduction, Reversibility: interlock.Irreversible}), false},
		"Interlock's own":         {touch(interlock.Impact{Reach: interlock.ReachSelf, Confidence: interlock.Parsed}), false},
		"what nobody understands": {touch(interlock.Impact{Confidence: interlock.Unknown}), false},
		"an admin's yes":          {owe(interlock.ObligationAdmin), false},
		"a dry run":               {owe(interlock.ObligationDryRun), false},
		"two people":              {owe(interlock.ObligationDual), false},
		"an ordinary yes":         {owe(interlock.ObligationConfirm), true},
	} {
		c := begin()
		tc.edit(&c)
		got := granted(gate.Gates(), c.asked, interlock.Snapshot{Agent: c.agent, Grants: []interlock.Grant{c.grant}}, c.action, analysisOf(c.asked), c.now)
		if (got == "grt_1") != tc.answers {
			t.Errorf("%s: answered by %q", name, got)
		}
	}
}

func also(rule string, layer int, verdict interlock.Verdict) interlock.Finding {
	return interlock.Finding{Gate: "rules", Rule: rule, Layer: layer, Verdict: verdict}
}

// TestAlwaysForToolsNamesTheTool: arguments alone are not what an operator allowed.
func TestAlwaysForToolsNamesTheTool(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	g := interlock.Grant{ID: "grt_1", Agent: "claude", Principal: "alice", Kind: interlock.KindTool, Tool: "mcp__git__push",
		Rules: []string{"git.force-push"}, Created: now, Scope: &interlock.Scope{Dir: "/repo", Arguments: json.RawMessage(`{"branch":"feature/*"}`)}}
	d := interlock.Decision{Verdict: interlock.Ask, Findings: []interlock.Finding{also("git.force-push", 3, interlock.Ask)}}
	for tool, answers := range map[string]bool{"mcp__git__push": true, "mcp__git__push_all": false, "mcp__other__push": false, "": false} {
		action := interlock.Action{Kind: interlock.KindTool, Tool: tool, Arguments: json.RawMessage(`{"branch":"feature/x"}`), Dir: "/repo"}
		snapshot := interlock.Snapshot{Agent: interlock.AgentRecord{ID: "claude", Principal: "alice"}, Grants: []interlock.Grant{g}}
		if got := granted(gate.Gates(), d, snapshot, action, analysisOf(d), now); (got != "") != answers {
			t.Errorf("%q: %q", tool, got)
		}
	}
}

func analysisOf(d interlock.Decision) impact.Analysis { return impact.Analysis{Impacts: d.Impacts} }
