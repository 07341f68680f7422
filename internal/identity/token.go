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
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// TokenPrefix begins every agent token, so that secret scanners and people recognise one, and ObserverPrefix every observer's.
const (
	TokenPrefix    = "ilk_"
	ObserverPrefix = "ilkobs_"
)

const (
	tokenBytes  = 32 // 256 bits
	tokenLength = 43 // behind the prefix
)

// NewToken draws a token from random and returns it with the hash that is stored. The token itself is shown once and
// kept nowhere.
func NewToken(random io.Reader) (token, hash string, err error) { return newToken(TokenPrefix, random) }

// NewObserverToken is NewToken for an observer.
func NewObserverToken(random io.Reader) (token, hash string, err error) {
	return newToken(ObserverPrefix, random)
}

func newToken(prefix string, random io.Reader) (token, hash string, err error) {
	var secret [tokenBytes]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", "", fmt.Errorf("drawing a token: %w", err)
	}
	token = prefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return token, HashToken(token), nil
}

// HashToken returns "sha256:" and the hexadecimal SHA-256 of the whole token. A plain hash is enough: a token has 256
// random bits, so there is nothing to guess and nothing for a slow hash to slow down.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// TokenShaped reports whether s has the form of an agent token, which says nothing about whether it is one.
func TokenShaped(s string) bool { return shaped(TokenPrefix, s) }

func shaped(prefix, s string) bool {
	secret, ok := strings.CutPrefix(s, prefix)
	if !ok || len(secret) != tokenLength {
		return false
	}
	_, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	return err == nil
}

// Tokens looks tokens up among the agents that stand when they are shown, so a revocation holds as soon as its source of
// standings knows of it. It is safe for concurrent use.
type Tokens struct {
	standing func(context.Context, ...ledger.Ref) (ledger.Standing, error)
	now      func() time.Time
	stopped  func(context.Context) error
}

// While returns a lookup that refuses every token for as long as stopped returns an error, which says why.
func (t Tokens) While(stopped func(context.Context) error) *Tokens {
	t.stopped = stopped
	return &t
}

// NewTokens returns a lookup over a source of standings, which is asked for the agents with a token and may hold others.
func NewTokens(standing func(context.Context, ...ledger.Ref) (ledger.Standing, error), now func() time.Time) *Tokens {
	return &Tokens{standing: standing, now: now}
}

// Agent returns the unrevoked agent a token belongs to. All refusals are [*interlock.Error]s with the same code; with a token that is
// revoked, or that is not taken because its agent is stopped, the record comes back too, so that the attempt can be recorded under
// its name. A standing that can't be read
// refuses.
//
// The lookup is by hash of a 256-bit secret: what its timing could tell is where a hash lies, and no hash leads back to
// a token. The comparison at the end is constant-time all the same.
func (t *Tokens) Agent(ctx context.Context, token string) (interlock.AgentRecord, error) {
	return t.find(ctx, TokenPrefix, token)
}

// Observer is Agent for the token of an observer. Neither takes the other's.
func (t *Tokens) Observer(ctx context.Context, token string) (interlock.AgentRecord, error) {
	return t.find(ctx, ObserverPrefix, token)
}

func (t *Tokens) find(ctx context.Context, prefix, token string) (interlock.AgentRecord, error) {
	observer := prefix == ObserverPrefix
	if !shaped(prefix, token) {
		what := "an agent token"
		if observer {
			what = "an observer's token"
		}
		return interlock.AgentRecord{}, &interlock.Error{Code: interlock.CodeUnauthorized, Message: "not " + what}
	}
	hash := HashToken(token)
	standing, err := t.standing(ctx, ledger.Ref{Kind: ledger.Agent, Mark: ledger.Token(hash)})
	if err != nil {
		return interlock.AgentRecord{}, fmt.Errorf("reading the agents: %w", err)
	}
	for _, record := range standing.Agents { // any order: two agents of one token would have to be given the same secret
		if subtle.ConstantTimeCompare([]byte(record.TokenHash), []byte(hash)) != 1 || record.Observer != observer {
			continue
		}
		if revoked := record.Revoked; !revoked.IsZero() && !t.now().Before(revoked) {
			return record, &interlock.Error{Code: interlock.CodeUnauthorized, Message: "this agent token is revoked"}
		}
		if observer { // an observer goes on
			return record, nil
		}
		if t.stopped != nil {
			if err := t.stopped(ctx); err != nil {
				return record, err
			}
		}
		return record, stopped(ctx, t.standing, record, t.now())
	}
	return interlock.AgentRecord{}, &interlock.Error{Code: interlock.CodeUnauthorized, Message: "unknown agent token"}
}
