package impact

import "interlock"

// A scan is one analysis under way: the collector, the world as far as it is known, and what the readers of the rooms above
// share with one another.
type scan struct {
	world
	within     int // programs around what is being analysed that are no shells and were made to run it
	loose      int // texts with a syntax error that were read nevertheless
	dialect    dialect
	direct     bool            // the action is a command line for a shell
	strict     bool            // see Analyser
	files      map[string]flow // what the script being walked wrote, by clean path
	room       *workroom
	statements statements
	readers    *Readers
}

// Readers reads payloads as what they are. They are given to a scan as values, so that the reader of one language can have
// another language read without knowing its package.
type Readers struct {
	Payload func(s *scan, kind interlock.Kind, input string)
	Patch   func(s *scan, tool, text string) // a patch changes files as a call of a file tool does
}

// begin has payloads read by readers.
func (s *scan) begin(readers *Readers) {
	s.readers = readers
	s.read = func(kind interlock.Kind, input string) { readers.Payload(s, kind, input) }
}

// apart returns a scan of the same world and budget whose findings are its own; whoever asks for it takes over its work.
func (s *scan) apart() *scan {
	inner := &scan{strict: s.strict, room: s.room}
	inner.know, inner.view, inner.dir, inner.depth, inner.work = s.know, s.view, s.dir, s.depth, s.work
	inner.begin(s.readers)
	return inner
}

// statements is what earlier statements of the same analysis left to later ones.
type statements struct {
	held  map[string]sqlBuilt // texts that variables hold
	made  []string            // tables that statements made, which nobody else uses yet
	level int                 // bodies of functions around a statement
}
