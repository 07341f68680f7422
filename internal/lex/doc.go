// Package lex holds what every reader of text needs and no language owns: folding names, splitting words, telling drives and
// programs of Windows, quoting, literal strings, and undoing encodings.
//
// Decoding is bounded: a text that is longer than MaxText after it was decoded counts as not decoded, so that a few bytes
// can't be made to stand for many. All functions are pure and linear in their input.
//
// What belongs here serves at least two languages. What only one of them needs is kept with that language.
package lex
