package ledger

import (
	"math"
	"time"
)

// A Span is a stretch of what is under one mark: how a store is asked for a page of a kind, however much of it there is.
type Span struct {
	From, UpTo int64 // places in the order of the mark, both of them included
	After      Place // where the page before ended; the zero place is where the span begins
	Newest     bool  // from the end backwards
	Limit      int   // of rows; 0 is none, which is for counting
	Lone       bool  // leave out calls that have an id of their harness
}

// A Place is where in the order of a mark a page ended. Rows may share an At, so a store adds what tells them apart.
type Place struct {
	At  int64
	Row int64
}

// Every is all that is under a mark, a number of rows at a time.
func Every(limit int) Span { return Span{From: math.MinInt64, UpTo: math.MaxInt64, Limit: limit} }

// UpTo is what is there up to a place, itself included, and From what is there from one on.
func UpTo(at int64, limit int) Span { return Span{From: math.MinInt64, UpTo: at, Limit: limit} }
func From(at int64, limit int) Span { return Span{From: at, UpTo: math.MaxInt64, Limit: limit} }

// Before is what comes before a place, from there backwards; a negative place is the end.
func Before(at int64, limit int) Span {
	s := Every(limit)
	if s.Newest = true; at >= 0 {
		s.UpTo = at - 1
	}
	return s
}

// A Watch is what somebody wants to hear of who waits for others to write.
type Watch struct {
	Kinds []string // of rows; none: whatever is written, entries of the log among it
	// how late what another process has written may be told. A store that is told of it itself tells at once; one that has to look
	// looks as often as the one who waits most eagerly wants. What this process writes is told at once in any case
	Within time.Duration
}
