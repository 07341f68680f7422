package ruleset

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"interlock"
)

// A Text is one thing an action would execute; package impact's texts are given as these.
type Text struct {
	Kind  interlock.Kind
	Value string
}

// A condition is one thing looked for in texts: a literal of each group is required before verify is tried.
type condition struct {
	kinds  uint16 // bits of text kinds; zero means any
	groups [][]string
	verify func(text, folded string) bool
}

// A matcher holds conditions behind one automaton, so that its cost hardly grows with their number. A process that
// decides once and ends would spend more on making the machine than on the looking: the first texts are looked at without.
type matcher struct {
	conditions []condition
	machine    func() *machine // made when first asked for
	looks      atomic.Int32    // conditions looked at without it
}

// maxLooks is from how many conditions looked at one by one on the machine is the cheaper way.
const maxLooks = 2048

// A machine is the automaton with what it finds.
type machine struct {
	literals *automaton
	uses     [][]use // by literal: the groups it is in
	always   []int   // conditions without a literal
}

type use struct {
	condition int32
	group     uint8
}

const maxGroups = 16 // of one condition; further groups would hardly tell more

func newMatcher(conditions []condition) *matcher {
	for n := range conditions {
		if c := &conditions[n]; len(c.groups) > maxGroups {
			c.groups = c.groups[:maxGroups]
		}
	}
	return &matcher{conditions: conditions, machine: sync.OnceValue(func() *machine { return newMachine(conditions) })}
}

func newMachine(conditions []condition) *machine {
	m := &machine{}
	byLiteral := map[string]int{}
	var literals []string
	for n := range conditions {
		c := &conditions[n]
		if len(c.groups) == 0 {
			m.always = append(m.always, n)
		}
		for g, group := range c.groups {
			for _, l := range unique(group) {
				at, have := byLiteral[l]
				if !have {
					at = len(literals)
					byLiteral[l] = at
					literals = append(literals, l)
					m.uses = append(m.uses, nil)
				}
				m.uses[at] = append(m.uses[at], use{int32(n), uint8(g)})
			}
		}
	}
	if len(literals) > 0 {
		m.literals = newAutomaton(literals)
	}
	return m
}

// match calls matched with the index of each condition the text meets, in order.
func (m *matcher) match(kind uint16, text string, matched func(condition int)) {
	if len(m.conditions) == 0 {
		return
	}
	folded := foldText(text)
	var candidates []int
	if n := int32(len(m.conditions)); n < maxLooks && m.looks.Load() < maxLooks && m.looks.Add(n) < maxLooks {
		candidates = m.look(folded)
	} else {
		candidates = m.machine().candidates(folded, m.conditions)
	}
	for _, n := range candidates {
		if c := &m.conditions[n]; (c.kinds == 0 || c.kinds&kind != 0) && c.verify(text, folded) {
			matched(n)
		}
	}
}

// look returns the conditions whose literals stand in a folded text, by looking for each.
func (m *matcher) look(folded string) []int {
	var out []int
next:
	for n := range m.conditions {
		for _, group := range m.conditions[n].groups {
			if !slices.ContainsFunc(group, func(literal string) bool { return strings.Contains(folded, literal) }) {
				continue next
			}
		}
		out = append(out, n)
	}
	return out
}

// candidates is the same by one pass of the automaton, in the same order.
func (m *machine) candidates(folded string, conditions []condition) []int {
	out := append([]int(nil), m.always...)
	if m.literals == nil {
		return out
	}
	var masks []uint16
	m.literals.find(folded, func(literal int32) {
		if masks == nil {
			masks = make([]uint16, len(conditions))
		}
		for _, u := range m.uses[literal] {
			before := masks[u.condition]
			masks[u.condition] = before | 1<<u.group
			if want := len(conditions[u.condition].groups); bits.OnesCount16(before) < want &&
				bits.OnesCount16(masks[u.condition]) == want {
				out = append(out, int(u.condition))
			}
		}
	})
	sort.Ints(out)
	return out
}

// rulesMatcher makes the matcher over the text conditions of rules that have any; they are returned beside it.
func rulesMatcher(rules []*Rule) textRules {
	var out textRules
	var conditions []condition
	for _, r := range rules {
		if r.Match.textual() {
			out.rules = append(out.rules, r)
			conditions = append(conditions, r.condition())
		}
	}
	out.matcher = newMatcher(conditions)
	return out
}

// textRules are the rules with text conditions, and the matcher whose condition n is that of rule n.
type textRules struct {
	rules   []*Rule
	matcher *matcher
}

func (r *Rule) condition() condition {
	m := r.Match
	var c condition
	for _, k := range m.Text {
		c.kinds |= actionBit(k)
	}
	if m.Pattern != "" {
		c.groups = requiredLiterals(m.Pattern)
	}
	if len(m.Glob) > 0 {
		c.groups = append(c.groups, globsNeed(m.Glob)...)
	}
	globs := foldAll(m.Glob)
	c.verify = func(text, folded string) bool {
		return anyFolded(globs, folded) && (m.Pattern == "" || r.pattern().MatchString(text))
	}
	return c
}

// globsNeed is what any text holds that one of the globs matches.
func globsNeed(globs []string) [][]string {
	var joined []string
	for _, g := range globs {
		chosen := best(globLiterals(g))
		if len(chosen) == 0 {
			return nil
		}
		joined = append(joined, chosen...)
	}
	return [][]string{joined}
}

func foldAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = foldText(s)
	}
	return out
}

func anyFolded(globs []string, folded string) bool {
	for _, g := range globs {
		if matchFolded(g, folded) {
			return true
		}
	}
	return len(globs) == 0
}

// MatchTexts returns the rules whose text conditions one of the texts meets, in order of id. Rules that have impact
// conditions as well are among them.
func (r *Ruleset) MatchTexts(kind interlock.Kind, texts []Text) []*Rule {
	all := r.texts()
	action := actionBit(kind)
	var out []*Rule
	for _, t := range texts {
		all.matcher.match(actionBit(t.Kind), t.Value, func(n int) {
			if rule := all.rules[n]; rule.applies == 0 || rule.applies&action != 0 {
				out = append(out, rule)
			}
		})
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].position < out[j].position })
	return unique(out)
}

// The lists of a policy, as PolicyList names them.
const (
	PolicyDeny = iota
	PolicyRequiresApproval
	PolicyAutoApprove
	numPolicies
)

func (p Policy) matchers() [numPolicies]*matcher {
	var out [numPolicies]*matcher
	for n, list := range [numPolicies][]string{p.Deny, p.RequiresApproval, p.AutoApprove} {
		conditions := make([]condition, len(list))
		for i, glob := range list {
			folded := foldText(glob)
			conditions[i] = condition{groups: globLiterals(glob),
				verify: func(_, text string) bool { return matchFolded(folded, text) }}
		}
		out[n] = newMatcher(conditions)
	}
	return out
}

// PolicyMatches reports whether a glob of a policy list matches the whole of a tool name or text.
func (r *Ruleset) PolicyMatches(list int, text string) bool {
	found := false
	r.policies()[list].match(0, text, func(int) { found = true })
	return found
}
