package flow

import (
	"interlock"
	"interlock/internal/impact/place"
)

// A Scan is one analysis under way: the collector, the world as far as it is known, and what the readers of the rooms above
// share with one another.
type Scan struct {
	place.World
	Within     int // programs around what is being analysed that are no shells and were made to run it
	Loose      int // texts with a syntax error that were read nevertheless
	Dialect    Dialect
	Direct     bool            // the action is a command line for a shell
	Strict     bool            // see Analyser
	Files      map[string]Flow // what the script being walked wrote, by clean path
	Room       *Workroom
	Shown      string // a variable named as a secret whose value the program just read prints
	Statements statements
	Readers    *Readers
}

// Readers reads payloads as what they are. They are given to a scan as values, so that the reader of one language can have
// another language read without knowing its package.
type Readers struct {
	Payload func(s *Scan, kind interlock.Kind, input string)
	Patch   func(s *Scan, tool, text string) // a patch changes files as a call of a file tool does
	// what is put into a file is judged as what a file tool puts there
	Written func(s *Scan, via, name, text string)
}

// Begin has payloads read by readers.
func (s *Scan) Begin(readers *Readers) {
	s.Readers = readers
	s.Read = func(kind interlock.Kind, input string) { readers.Payload(s, kind, input) }
}

// Apart returns a scan of the same world and budget whose findings are its own; the caller takes over its work.
func (s *Scan) Apart() *Scan {
	inner := &Scan{Strict: s.Strict, Room: s.Room}
	inner.Stop = s.Stop
	inner.Know, inner.View, inner.Dir, inner.Depth, inner.Work = s.Know, s.View, s.Dir, s.Depth, s.Work
	inner.Begin(s.Readers)
	return inner
}

// statements is what earlier statements of the same analysis left to later ones.
type statements struct {
	Held  map[string]BuiltSQL // texts that variables hold
	Made  []string            // tables that statements made, which nobody else uses yet
	Level int                 // bodies of functions around a statement
}

// maxSQLText bounds a text put together by a statement, so that doubling it over and over ends.
const maxSQLText = 16 << 10

// A BuiltSQL is a text that a statement puts together from constants. What is not constant becomes the word x in it.
type BuiltSQL struct {
	Text    string
	Literal bool // some of it stood in the statement
	Decoded bool // some of it was encoded
}

func (b BuiltSQL) Plus(other BuiltSQL) BuiltSQL {
	if len(b.Text)+len(other.Text) <= maxSQLText {
		b.Text += other.Text
	}
	return BuiltSQL{b.Text, b.Literal || other.Literal, b.Decoded || other.Decoded}
}
