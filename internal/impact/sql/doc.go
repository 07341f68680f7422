// Package sql reads statements of any common dialect and records what they do to rows, tables, accounts, settings and the
// server's files.
//
// The dialect is not known beforehand, so the tokeniser takes what all of them take, and a text that two dialects read
// differently (a backslash before a quote) is read both ways, keeping all that either would do. Statements are read by their
// verb and clauses; a WHERE counts as narrowing only if its condition is understood whole and can't be true of every row, which
// the evaluator of conditions decides. Text that a statement builds and executes is put together and read as well, as far as it
// is constant. What a statement of an unknown kind names is asked about.
//
// Read takes a whole input, with the commands of database clients among the statements. ReadFragment records a value that would
// become a piece of somebody else's statement: an injection. LooksLikeStatement and BeginsStatement tell SQL from prose.
package sql
