package ruleset

import "interlock"

// Work is how much of a ruleset is held against one action. It does not grow with rules that are about something else (ASA 8.1).
type Work struct {
	Patterns int `json:"patterns"` // patterns and globs whose literals stand in its texts, so that they are run
	Rules    int `json:"rules"`    // rules that its impacts could meet, so that their conditions are looked at
	Of       int `json:"of"`       // rules there are
}

// Work counts what texts and impacts are held against, as a process does that lives on: the first few texts of one are looked at
// without the automaton, which costs it less than making it.
func (r *Ruleset) Work(texts []Text, impacts []interlock.Impact) Work {
	w := Work{Of: len(r.rules)}
	matcher := r.texts().matcher
	for _, t := range texts {
		w.Patterns += len(matcher.machine().candidates(foldText(t.Value), matcher.conditions))
	}
	for n := range impacts {
		r.index.candidates(&impacts[n], func(list []*Rule) { w.Rules += len(list) })
	}
	return w
}
