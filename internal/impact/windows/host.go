package windows

import (
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// A Run reads scripts for the shells of Windows, on behalf of the shell script or command line they stand in.
type Run struct {
	*flow.Walk
	Host
	ps    *psRun  // the PowerShell script being walked
	batch *cmdRun // the script of cmd.exe being walked
}

// A Host is what a script for a shell of Windows shares with the one it is in: how programs, places and variables
// are judged.
type Host interface {
	// sends a command's output to the files it is redirected to, or on
	Deliver(io flow.Streams, out flow.Flow) flow.Flow
	// is the output of a command that prints its arguments
	Says(args []flow.Field, io flow.Streams, escapes, newline bool) flow.Flow
	Chdir(to flow.Field)    // follows a change of directory
	Text(args []flow.Field) // notes the normalised command for pattern rules
	// is a command whose name is only known when it runs
	Computed(args []flow.Field, io flow.Streams) flow.Flow
	Program(args []flow.Field, io flow.Streams) flow.Flow                       // runs a file by its path
	Described(spec *know.Command, args []flow.Field, io flow.Streams) flow.Flow // runs a command the knowledge describes
	UnknownCommand(args []flow.Field, io flow.Streams) flow.Flow                // is a command nothing is known of
	// judges what an unknown program of Windows is given
	Loads(args []flow.Field, io flow.Streams)
	PlaceOf(f flow.Field, follow bool) know.Place // judges an argument that is a path
	Stored(f flow.Field, p know.Place) flow.Flow  // is what reading a file gives
	// records that code runs which is only known when it runs
	Opaque(via string, from flow.Flow, text string)
	FromStdin(u *flow.Use, io flow.Streams) flow.Flow // runs what comes in on standard input
	// records a shell whose streams are a network connection
	Reverse(via, peer string)
	// judges one use of a described command, whose arguments have been sorted
	Use(u *flow.Use, args []flow.Field, io flow.Streams) flow.Flow
	// records that code which came out of a decoder runs, and returns the words for what it does
	Unwrapped(via string, from flow.Flow) know.Words
	Exported(name string, f flow.Field) // sets a variable in the environment of what runs
	// whether a bare name is a program this action put where it is looked for first
	Wrote(name string) bool
}
