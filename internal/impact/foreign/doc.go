// Package foreign reads code for interpreters that have no parser of their own here: Perl, Ruby, PHP, Lua, awk, Tcl, R, Julia,
// Elixir, Groovy, Lisps and others.
//
// One tokeniser serves all of them, told by data how a language quotes, comments and joins texts. One run follows the words from
// the first to the last, knows calls, members, lists, assignments and joined texts, and folds what is constant. What a call does
// is in the tables of rules/: which read, write, delete, send, run a command line or evaluate code, and which are known to
// do no harm. A call that is neither known nor folded, in code the agent wrote, is a thing that could matter and is asked about.
//
// It knows nothing of the shell around the code. What a program can reach (a command line, a path, a network, another language)
// it reaches through Host, which the caller implements. Reading is linear in the text, and nesting is bounded.
package foreign
