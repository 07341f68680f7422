package flow

import (
	"interlock"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A Workroom is where an analysis keeps what it needs for each command and nobody needs afterwards. Scripts have many
// commands, so the room is handed on from one analysis to the next.
type Workroom struct {
	Fields  arena[Field]
	Givens  arena[Given]
	Uses    arena[Use]
	impacts arena[interlock.Impact]
	scan    Scan
	Line    []byte // the command line being written
	Pick    Picker // the choice of a subcommand being made
}

// Borrow takes a room that an earlier analysis gave back, or a new one.
func Borrow(k *know.Knowledge) *Workroom {
	if k != nil {
		if have, ok := k.Rooms.Get().(*Workroom); ok {
			return have
		}
	}
	return &Workroom{}
}

// Scan is the room's own scan, with nothing read yet.
func (w *Workroom) Scan() *Scan {
	w.scan.Room = w
	return &w.scan
}

// GiveBack returns the room without what it held.
func GiveBack(k *know.Knowledge, w *Workroom) {
	if k == nil {
		return
	}
	w.Fields.clear()
	w.Givens.clear()
	w.Uses.clear()
	w.impacts.clear()
	w.Pick, w.scan = Picker{}, Scan{}
	if cap(w.Line) > lex.MaxText {
		w.Line = nil
	}
	k.Rooms.Put(w)
}

// An arena hands out room from large pieces. None of it outlives the analysis.
type arena[T any] struct {
	Pieces [][]T
	piece  int // the one in use
	used   int // of it
}

const (
	ArenaPiece = 64
	MaxPieces  = 32 // kept; what is needed beyond is newly made
)

// Room returns an empty slice with capacity for n elements; what is appended beyond is copied elsewhere.
func (a *arena[T]) Room(n int) []T {
	if n > ArenaPiece {
		return make([]T, 0, n)
	}
	if len(a.Pieces) > 0 && a.used+n > ArenaPiece {
		a.piece, a.used = a.piece+1, 0
	}
	switch {
	case a.piece < len(a.Pieces):
	case len(a.Pieces) < MaxPieces:
		a.Pieces = append(a.Pieces, make([]T, ArenaPiece))
	default: // the last piece is left to those that have room in it, and a new one takes its place
		a.piece = MaxPieces - 1
		a.Pieces[a.piece] = make([]T, ArenaPiece)
	}
	a.used += n
	return a.Pieces[a.piece][a.used-n : a.used-n : a.used]
}

// One returns room for a single element.
func (a *arena[T]) One() *T { return &a.Room(1)[:1][0] }

func (a *arena[T]) clear() {
	for n := range min(a.piece+1, len(a.Pieces)) {
		if n < a.piece {
			clear(a.Pieces[n])
		} else {
			clear(a.Pieces[n][:a.used])
		}
	}
	a.piece, a.used = 0, 0
}
