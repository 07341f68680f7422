package httpapi

import (
	"crypto/sha256"

	"interlock/internal/witness"
)

// nonce is what the answer is to be signed for; empty where nobody wants that. Only the local door signs: who asks there is a hook,
// which has to know that it was Interlock that answered and not whoever took the socket's place.
func (x *exchange) nonce() string {
	if x.door != local || x.server.config.Sign == nil {
		return ""
	}
	if nonce := x.r.Header.Get(witness.NonceHeader); validRequestID(nonce) && len(nonce) <= witness.MaxNonce {
		return nonce
	}
	return ""
}

// vouch signs an answer for whoever asked for that.
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
