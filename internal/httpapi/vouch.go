package httpapi

import (
	"context"
	"crypto/sha256"
	"sync"

	"interlock/internal/auditlog"
	"interlock/internal/witness"
)

// nonce is what the answer is to be signed for; empty where nobody wants that. Only the local door signs: who asks there is a hook,
// which has to know that it was Interlock that answered and not something else that took the socket's place.
func (x *exchange) nonce() string {
	if x.door != local || x.server.config.Sign == nil {
		return ""
	}
	if nonce := x.r.Header.Get(witness.NonceHeader); validRequestID(nonce) && len(nonce) <= witness.MaxNonce {
		return nonce
	}
	return ""
}

// vouch signs an answer if the caller asked for that.
func (x *exchange) vouch(body []byte) {
	nonce := x.nonce()
	if nonce == "" {
		return
	}
	if x.asked == ([sha256.Size]byte{}) {
		x.asked = sha256.Sum256(nil) // no body, or one that was not read to its end
	}
	x.w.Header()[witness.SignatureHeader] = []string{x.server.config.Sign(&witness.Answer{Nonce: nonce, Method: x.r.Method,
		Path: x.r.URL.Path, Asked: x.asked, Status: x.status, Reply: sha256.Sum256(body)})}
}

// goesOn proves to a hook that a checkpoint is of the same log as what it has seen of it before, if it names how much that was. A
// log that can't prove that has lost it, and the hook says so.
func (x *exchange) goesOn(checkpoint []byte) {
	if x.nonce() == "" {
		return
	}
	sizes, asked := witness.ParseSizes(x.r.Header.Get(witness.KeptHeader))
	newest, readable := witness.ParseHead(checkpoint)
	if !asked || !readable {
		return
	}
	ctx, cancel := x.decisionContext()
	defer cancel()
	proofs := make([]witness.Proof, len(sizes))
	for i, size := range sizes {
		if i > 0 && size == sizes[i-1] { // as a rule
			proofs[i] = proofs[i-1]
			continue
		}
		hashes, err := auditlog.ProveConsistency(ctx, &x.server.rows, max(size, newest.Size), min(size, newest.Size))
		if err == nil {
			proofs[i] = witness.Proof(hashes)
		}
	}
	x.w.Header()[witness.ProofHeader] = []string{witness.Proofs(proofs)}
}

// maxRows bounds how many rows of tree hashes are remembered, of some hundred bytes each.
const maxRows = 4096

// remembered are the log's tree hashes as far as they were read lately. They never change, and proving that a log goes on from a
// moment ago takes the same ones again and again.
type remembered struct {
	log   auditlog.HashRows
	mutex sync.Mutex
	rows  map[int64][]byte
}

// Hashes returns the hashes that an entry completes.
func (r *remembered) Hashes(ctx context.Context, index int64) ([]byte, error) {
	r.mutex.Lock()
	have, known := r.rows[index]
	r.mutex.Unlock()
	if known {
		return have, nil
	}
	read, err := r.log.Hashes(ctx, index)
	if err != nil {
		return nil, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if len(r.rows) >= maxRows || r.rows == nil {
		r.rows = map[int64][]byte{}
	}
	r.rows[index] = read
	return read, nil
}
