package strictyaml

import (
	"fmt"
	"strings"
	"testing"
)

// TestHostileFiles: files made to cost their reader a lot are refused with one sentence before the parser sees them. Their harmless
// twins, of the same kind and an ordinary size, are read.
func TestHostileFiles(t *testing.T) {
	numbered := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "k%d: v\n", i)
		}
		return b.String()
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 7), c-1)
	}
	for name, test := range map[string]struct{ hostile, want, twin string }{
		"an alias bomb":         {bomb, "aliases", "a: [x, x]\nb: [x, x]\n"},
		"3,000,000 brackets":    {strings.Repeat("[", 3_000_000), "at most 1048576 are read", strings.Repeat("[", 30) + strings.Repeat("]", 30)},
		"1,000 brackets":        {strings.Repeat("[", 1000), "nested too deep", "a: [[[]]]\n"},
		"1,000 braces in lines": {strings.Repeat("{\n", 1000), "nested too deep", "a: {b: {c: {}}}\n"},
		"1,000 dashes":          {strings.Repeat("- ", 1000), "nested too deep", "- - - a\n"},
		"deep by indentation": {func() (text string) {
			for i := range 400 {
				text += strings.Repeat(" ", i) + "a:\n"
			}
			return text
		}(), "nested more than 32 deep", "a:\n b:\n  c: d\n"},
		"blank lines in a text": {"a: |\n" + strings.Repeat("\n", 200_000) + " b\n", "blank lines", "a: |\n b\n" + strings.Repeat("\n", 150) + " c\n"},
		"blanks in lines":       {"a: |\n" + strings.Repeat("  \r\n", 100_000) + "  b\n", "blank lines", "a: |\n  b\n  \n  c\n"},
		"100,000 lines":         {numbered(100_000), "too many lines and signs", numbered(500)},
		"a list of 200,000":     {"a: [" + strings.Repeat("1,", 200_000) + "1]", "too many lines and signs", "a: [" + strings.Repeat("1,", 500) + "1]"},
		"anchors":               {strings.Repeat("- &a b\n", 140_000), "too many lines and signs", "- b\n- b\n"},
		"quotes":                {strings.Repeat("- \"a\"\n", 140_000), "too many lines and signs", strings.Repeat("- \"a\"\n", 500)},
		"comments":              {strings.Repeat("#\n", 500_000), "too many lines and signs", strings.Repeat("# why\n", 500) + "a: b\n"},
		"carriage returns":      {strings.Repeat("a\r", 500_000), "too many lines and signs", "a: b\r\n"},
	} {
		_, err := Parse("x.yaml", []byte(test.hostile))
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
			t.Errorf("%s: %.500v", name, err)
		}
		if _, err := Parse("x.yaml", []byte(test.twin)); err != nil {
			t.Errorf("the twin of %s: %v", name, err)
		}
	}
}
