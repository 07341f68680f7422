package console

import (
	"encoding/base64"
	"net/http"

	"interlock"
	"interlock/internal/auditlog"
)

// A proof is what a page shows, and its script recomputes, of an event's place in the signed log.
type proof struct {
	Index  int64
	Size   int64
	Leaf   string   // RFC 6962 leaf hash of the event, hexadecimal with "sha256:"
	Path   []string // the audit path, base64
	Root   string   // of the signed checkpoint, base64
	Signed string   // the checkpoint
	Key    string   // the log's public key
	Event  string   // the event's bytes, base64; empty where whoever asks may not read them
	Fault  string   // why the proof does not hold, as this server found; empty if it holds
}

// prove makes the proof of an entry under the newest checkpoint and checks it as an auditor would.
func (c *Console) prove(r *http.Request, e interlock.Entry) (proof, auditlog.Proof, error) {
	head, err := c.config.Log.Head(r.Context())
	if err != nil {
		return proof{}, auditlog.Proof{}, err
	}
	made, err := auditlog.Prove(r.Context(), c.config.Log, head.Checkpoint, e.Index)
	if err != nil {
		return proof{}, auditlog.Proof{}, err
	}
	p := proof{Index: e.Index, Leaf: auditlog.RecordHash(e.Body), Signed: string(made.Signed), Key: c.config.Facts.Key.String()}
	for i := range made.Hashes {
		p.Path = append(p.Path, base64.StdEncoding.EncodeToString(made.Hashes[i][:]))
	}
	checkpoint, err := made.Check(c.config.Facts.Key, e.Body)
	if err != nil {
		p.Fault = err.Error()
	}
	p.Size, p.Root = checkpoint.Size, base64.StdEncoding.EncodeToString(checkpoint.Root[:])
	if c.may(r, reading) {
		p.Event = base64.StdEncoding.EncodeToString(e.Body)
	}
	return p, made, nil
}

// receipt sends the proof as a file that `interlock audit check-proof` and other tlog tools read.
func (c *Console) receipt(w http.ResponseWriter, r *http.Request) {
	e, err := c.entry(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	_, made, err := c.prove(r, e)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="receipt-`+short(e.ID)+`.txt"`)
	_, _ = w.Write(made.Text()) // a reader that went away has nothing to miss
}
