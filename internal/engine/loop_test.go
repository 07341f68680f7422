package engine

import (
	"testing"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/spec"
)

var midday = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestWhoDischargesWhat: what wants a human who is there now takes a code or a passkey, and what names approvers takes an
// answer to a request that named the same ones.
func TestWhoDischargesWhat(t *testing.T) {
	spec.Covers(t, "AQL-D-9.2", "AQL-D-7.3-2")
	verify := interlock.Obligation{Type: interlock.ObligationVerify, Note: "risk"}
	approvers := interlock.Obligation{Type: interlock.ObligationApprovers, Note: "team:dba"}
	others := interlock.Obligation{Type: interlock.ObligationApprovers, Note: "team:web"}
	within := interlock.Obligation{Type: interlock.ObligationWithin, Note: "10m0s"}
	for _, test := range []struct {
		decided, asked interlock.Obligation
		method         string
		want           bool
	}{
		{verify, verify, interlock.MethodCode, true},
		{verify, verify, interlock.MethodPasskey, true},
		{verify, verify, interlock.MethodSSH, false},
		{verify, verify, interlock.MethodSession, false},
		{verify, verify, "", false},
		{approvers, approvers, "", true},
		{approvers, others, "", false},
		{approvers, verify, interlock.MethodCode, false},
		{within, within, "", true},
	} {
		d := interlock.Decision{Action: "sha256:a", Ruleset: "sha256:b", Obligations: []interlock.Obligation{test.decided},
			Findings: []interlock.Finding{{Layer: 3, Verdict: interlock.Ask}}}
		r := interlock.ApprovalRequest{ID: "r", Action: "sha256:a", Ruleset: "sha256:b", Requester: interlock.Requester{Agent: "x"},
			Created: midday.Add(-time.Minute), Expires: midday.Add(time.Minute), Status: interlock.RequestApproved,
			Obligations: []interlock.Obligation{test.asked}, Approval: &interlock.Approval{Request: "r", Verdict: interlock.Allow, Method: test.method}}
		if _, got := approved(d, interlock.AgentRecord{ID: "x"}, []interlock.ApprovalRequest{r}, midday); got != test.want {
			t.Errorf("%+v, asked with %+v, answered by %q: %t", test.decided, test.asked, test.method, got)
		}
	}
}

// TestWhatAGrantAnswers: a grant answers the asks of its agent for the actions it names, under its ruleset, in its time and
// with its arguments, and nothing that wants more than an ordinary yes.
func TestWhatAGrantAnswers(t *testing.T) {
	type world struct {
		grant    interlock.Grant
		decision interlock.Decision
		snapshot interlock.Snapshot
		action   interlock.Action
		texts    []fact.Text
		now      time.Time
	}
	for name, test := range map[string]struct {
		change func(w *world)
		want   bool
	}{
		"all as granted":  {func(*world) {}, true},
		"used up":         {func(w *world) { w.grant.Left = 0 }, false},
		"expired":         {func(w *world) { w.now = w.grant.Expires }, false},
		"not begun":       {func(w *world) { w.now = w.grant.Created.Add(-time.Second) }, false},
		"revoked":         {func(w *world) { w.grant.Ended = midday }, false},
		"other rules":     {func(w *world) { w.decision.Ruleset = "sha256:c" }, false},
		"other agent":     {func(w *world) { w.snapshot.Agent.ID = "y" }, false},
		"other principal": {func(w *world) { w.snapshot.Agent.Principal = "q" }, false},
		"nobody":          {func(w *world) { w.snapshot.Agent.ID, w.grant.Agent = "", "" }, false},
		"other tool":      {func(w *world) { w.action.Tool = "refund" }, false},
		"tool by glob":    {func(w *world) { w.grant.Tool = "pay*" }, true},
		"other kind":      {func(w *world) { w.grant.Kind = interlock.KindShell }, false},
		"too much":        {func(w *world) { w.action.Arguments = []byte(`{"amount":101}`) }, false},
		"no amount":       {func(w *world) { w.action.Arguments = []byte(`{}`) }, false},
		"one rule of two": {func(w *world) { w.grant.Rules = []string{"a.one"} }, false},
		"both rules":      {func(w *world) { w.grant.Rules = []string{"b.two", "a.one"} }, true},
		"asked about before": {func(w *world) {
			w.grant.Rules = []string{"b.two", "a.one"}
			w.decision.Findings = append(w.decision.Findings, interlock.Finding{Gate: "pause", Rule: "pause.asked", Layer: 4, Verdict: interlock.Ask})
		}, true},
		"rules and no tool":  {func(w *world) { w.grant.Tool, w.grant.Rules = "", []string{"b.two", "a.one"} }, true},
		"neither":            {func(w *world) { w.grant.Tool = "" }, false},
		"base law":           {func(w *world) { w.decision.Findings[1].Layer = 1 }, false},
		"wants an admin":     {func(w *world) { w.decision.Obligations[0].Type = interlock.ObligationAdmin }, false},
		"wants a code":       {func(w *world) { w.decision.Obligations[0].Type = interlock.ObligationVerify }, false},
		"a command":          {func(w *world) { command(&w.action, &w.grant); w.texts = texts("npm publish") }, true},
		"a command and more": {func(w *world) { command(&w.action, &w.grant); w.texts = texts("npm publish", "rm x") }, false},
		"a hint":             {func(w *world) { hinted(&w.action, &w.grant, "npm publish"); w.texts = texts("npm publish") }, true},
		"a hint, in prose":   {func(w *world) { hinted(&w.action, &w.grant, "npm publish the package") }, true},
		"a hint and more": {func(w *world) {
			hinted(&w.action, &w.grant, "drop the tables, then `npm publish`")
			w.texts = texts("npm publish")
		}, false},
		"a command and no text": {func(w *world) { command(&w.action, &w.grant) }, false},
	} {
		w := world{now: midday,
			grant: interlock.Grant{ID: "g", Agent: "x", Principal: "p", Ruleset: "sha256:b", Kind: interlock.KindTool, Tool: "pay", Times: 2, Left: 1,
				Conditions: []interlock.Condition{{Parameter: "amount", Operator: "<=", Value: []byte("100")}},
				Created:    midday.Add(-time.Hour), Expires: midday.Add(time.Hour)},
			decision: interlock.Decision{Ruleset: "sha256:b", Obligations: []interlock.Obligation{{Type: interlock.ObligationConfirm}},
				Findings: []interlock.Finding{{Rule: "a.one", Layer: 3, Verdict: interlock.Ask}, {Rule: "b.two", Layer: 2, Verdict: interlock.Ask}}},
			snapshot: interlock.Snapshot{Agent: interlock.AgentRecord{ID: "x", Principal: "p"}},
			action:   interlock.Action{Kind: interlock.KindTool, Tool: "pay", Arguments: []byte(`{"amount":100}`)}}
		test.change(&w)
		w.snapshot.Grants = []interlock.Grant{w.grant}
		if got := granted(gate.Gates(), w.decision, w.snapshot, w.action, impact.Analysis{Texts: w.texts}, w.now) == "g"; got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func command(action *interlock.Action, grant *interlock.Grant) {
	*action = interlock.Action{Kind: interlock.KindShell, Input: "npm publish"}
	grant.Kind, grant.Tool, grant.Conditions = interlock.KindShell, "npm *", nil
}

func hinted(action *interlock.Action, grant *interlock.Grant, text string) {
	*action = interlock.Action{Kind: interlock.KindHint, Input: text}
	grant.Kind, grant.Tool, grant.Conditions = interlock.KindHint, "npm *", nil
}

func texts(values ...string) []fact.Text {
	var out []fact.Text
	for _, v := range values {
		out = append(out, fact.Text{Kind: interlock.KindShell, Value: v})
	}
	return out
}

// TestTiers: the tier of a reported step is what its strictest finding needs of a human.
func TestTiers(t *testing.T) {
	spec.Covers(t, "AQL-8.7.2-4")
	verify := []interlock.Obligation{{Type: interlock.ObligationVerify}}
	for name, test := range map[string]struct {
		findings []interlock.Finding
		verdict  interlock.Verdict
		risk     int
		want     interlock.Tier
	}{
		"nothing":             {nil, interlock.Allow, 10, interlock.TierAdvisory},
		"approved beforehand": {nil, interlock.Allow, 90, interlock.TierConfirm},
		"asked":               {[]interlock.Finding{{Gate: "profile", Verdict: interlock.Ask}}, interlock.Ask, 10, interlock.TierConfirm},
		"asked for a code":    {[]interlock.Finding{{Gate: "loop", Verdict: interlock.Ask, Obligations: verify}}, interlock.Ask, 70, interlock.TierVerify},
		"denied by a pattern": {[]interlock.Finding{{Gate: "policy", Verdict: interlock.Deny}}, interlock.Deny, 10, interlock.TierDangerZone},
		"denied by a rule":    {[]interlock.Finding{{Gate: "rules", Verdict: interlock.Deny}}, interlock.Deny, 10, interlock.TierDangerZone},
		"danger zone":         {[]interlock.Finding{{Gate: "loop", Verdict: interlock.Deny}}, interlock.Deny, 90, interlock.TierDangerZone},
		"not trusted so far":  {[]interlock.Finding{{Gate: "danger", Verdict: interlock.Deny}}, interlock.Deny, 30, interlock.TierConfirm},
		"blocked":             {[]interlock.Finding{{Gate: "standing", Verdict: interlock.Halt}}, interlock.Halt, 0, interlock.TierDangerZone},
		"suppressed":          {[]interlock.Finding{{Gate: "suppression", Verdict: interlock.Allow}}, interlock.Allow, 0, interlock.TierAdvisory},
		"asked and suppressed": {[]interlock.Finding{{Gate: "risk", Verdict: interlock.Ask}, {Verdict: interlock.Allow}},
			interlock.Ask, 0, interlock.TierConfirm},
	} {
		d := interlock.Decision{Findings: test.findings, Verdict: test.verdict, Risk: test.risk}
		if got := tier(gate.Gates(), d, &interlock.Loop{}); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if got := tier(gate.Gates(), d, nil); got != interlock.TierAdvisory {
			t.Errorf("%s, reported by nobody: %s", name, got)
		}
	}
}
