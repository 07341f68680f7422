// Package windows reads what the shells of Windows run: PowerShell and cmd.exe.
//
// PowerShell is read as a language: statements are walked where they stand, so that variables, functions, aliases, members of
// .NET types, script blocks and pipelines are followed as the shell would follow them. cmd.exe expands variables, resolves
// carets and quotes and splits statements as its own reader does. Everything that could run is read once: both branches of an
// if, the body of a loop, the block behind a cmdlet. What can't be known stays as it is written and is treated as unknown.
//
// A Run belongs to the shell script or command line it is in and shares its place there: a batch file in PowerShell in
// bash is one walk. How programs, places and variables are judged is asked of Host, a small interface that the shell
// implements, so this package does not import it.
//
// SignsOf weighs which shell a text is for. Signs inside quotes and here-documents say nothing; a text that two shells could mean
// is read as both by the caller.
package windows
