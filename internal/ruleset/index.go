package ruleset

import (
	"sort"
	"strings"

	"interlock"
)

// A ruleIndex finds the few rules an impact could meet among many. Each rule is kept under the most telling thing it
// demands: a trait, else the first word of what does it, else its kinds. It is kept under each alternative of that one
// thing, so no impact finds it twice.
type ruleIndex struct {
	byTrait map[string][]*Rule
	byWord  map[string][]*Rule // first word of via
	byKind  map[interlock.ImpactKind][]*Rule
	rest    []*Rule
}

func (x *ruleIndex) build(rules []*Rule) {
	x.byTrait, x.byWord, x.byKind = map[string][]*Rule{}, map[string][]*Rule{}, map[interlock.ImpactKind][]*Rule{}
	for _, r := range rules {
		if r.match.empty {
			continue
		}
		words, whole := viaWords(r.match.via)
		switch p := r.Match.Predicate; {
		case len(p.Traits.All) > 0:
			x.byTrait[p.Traits.All[0]] = append(x.byTrait[p.Traits.All[0]], r)
		case whole:
			for _, w := range words {
				x.byWord[w] = append(x.byWord[w], r)
			}
		case len(p.Kind) > 0:
			for _, k := range unique(p.Kind) {
				x.byKind[k] = append(x.byKind[k], r)
			}
		default:
			x.rest = append(x.rest, r)
		}
	}
}

// viaWords returns the first words of the globs, and whether every glob has one that is plain.
func viaWords(globs []string) (words []string, whole bool) {
	for _, g := range globs {
		word, _, _ := strings.Cut(g, " ")
		if word == "" || strings.ContainsAny(word, "*?") {
			return nil, false
		}
		words = append(words, word)
	}
	return unique(words), len(words) > 0
}

func unique[T comparable](list []T) []T {
	var out []T
next:
	for _, v := range list {
		for _, have := range out {
			if have == v {
				continue next
			}
		}
		out = append(out, v)
	}
	return out
}

// A Hit is a rule and the impacts that met it, by index.
type Hit struct {
	Rule    *Rule
	Impacts []int
}

// MatchImpacts returns the rules whose impact conditions the impacts meet, in order of id. Rules that have text
// conditions as well are among them: see [Ruleset.MatchTexts].
func (r *Ruleset) MatchImpacts(kind interlock.Kind, impacts []interlock.Impact) []Hit {
	var hits []Hit
	action := actionBit(kind)
	for n := range impacts {
		i := &impacts[n]
		try := func(rules []*Rule) {
			for _, rule := range rules {
				if (rule.applies == 0 || rule.applies&action != 0) && rule.match.matches(i) {
					hits = append(hits, Hit{rule, []int{n}})
				}
			}
		}
		r.index.candidates(i, try)
	}
	return mergeHits(hits)
}

// candidates gives the few rules that an impact could meet, in lists, and no rule twice.
func (x *ruleIndex) candidates(i *interlock.Impact, try func(rules []*Rule)) {
	for t, trait := range i.Traits {
		if t == 0 || trait != i.Traits[t-1] {
			try(x.byTrait[trait])
		}
	}
	if len(x.byWord) > 0 {
		word, _, _ := strings.Cut(foldText(i.Via), " ")
		try(x.byWord[word])
	}
	try(x.byKind[i.Kind])
	try(x.rest)
}

// mergeHits sorts hits by rule and joins those of one rule.
func mergeHits(hits []Hit) []Hit {
	if len(hits) < 2 {
		return hits
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].Rule.position < hits[j].Rule.position })
	out := hits[:1]
	for _, h := range hits[1:] {
		if last := &out[len(out)-1]; last.Rule == h.Rule {
			last.Impacts = append(last.Impacts, h.Impacts...)
		} else {
			out = append(out, h)
		}
	}
	return out
}
