package ledger

import (
	"maps"
	"math"
	"slices"
	"time"

	"interlock/internal/memory"
)

// The marks of facts besides [All] and [OfPerson]: those of one store and holder, one by the id of any of its versions, and those that
// end, by when.
func FactsIn(store, holder string) string { return "in\x00" + store + "\x00" + holder }
func FactNamed(id string) string          { return "id\x00" + id }

// FactsDue is the mark of the facts that are over at a time.
const FactsDue = "due"

func factMarks(f memory.Fact) []Mark {
	marks := withAll(nano(f.Newest().At), FactsIn(f.Store, f.Holder))
	due := int64(math.MaxInt64)
	if over := f.Over(); !over.IsZero() {
		due = nano(over)
	}
	marks = appendMarks(marks, due, FactsDue)
	for _, v := range f.Versions {
		marks = appendMarks(marks, nano(v.At), FactNamed(v.ID))
	}
	for _, subject := range aboutOf(f) {
		marks = appendMarks(marks, nano(f.Newest().At), OfPerson(subject))
	}
	return marks
}

// aboutOf is whom any version of a fact is about.
func aboutOf(f memory.Fact) (subjects []string) {
	for _, v := range f.Versions {
		subjects = append(subjects, v.About...)
	}
	slices.Sort(subjects)
	return slices.Compact(subjects)
}

// FactsAbout are the facts about a person, by where they are kept.
func (s *Standing) FactsAbout(subject string) (list []memory.Fact) {
	for _, place := range slices.Sorted(maps.Keys(s.Others[Memory])) {
		if f, is := s.Others[Memory][place].(memory.Fact); is && slices.Contains(aboutOf(f), subject) {
			list = append(list, f)
		}
	}
	return list
}

// factNext lets a fact be written once by each who has read it: of two at once the second reads the other's first.
func factNext(was, is memory.Fact, there bool, _ time.Time) error {
	if is.Number != was.Number+1 && is.Store != memory.Waiting {
		return moved(Memory, "it was written by somebody else meanwhile")
	}
	return nil
}

// Fact is what is kept under a key.
func (s *Standing) Fact(store, holder, key string) (memory.Fact, bool) {
	f, there := s.Others[Memory][memory.Place(store, holder, key)].(memory.Fact)
	return f, there
}

// The scopes of holds on what agents keep. Their keys are sources, such as agent:builder.
const (
	HoldMemory HoldScope = "memory"     // nothing that derives from it is answered
	HoldCut    HoldScope = "memory-cut" // nor ever again what was written before
)

// MemoryHolds is the mark of those holds.
const MemoryHolds = "memory"

// Cuts are the sources of which nothing is answered, in a standing with all holds on memory.
func (s *Standing) Cuts() (cuts []memory.Cut) {
	for _, h := range s.Holds() {
		switch h.Scope {
		case HoldMemory:
			cuts = append(cuts, memory.Cut{Source: h.Key})
		case HoldCut:
			cuts = append(cuts, memory.Cut{Source: h.Key, Before: h.Since})
		}
	}
	return cuts
}
