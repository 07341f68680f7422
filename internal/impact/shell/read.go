package shell

import (
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
)

// readAs is [world.unread] of a place whose text is known, where it is in a language that nobody reads.
func (r *shellRun) readAs(p know.Place, kind string) know.Place {
	if place.UnreadKinds.Has(kind) {
		return r.S.Unread(p)
	}
	return p
}

// wants notes the files whose bytes are what is about to be run, where they would be known if those were.
func (r *shellRun) wants(f flow.Flow) { r.S.WantAll(f.Unread) }

// readOf is what reading a file gives that this action did not write: its text, if the door has read it, or the name of what
// would have to be.
func (r *shellRun) readOf(p know.Place) flow.Flow {
	if text, ok := r.S.View.Scripts[p.Path]; ok {
		return flow.Flow{Text: text, Known: text != ""}
	}
	return flow.Flow{Unread: place.UnreadOf(p)}
}

// holds is what a file holds: what this action wrote, or what reading it gives.
func (r *shellRun) holds(p know.Place) flow.Flow {
	if held, made := r.files[p.Path]; made {
		return held
	}
	return r.readOf(p)
}

// madeHere is what this action wrote to a place that is to be run. Whatever stood there before is gone, so where what was
// written is not known, what it was made of is wanted and not the place.
func (r *shellRun) madeHere(p know.Place) (flow.Flow, bool) {
	held, ok := r.heldBy(p)
	if !ok || !held.Written {
		return flow.Flow{}, false
	}
	r.wants(held)
	return held, true
}

// appended notes what is already in a file that is added to, as far as it is known.
func (r *shellRun) appended(p know.Place) {
	if _, made := r.files[p.Path]; made {
		return
	}
	if stood := r.readOf(p); stood.Known || stood.Unread != "" {
		stood.Written = stood.Known
		r.files[p.Path] = stood
	}
}
