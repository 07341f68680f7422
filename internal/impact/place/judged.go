package place

import "interlock/internal/impact/know"

// A Judgement remembers the judgement of a path: scripts name the same few again and again.
type Judgement struct {
	Name, dir string
	Judged    bool
	windows   bool
	place     know.Place
}

// manyPlaces is how many judgements are remembered of a text that names more paths than few.
const manyPlaces = 64

// judged is where the judgement of a path is remembered. Paths of one text mostly differ in how they end.
func (w *World) judged(name string) *Judgement {
	kept := w.few[:]
	if w.many != nil {
		kept = w.many
	} else if w.missed > 3*len(w.few) {
		w.many = make([]Judgement, manyPlaces)
		kept = w.many
	}
	at := uint32(len(name))
	for i := max(0, len(name)-16); i < len(name); i++ {
		at = at*31 + uint32(name[i])
	}
	return &kept[(at^at>>16)%uint32(len(kept))]
}

// Forget gives up what was judged: links or mounts have changed.
func (w *World) Forget() {
	w.few, w.many, w.missed = [len(w.few)]Judgement{}, nil, 0
}
