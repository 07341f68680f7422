package impact

// A fieldArena hands out room for arguments from large pieces: a script has a slice of them for each of its commands, and
// none outlives the analysis.
type fieldArena struct {
	first *[arenaFields]field // borrowed from the knowledge's pool
	used  int                 // of first
	piece []field             // what is left of the last further piece
}

const arenaFields = 96

func (a *fieldArena) borrow(know *Knowledge) {
	if know == nil {
		return
	}
	if have, ok := know.arenas.Get().(*[arenaFields]field); ok {
		a.first = have
		return
	}
	a.first = new([arenaFields]field)
}

// giveBack returns the borrowed piece, without what it held.
func (a *fieldArena) giveBack(know *Knowledge) {
	if a.first != nil {
		clear(a.first[:a.used])
		know.arenas.Put(a.first)
		a.first = nil
	}
}

// room returns an empty slice with capacity for n fields; what is appended beyond is copied elsewhere.
func (a *fieldArena) room(n int) []field {
	if a.first != nil && a.used+n <= arenaFields {
		a.used += n
		return a.first[a.used-n : a.used-n : a.used]
	}
	if n > len(a.piece) {
		a.piece = make([]field, max(n, arenaFields))
	}
	out := a.piece[:0:n]
	a.piece = a.piece[n:]
	return out
}
