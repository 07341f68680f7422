package main

import (
	"bytes"
	"context"
	"fmt"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// checkTexts names what decisions were made from that is not what its digest says: texts that many share, and inputs beside entries.
// What is sealed only its key opens; replaying it tells.
func checkTexts(ctx context.Context, opened *store.Store, name func(*ledger.Tampered) error) error {
	sealed := func(text []byte) bool { return bytes.HasPrefix(text, []byte(auditlog.SealedIntro)) }
	err := opened.Blobs(ctx, func(blob ledger.Blob) error {
		if sealed(blob.Text) || auditlog.BlobDigest(blob.Text) == blob.Digest {
			return nil
		}
		return name(&ledger.Tampered{Table: "blobs", Kind: "text", Key: string(blob.Digest), What: "is another than its digest says"})
	})
	if err != nil {
		if err := name(&ledger.Tampered{Table: "blobs", What: fmt.Sprintf("a text can't be read: %s", err)}); err != nil {
			return err
		}
	}
	return opened.Recorded(ctx, 0, func(e interlock.Entry) error {
		if len(e.Inputs) == 0 || sealed(e.Inputs) {
			return nil
		}
		event, err := auditlog.ParseEvent(e.Body)
		if err == nil && event.Snapshots["inputs"] == string(auditlog.InputsDigest(e.Inputs)) {
			return nil
		}
		return name(&ledger.Tampered{Table: "entries", Kind: "inputs of entry", Key: fmt.Sprint(e.Index), What: "are not those that it names"})
	})
}
