package program

import (
	"interlock"
	"interlock/internal/impact/fact"
)

// A codeLoop is a loop that is being read.
type codeLoop struct {
	endless bool
	leaves  bool   // something ends it, slows it down or waits in it
	grows   string // what grows in it
	sends   string // what it asks of others over a network
	many    bool   // it turns a thousand times or more
	known   bool   // it is read once for each of its turns
}

// leave notes that the innermost n loops of the function at hand end, all of them for 0.
func (r *codeRun) leave(n int) {
	first := 0
	if len(r.frames) > 0 {
		first = r.frames[len(r.frames)-1].loops
	}
	for i := len(r.loops) - 1; i >= first; i-- {
		r.loops[i].leaves = true
		if n--; n == 0 {
			return
		}
	}
}

// waits notes that every loop around does something that takes its time or may end it.
func (r *codeRun) waits() {
	for _, loop := range r.loops {
		loop.leaves = true
	}
}

func (r *codeRun) loop(n *codeNode) {
	loop := &codeLoop{endless: n.text == "endless"}
	r.repeats = r.repeats || loop.endless
	r.loops = append(r.loops, loop)
	r.branch()
	r.evalAll(n.of)
	r.join()
	r.endLoop()
}

// endLoop takes the innermost loop away and says so if it grows without bound.
func (r *codeRun) endLoop() {
	loop := r.loops[len(r.loops)-1]
	r.loops = r.loops[:len(r.loops)-1]
	if (loop.endless || loop.many) && !loop.leaves && loop.sends != "" {
		r.s.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Reach: interlock.ReachExternal, Via: loop.sends,
			Reversibility: interlock.Irreversible,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitRepeated, fact.TraitUpload}})
	}
	if loop.endless && !loop.leaves && loop.grows != "" {
		r.s.Add(interlock.Impact{Kind: interlock.ImpactSpawn, Reach: interlock.ReachSystem, Via: loop.grows,
			Reversibility: interlock.Irreversible,
			Confidence:    interlock.Inferred, Traits: []string{fact.TraitBomb}})
	}
}

const maxTurns = 256 // of a loop over known values

// each reads for x in xs: over known values as often as there are values, otherwise once with any of them.
func (r *codeRun) each(n *codeNode) {
	over := r.eval(n.of[1])
	loop := &codeLoop{endless: over.is == "itertools.count" || over.is == "itertools.cycle" || over.is == "itertools.repeat" ||
		over.endless, many: over.many}
	r.repeats = r.repeats || loop.many || loop.endless
	r.loops = append(r.loops, loop)
	defer r.endLoop()
	if len(n.of) < 3 {
		return
	}
	values := r.elements(over)
	if n.text == "keys" && over.is != "" {
		values = nil
	}
	if len(values) > 0 && len(values) <= maxElements && r.steps < r.soft {
		loop.known = true
		effects := r.effects
		for i, value := range values {
			if i > 0 && r.steps > r.soft {
				if r.effects > effects {
					r.s.Unknown(string(r.kind), fact.TraitWork)
				}
				break
			}
			r.bindTo(n.of[0], value)
			r.eval(n.of[2])
		}
		return
	}
	r.branch()
	r.bindTo(n.of[0], r.element(over))
	r.eval(n.of[2])
	r.join()
}

// comprehension reads clause i of a comprehension and returns the list it makes.
func (r *codeRun) comprehension(n *codeNode, i int) codeValue {
	if i >= len(n.of) {
		one := r.eval(n.of[0])
		return codeValue{items: []codeValue{one}, list: true, marks: one.marks, texts: one.texts, dynamic: one.dynamic}
	}
	clause := n.of[i]
	if clause.kind != nodeEach {
		r.eval(clause)
		v := r.comprehension(n, i+1)
		v.items, v.dynamic = nil, true // some of them
		return v
	}
	over := r.eval(clause.of[1])
	r.repeats = r.repeats || over.many || over.endless
	values := r.elements(over)
	if len(values) == 0 || len(values) > maxElements || r.steps > r.soft {
		r.bindTo(clause.of[0], r.element(over))
		v := r.comprehension(n, i+1)
		v.items, v.dynamic = nil, true
		v.marks |= over.marks
		return v
	}
	all := codeValue{list: true}
	for k, value := range values {
		if k > 0 && r.steps > r.soft {
			all.items, all.dynamic = nil, true
			break
		}
		r.bindTo(clause.of[0], value)
		v := r.comprehension(n, i+1)
		all.marks |= v.marks
		all.dynamic = all.dynamic || v.dynamic
		for _, item := range v.items {
			if len(all.items) < maxElements {
				all.items = append(all.items, item)
			}
		}
		for _, text := range v.texts {
			if len(all.texts) < maxTexts {
				all.texts = append(all.texts, text)
			}
		}
	}
	return all
}
