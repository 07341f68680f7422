package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"interlock"
)

// TokenPrefix begins every agent token, so that secret scanners and people recognise one.
const TokenPrefix = "ilk_"

const (
	tokenBytes  = 32 // 256 bits
	tokenLength = len(TokenPrefix) + 43
)

// NewToken draws a token from random and returns it with the hash that is stored. The token itself is shown once and
// kept nowhere.
func NewToken(random io.Reader) (token, hash string, err error) {
	var secret [tokenBytes]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", "", fmt.Errorf("drawing a token: %w", err)
	}
	token = TokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, HashToken(token), nil
}

// HashToken returns "sha256:" and the hexadecimal SHA-256 of the whole token. A plain hash is enough: a token has 256
// random bits, so there is nothing to guess and nothing for a slow hash to slow down.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// TokenShaped reports whether s has the form of an agent token, which says nothing about whether it is one.
func TokenShaped(s string) bool {
	if len(s) != tokenLength || !strings.HasPrefix(s, TokenPrefix) {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(s[len(TokenPrefix):])
	return err == nil
}

// A Roster finds agents by token. It is immutable and safe for concurrent use.
type Roster struct {
	version int64
	agents  map[[sha256.Size]byte]entry
}

type entry struct {
	hash   [sha256.Size]byte
	record interlock.AgentRecord
}

// NewRoster indexes the agents of a standing that have a well-formed token hash.
func NewRoster(standing interlock.Standing) *Roster {
	roster := &Roster{version: standing.Version, agents: make(map[[sha256.Size]byte]entry, len(standing.Agents))}
	for _, record := range standing.Agents {
		var hash [sha256.Size]byte
		digits, ok := strings.CutPrefix(record.TokenHash, "sha256:")
		if !ok || len(digits) != hex.EncodedLen(len(hash)) {
			continue
		}
		if _, err := hex.Decode(hash[:], []byte(digits)); err != nil {
			continue
		}
		roster.agents[hash] = entry{hash: hash, record: record}
	}
	return roster
}

// Agent returns the unrevoked agent a token belongs to. Both refusals are [*interlock.Error]s with the same code; with a
// revoked token the record comes back too, so that the attempt can be recorded under its name.
//
// The lookup is by hash of a 256-bit secret: what its timing could tell is where a hash lies, and no hash leads back to
// a token. The comparison at the end is constant-time all the same.
func (r *Roster) Agent(token string, now time.Time) (interlock.AgentRecord, error) {
	hash := sha256.Sum256([]byte(token))
	found, ok := r.agents[hash]
	if !ok || subtle.ConstantTimeCompare(found.hash[:], hash[:]) != 1 {
		return interlock.AgentRecord{}, &interlock.Error{Code: interlock.CodeUnauthorized, Message: "unknown agent token"}
	}
	if revoked := found.record.Revoked; !revoked.IsZero() && !now.Before(revoked) {
		return found.record, &interlock.Error{Code: interlock.CodeUnauthorized, Message: "this agent token is revoked"}
	}
	return found.record, nil
}

// Tokens looks tokens up in the current standing. It keeps one [Roster] and rebuilds it when the standing's version
// moves, so a revocation holds as soon as its source of standings knows of it. It is safe for concurrent use.
type Tokens struct {
	standing func(context.Context) (interlock.Standing, error)
	now      func() time.Time
	current  atomic.Pointer[Roster]
}

// NewTokens returns a lookup over a source of standings.
func NewTokens(standing func(context.Context) (interlock.Standing, error), now func() time.Time) *Tokens {
	return &Tokens{standing: standing, now: now}
}

// Agent returns the unrevoked agent a token belongs to; see [Roster.Agent]. A standing that can't be read refuses.
func (t *Tokens) Agent(ctx context.Context, token string) (interlock.AgentRecord, error) {
	if !TokenShaped(token) {
		return interlock.AgentRecord{}, &interlock.Error{Code: interlock.CodeUnauthorized, Message: "not an agent token"}
	}
	standing, err := t.standing(ctx)
	if err != nil {
		return interlock.AgentRecord{}, fmt.Errorf("reading the agents: %w", err)
	}
	roster := t.current.Load()
	if roster == nil || roster.version != standing.Version {
		roster = NewRoster(standing)
		t.current.Store(roster)
	}
	return roster.Agent(token, t.now())
}
