package linediff

import (
	"strconv"
	"strings"
	"testing"
)

// patched applies a unified difference, and fails if it does not fit.
func patched(t *testing.T, before, diff string) string {
	t.Helper()
	old := Lines([]byte(before))
	var out []string
	at := 0
	for _, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		if strings.HasPrefix(line, "@@ -") {
			number, _, _ := strings.Cut(strings.TrimPrefix(line, "@@ -"), " ")
			number, count, counted := strings.Cut(number, ",")
			from, err := strconv.Atoi(number)
			if err != nil {
				t.Fatalf("%q", line)
			}
			if !counted || count != "0" {
				from--
			}
			for ; at < from; at++ {
				out = append(out, old[at])
			}
			continue
		}
		switch line[0] {
		case ' ', '-':
			if at >= len(old) || old[at] != line[1:] {
				t.Fatalf("line %d is not %q", at, line)
			}
			if at++; line[0] == ' ' {
				out = append(out, line[1:])
			}
		case '+':
			out = append(out, line[1:])
		default:
			t.Fatalf("%q", line)
		}
	}
	out = append(out, old[at:]...)
	return strings.Join(out, "\n")
}

// Property: the difference applied to one text is the other, and texts that are equal have none.
func FuzzUnifiedDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\n")
	f.Add("", "x\n")
	f.Add("x\n", "")
	f.Add(strings.Repeat("same\n", 30)+"end\n", "begin\n"+strings.Repeat("same\n", 30))
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Count(before, "\n") > 200 || strings.Count(after, "\n") > 200 {
			return
		}
		diff := Unified(Lines([]byte(before)), Lines([]byte(after)), true)
		want := strings.Join(Lines([]byte(after)), "\n")
		if diff == "" {
			if strings.Join(Lines([]byte(before)), "\n") != want {
				t.Errorf("%q and %q differ by nothing", before, after)
			}
			return
		}
		if got := patched(t, before, diff); got != want {
			t.Errorf("%q\n%s\ngives %q, want %q", before, diff, got, want)
		}
	})
}

func TestUnifiedDiff(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	after := "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n"
	want := "@@ -2,11 +2,10 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n"
	if got := Unified(Lines([]byte(before)), Lines([]byte(after)), true); got != want {
		t.Errorf("have\n%s\nwant\n%s", got, want)
	}
}
