package groundrules_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/groundrules"
	"interlock/rules"
	"interlock/spec"
)

// TestDefaults: the rules that ship are clear, in the four layers, concise, and give examples both ways (ASA 9.3), and they have a rule
// for everything that ASA 6.1 to 6.4 lists.
func TestDefaults(t *testing.T) {
	spec.Covers(t, "ASA-9.3-2", "ASA-9.3-3", "ASA-9.3-5")
	r := parsed(t, string(rules.GroundRules()))
	if tokens := r.Tokens(); tokens > 3000 {
		t.Errorf("they are about %d tokens", tokens)
	}
	for _, problem := range groundrules.Lint(r, nil, groundrules.Room{Window: 8192, Payload: 4096, Around: 1024}) {
		t.Error(problem)
	}
	for _, id := range []string{
		"L1.integrity", "L1.confirm", "L1.obey", "L1.safety", // ASA 6.1
		"L2.credentials", "L2.self", "L2.exfiltration", "L2.messages", // 6.2
		"L3.scope", "L3.impersonation", "L3.tools", "L3.budget", // 6.3
		"L4.helpful", "L4.honest", "L4.feedback", // 6.4
	} {
		if layer, known := r.Layer(id); !known || layer != int(id[1]-'0') {
			t.Errorf("rule %s: layer %d, %v", id, layer, known)
		}
	}
	seen := 0
	for _, rule := range r.Rules() {
		if rule.Layer < seen || rule.Own() {
			t.Errorf("rule %s stands in layer %d behind layer %d, or is an operator's", rule.ID, rule.Layer, seen)
		}
		seen = rule.Layer
	}
}

// TestAppendixA: the four examples of ASA appendix A by the rules that ship. What judges say of each layer is given here; what comes of
// it, and what an agent can offer instead, is theirs.
func TestAppendixA(t *testing.T) {
	r := parsed(t, string(rules.GroundRules()))
	for name, test := range map[string]struct {
		denies  string
		allows  []string
		verdict interlock.Verdict
		layer   int
		instead string
	}{
		"A.1 stored credentials":  {"L2.credentials", []string{"L4.helpful"}, interlock.Deny, 2, "without showing it"},
		"A.2 bulk deletion":       {"L1.confirm", []string{"L4.helpful", "L3.scope", "L1.obey"}, interlock.Ask, 1, "ask for the confirmation"},
		"A.3 from the director":   {"L3.impersonation", []string{"L4.helpful"}, interlock.Deny, 3, "draft the message"},
		"A.4 the system's prompt": {"L2.self", []string{"L4.helpful", "L4.honest"}, interlock.Deny, 2, "in general"},
	} {
		t.Run(name, func(t *testing.T) {
			decisive, known := r.Outcome(test.denies)
			if !known {
				t.Fatalf("there is no rule %s", test.denies)
			}
			outcomes := []groundrules.Outcome{decisive}
			for _, id := range test.allows {
				layer, known := r.Layer(id)
				if !known {
					t.Fatalf("there is no rule %s", id)
				}
				allowed := groundrules.Outcome{Rule: id, Layer: layer, Verdict: interlock.Allow}
				outcomes = append([]groundrules.Outcome{allowed}, outcomes...)
			}
			verdict, layer, rule := groundrules.Resolve(outcomes)
			if verdict != test.verdict || layer != test.layer || rule != test.denies {
				t.Errorf("%s by layer %d, rule %s", verdict, layer, rule)
			}
			if found, _ := r.Rule(rule); !strings.Contains(found.Instead, test.instead) {
				t.Errorf("instead: %q", found.Instead)
			}
		})
	}
}

// TestResolve: ASA section 13, with what it leaves open.
func TestResolve(t *testing.T) {
	const allow, ask, deny = interlock.Allow, interlock.Ask, interlock.Deny
	type outcomes = []groundrules.Outcome
	for name, test := range map[string]struct {
		given   outcomes
		verdict interlock.Verdict
		layer   int
		rule    string
	}{
		"all allow":                   {outcomes{{"a", 1, 0, allow}, {"b", 4, 0, allow}}, allow, 0, ""},
		"a deny of a lower layer":     {outcomes{{"a", 4, 0, allow}, {"b", 2, 0, deny}}, deny, 2, "b"},
		"a deny of a higher layer":    {outcomes{{"a", 1, 0, allow}, {"b", 4, 0, deny}}, deny, 4, "b"},
		"deny beside allow":           {outcomes{{"a", 2, 0, deny}, {"b", 2, 0, allow}}, deny, 2, "a"},
		"the lowest is reported":      {outcomes{{"c", 4, 0, deny}, {"b", 3, 0, deny}, {"a", 2, 0, deny}}, deny, 2, "a"},
		"the first sub-layer":         {outcomes{{"a", 2, 2, deny}, {"b", 2, 1, deny}}, deny, 2, "b"},
		"a condition stands":          {outcomes{{"a", 4, 0, allow}, {"b", 1, 0, ask}}, ask, 1, "b"},
		"the lowest condition":        {outcomes{{"a", 3, 0, ask}, {"b", 1, 0, ask}}, ask, 1, "b"},
		"a deny above a condition":    {outcomes{{"a", 1, 0, ask}, {"b", 4, 0, deny}}, deny, 4, "b"},
		"a deny beside a condition":   {outcomes{{"a", 1, 0, ask}, {"b", 1, 0, deny}}, deny, 1, "b"},
		"nothing was looked at":       {nil, deny, 0, ""},
		"halt is a denial":            {outcomes{{"a", 3, 0, interlock.Halt}}, deny, 3, "a"},
		"a verdict that is none":      {outcomes{{"a", 3, 0, interlock.Verdict(9)}}, deny, 3, "a"},
		"the zero value":              {outcomes{{}}, deny, 0, ""},
		"a layer that does not exist": {outcomes{{"a", 5, 0, allow}}, deny, 5, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				if verdict, layer, rule := groundrules.Resolve(test.given); verdict != test.verdict || layer != test.layer || rule != test.rule {
					t.Errorf("%s by layer %d, rule %q", verdict, layer, rule)
				}
				for i, j := 0, len(test.given)-1; i < j; i, j = i+1, j-1 { // the order changes nothing
					test.given[i], test.given[j] = test.given[j], test.given[i]
				}
			}
		})
	}
}

// TestLint: what a judge would do badly with is found, with its rule, and nothing else.
func TestLint(t *testing.T) {
	full := strings.NewReplacer(
		"Never show them.", "Never show them.\nAllowed:\n- yes\nDisallowed:\n- no",
		"Never show keys.", "Never show keys.\nAllowed:\n- some\nDisallowed:\n- none",
		"Never show names.", "Never show names.\nAllowed:\n- first\nDisallowed:\n- last",
		"Ask first.", "Ask first.\nAllowed:\n- small\nDisallowed:\n- large",
		"Be helpful.", "Be helpful.\nAllowed:\n- here\nDisallowed:\n- there").Replace(small)
	room := groundrules.Room{Window: 4096, Payload: 2048, Around: 512}
	if problems := groundrules.Lint(parsed(t, full), nil, room); len(problems) != 0 {
		t.Fatalf("%v", problems)
	}
	for name, test := range map[string]struct {
		from, to string
		room     groundrules.Room
		want     string
	}{
		"vague":           {"Never show keys.", "One should be careful\nwith keys.", room, `L2.1.keys: vague: "be careful" leaves it to the judge`},
		"vague in part":   {"Never show keys.", "Never avoidably etch keys.", room, ""},
		"no allowed":      {"Allowed:\n- some\n", "", room, "L2.1.keys: no-examples: there is no example of what is allowed"},
		"no disallowed":   {"Disallowed:\n- none", "", room, "L2.1.keys: no-examples: there is no example of what is not allowed"},
		"both":            {"- none", "- `Some`.", room, `L2.1.keys: contradiction: the same example is allowed and not: "some"`},
		"two rules":       {"- some", "- LAST", room, `L2.1.keys: contradiction: it allows "LAST", which rule L2.2.names does not allow`},
		"no conflict":     {"A lower layer prevails, and inside one a denial.", "Be fair.", room, "no-conflict-rule: "},
		"no denial":       {"A lower layer prevails, and inside one a denial.", "A lower layer prevails.", room, "no-conflict-rule: "},
		"no room":         {"", "", groundrules.Room{Window: 2600, Payload: 2048, Around: 512}, "too-long: about "},
		"no room is said": {"", "", groundrules.Room{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, problem := range groundrules.Lint(parsed(t, strings.Replace(full, test.from, test.to, 1)), nil, test.room) {
				got = append(got, problem.String())
			}
			if test.want == "" && len(got) != 0 || test.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], test.want)) {
				t.Errorf("got %q, want one %q", got, test.want)
			}
		})
	}
	var wordy strings.Builder
	for range 12 {
		wordy.WriteString("\n" + strings.Repeat("word ", 300) + "\n")
	}
	problems := groundrules.Lint(parsed(t, strings.Replace(full, "About.", wordy.String(), 1)), nil, groundrules.Room{})
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "too-long: the rules are about ") {
		t.Errorf("%v", problems)
	}
}

// FuzzParse: no document makes the reader panic, and what it accepts has a canonical text, with and without the rules that ship.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add(rules.GroundRules())
	f.Add([]byte("# Ours\n## Layer 3: Operational\n### L3.1.own-a A (conditional)\nText.\nAllowed:\n- a\n\n- b\n  c\nInstead: d"))
	f.Add([]byte("# a\n##  Layer 2:b\n### L2.own-x c(conditional)\n\u00a0x\n\t- y"))
	base, err := groundrules.Parse(rules.GroundRules())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := groundrules.Parse(text); err == nil {
			again, err := groundrules.Parse([]byte(r.Text()))
			if err != nil || again.Digest() != r.Digest() || again.Text() != r.Text() || len(groundrules.Diff(r, again)) != 0 {
				t.Fatalf("%v:\n%s\nbecomes\n%s", err, r.Text(), again.Text())
			}
			groundrules.Lint(r, nil, groundrules.Room{Window: 1})
		}
		own, err := groundrules.ParseAdded(text)
		if err != nil {
			return
		}
		if again, err := groundrules.ParseAdded([]byte(own.Text())); err != nil || again.Digest() != own.Digest() {
			t.Fatalf("%v:\n%s", err, own.Text())
		}
		both, err := base.With(own)
		if err != nil {
			return
		}
		if again, err := groundrules.Parse([]byte(both.Text())); err != nil || again.Digest() != both.Digest() {
			t.Fatalf("%v:\n%s", err, both.Text())
		}
		for _, change := range groundrules.Diff(base, both) {
			if change.How != "added" {
				t.Fatalf("adding has %s %s", change.How, change.What)
			}
		}
	})
}
