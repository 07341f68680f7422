package ruleset

// An automaton finds which of many literals stand in a text, in one pass whatever their number: Aho and Corasick's
// machine with a full transition table over classes of bytes. Texts are folded as they are read.
type automaton struct {
	class   [256]uint8
	classes int
	next    []int32 // state*classes + class -> state; a state is the offset of its row
	outputs [][]int32
	has     []bool // whether a state, or one it falls back to, ends a literal
}

// newAutomaton builds a machine over folded literals; their indexes are what find reports.
func newAutomaton(literals []string) *automaton {
	a := &automaton{classes: 1}
	for _, l := range literals {
		for i := 0; i < len(l); i++ {
			if a.class[l[i]] == 0 {
				// At most 255 classes are possible: bytes A to Z never stand in folded literals.
				a.class[l[i]] = uint8(a.classes)
				a.classes++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		a.class[c] = a.class[c+'a'-'A']
	}
	a.addState()
	for n, l := range literals {
		state := int32(0)
		for i := 0; i < len(l); i++ {
			at := int(state)*a.classes + int(a.class[l[i]])
			if a.next[at] == 0 {
				a.next[at] = a.addState()
			}
			state = a.next[at]
		}
		a.outputs[state] = append(a.outputs[state], int32(n))
	}
	a.link()
	return a
}

func (a *automaton) addState() int32 {
	a.next = append(a.next, make([]int32, a.classes)...)
	a.outputs = append(a.outputs, nil)
	a.has = append(a.has, false)
	return int32(len(a.outputs) - 1)
}

// link turns the tree into a machine without failures: breadth first, each missing edge becomes the edge of the longest
// proper suffix, and each state inherits what its suffix ends.
func (a *automaton) link() {
	suffix := make([]int32, len(a.outputs))
	var queue []int32
	for c := 0; c < a.classes; c++ {
		if s := a.next[c]; s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		a.outputs[state] = append(a.outputs[state], a.outputs[suffix[state]]...)
		a.has[state] = len(a.outputs[state]) > 0
		for c := 0; c < a.classes; c++ {
			at := int(state)*a.classes + c
			fallback := a.next[int(suffix[state])*a.classes+c]
			if child := a.next[at]; child != 0 {
				suffix[child] = fallback
				queue = append(queue, child)
			} else {
				a.next[at] = fallback
			}
		}
	}
}

// find calls found with the index of each literal each time one ends in text. The text is folded already.
func (a *automaton) find(text string, found func(literal int32)) {
	state := 0
	for i := 0; i < len(text); i++ {
		state = int(a.next[state*a.classes+int(a.class[text[i]])])
		if a.has[state] {
			for _, l := range a.outputs[state] {
				found(l)
			}
		}
	}
}
