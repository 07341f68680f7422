package impact

import "interlock"

// A workroom is where an analysis keeps what it needs for each command and nobody needs afterwards. Scripts have many
// commands, so the room is handed on from one analysis to the next.
type workroom struct {
	fields  arena[field]
	givens  arena[given]
	uses    arena[use]
	impacts arena[interlock.Impact]
	line    []byte // the command line being written
	pick    picker // the choice of a subcommand being made
}

func (k *Knowledge) borrow() *workroom {
	if k != nil {
		if have, ok := k.rooms.Get().(*workroom); ok {
			return have
		}
	}
	return &workroom{}
}

// giveBack returns the room without what it held.
func (k *Knowledge) giveBack(w *workroom) {
	if k == nil {
		return
	}
	w.fields.clear()
	w.givens.clear()
	w.uses.clear()
	w.impacts.clear()
	w.pick = picker{}
	if cap(w.line) > maxText {
		w.line = nil
	}
	k.rooms.Put(w)
}

// An arena hands out room from large pieces. None of it outlives the analysis.
type arena[T any] struct {
	pieces [][]T
	piece  int // the one in use
	used   int // of it
}

const (
	arenaPiece = 64
	maxPieces  = 32 // kept; what is needed beyond is made anew
)

// room returns an empty slice with capacity for n elements; what is appended beyond is copied elsewhere.
func (a *arena[T]) room(n int) []T {
	if n > arenaPiece {
		return make([]T, 0, n)
	}
	if len(a.pieces) > 0 && a.used+n > arenaPiece {
		a.piece, a.used = a.piece+1, 0
	}
	switch {
	case a.piece < len(a.pieces):
	case len(a.pieces) < maxPieces:
		a.pieces = append(a.pieces, make([]T, arenaPiece))
	default: // the last piece goes to whoever has room in it, and a new one takes its place
		a.piece = maxPieces - 1
		a.pieces[a.piece] = make([]T, arenaPiece)
	}
	a.used += n
	return a.pieces[a.piece][a.used-n : a.used-n : a.used]
}

// one returns room for a single element.
func (a *arena[T]) one() *T { return &a.room(1)[:1][0] }

func (a *arena[T]) clear() {
	for n := range min(a.piece+1, len(a.pieces)) {
		clear(a.pieces[n])
	}
	a.piece, a.used = 0, 0
}
