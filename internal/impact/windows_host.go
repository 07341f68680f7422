package impact

// A winRun reads scripts for the shells of Windows, on behalf of the shell script or command line they stand in.
type winRun struct {
	*walk
	windowsHost
	ps    *psRun  // the PowerShell script being walked
	batch *cmdRun // the script of cmd.exe being walked
}

// A windowsHost is what a script for a shell of Windows shares with the one it stands in: how programs, places and variables
// are judged.
type windowsHost interface {
	deliver(io streams, out flow) flow                         // sends a command's output to the files it is redirected to, or on
	says(args []field, io streams, escapes, newline bool) flow // is the output of a command that prints its arguments
	chdir(to field)                                            // follows a change of directory
	text(args []field)                                         // notes the normalised command for pattern rules
	computed(args []field, io streams) flow                    // is a command whose name is only known when it runs
	program(args []field, io streams) flow                     // runs a file by its path
	described(spec *command, args []field, io streams) flow    // runs a command the knowledge describes
	unknownCommand(args []field, io streams) flow              // is a command nothing is known of
	loads(args []field, io streams)                            // judges what an unknown program of Windows is given
	placeOf(f field, follow bool) place                        // judges an argument that is a path
	stored(f field, p place) flow                              // is what reading a file gives
	opaque(via string, from flow, text string)                 // records that code runs which is only known when it runs
	fromStdin(u *use, io streams) flow                         // runs what comes in on standard input
	reverse(via, peer string)                                  // records a shell whose streams are a network connection
	use(u *use, args []field, io streams) flow                 // judges one use of a described command, whose arguments have been sorted
	unwrapped(via string, from flow) words                     // records that code which came out of a decoder runs, and returns the words for what it does
	exported(name string, f field)                             // sets a variable in the environment of what runs
	wrote(name string) bool                                    // whether a bare name is a program this action put where it is looked for first
}
