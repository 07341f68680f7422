package docs_test

import (
	"slices"
	"strings"
	"testing"
)

// TestPagesAreReadAsTheyAreMarked: what a page's markings mean, and what is refused.
func TestPagesAreReadAsTheyAreMarked(t *testing.T) {
	const fence = "```"
	text := strings.Join([]string{
		"<!-- before: one -->", "<!-- before:", "two", "-->", fence + "sh exits=20", "interlock check x", "# a note", "interlock check \\", "  y", fence,
		"  " + fence + "sh types=y", "  make install", "  " + fence,
		fence + "text shown", "DENY", fence,
		fence + "sh not-run: it needs a cluster", "kubectl get pods", fence,
		fence, "a picture", fence,
	}, "\n")
	p, problems := parsePage("a.md", text)
	if len(problems) > 0 || len(p.blocks) != 5 {
		t.Fatalf("%d blocks, %q", len(p.blocks), problems)
	}
	if b := p.blocks[0]; b.before != "one\ntwo\n" || b.exits != 20 || b.commands() != 2 || b.line != 5 {
		t.Errorf("the first is %+v with %d commands", b, b.commands())
	}
	if b := p.blocks[1]; b.types != "y" || b.text != "make install\n" || b.before != "" {
		t.Errorf("the second is %+v", b)
	}
	if !p.blocks[2].shown || p.blocks[3].notRun != "it needs a cluster" || p.blocks[4].info != "" {
		t.Errorf("the others are %+v", p.blocks[2:])
	}
	for page, want := range map[string]string{
		fence + "\ninterlock up\n" + fence:                                "a.md:1: this block has commands (interlock up): mark it ```sh, and it is run",
		fence + "console\n$ ls\n" + fence:                                 "a.md:1: commands are marked ```sh here",
		fence + "sh skip\nls\n" + fence:                                   `a.md:1: " skip" is no marking: exits=N, types=WORD or not-run: REASON`,
		fence + "sh exits=0\nls\n" + fence:                                "a.md:1: 0 is no exit status of something that fails",
		"\n<!-- before: ls -->\n":                                         "a.md:2: no block with commands follows",
		"<!-- before: ls -->\n" + fence + "yaml\na: 1\n" + fence + "\n\n": "a.md:1: no block with commands follows",
	} {
		if _, problems := parsePage("a.md", page); !slices.Equal(problems, []string{want}) {
			t.Errorf("%q: %q, want %q", page, problems, want)
		}
	}
}

// TestWhatIsShownIsCompared: lines in order, with what differs each time left open.
func TestWhatIsShownIsCompared(t *testing.T) {
	const printed = "ID                AGE\napr_0123456789ab  3s   rm x\napproved\n"
	for shown, want := range map[string]string{
		"apr_ba9876543210 … rm x\napproved": "",
		"ID AGE\n…\napproved\n":             "",
		"approved\nID AGE":                  "ID AGE",
		"apr_ba9876543210 … rm y":           "apr_ba9876543210 … rm y",
		"appr":                              "appr",
	} {
		if got := missing(shown, printed); got != want {
			t.Errorf("%q: %q, want %q", shown, got, want)
		}
	}
}
