package know

import (
	"strings"
)

// Paths that are patterns: which protected names they could mean. A shell puts in their place whatever fits, so a pattern
// that fits a protected name counts as that name. What is protected in one place (a key below a home directory) is meant by
// every pattern for that place which fits. What is protected wherever it lies (credentials.json) is meant only by a pattern
// that spells some of the name: *.json is a kind of files, and no sign of any of them.

// MaxGlobbed is the longest name of a file there is; a pattern beyond it is held against names in the plain way.
const MaxGlobbed = 255

// A Guess is how a path with patterns in it could be a protected name.
type Guess struct {
	Covers bool // it could be that name, or lie below it if the name is a tree
	sure   bool // the name's own pattern covers it: nothing has to be filled in
	loose  bool // the last part that had to be filled in spells nothing of the name: * for interlock
}

// MayCover reports whether a path with patterns in it could be the protected name, or lie below it if that is a tree.
// anchored says that the name is protected in one place.
func (m *PathPattern) MayCover(rest string, anchored bool) Guess {
	return mayCoverParts(m.Parts, rest, m.tree, anchored)
}

func mayCoverParts(parts []string, rest string, tree, anchored bool) Guess {
	g := Guess{sure: true}
	for i, part := range parts {
		name, after, more := strings.Cut(rest, "/")
		if name == "**" && more && anchored { // any number of directories
			for k := i; k < len(parts); k++ {
				if mayCoverParts(parts[k:], after, tree, false).Covers {
					return Guess{Covers: true, loose: true}
				}
			}
			return Guess{}
		}
		if name != part && !MatchGlob(part, name) {
			if !IsGlob(name) || !MayName(name, part, anchored) || i == 0 && strings.Trim(name, "*?") == "" &&
				LettersOf(rest) == 0 {
				return Guess{} // everything there is: no sign of anything
			}
			g.sure, g.loose = false, LettersOf(name) == 0
		}
		if !more {
			g.Covers = i == len(parts)-1
			return g
		}
		rest = after
	}
	last := rest[strings.LastIndexByte(rest, '/')+1:]
	g.Covers = tree && (!g.loose || IsGlob(last) && LettersOf(last) == 0)
	return g
}

// MayName reports whether a pattern could be filled in so that it is a protected name, and is any sign that this is meant.
func MayName(glob, part string, anchored bool) bool {
	if !anchored && LettersOf(glob) == 0 {
		return false // no sign of anything
	}
	plain := plainestOf(part)
	// Whether they meet is asked last: it takes longest, and most patterns show no sign.
	return plain != "" && showsSign(glob, part, plain, anchored) && GlobsMeet(glob, plain)
}

// plainestOf returns the plainest of a family of names.
func plainestOf(part string) string {
	plain := strings.TrimRight(part, "*")
	if len(plain) > 1 && strings.IndexByte(plain[1:], '*') >= 0 {
		plain = plain[:1] + strings.ReplaceAll(plain[1:], "*", "")
	}
	return plain
}

// showsSign reports whether a pattern that meets a protected name gives any sign that this is meant.
func showsSign(glob, part, plain string, anchored bool) bool {
	letters, hidden := LettersOf(glob), plain[0] == '.'
	switch {
	case anchored && hidden && (glob[0] == '*' || glob[0] == '?') && stemLetters(glob) == 0:
		return false // a shell leaves hidden names out
	case anchored:
		return letters > 0 || plain == part
	case plain[0] == '*':
		return showsEnding(glob, plain[1:])
	case strings.IndexByte(glob, '*') < 0:
		return letters >= 2
	case hidden && glob[0] == '.':
		return letters > 0
	case glob[0] == '*': // names are recognised by how they begin
		whole := LettersOf(plain)
		return letters > 0 && letters == whole || stemLetters(glob) >= 2 && (5*letters > 3*stemLetters(plain) || whole <= 5)
	}
	return stemLetters(glob) >= 2
}

// showsEnding reports whether a pattern spells most of the ending by which a kind of files is protected: *.ke* for *.key.
func showsEnding(glob, ending string) bool {
	for i := 0; i < len(glob) && i < MaxGlobbed; i++ {
		if glob[i] == '.' {
			n := LettersOf(glob[i:])
			if n >= 2 && 2*n >= LettersOf(ending) && GlobsMeet(glob[i:], ending) {
				return true
			}
		}
	}
	return false
}

// LettersOf counts the letters and digits that a pattern spells out; a class counts as one.
func LettersOf(glob string) int {
	n := 0
	last := strings.LastIndexByte(glob, ']')
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '[' && i < last:
			if end := strings.IndexByte(glob[i:], ']'); end > 1 {
				n++
				i += end
			}
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80:
			n++
		}
	}
	return n
}

// stemLetters counts them in a name without its ending.
func stemLetters(glob string) int {
	if dot := strings.LastIndexByte(glob, '.'); dot > 0 {
		return LettersOf(glob[:dot])
	}
	return LettersOf(glob)
}

// A globToken is one letter of a pattern, or what represents letters.
type globToken struct {
	kind  byte // 'a' a letter, '?' any letter, '*' any number of them, '[' one of a class
	c     byte
	class string
}

func globTokens(out []globToken, glob string) []globToken {
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*', '?':
			out = append(out, globToken{kind: c})
		case '[':
			if end := strings.IndexByte(glob[i:], ']'); end > 1 {
				out = append(out, globToken{kind: '[', class: glob[i+1 : i+end]})
				i += end
				continue
			}
			fallthrough
		default:
			out = append(out, globToken{kind: 'a', c: c})
		}
	}
	return out
}

// meets reports whether one letter fits both tokens; two classes are taken to share one.
func (a globToken) meets(b globToken) bool {
	switch {
	case a.kind == '?' || b.kind == '?' || a.kind == '[' && b.kind == '[':
		return true
	case a.kind == '[':
		return inClass(a.class, b.c)
	case b.kind == '[':
		return inClass(b.class, a.c)
	}
	return a.c == b.c
}

// GlobsMeet reports whether there is a name that both patterns match. It takes time linear in the product of their lengths.
func GlobsMeet(first, second string) bool {
	if first == "" || second == "" {
		return strings.Trim(first+second, "*") == ""
	}
	if plainByte(first[0]) && plainByte(second[0]) && first[0] != second[0] { // most names begin with another letter
		return false
	}
	if f, s := first[len(first)-1], second[len(second)-1]; plainByte(f) && plainByte(s) && f != s {
		return false
	}
	if len(first) > MaxGlobbed || len(second) > MaxGlobbed {
		return MatchGlob(first, strings.TrimRight(second, "*"))
	}
	var rooms [2][usualName]globToken
	var bits [2][usualName + 1]bool
	a, b := globTokens(rooms[0][:0], first), globTokens(rooms[1][:0], second)
	row, next := bits[0][:], bits[1][:] // row[j]: what is left, a[i:] and b[j:], meets
	if len(b) > usualName {
		row, next = make([]bool, len(b)+1), make([]bool, len(b)+1)
	}
	for i := len(a); i >= 0; i-- {
		row, next = next, row
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				row[j] = true
			case i < len(a) && a[i].kind == '*':
				row[j] = next[j] || j < len(b) && row[j+1]
			case j < len(b) && b[j].kind == '*':
				row[j] = row[j+1] || i < len(a) && next[j]
			default:
				row[j] = i < len(a) && j < len(b) && next[j+1] && a[i].meets(b[j])
			}
		}
	}
	return row[0]
}

// usualName is how long most names are; for those no memory is asked for.
const usualName = 24

func plainByte(c byte) bool { return c != '*' && c != '?' && c != '[' && c != ']' }

// GlobReaches reports whether a path with patterns in it could be one of Interlock's own paths or lie below it; loosely, if
// some of its parts say nothing.
func GlobReaches(clean, self string, loosely bool) bool {
	if clean == "" || self == "" || clean[0] != '/' || self[0] != '/' {
		return false
	}
	g := mayCoverParts(strings.Split(self[1:], "/"), clean[1:], true, true)
	return g.Covers && (!g.loose || loosely)
}
