package quorum_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

// grant is a sound standing grant, changed and then signed.
func grant(edit ...func(*interlock.Grant)) interlock.Grant {
	g := interlock.Grant{ID: "grt-1", Operator: "operator", Agent: "deployer", Principal: "dana", Ruleset: "sha256:bbbb",
		Kind: interlock.KindTool, Tool: "send_*", Conditions: []interlock.Condition{{Parameter: "count", Operator: "<=", Value: json.RawMessage(`5`)}},
		Times: 3, Left: 3, Created: created, Expires: expires, Reason: "release week", Method: interlock.MethodPasskey}
	for _, e := range edit {
		e(&g)
	}
	key := g.Method + "-of-" + g.Operator
	g.Statement, g.Key = quorum.GrantStatement(g), "SHA256:"+key
	g.Signature = sign(key, g.Statement)
	return g
}

// TestCheckGrant: every reason for which a standing grant does not count.
func TestCheckGrant(t *testing.T) {
	type edit = func(*interlock.Grant)
	condition := func(parameter, operator, value string) edit {
		return func(g *interlock.Grant) {
			g.Conditions = []interlock.Condition{{Parameter: parameter, Operator: operator, Value: json.RawMessage(value)}}
		}
	}
	for _, test := range []struct {
		name          string
		before, after edit
		want          string
	}{
		{"sound", nil, nil, ""},
		{"drawn twice", nil, func(g *interlock.Grant) { g.Left = 1 }, ""},
		{"its condition spelled otherwise by a store", nil, condition("count", "<=", " 5.0 "), ""},
		{"a list", condition("region", "in", `["eu", "us"]`), nil, ""},
		{"a glob", condition("to", "matches", `"*@example.com"`), nil, ""},
		{"used up", nil, func(g *interlock.Grant) { g.Left = 0 }, "used up"},
		{"ended", nil, func(g *interlock.Grant) { g.Ended = noon }, "has ended"},
		{"more left than given", nil, func(g *interlock.Grant) { g.Left = 4 }, "1 to 1000"},
		{"more times than signed", nil, func(g *interlock.Grant) { g.Times = 4 }, "the signed statement"},
		{"another tool than signed", nil, func(g *interlock.Grant) { g.Tool = "delete_*" }, "the signed statement"},
		{"another agent than signed", nil, func(g *interlock.Grant) { g.Agent = "other" }, "the signed statement"},
		{"other rules than signed", nil, func(g *interlock.Grant) { g.Rules = []string{"x"} }, "the signed statement"},
		{"a wider condition than signed", nil, condition("count", "<=", "50"), "the signed statement"},
		{"another end than signed", nil, func(g *interlock.Grant) { g.Expires = expires.Add(time.Hour) }, "the signed statement"},
		{"expired", func(g *interlock.Grant) { g.Expires = noon }, nil, "not in force"},
		{"for too long", func(g *interlock.Grant) { g.Expires = created.Add(31 * 24 * time.Hour) }, nil, "at most 30 days"},
		{"for everything", func(g *interlock.Grant) { g.Tool = "*" }, nil, "never for everything"},
		{"for no tool", func(g *interlock.Grant) { g.Tool = "" }, nil, "never for everything"},
		{"for all agents", func(g *interlock.Grant) { g.Agent = "*" }, nil, "name one agent"},
		{"for nobody", func(g *interlock.Grant) { g.Principal = "" }, nil, "name one agent"},
		{"under no ruleset", func(g *interlock.Grant) { g.Ruleset = "" }, nil, "ruleset"},
		{"of no kind", func(g *interlock.Grant) { g.Kind = "magic" }, nil, "kind"},
		{"for ever so often", func(g *interlock.Grant) { g.Times, g.Left = 1001, 1001 }, nil, "1 to 1000"},
		{"never", func(g *interlock.Grant) { g.Times, g.Left = 0, 0 }, nil, "1 to 1000"},
		{"with a condition on nothing", condition("", "==", "1"), nil, "condition"},
		{"with a condition that can't hold", condition("count", "matches", "1"), nil, "a condition compares"},
		{"with an operator nobody knows", condition("count", "~", "1"), nil, "a condition compares"},
		{"with a value that is no JSON", condition("count", "==", `{"a":1,"a":2`), nil, "not plain JSON"},
		{"too long a reason", func(g *interlock.Grant) { g.Reason = strings.Repeat("x", 501) }, nil, "too long"},
		{"by the agent's owner", func(g *interlock.Grant) { g.Operator = "dana" }, nil, "owner"},
		{"by the agent", func(g *interlock.Grant) { g.Operator = "deployer" }, nil, "can't answer its own"},
		{"by a viewer", func(g *interlock.Grant) { g.Operator = "viewer" }, nil, "role"},
		{"by one who is gone", func(g *interlock.Grant) { g.Operator = "gone" }, nil, "revoked"},
		{"by nobody", func(g *interlock.Grant) { g.Operator = "nobody" }, nil, "no such operator"},
		{"forged", nil, func(g *interlock.Grant) { g.Signature = "x" }, "does not verify"},
		{"an order's statement", nil, func(g *interlock.Grant) { g.Statement = quorum.OrderStatement(interlock.Order{}) }, "the signed statement"},
	} {
		var edits []edit
		if test.before != nil {
			edits = append(edits, test.before)
		}
		g := grant(edits...)
		if test.after != nil {
			test.after(&g)
		}
		err := quorum.OfGrant(g).Counts(people(), agents(), verify, noon)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if err := quorum.OfGrant(grant()).Counts(people(), agents(), nil, noon); err == nil {
		t.Error("without a verifier it counts")
	}
}

// A value with white space in it can't imitate a line of what is signed.
func TestGrantStatementCannotBeForged(t *testing.T) {
	plain := grant(func(g *interlock.Grant) {
		g.Conditions[0].Operator, g.Conditions[0].Value = "in", json.RawMessage(`[1,2]`)
	})
	spaced := grant(func(g *interlock.Grant) {
		g.Conditions[0].Operator, g.Conditions[0].Value = "in", json.RawMessage("[1,\n2]")
	})
	if plain.Statement != spaced.Statement || strings.Count(plain.Statement, "\n") != 13 {
		t.Errorf("statements differ or have lines too many:\n%s\n%s", plain.Statement, spaced.Statement)
	}
}
