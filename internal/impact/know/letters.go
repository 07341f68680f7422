package know

import "strings"

// Which protected names a pattern could mean at all. There are several hundred, and nearly every pattern spells a letter that
// nearly every name lacks, so the letters are compared first: one step for a name. This refuses only what could not be filled
// in; whether a name is meant is for MayName to say.

// letters are those of a name, a bit each. Letters that share a bit are taken for one another, so a set says for certain only
// what a name lacks.
type letters uint64

const anyLetters = ^letters(0)

func (l letters) with(c byte) letters { return l | 1<<(c&63) }

// within reports whether another set holds all of these.
func (l letters) within(other letters) bool { return l&^other == 0 }

// lettersIn returns every letter of a text, also those that are signs of a pattern.
func lettersIn(text string) (l letters) {
	for i := 0; i < len(text); i++ {
		l = l.with(text[i])
	}
	return l
}

// lettersSpelled returns the letters that whatever fits a pattern must have.
func lettersSpelled(glob string) (l letters) {
	last := strings.LastIndexByte(glob, ']')
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*', '?':
		case '[':
			if i < last {
				if end := strings.IndexByte(glob[i:], ']'); end > 1 {
					i += end
					continue
				}
			}
			fallthrough
		default:
			l = l.with(c)
		}
	}
	return l
}

// nameKeys are the first parts of protected names, in order, with their letters.
type nameKeys struct {
	names []string
	has   []letters
}

func keysOf(names []string) nameKeys {
	k := nameKeys{names: names, has: make([]letters, len(names))}
	for i, name := range names {
		if k.has[i] = lettersIn(name); IsGlob(name) {
			k.has[i] = anyLetters
		}
	}
	return k
}

// A wildName is what has to be known of a protected name that is itself a pattern, before another is held against it.
type wildName struct {
	spells letters // what a name must have to match it
	has    letters // what a pattern may spell and still be filled in to be such a name
	ending bool    // it protects a kind of files by the ending of their names: *.key
}

func wildNameOf(part string) wildName {
	plain := plainestOf(part)
	w := wildName{spells: lettersSpelled(part), ending: strings.HasPrefix(plain, "*")}
	if w.has = lettersIn(plain); IsGlob(strings.TrimPrefix(plain, "*")) {
		w.has = anyLetters
	}
	return w
}

// A lastName is the last part of a path that is held against names which are patterns themselves.
type lastName struct {
	has    letters // all of its letters
	spells letters // what it spells, if it is a pattern
	kind   letters // what its last ending spells
	glob   bool    // it is a pattern that spells something
	dotted bool    // it has an ending
}

func lastNameOf(name string) lastName {
	n := lastName{has: lettersIn(name), glob: IsGlob(name) && LettersOf(name) > 0}
	if !n.glob {
		return n
	}
	n.spells = lettersSpelled(name)
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		n.dotted = true
		if strings.IndexByte(name, '[') < 0 { // in a class a dot ends nothing
			n.kind = lettersSpelled(name[dot:])
		}
	}
	return n
}

// mayBe reports whether a name could match one that is protected, or be filled in so that it does.
func (n *lastName) mayBe(w *wildName) bool {
	switch {
	case w.spells.within(n.has):
		return true
	case !n.glob:
		return false
	case w.ending:
		return n.dotted && n.kind.within(w.has)
	}
	return n.spells.within(w.has)
}
