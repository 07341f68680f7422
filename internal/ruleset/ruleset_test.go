package ruleset_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/ruleset"
	"interlock/internal/strictyaml"
	"interlock/spec"
)

const base = `
rules:
  - id: fs.delete-root
    layer: 1
    match: {kind: [delete], traits: {all: [root]}}
    verdict: deny
    reason: this deletes everything
    tests: {block: ["rm -rf /"], pass: ["rm a"]}
profiles:
  - name: guard
    about: everyday work
    trust: community_reviewed
    empty: allow
    rows:
      - {id: read, when: {kind: [read]}, verdict: allow}
      - {id: rest, verdict: ask, reason: not granted}
`

func defaults(t testing.TB, documents ...string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for n, d := range append([]string{base}, documents...) {
		data, err := strictyaml.ToJSON("x.yaml", []byte(d))
		if err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprintf("base%d.yaml", n)] = data
	}
	return out
}

func load(t testing.TB, user map[string][]byte) *ruleset.Ruleset {
	t.Helper()
	r, err := ruleset.Load(defaults(t), user)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUserDocumentsAreCheckedWithTheirPlace(t *testing.T) {
	spec.Covers(t, "ASA-6-1")
	rule := func(lines string) string {
		return "rules:\n  - id: team.x\n    layer: 3\n    verdict: ask\n    reason: team rule\n" + lines
	}
	for _, test := range []struct{ name, document, want string }{
		{"reused default id", strings.Replace(rule("    match: {glob: [abc]}\n"), "team.x", "fs.delete-root", 1),
			"team.yaml:2:5: rules[0].id: the id fs.delete-root is taken in base0.yaml"},
		{"doubled id", rule("    match: {glob: [abc]}\n") + rule("    match: {glob: [abd]}\n")[7:],
			"team.yaml:7:5: rules[1].id: the id team.x stands in team.yaml already"},
		{"allow", strings.Replace(rule("    match: {glob: [abc]}\n"), "verdict: ask", "verdict: allow", 1),
			"team.yaml:4:5: rules[0].verdict: a rule can only object"},
		{"unknown verdict", strings.Replace(rule("    match: {glob: [abc]}\n"), "verdict: ask", "verdict: block", 1),
			`rules[0].verdict: unknown verdict "block"`},
		{"unknown field", rule("    matches: {}\n"), "team.yaml:6:5: rules[0].matches: the member is not known here"},
		{"no match", rule(""), "rules[0].match: the rule would fire on everything"},
		{"empty match", rule("    match: {text: [shell]}\n"), "rules[0].match: the rule would fire on everything"},
		{"unknown kind", rule("    match: {kind: [wirte]}\n"), "team.yaml:6:20: rules[0].match.kind[0]: unknown impact kind; known are"},
		{"unknown reach", rule("    match: {reach: [moon]}\n"), "unknown reach"},
		{"unknown reversibility", rule("    match: {reversibility: [never]}\n"), "unknown reversibility"},
		{"unknown confidence", rule("    match: {confidence: [sure]}\n"), "unknown confidence"},
		{"unknown action kind", rule("    kinds: [bash]\n    match: {glob: [abc]}\n"), "rules[0].kinds[0]: unknown kind of action"},
		{"unknown text kind", rule("    match: {glob: [abc], text: [bash]}\n"), "rules[0].match.text[0]: unknown kind of text"},
		{"bad pattern", rule("    match: {pattern: 'a('}\n"), "team.yaml:6:13: rules[0].match.pattern: the pattern is not RE2"},
		{"look-ahead", rule("    match: {pattern: '(?=x)abc'}\n"), "not RE2"},
		{"long pattern", rule("    match: {pattern: '" + strings.Repeat("ab", 600) + "'}\n"), "at most 1000"},
		{"empty via", rule("    match: {via: ['']}\n"), "rules[0].match.via[0]: the glob is empty"},
		{"wide glob", rule("    match: {glob: ['*']}\n"), "rules[0].match.glob[0]: the glob needs at least 2 plain characters"},
		{"layer", strings.Replace(rule("    match: {glob: [abc]}\n"), "layer: 3", "layer: 7", 1), "rules[0].layer: layer must be 1"},
		{"id form", strings.Replace(rule("    match: {glob: [abc]}\n"), "team.x", "Team X", 1), "rules[0].id: id must be lower-case"},
		{"reason", strings.Replace(rule("    match: {glob: [abc]}\n"), "reason: team rule", "reason: ''", 1),
			"rules[0].reason: reason must be one plain sentence"},
		{"reason shows pattern", strings.Replace(rule("    match: {pattern: 'secretpattern'}\n"), "team rule",
			"it matches secretpattern", 1), "reason repeats the pattern"},
		{"block test of an ask", rule("    match: {glob: [abc]}\n    tests: {block: [abc]}\n"), "rules[0].tests.block: the rule asks"},
		{"test of a wrong type", rule("    match: {glob: [abc]}\n    tests: {ask: [1]}\n"), "rules[0].tests.ask[0]: a test is a shell command or an action"},
		{"sublayer", strings.Replace(rule("    match: {glob: [abc]}\n"), "layer:", "sublayer: 100\n    layer:", 1),
			"rules[0].sublayer: sublayer is a place"},
		{"profile form", rule("    profiles: [Guard]\n    match: {glob: [abc]}\n"), "rules[0].profiles[0]: name a profile"},
		{"profile nobody ships", rule("    profiles: [gard]\n    match: {glob: [abc]}\n"), "rules[0].profiles[0]: there is no profile gard"},
		{"obligation", rule("    match: {glob: [abc]}\n    obligations: [{type: pray}]\n"), "rules[0].obligations[0].type: unknown obligation"},
		{"profile", "profiles:\n  - name: mine\n    about: x\n    trust: certified\n    empty: allow\n    rows: [{id: all, verdict: allow}]\n",
			"team.yaml:2:9: profiles[0]: profiles grant, and operators' documents may only object"},
		{"wide autoApprove", "policy: {autoApprove: ['*']}\n", "policy.autoApprove[0]: the glob would approve nearly everything"},
		{"empty policy glob", "policy: {deny: ['']}\n", "policy.deny[0]: the glob is empty"},
		{"danger without name", "danger: [{level: safe}]\n", "danger[0].name: name is missing"},
		{"unknown level", "danger: [{name: x, level: mild}]\n", `unknown danger level "mild"`},
		{"scope without agent", "scope: [{allow: [x]}]\n", "scope[0].agent: agent is missing"},
		{"scope without list", "scope: [{agent: x}]\n", "scope[0].allow: allow is empty"},
		{"null rule", "rules: [null]\n", "rules[0]: the rule is empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ruleset.Load(defaults(t), map[string][]byte{"team.yaml": []byte(test.document)})
			var refused *interlock.Error
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("have %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestDefaultsNeedTests(t *testing.T) {
	for name, tests := range map[string]string{
		"none":        "",
		"only block":  "    tests: {block: [abc]}\n",
		"only pass":   "    tests: {pass: [abc]}\n",
		"ask as deny": "    tests: {ask: [abc], pass: [x]}\n",
	} {
		document := "rules:\n  - id: a.b\n    layer: 2\n    verdict: deny\n    reason: x y\n    match: {glob: [abc]}\n" + tests
		if _, err := ruleset.Load(defaults(t, document), nil); err == nil {
			t.Errorf("%s: a default without both tests was loaded", name)
		}
	}
}

func TestVerifyReadsTheDefaultsPatterns(t *testing.T) {
	bad := defaults(t, "rules:\n  - {id: a.b, layer: 2, verdict: deny, reason: x y, match: {pattern: 'a('}, tests: {block: [a], pass: [b]}}\n")
	if err := ruleset.Verify(bad); err == nil || !strings.Contains(err.Error(), "not RE2") {
		t.Errorf("have %v", err)
	}
	rules, err := ruleset.Load(bad, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := rules.MatchTexts("shell", []ruleset.Text{{Kind: "shell", Value: "ls"}}); len(got) != 1 {
		t.Error("a rule whose pattern can't be read stays silent")
	}
	if err := ruleset.Verify(defaults(t)); err != nil {
		t.Error(err)
	}
}

func TestLiteralFreePatternsAreFew(t *testing.T) {
	var b strings.Builder
	b.WriteString("rules:\n")
	for n := range 17 {
		fmt.Fprintf(&b, "  - {id: team.r%d, layer: 3, verdict: ask, reason: team rule, match: {pattern: '[0-9]{%d}'}}\n", n, n+3)
	}
	_, err := ruleset.Load(defaults(t), map[string][]byte{"team.yaml": []byte(b.String())})
	if err == nil || !strings.Contains(err.Error(), "rules[16].match.pattern") {
		t.Errorf("have %v, want the seventeenth refused", err)
	}
}

func TestDigest(t *testing.T) {
	spec.Covers(t, "ASA-8.3-1")
	one := []byte("policy: {deny: [abc]}\n")
	two := []byte("production: ['*live*']\n")
	digest := func(user map[string][]byte) interlock.Digest { return load(t, user).Digest() }
	want := digest(map[string][]byte{"a.yaml": one, "b.yaml": two})
	if got := digest(map[string][]byte{"b.yaml": one, "a.yaml": two}); got != want {
		t.Error("the digest depends on the names or the order of files")
	}
	if got := digest(map[string][]byte{"a.yaml": []byte("# why\npolicy:\n  deny:\n    - abc\n"), "b.yaml": two}); got != want {
		t.Error("the digest depends on comments or layout")
	}
	seen := map[interlock.Digest]string{want: "both"}
	for name, user := range map[string]map[string][]byte{
		"none": nil, "one": {"a.yaml": one}, "two": {"a.yaml": two}, "twice": {"a.yaml": one, "b.yaml": one},
		"other": {"a.yaml": []byte("policy: {deny: [abd]}\n"), "b.yaml": two},
	} {
		d := digest(user)
		if other, have := seen[d]; have {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
}

func TestMatchImpacts(t *testing.T) {
	user := `
rules:
  - {id: t.via, layer: 3, verdict: ask, reason: team rule, match: {via: ["git push*", "svn commit"]}}
  - {id: t.kind, layer: 3, verdict: ask, reason: team rule, match: {kind: [delete, write], reach: [home]}}
  - {id: t.trait, layer: 3, verdict: ask, reason: team rule, match: {traits: {all: [force, bulk], none: [dry-run]}}}
  - {id: t.any, layer: 3, verdict: ask, reason: team rule, match: {traits: {any: [secret, device]}}}
  - {id: t.target, layer: 3, verdict: ask, reason: team rule, match: {target: ["*.PEM"]}}
  - {id: t.over, layer: 3, verdict: ask, reason: team rule, match: {over: 100}}
  - {id: t.only, layer: 3, verdict: ask, reason: team rule, kinds: [http], match: {kind: [network]}}
  - {id: t.wild, layer: 3, verdict: ask, reason: team rule, match: {via: ["*sql"]}}
`
	r := load(t, map[string][]byte{"t.yaml": []byte(user)})
	for _, test := range []struct {
		name   string
		kind   interlock.Kind
		impact interlock.Impact
		want   []string
	}{
		{"via", "shell", interlock.Impact{Via: "Git Push --force"}, []string{"t.via"}},
		{"via whole", "shell", interlock.Impact{Via: "git pushy"}, []string{"t.via"}},
		{"via other", "shell", interlock.Impact{Via: "git pull"}, nil},
		{"kind", "shell", interlock.Impact{Kind: "write", Reach: "home"}, []string{"t.kind"}},
		{"kind elsewhere", "shell", interlock.Impact{Kind: "write", Reach: "workspace"}, nil},
		{"traits", "shell", interlock.Impact{Traits: []string{"bulk", "force"}}, []string{"t.trait"}},
		{"traits but", "shell", interlock.Impact{Traits: []string{"bulk", "dry-run", "force"}}, nil},
		{"any", "shell", interlock.Impact{Traits: []string{"device"}}, []string{"t.any"}},
		{"target", "shell", interlock.Impact{Target: "/a/key.pem"}, []string{"t.target"}},
		{"over", "shell", interlock.Impact{Amount: 101}, []string{"t.over"}},
		{"not over", "shell", interlock.Impact{Amount: 100}, nil},
		{"kind of action", "http", interlock.Impact{Kind: "network"}, []string{"t.only"}},
		{"other kind of action", "shell", interlock.Impact{Kind: "network"}, nil},
		{"wild via", "sql", interlock.Impact{Via: "psql"}, []string{"t.wild"}},
		{"garbage", "what", interlock.Impact{Kind: "x", Reach: "y", Traits: []string{"", ""}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, h := range r.MatchImpacts(test.kind, []interlock.Impact{test.impact}) {
				got = append(got, h.Rule.ID)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	hits := r.MatchImpacts("shell", []interlock.Impact{{Via: "git push a"}, {Amount: 500}, {Via: "git push b"}})
	if len(hits) != 2 || hits[1].Rule.ID != "t.via" || cmp.Diff([]int{0, 2}, hits[1].Impacts) != "" {
		t.Errorf("hits of several impacts are %+v", hits)
	}
}

func TestMatchTexts(t *testing.T) {
	user := `
rules:
  - {id: t.glob, layer: 3, verdict: ask, reason: team rule, match: {glob: ["make deploy*"]}}
  - {id: t.pattern, layer: 3, verdict: ask, reason: team rule, match: {pattern: '(?i)\bdrop\s+table\b', text: [sql]}}
  - {id: t.free, layer: 3, verdict: ask, reason: team rule, match: {pattern: '^[0-9]{5}$'}}
`
	r := load(t, map[string][]byte{"t.yaml": []byte(user)})
	for _, test := range []struct {
		kind  interlock.Kind
		value string
		want  []string
	}{
		{"shell", "make deploy prod", []string{"t.glob"}}, {"shell", "echo make deploy", nil},
		{"sql", "DROP  TABLE x", []string{"t.pattern"}}, {"shell", "DROP TABLE x", nil},
		{"shell", "12345", []string{"t.free"}}, {"shell", "123456", nil},
	} {
		var got []string
		for _, rule := range r.MatchTexts("shell", []ruleset.Text{{Kind: test.kind, Value: test.value}}) {
			got = append(got, rule.ID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %q: %s", test.kind, test.value, diff)
		}
	}
}

func TestDiff(t *testing.T) {
	rule := func(reason string) []byte {
		return []byte("rules:\n  - {id: t.a, layer: 3, verdict: ask, reason: " + reason + ", match: {glob: [abc]}}\npolicy: {deny: [x, y]}\n")
	}
	from := load(t, map[string][]byte{"t.yaml": rule("one thing")})
	to := load(t, map[string][]byte{"t.yaml": rule("another thing"), "u.yaml": []byte("policy: {deny: [z]}\ndanger: [{name: q, level: safe}]\n")})
	got, err := ruleset.Diff(from, to)
	want := []ruleset.Change{{What: "danger q safe", How: "added"}, {What: "policy.deny z", How: "added"}, {What: "rule t.a", How: "changed"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, _ := ruleset.Diff(to, to); len(got) != 0 {
		t.Errorf("a ruleset differs from itself by %v", got)
	}
}

func TestProfileRows(t *testing.T) {
	p, ok := load(t, nil).Profile("guard")
	if !ok {
		t.Fatal("no profile")
	}
	if row := p.Row(&interlock.Impact{Kind: "read"}); row == nil || row.ID != "read" {
		t.Errorf("row is %+v", row)
	}
	if row := p.Row(&interlock.Impact{Kind: "write"}); row == nil || row.ID != "rest" {
		t.Errorf("row is %+v", row)
	}
	if _, ok := load(t, nil).Profile("other"); ok {
		t.Error("an unknown profile exists")
	}
}

// Loading never panics, and what loads has a digest and rules that only object.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(base))
	f.Add([]byte("rules:\n  - {id: t.a, layer: 3, verdict: ask, reason: r s, match: {pattern: 'a(b|c)*d'}}\n"))
	f.Add([]byte(`{"policy":{"deny":["x*"]}}`))
	f.Add([]byte("scope: [{agent: '*', allow: [ls]}]\nproduction: [p]\n"))
	f.Add([]byte("rules: [{}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ruleset.Load(nil, map[string][]byte{"f.yaml": data})
		if err != nil {
			return
		}
		if r.Digest() == "" || len(r.Profiles()) != 0 {
			t.Fatal("loaded without a digest, or with a profile of an operator")
		}
		for _, rule := range r.Rules() {
			if rule.Verdict == interlock.Allow || !rule.User() {
				t.Fatalf("rule %s grants", rule.ID)
			}
		}
		r.MatchTexts("shell", []ruleset.Text{{Kind: "shell", Value: "rm -rf / abcd x"}})
		r.MatchImpacts("shell", []interlock.Impact{{Kind: "delete", Via: "rm", Traits: []string{"force", "root"}}})
	})
}
