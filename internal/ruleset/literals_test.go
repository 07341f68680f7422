package ruleset

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"interlock/rules"
)

var update = flag.Bool("update", false, "write literals.txt instead of comparing it")

// TestLiteralsAreFresh: what is known of the defaults' patterns without parsing them is what parsing them says.
func TestLiteralsAreFresh(t *testing.T) {
	set, err := Load(rules.Defaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	written := map[string]bool{}
	for _, r := range set.Rules() {
		pattern := r.Match.Pattern
		if pattern == "" || written[pattern] {
			continue
		}
		written[pattern] = true
		groups, err := patternLiterals(pattern)
		if err != nil || strings.HasPrefix(pattern, "\t") || strings.Contains(pattern, "\n") {
			t.Fatalf("%s: %q, %v", r.ID, pattern, err)
		}
		text.WriteString(pattern + "\n")
		for _, group := range groups {
			text.WriteString("\t" + strings.Join(group, "\t") + "\n")
		}
		if diff := cmp.Diff(groups, requiredLiterals(pattern)); diff != "" && !*update {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
	if *update {
		if err := os.WriteFile("literals.txt", []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text.String() != literalsText {
		t.Error("literals.txt is not what the defaults' patterns require; run: go generate ./rules")
	}
}

func TestPatternLiterals(t *testing.T) {
	for pattern, want := range map[string][][]string{
		`rm\s+-rf`:                    {{"rm"}, {"-rf"}},
		`git (push|pull)`:             {{"git push", "git pull"}},
		`(?i)Drop\s+Table`:            {{"drop"}, {"table"}},
		`foo|far`:                     {{"foo", "far"}},
		`(abc)?def`:                   {{"def", "abcdef"}},
		`(abc)+`:                      {{"abc"}},
		`(abc){2,}x`:                  {{"abc"}, {"abc"}},
		`a*b`:                         nil,
		`.`:                           nil,
		`x|.*`:                        nil,
		`ab|.*cd`:                     {{"ab", "cd"}},
		`\bsudo\b`:                    {{"sudo"}},
		`(?i)sk_[a-z]`:                {{"sk_"}},
		`[ab]c[de]`:                   {{"acd", "ace", "bcd", "bce"}},
		`(?i)straße`:                  nil,
		`(?:curl|wget).*\|\s*(ba)?sh`: {{"curl", "wget"}, {"sh", "bash"}},
	} {
		got, err := patternLiterals(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
}

// pieces build random patterns, and texts that have a good chance to match them.
var pieces = []string{"rm", "git", "push", "sk_", "K", "drop", "ab", "s", " ", "-", "\u017f", "\u212a", "é", "x1"}

func drawPattern(t *rapid.T, depth int) string {
	piece := func() string { return regexp.QuoteMeta(rapid.SampledFrom(pieces).Draw(t, "piece")) }
	if depth == 0 {
		return piece()
	}
	inner := func() string { return drawPattern(t, depth-1) }
	switch rapid.IntRange(0, 10).Draw(t, "shape") {
	case 0:
		return inner() + inner()
	case 1:
		return "(?:" + inner() + "|" + inner() + ")"
	case 2:
		return "(?:" + inner() + ")?"
	case 3:
		return "(?:" + inner() + ")*" + inner()
	case 4:
		return "(" + inner() + ")+"
	case 5:
		return "(?i:" + inner() + ")"
	case 6:
		return inner() + `\s*` + inner()
	case 7:
		return "[rgs]" + inner()
	case 8:
		return "(?:" + inner() + "){1,3}"
	case 9:
		return `\b` + inner()
	default:
		return inner() + ".*" + inner()
	}
}

func drawText(t *rapid.T) string {
	var b strings.Builder
	for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "text") {
		if rapid.Bool().Draw(t, "upper") {
			p = strings.ToUpper(p)
		}
		b.WriteString(p)
	}
	return b.String()
}

// The prefilter is complete: whatever a plain regexp finds, the matcher finds too, and nothing else.
func TestMatcherAgreesWithRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var conditions []condition
		var plain []*regexp.Regexp
		for range rapid.IntRange(1, 8).Draw(t, "patterns") {
			pattern := drawPattern(t, 3)
			re := regexp.MustCompile(pattern)
			groups, err := patternLiterals(pattern)
			if err != nil {
				t.Fatal(err)
			}
			plain = append(plain, re)
			conditions = append(conditions, condition{groups: groups, verify: func(text, _ string) bool { return re.MatchString(text) }})
		}
		m := newMatcher(conditions)
		for range 8 {
			text := drawText(t)
			var want, got []int
			for n, re := range plain {
				if re.MatchString(text) {
					want = append(want, n)
				}
			}
			m.match(0, text, func(n int) { got = append(got, n) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("text %q: %s", text, diff)
			}
		}
	})
}

// Globs behind the prefilter agree with globs alone.
func TestGlobsBehindThePrefilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringMatching(`[ab*? K]{0,8}(rm|git)?[*?a ]{0,4}`).Draw(t, "glob")
		p := Policy{Deny: []string{glob}}
		text := rapid.StringMatching(`[ab kK]{0,8}(rm|git|GIT)?[a ]{0,4}`).Draw(t, "text")
		got := false
		p.matchers()[PolicyDeny].match(0, text, func(int) { got = true })
		if want := Glob(glob, text); got != want {
			t.Fatalf("%q on %q: have %v, want %v", glob, text, got, want)
		}
	})
}

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		glob, text string
		want       bool
	}{
		{"git push*", "git push origin", true}, {"git push*", "GIT PUSH", true}, {"git push", "git push origin", false},
		{"*prod*", "db-Prod-1", true}, {"a?c", "aéc", true}, {"a?c", "ac", false}, {"", "", true}, {"", "a", false}, {"*", "", true},
		{"**a", "bba", true}, {"a*b*c", "aXbYbc", true}, {"a*b*c", "aXbYb", false}, {"mcp__*__delete", "mcp__crm__delete", true},
		{"s*", "\u017fx", true}, {"[a]", "a", false},
	} {
		if got := Glob(test.glob, test.text); got != test.want {
			t.Errorf("Glob(%q, %q) = %v", test.glob, test.text, got)
		}
	}
}

func manyConditions(n int) []condition {
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]condition, n)
	for i := range out {
		pattern := fmt.Sprintf(`\btool%d\s+--?%c%c(orce|ull)=\w+x%d`, random.IntN(100000), 'a'+rune(i%26), 'a'+rune(i/26%26), i)
		re := regexp.MustCompile(pattern)
		groups, _ := patternLiterals(pattern)
		out[i] = condition{groups: groups, verify: func(text, _ string) bool { return re.MatchString(text) }}
	}
	return out
}

// Near-constant in the number of patterns; budget 5 µs for 200 bytes.
func BenchmarkMatcher(b *testing.B) {
	text := strings.Repeat("go test ./... -run TestX --force=yes tool42 | tee out.log; ", 4)[:200]
	for _, n := range []int{10, 100, 500, 2000} {
		m := newMatcher(manyConditions(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				m.match(0, text, func(int) {})
			}
		})
	}
}

// The automaton finds exactly the literals that stand in a text, also those inside one another.
func TestAutomatonFindsWhatStandsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literals := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]{1,4}`), 1, 6, rapid.ID).Draw(t, "literals")
		text := rapid.StringMatching(`[abc]{0,12}`).Draw(t, "text")
		got := map[string]bool{}
		newAutomaton(literals).find(text, func(n int32) { got[literals[n]] = true })
		for _, l := range literals {
			if got[l] != strings.Contains(text, l) {
				t.Fatalf("%q in %q: found %v", l, text, got[l])
			}
		}
	})
}
