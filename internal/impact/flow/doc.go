// Package flow follows bytes on their way through an action: from a command's output to the next one's input, into a file,
// a variable or an argument, and into a network.
//
// A Flow says what is known of such bytes: their text, if it is known whole, and where they have been: out of a decoder, over a
// network, out of a place that holds secrets. A Field is one word of a command line after the shell has expanded it, with
// what flowed into it and how far its text is known. Taint only grows: joining two flows keeps all that either carried.
//
// A Scan is one analysis under way: the world, with the collector in it, and what the readers of all languages share: what the
// action wrote so far, what earlier statements left behind, and the readers themselves, as values. A Walk is where the reader
// of a shell's script is; a script of another shell inside it goes on from there.
//
// The room that fields and uses are kept in is borrowed for one analysis and handed to the next, because scripts have many
// commands and nobody needs them afterwards.
package flow
