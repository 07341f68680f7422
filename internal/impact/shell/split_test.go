package shell

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A text of arguments is taken apart as env takes it, where there is one that does.
func TestTextsAreSplitAsEnvSplitsThem(t *testing.T) {
	real := exec.Command("env", "-S", "printf x").Run() == nil
	for text, want := range map[string][]string{
		`a  b`:               {"a", "b"},
		`a 'b  c' "d e" f`:   {"a", "b  c", "d e", "f"},
		`a\_b "c\_d" 'e\_f'`: {"a", "b", "c d", `e\_f`},
		`'it\'s' '\\' '\n'`:  {"it's", `\`, `\n`},
		`a\tb \$x \#y "\""`:  {"a\tb", "$x", "#y", `"`},
		`a #b`:               {"a"},
		`a#b '' c`:           {"a#b", "", "c"},
		`a\c b`:              {"a"},
		`a'b'"c"`:            {"abc"},
	} {
		got, ok := splitString(text)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", text, ok, diff)
		}
		if real {
			out, err := exec.Command("env", "-S", `printf [%s] `+text).Output()
			if written := "[" + strings.Join(want, "][") + "]"; err != nil || string(out) != written {
				t.Errorf("%s: env makes %s of it, and not %s: %v", text, out, written, err)
			}
		}
	}
	for _, text := range []string{`"a`, `'a`, `a\`, `a\q`} {
		if words, ok := splitString(text); ok {
			t.Errorf("%s was taken apart: %q", text, words)
		}
	}
}
