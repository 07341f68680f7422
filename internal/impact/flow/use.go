package flow

import (
	"interlock"
	"interlock/internal/impact/know"
	"interlock/internal/impact/place"
)

// A Picker finds the subcommand that words choose. Several may fit while words remain; the most particular described one
// wins, and words read beyond it are operands after all.
type Picker struct {
	First      [1]*know.Command
	Candidates []*know.Command
	Best       *know.Command
	Beyond     []Field
	Done       bool
}

// A Use is one use of a described command: the subcommand chosen, its flags with their values, its operands.
type Use struct {
	Spec     *know.Command
	Flags    []Given
	Operands []Field
	Rest     []Field // for a wrapper: the command line it runs
	Via      string
	Reach    interlock.Reach // where its flags say it acts
	Tree     bool            // whole trees are meant
	Asked    bool            // nothing but help or the version is asked for
	Mounts   []place.Mounted // what its flags show of the host to what it runs
}

// A Given is one flag as given.
type Given struct {
	Option *know.Option
	Name   string
	Value  Field
	Argv   []Field // for exec flags: the command line up to its end
}
