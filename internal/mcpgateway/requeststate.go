package mcpgateway

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// The prefixes begin every requestState of ours, so that one of an upstream server is told from them and passed on.
const (
	statePrefix = "ilk1."  // of a question that waits for a human
	heldPrefix  = "ilkh1." // of a call that was forwarded and is held; see [held]
)

// maxState bounds what is looked at at all, in bytes.
const maxState = 4 << 10

// KeyBytes is how long the key is that a [Sealer] is made from.
const KeyBytes = 32

// A Sealer protects what the gateway hands to clients and takes back from them: nobody else can read it, make it or change
// it. Of one key each purpose has its own, so that what was sealed for one opens for no other.
type Sealer struct{ purposes map[string]cipher.AEAD }

// The purposes.
const (
	sealState = "interlock gateway requestState v1"
	sealHeld  = "interlock gateway held call v1"
	sealTask  = "interlock gateway task v1"
)

// NewSealer returns a sealer over a key of [KeyBytes] random bytes.
func NewSealer(key []byte) (*Sealer, error) {
	if len(key) != KeyBytes {
		return nil, fmt.Errorf("mcpgateway: the sealing key has %d bytes and must have %d", len(key), KeyBytes)
	}
	s := &Sealer{purposes: map[string]cipher.AEAD{}}
	for _, purpose := range []string{sealState, sealHeld, sealTask} {
		derived, err := hkdf.Key(sha256.New, key, nil, purpose, 32)
		if err != nil {
			return nil, fmt.Errorf("mcpgateway: deriving a sealing key: %w", err)
		}
		block, err := aes.NewCipher(derived)
		if err != nil {
			return nil, fmt.Errorf("mcpgateway: sealing: %w", err)
		}
		// The nonce is random and comes before the text. 2^32 texts under one key are safe (NIST SP 800-38D 8.3); one is
		// made for each question a client comes back with.
		if s.purposes[purpose], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, fmt.Errorf("mcpgateway: sealing: %w", err)
		}
	}
	return s, nil
}

// seal writes a value so that only open for the same purpose reads it.
func (s *Sealer) seal(purpose string, v any) ([]byte, error) {
	text, err := strictjson.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	return s.purposes[purpose].Seal(nil, nil, text, []byte(purpose)), nil
}

// errForeign is all that is said of what does not open: not whether it was changed, cut or made elsewhere.
var errForeign = interlock.Errorf(interlock.CodeInvalid, "requestState",
	"was not given out by this gateway, or was changed; send the call again without it")

func (s *Sealer) open(purpose string, sealed []byte, into any) error {
	text, err := s.purposes[purpose].Open(nil, nil, sealed, []byte(purpose))
	if err != nil {
		return errForeign
	}
	if err := strictjson.Decode(text, into); err != nil {
		return errForeign // of a version that sealed something else
	}
	return nil
}

// A requestState is what the client of a question carries back to us. It is a handle and no permit: everything it names is
// held against the durable request, which an approval answers and one call spends; of a held call, against what this process
// remembers of it.
type requestState struct {
	Agent     string           `json:"agent"`
	Principal string           `json:"principal"`
	Method    string           `json:"method"`
	Action    interlock.Digest `json:"action"`
	Request   string           `json:"request"` // that waits, or the held call
	Expires   int64            `json:"expires"` // unix seconds
	Nonce     string           `json:"nonce"`
	Round     int              `json:"round"` // how often the client has been told to come back
}

// prefixOf is what a state begins with that is sealed for a purpose.
func prefixOf(purpose string) string {
	if purpose == sealHeld {
		return heldPrefix
	}
	return statePrefix
}

// sealState writes a state as a client carries it.
func (s *Sealer) sealState(purpose string, state requestState) (string, error) {
	sealed, err := s.seal(purpose, state)
	return prefixOf(purpose) + base64.RawURLEncoding.EncodeToString(sealed), err
}

// OwnState reports whether a requestState claims to be the gateway's. Any other belongs to an upstream server.
func OwnState(text string) bool {
	return strings.HasPrefix(text, statePrefix) || strings.HasPrefix(text, heldPrefix)
}

// openState reads a state that a client brought for a requester at a time. The error is an *interlock.Error.
func (s *Sealer) openState(purpose, text string, r interlock.Requester, now time.Time) (requestState, error) {
	var state requestState
	encoded, ours := strings.CutPrefix(text, prefixOf(purpose))
	if !ours || len(text) > maxState {
		return state, errForeign
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return state, errForeign
	}
	if err := s.open(purpose, sealed, &state); err != nil {
		return state, err
	}
	if state.Agent != r.Agent || state.Principal != r.Principal {
		return requestState{}, errForeign // somebody else's, which is nobody's business
	}
	if now.Unix() >= state.Expires {
		return requestState{}, interlock.Errorf(interlock.CodeExpired, "requestState",
			"has expired; send the call again without it")
	}
	return state, nil
}
