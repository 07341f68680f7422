package auditlog

import (
	"context"
	"fmt"

	"interlock"
)

// diagnose tells what was done to the log, given where it first shows. It reads the log a second time and looks where the
// neighbours of the fault went. What it says of the kind is the likeliest reading; that there is a fault is certain.
func diagnose(ctx context.Context, source Source, v *verification, found *finding) (*Problem, error) {
	place := v.tree.size
	if found.Kind == ProblemRemoved || found.Kind == ProblemDuplicated || found.entry.Index != place {
		return &found.Problem, nil // it is told already, or shows only in a signed head
	}
	search := search{place: place, expected: v.previous, wanted: v.event.Previous, copyOf: -1, successor: -1, foreign: -1}
	err := source.Walk(ctx, func(e interlock.Entry) error {
		search.look(&e, &found.entry)
		return nil
	})
	if err != nil {
		return &found.Problem, fmt.Errorf("auditlog: read the log again: %w", err)
	}
	if search.copyOf >= 0 {
		return &Problem{Kind: ProblemDuplicated, Index: place, Event: found.Event, Message: fmt.Sprintf(
			"it is a copy of entry %d", search.copyOf)}, nil
	}
	if !found.chain {
		return &found.Problem, nil
	}
	return search.explain(v, found), nil
}

// A search collects where the neighbours of a broken chain stand.
type search struct {
	place    int64
	expected string // record hash of the entry before the break: what the entry here must name
	wanted   string // what the entry here names instead

	copyOf    int64 // an earlier entry with the same event id
	successor int64 // the entry that names expected, wherever it is
	foreign   int64 // the entry whose record hash is wanted
}

func (s *search) look(e, broken *interlock.Entry) {
	if e.Index < s.place && e.ID == broken.ID && s.copyOf < 0 {
		s.copyOf = e.Index
	}
	if s.successor < 0 && e.Index > s.place {
		if event, err := ParseEvent(e.Body); err == nil && event.Previous == s.expected {
			s.successor = e.Index
		}
	}
	if s.foreign < 0 && !Released(e) && RecordHash(e.Body) == s.wanted {
		s.foreign = e.Index
	}
}

// explain reads the neighbours of a broken chain.
func (s *search) explain(v *verification, found *finding) *Problem {
	fault := found.Problem
	switch {
	case s.place > 0 && s.wanted == v.before:
		// The entry here follows the one before the last: the last is what does not belong.
		return &Problem{Kind: ProblemInserted, Index: s.place - 1, Event: v.lastID,
			Message: "it was inserted or changed: the entry after it follows the entry before it"}
	case s.successor == s.place+1 && s.foreign < 0:
		fault.Kind = ProblemInserted
		fault.Message = "it was inserted: the entry after it is the one that belongs here"
	case s.successor >= 0:
		fault.Kind = ProblemReordered
		fault.Message = fmt.Sprintf("it is out of order: the entry that belongs here stands at %d", s.successor)
	case s.foreign >= 0:
		fault.Kind = ProblemReordered
		fault.Message = fmt.Sprintf("it is out of order: it follows entry %d", s.foreign)
	case s.place == 0:
		fault.Kind, fault.Event = ProblemRemoved, ""
		fault.Message = "the head of the log was cut: the first entry is not the first that was sealed"
	case s.gap(v, found):
		fault.Kind = ProblemRemoved
		fault.Event = ""
		fault.Message = "the entry that stood here was removed: the next one was sealed at another place"
	default:
		return &Problem{Kind: ProblemChanged, Index: s.place - 1, Event: v.lastID,
			Message: "it was changed: the entry after it was sealed after other bytes"}
	}
	return &fault
}

// gap reports whether the entry at the break was sealed at another place or number than the one it has, which tells a
// removed entry from a changed one.
func (s *search) gap(v *verification, found *finding) bool {
	levels := 1
	for n := s.place; n&1 == 1; n >>= 1 {
		levels++
	}
	if len(found.entry.Hashes) != levels*hashSize {
		return true
	}
	return v.event.Sequence != v.sequences[v.event.Seed]+1
}

// locate narrows a fault that only the signed head shows: every entry fits its neighbours, so they were sealed again
// without the key. The signed heads stored with the entries say between which of them the forgery begins.
func (v *verification) locate(ctx context.Context, source Source, problem *Problem) (*Problem, error) {
	if problem.Kind != ProblemChanged && problem.Kind != ProblemCheckpoint {
		return problem, nil
	}
	good := int64(0) // entries before it are under a head whose signature holds
	var named *Problem
	err := source.Walk(ctx, func(e interlock.Entry) error {
		if len(e.Checkpoint) == 0 {
			return nil
		}
		if _, err := v.key.OpenCheckpoint(e.Checkpoint); err == nil {
			good = e.Index + 1
			return nil
		}
		if good == 0 && problem.Kind == ProblemCheckpoint {
			return nil // nothing is signed by this key so far: perhaps it is another log's
		}
		named = v.between(good, e.Index, e.ID)
		return errFound
	})
	switch {
	case named != nil:
		return named, nil
	case err != nil:
		return problem, fmt.Errorf("auditlog: read the log again: %w", err)
	case good >= v.tree.size, good == 0 && problem.Kind == ProblemCheckpoint:
		return problem, nil
	}
	return v.between(good, v.tree.size-1, ""), nil
}

// between names a range of entries that were sealed again.
func (v *verification) between(first, last int64, event string) *Problem {
	fault := &Problem{Kind: ProblemChanged, Index: first}
	if first == last {
		fault.Message = "it was changed and sealed again without the log's key"
		fault.Event = event
		return fault
	}
	fault.Message = fmt.Sprintf("entries %d to %d are not under a head signed by the log's key: one of them was changed, "+
		"inserted or removed and the log was sealed again from there", first, last)
	return fault
}
