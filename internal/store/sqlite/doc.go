// Package sqlite keeps Interlock's durable truth in one SQLite file: the log, and the ledger of what is kept beside it.
//
// One goroutine per process writes. It puts all commits that wait into one transaction, seals their events with one
// signature, and answers after the transaction's sync; many processes may share one file. What it never does: answer
// before the sync, retry after an error whose effect is unknown, or leave a state change without its event.
//
// While a file with the suffix -wal lies beside it, the file alone is not the store: a copy takes both, or, better, is made
// with `interlock audit export`. Those who can write the file can change everything but the log's past; permissions are
// checked for that reason, and approvals prove themselves by their signatures.
//
// Start with Open in open.go; a commit's way is commit.go, apply.go, rows.go; a reading's is load.go. Rows of kinds that come
// with most actions have tables of their own, see passing.go and filed.go. The tables are in tables.sql.
package sqlite
