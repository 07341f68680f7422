// Package know holds what Interlock knows of the world before it sees an action: what programs do with their words, what
// places hold, which tools are which, what calls of a language cause. All of it is data in the directory rules, compiled once
// into tables.
//
// Knowledge decodes lazily: a program's description is decoded when it is first asked for, so that the start of a hook costs
// little however much is known. A description that does not decode is an error of the build, found by Check, which a test
// calls for all of them; a program nobody describes is not an error but a question for the reader of the command.
//
// A Command says which impacts a use has by its flags, operands and subcommands; the words it may use stand in
// docs/adding-a-command.md. The table of places answers for a clean path how far it reaches and what it holds: secrets,
// start-up files, devices, Interlock itself. A path with a pattern in it is held against all that it could mean.
//
// Nothing here looks at an action. Matching one against a description is the shell's business, judging a path that of
// package place.
package know
