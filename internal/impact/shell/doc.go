// Package shell reads command lines and scripts of POSIX shells, and judges the use of every program in them.
//
// Read parses a text as bash, then as mksh and POSIX shell if need be; a text with a syntax error is read as far as it could
// still run. A run then walks the tree: lists, pipes, substitutions, functions, loops, here-documents, redirections, traps.
// Words are expanded to fields, with variables, arrays, substitutions and patterns resolved as far as they are constant, and
// what is not resolved stays unknown: a program whose name nobody can fold is asked about.
//
// Each simple command is looked up in the knowledge of programs. Its words are matched to flags, operands and subcommands (a
// use), and the description says which impacts that has and what it runs in turn: wrappers, interpreters, scripts, commands on
// other hosts. Scripts and recipes whose text the door has gathered are read as well. What flows through a command settles
// afterwards: secrets into a network, downloads into an interpreter.
//
// Bounds are counted before the parser sees the text, because the parser recurses without end.
package shell
