package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/ruleset"
)

// behind is a snapshot of a call through a gateway whose tool is approved.
func behind() interlock.Snapshot {
	s := interlock.Snapshot{Profile: "guard", Attended: true, Agent: interlock.AgentRecord{ID: "agent", Type: "claude", Principal: "user"}}
	s.Upstream = &interlock.Upstream{Server: "srv", Identity: "sha256:aa", Tool: "t", Definition: "sha256:01"}
	s.Pin = &interlock.Pin{Server: "srv", Tool: "t", Status: interlock.PinApproved, Identity: "sha256:aa", Definition: "sha256:01"}
	return s
}

func withTeam(t fatal, text string) *ruleset.Ruleset {
	profiles := map[string][]byte{}
	for name, file := range shippedFiles(t) {
		if strings.HasPrefix(name, "profiles/") {
			profiles[name] = file
		}
	}
	rules, err := ruleset.Load(profiles, map[string][]byte{"team.yaml": []byte(text)})
	return must(t, rules, err)
}

func hidden(t fatal, rules *ruleset.Ruleset, s interlock.Snapshot, tool string) (string, bool) {
	f, hides := Hidden(rules, s, tool, analyser(t).ToolTexts(tool))
	return f.Rule, hides
}

// TestHidden: what hides a tool is what denies every call of it, and what depends on an argument hides none.
func TestHidden(t *testing.T) {
	for name, tc := range map[string]struct {
		rules string
		tool  string
		edit  func(*interlock.Snapshot)
		want  string // the rule; empty: it is shown
	}{
		"nothing against it":        {"", "srv.get_sum", nil, ""},
		"denied by policy":          {`policy: {deny: ["srv.drop_*"]}`, "srv.drop_table", nil, "policy.deny"},
		"denied by its last name":   {`policy: {deny: ["drop_*"]}`, "srv.drop_table", nil, "policy.deny"},
		"approval is no denial":     {`policy: {requiresApproval: ["srv.*"]}`, "srv.drop_table", nil, ""},
		"denied by a rule's glob":   {`rules: [{id: team.x, layer: 3, verdict: deny, reason: no, match: {text: [tool], glob: ["drop_*"]}}]`, "srv.drop_table", nil, "team.x"},
		"asked by a rule's glob":    {`rules: [{id: team.x, layer: 3, verdict: ask, reason: no, match: {text: [tool], glob: ["drop_*"]}}]`, "srv.drop_table", nil, ""},
		"a guess that is overruled": {"rules: [{id: team.x, layer: 3, verdict: deny, heuristic: true, reason: no, match: {text: [tool], glob: [\"drop_*\"]}}]\npolicy: {autoApprove: [\"srv.*\"]}", "srv.drop_table", nil, ""},
		"a rule silenced somewhere": {`rules: [{id: team.x, layer: 3, verdict: deny, reason: no, match: {text: [tool], glob: ["drop_*"]}}]`, "srv.drop_table", silence("team.x"), ""},
		"a rule about what is run":  {`rules: [{id: team.x, layer: 3, verdict: deny, reason: no, match: {text: [shell], glob: ["*drop*"]}}]`, "srv.drop_table", nil, ""},
		"a rule about a target":     {`rules: [{id: team.x, layer: 3, verdict: deny, reason: no, match: {kind: [write], target: ["/etc/**"]}}]`, "srv.write_file", nil, ""},
		"not on its list":           {`scope: [{agent: "agent", allow: ["srv.get_*"]}]`, "srv.write_file", nil, "scope.not-listed"},
		"on its list":               {`scope: [{agent: "agent", allow: ["srv.get_*"]}]`, "srv.get_sum", nil, ""},
		"on its list by last name":  {`scope: [{agent: "agent", allow: ["get_*"]}]`, "srv.get_sum", nil, ""},
		"a command might be listed": {`scope: [{agent: "agent", allow: ["git *"]}]`, "srv.bash", nil, ""},
		"another agent's list":      {`scope: [{agent: "other", allow: ["x"]}]`, "srv.get_sum", nil, ""},
		"the token's own list":      {"", "srv.get_sum", func(s *interlock.Snapshot) { s.Agent.Allow = []string{"srv.read"} }, "scope.not-listed"},
		"revoked":                   {"", "srv.get_sum", func(s *interlock.Snapshot) { s.Agent.Revoked = noon }, "scope.revoked"},
		"blocked":                   {"", "srv.get_sum", func(s *interlock.Snapshot) { s.Block = "chl_1" }, "standing.blocked"},
		"in quarantine": {"", "srv.get_sum",
			func(s *interlock.Snapshot) { s.Pin.Status, s.Pin.Why = interlock.PinQuarantined, interlock.PinChanged }, "pin.changed"},
		"another definition": {"", "srv.get_sum", func(s *interlock.Snapshot) { s.Upstream.Definition = "sha256:02" }, "pin.changed"},
		"another server":     {"", "srv.get_sum", func(s *interlock.Snapshot) { s.Upstream.Identity = "sha256:bb" }, "pin.identity"},
		"never examined":     {"", "srv.get_sum", func(s *interlock.Snapshot) { s.Pin = nil }, "pin.unknown"},
		"too dangerous for the agent": {`danger: [{name: "srv.drop_*", level: forbidden}]`, "srv.drop_table",
			registered(interlock.TrustValidated), "danger.forbidden"},
		"dangerous on a condition": {`danger: [{name: "srv.drop_*", level: forbidden, when: [{parameter: all, operator: "==", value: true}]}]`, "srv.drop_table", registered(interlock.TrustValidated), ""},
		"dangerous and asked":      {`danger: [{name: "srv.drop_*", level: forbidden}]`, "srv.drop_table", registered(interlock.TrustCertified), ""},
		"nothing for the untested": {"", "srv.get_sum", registered(interlock.TrustUntested), "danger.safe"},
		"introspection for them":   {"", "introspect", registered(interlock.TrustUntested), ""},
		"no such profile":          {"", "srv.get_sum", func(s *interlock.Snapshot) { s.Profile = "nobody" }, "profile.unknown"},
		"monitoring":               {`policy: {deny: ["*"]}`, "srv.get_sum", func(s *interlock.Snapshot) { s.Mode = interlock.Monitoring }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := behind()
			if tc.edit != nil {
				tc.edit(&s)
			}
			rules := shipped(t)
			if tc.rules != "" {
				rules = withTeam(t, tc.rules)
			}
			if rule, hides := hidden(t, rules, s, tc.tool); hides != (tc.want != "") || rule != tc.want {
				t.Errorf("hidden %v by %q, want %q", hides, rule, tc.want)
			}
		})
	}
	if _, hides := Hidden(nil, behind(), "srv.get_sum", nil); !hides {
		t.Error("it is shown although there are no rules")
	}
}

func silence(rule string) func(*interlock.Snapshot) {
	return func(s *interlock.Snapshot) { s.Suppressions = []interlock.Suppression{{ID: "sup_1", Rule: rule}} }
}

func registered(trust interlock.Trust) func(*interlock.Snapshot) {
	return func(s *interlock.Snapshot) { s.Agent.Trust, s.Agent.Created = trust, noon }
}

// TestHiddenIsDenied: whatever is hidden, no arguments are found with which a call of it would not be denied.
func TestHiddenIsDenied(t *testing.T) {
	names := []string{"srv.get_sum", "srv.drop_table", "srv.bash", "srv.write_file", "srv.query", "get_sum", "introspect",
		"srv.mcp__x__read_file", "srv.", "srv.a/b"}
	globs := []string{"srv.*", "get_*", "drop_*", "git *", "srv.bash", "bash", "read_file", "srv.drop_table", "rm *", "mcp__*", "sr*"}
	count := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		some := func(label string, most int) string {
			list := rapid.SliceOfN(rapid.SampledFrom(globs), 0, most).Draw(t, label)
			return string(marshalled(json.Marshal(list)))
		}
		document := fmt.Sprintf(`{"policy":{"deny":%s,"autoApprove":%s},
			"rules":[{"id":"team.x","layer":%d,"verdict":%q,"heuristic":%v,"reason":"no","match":{"text":["tool"],"glob":[%q]}}],
			"danger":[{"name":%q,"level":%q},{"name":%q,"level":"forbidden","when":[{"parameter":"a","operator":"==","value":true}]}]`,
			some("deny", 1), some("approve", 1), rapid.IntRange(2, 4).Draw(t, "layer"), oneOf(t, "verdict", "ask", "deny"), rapid.Bool().Draw(t, "heuristic"),
			oneOf(t, "glob", globs[1:4]...), oneOf(t, "dangerous", globs...),
			oneOf(t, "level", "safe", "destructive", "dangerous", "forbidden"), oneOf(t, "when", globs...))
		if allow := rapid.SliceOfN(rapid.SampledFrom(globs), 0, 2).Draw(t, "allow"); len(allow) > 0 {
			document += fmt.Sprintf(`,"scope":[{"agent":"agent","allow":%s}]`, marshalled(json.Marshal(allow)))
		}
		rules := withTeam(t, document+"}")
		tool := oneOf(t, "tool", names...)
		s := behind()
		s.Mode = oneOf(t, "mode", interlock.Enforcing, interlock.Enforcing, interlock.Enforcing, interlock.Monitoring, interlock.Disabled)
		s.Attended = rapid.Bool().Draw(t, "attended")
		if rapid.Bool().Draw(t, "registered") {
			registered(oneOf(t, "trust", interlock.TrustUntested, interlock.TrustGenerated, interlock.TrustValidated,
				interlock.TrustCommunityReviewed, interlock.TrustCertified))(&s)
		}
		s.Agent.Allow = rapid.SliceOfN(rapid.SampledFrom(globs), 0, 1).Draw(t, "own list")
		s.Pin.Status = oneOf(t, "pin", interlock.PinApproved, interlock.PinApproved, interlock.PinApproved, interlock.PinQuarantined)
		s.Block = oneOf(t, "block", "", "", "", "chl_1")
		if rapid.Bool().Draw(t, "silenced") {
			s.Suppressions = []interlock.Suppression{{ID: "sup_1", Rule: "team.x", Agent: "agent", Denials: true,
				Operator: "olga", Created: noon.Add(-1), Expires: noon.Add(1)}}
		}
		_, hides := hidden(t, rules, s, tool)
		count[hides]++
		action := interlock.Action{Kind: interlock.KindTool, Tool: tool, Arguments: drawArguments(t), Dir: "/repo"}
		d := Decide(rules, s, action, analyser(t).Analyse(s.View, action), nil,
			[]interlock.ApprovalRequest{approvalFor(question{rules: rules, snapshot: s, action: action})}, noon)
		if hides && d.Answer.Compare(interlock.Deny) < 0 {
			t.Fatalf("%s is hidden, and with %.200s the answer is %s (%v)\n%s", tool, action.Arguments, d.Answer, d.Findings, document)
		}
	})
	if !testing.Short() && (count[true] < 20 || count[false] < 20) { // -short draws too few in all
		t.Errorf("hidden %d times and shown %d times: too few to tell", count[true], count[false])
	}
}

func marshalled(text []byte, err error) []byte {
	if err != nil {
		panic(err) // of values that this test made
	}
	return text
}

// drawArguments draws what a caller might send: objects of the members that analysers look for, and what can't be read.
func drawArguments(t *rapid.T) json.RawMessage {
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0:
		return json.RawMessage(`{"x":"` + strings.Repeat("y", fact.MaxInput) + `"}`)
	case 1:
		return json.RawMessage(strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100))
	case 2:
		return json.RawMessage(oneOf(t, "broken", `{`, `[]`, `"text"`, `null`, ``))
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		object[oneOf(t, "member", "a", "command", "path", "query", "sql", "url", "annotations", "content", "all", "script")] =
			oneOf[any](t, "value", true, 7, "git status", "rm -rf /", "ls", "a.txt", "/etc/passwd", "SELECT 1", "DROP TABLE x", "https://example.com",
				[]string{"git", "status"}, map[string]any{"readOnlyHint": true, "destructiveHint": false})
	}
	return marshalled(json.Marshal(object))
}
