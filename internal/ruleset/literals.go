package ruleset

import (
	_ "embed"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// What a pattern must hold is found as a conjunction of groups: of each group at least one literal is in every text
// that matches. All literals are folded as foldText folds texts. The extraction may miss what is required; it never
// claims what isn't, and a property test holds it to that.
const (
	minLiteral = 2  // bytes; shorter ones would be found everywhere
	maxExact   = 32 // alternatives of one group
	maxLength  = 48 // bytes of one literal
)

// A need is what a part of a pattern requires: its exact texts where they are few, and groups that stand in any case.
type need struct {
	exact  []string // nil: not known exactly
	groups [][]string
}

// literalsText holds the literals of the patterns that the defaults have: parsing those is a part of what a hook call costs.
// After each pattern comes a line for each group, which begins with a tab and has tabs between its literals.
// It is generated with the defaults.
//
//go:embed literals.txt
var literalsText string

var knownLiterals = sync.OnceValue(func() map[string][][]string {
	known := map[string][][]string{}
	pattern := ""
	for line := range strings.Lines(literalsText) {
		line = strings.TrimSuffix(line, "\n")
		if group, found := strings.CutPrefix(line, "\t"); found {
			known[pattern] = append(known[pattern], strings.Split(group, "\t"))
		} else {
			pattern = line
			known[pattern] = nil
		}
	}
	return known
})

// requiredLiterals is patternLiterals of a pattern that was checked before.
func requiredLiterals(pattern string) [][]string {
	groups, known := knownLiterals()[pattern]
	if !known {
		groups, _ = patternLiterals(pattern)
	}
	return slices.Clip(groups)
}

func patternLiterals(pattern string) ([][]string, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return needOf(parsed.Simplify()).all(), nil
}

// all returns every group, the exact texts as one of them if they are long enough.
func (n need) all() [][]string {
	if useful(n.exact) {
		return append(n.groups[:len(n.groups):len(n.groups)], n.exact)
	}
	return n.groups
}

func useful(literals []string) bool {
	for _, l := range literals {
		if len(l) < minLiteral {
			return false
		}
	}
	return len(literals) > 0
}

func needOf(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return need{exact: []string{""}}
	case syntax.OpLiteral:
		return literalNeed(re)
	case syntax.OpCharClass:
		return classNeed(re)
	case syntax.OpCapture:
		return needOf(re.Sub[0])
	case syntax.OpPlus:
		return need{groups: needOf(re.Sub[0]).all()}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return need{groups: needOf(re.Sub[0]).all()}
		}
	case syntax.OpQuest:
		if inner := needOf(re.Sub[0]); inner.exact != nil && len(inner.exact) < maxExact {
			return need{exact: unique(append([]string{""}, inner.exact...))}
		}
	case syntax.OpConcat:
		return concatNeed(re.Sub)
	case syntax.OpAlternate:
		return alternateNeed(re.Sub)
	}
	return need{}
}

func literalNeed(re *syntax.Regexp) need {
	if re.Flags&syntax.FoldCase != 0 {
		for _, r := range re.Rune {
			if r >= utf8.RuneSelf && r != 0x17F && r != 0x212A {
				return need{} // letters beyond ASCII fold in ways the texts' folding does not follow
			}
		}
	}
	for _, r := range re.Rune {
		if r == utf8.RuneError {
			return need{} // it also matches bytes that are not UTF-8
		}
	}
	literal := foldText(string(re.Rune))
	if len(literal) > maxLength {
		cut := maxLength
		for !utf8.RuneStart(literal[cut]) {
			cut--
		}
		return need{groups: [][]string{{literal[:cut]}}}
	}
	return need{exact: []string{literal}}
}

func classNeed(re *syntax.Regexp) need {
	var exact []string
	for i := 0; i+1 < len(re.Rune); i += 2 {
		if re.Rune[i+1]-re.Rune[i] > maxExact {
			return need{}
		}
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if r == utf8.RuneError {
				return need{}
			}
			exact = append(exact, foldText(string(r)))
		}
	}
	if exact = unique(exact); len(exact) == 0 || len(exact) > 8 {
		return need{}
	}
	return need{exact: exact}
}

func concatNeed(subs []*syntax.Regexp) need {
	whole, running := true, []string{""}
	var groups [][]string
	flush := func() {
		if useful(running) {
			groups = append(groups, running)
		}
		running = []string{""}
	}
	for _, sub := range subs {
		n := needOf(sub)
		groups = append(groups, n.groups...)
		if n.exact == nil {
			whole = false
			flush()
			continue
		}
		if product := cross(running, n.exact); product != nil {
			running = product
			continue
		}
		whole = false
		flush()
		running = n.exact
	}
	if whole {
		return need{exact: running, groups: groups}
	}
	flush()
	return need{groups: groups}
}

func cross(a, b []string) []string {
	if len(a)*len(b) > maxExact {
		return nil
	}
	var out []string
	for _, x := range a {
		for _, y := range b {
			if len(x)+len(y) > maxLength {
				return nil
			}
			out = append(out, x+y)
		}
	}
	return unique(out)
}

// alternateNeed joins the alternatives: their exact texts if all are exact, else the best group of each. One alternative
// that requires nothing leaves nothing required.
func alternateNeed(subs []*syntax.Regexp) need {
	var exact, joined []string
	exactly, complete := true, true
	for _, sub := range subs {
		n := needOf(sub)
		exactly = exactly && n.exact != nil
		exact = append(exact, n.exact...)
		chosen := best(n.all())
		complete = complete && len(chosen) > 0
		joined = append(joined, chosen...)
	}
	if exact = unique(exact); exactly && len(exact) <= maxExact {
		return need{exact: exact}
	}
	if joined = unique(joined); complete && len(joined) <= 4*maxExact {
		return need{groups: [][]string{joined}}
	}
	return need{}
}

// best returns the group whose shortest literal is longest.
func best(groups [][]string) []string {
	var chosen []string
	most := 0
	for _, g := range groups {
		shortest := len(g[0])
		for _, l := range g {
			shortest = min(shortest, len(l))
		}
		if shortest > most {
			chosen, most = g, shortest
		}
	}
	return chosen
}
