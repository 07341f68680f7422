// Package program reads Python, JavaScript and TypeScript and records what their calls do.
//
// A tokeniser and a tolerant parser make a tree; what it can't parse it skips, and says so. A run follows the tree once:
// variables hold what is known of them, functions are entered where they are called, loops over constants are followed value by
// value, and texts put together from constants are folded. Calls are looked up under the name they were imported by in the
// table of rules/code.yaml, which says what they read, write, delete, send or run. Code made at run time (eval, exec, compile,
// Function) is read if its text is known and asked about if not.
//
// A secret read into a value marks it, and a value that is marked and sent says so. Nothing is executed; a program that goes in
// circles or grows is cut off by the work bound, and what is cut off is unknown.
package program
