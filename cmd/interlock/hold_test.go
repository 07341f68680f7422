package main

import (
	"database/sql"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdSpoil takes the blob that a setting of a home, or a digest, names out of the store, and mend puts it back, as restoring a backup would:
//
//	spoil|mend HOME SETTING|DIGEST
func cmdSpoil(ts *testscript.TestScript, neg bool, args []string) {
	renameBlob(ts, neg, args, "UPDATE blobs SET digest = 'gone ' || digest WHERE digest = ")
}

func cmdMend(ts *testscript.TestScript, neg bool, args []string) {
	renameBlob(ts, neg, args, "UPDATE blobs SET digest = substr(digest, 6) WHERE digest = 'gone ' || ")
}

func renameBlob(ts *testscript.TestScript, neg bool, args []string, statement string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: spoil|mend HOME SETTING|DIGEST")
	}
	db, err := sql.Open("sqlite", filepath.Join(ts.MkAbs(args[0]), "interlock.db"))
	ts.Check(err)
	defer db.Close()
	named := "(SELECT json_extract(body, '$.value') FROM rows WHERE kind = 'setting' AND key = ?)"
	if strings.HasPrefix(args[1], "sha256:") {
		named = "?"
	}
	result, err := db.Exec(statement+named, args[1])
	ts.Check(err)
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		ts.Fatalf("%d blobs, %v", n, err)
	}
}
