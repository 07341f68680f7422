package place

import (
	"strings"

	"interlock/internal/lex"
)

// spellings of ".", "/" and "\" that some decoder on the way to a file system turns back, longest first. They are the
// ones attackers use to carry ".." past a filter.
var pathSpellings = []struct{ from, to string }{
	{"%u002e", "."}, {"%uff0e", "."}, {"%u2215", "/"}, {"%u2216", `\`}, {"%uefc8", "/"}, {"%uf025", "/"},
	{"%u002f", "/"}, {"%u005c", `\`},
	{"%e0%80%ae", "."}, {"%e0%80%af", "/"}, {"%c0%ae", "."}, {"%c0%2e", "."}, {"%c0%5e", "."}, {"%c0%ee", "."}, {"%c0%fe", "."},
	{"%c0%af", "/"}, {"%c0%2f", "/"}, {"%c1%9c", `\`}, {"%c1%pc", `\`}, {"%c0%5c", `\`}, {"%c0%9v", `\`}, {"%c0%qf", "/"},
	{"%c1%8s", "/"}, {"%c1%1c", "/"}, {"%c1%af", "/"},
	{"0x2e", "."}, {"0x2f", "/"}, {"0x5c", `\`},
}

// PlainPath undoes encodings that hide a traversal and reports whether there was one to hide. A path in which nothing
// is hidden comes back as it is.
func PlainPath(name string) (plain string, odd bool) {
	if !strings.ContainsAny(name, "%\\\x00;") && !strings.Contains(name, "0x2") && !strings.Contains(name, "...") &&
		!strings.Contains(name, "..2f") && !strings.Contains(name, "..//") {
		return name, false
	}
	plain = name
	if strings.IndexByte(plain, '%') >= 0 || strings.Contains(plain, "0x") {
		low := strings.ToLower(plain)
		for range 3 {
			before := low
			for _, spelling := range pathSpellings {
				low = strings.ReplaceAll(low, spelling.from, spelling.to)
			}
			if low = lex.PercentDecode(low); low == before {
				break
			}
		}
		if low != strings.ToLower(plain) {
			plain = low
		}
	}
	if cut := strings.IndexByte(plain, 0); cut >= 0 {
		plain, odd = plain[:cut], true
	}
	plain = strings.ReplaceAll(plain, "..2f", "../")
	if strings.Contains(plain, "..") {
		plain = strings.ReplaceAll(plain, `\`, "/")
		plain = strings.ReplaceAll(plain, "..;/", "../")
		for strings.Contains(plain, "....//") {
			plain = strings.ReplaceAll(plain, "....//", "../")
		}
		plain = strings.ReplaceAll(plain, ".../", "../")
		plain = strings.ReplaceAll(plain, "%/..", "/..")
	}
	return plain, odd || plain != name && (strings.Contains(plain, "../") || strings.HasSuffix(plain, "/.."))
}
