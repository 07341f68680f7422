// Package gitwork says which paths hold work that git would not give back: files it does not know, and changes that were not
// added. It only reads: the index, the ignore files and the state of files on disk. No git process is run, because a repository
// may name programs that git runs when it is looked at, and the one who wrote the repository may be the one who is being judged.
//
// Everything is bounded in bytes, entries and time. What is over a bound, of another format or unreadable is not answered, and
// a path without an answer is unknown.
package gitwork
