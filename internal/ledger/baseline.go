package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// A BaselineBody is that agents of a type have carried something out that can't be undone or is dangerous: what it does is known since.
type BaselineBody struct {
	Name  string    `json:"name"` // see [BaselineName]
	Type  string    `json:"type"`
	Does  string    `json:"does"` // what it does, through what and how far it reaches
	Agent string    `json:"agent"`
	Event string    `json:"event_id"` // of the decision that let it through
	At    time.Time `json:"at"`
}

// BaselineName names what agents of a type have carried out.
func BaselineName(typed, does string) string {
	sum := sha256.Sum256([]byte("interlock/baseline/v1\x00" + typed + "\x00" + does))
	return "bas_" + hex.EncodeToString(sum[:12])
}

// Known reports whether agents of a type have carried something out before.
func (s *Standing) Known(typed, does string) bool {
	_, known := s.Others[Baseline][BaselineName(typed, does)].(BaselineBody)
	return known
}
