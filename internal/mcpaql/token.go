package mcpaql

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"interlock"
)

// TokenPrefix begins every confirmation token.
const TokenPrefix = "conf_"

const (
	tokenBytes = 16 // 128 bits; the whole token has 27 characters

	maxTokenTTL          = 15 * time.Minute
	maxForbiddenTTL      = 5 * time.Minute
	maxClockTolerance    = 300 * time.Second
	warnClockTolerance   = 60 * time.Second
	keepExpiredTokens    = 30 * time.Minute // so that a late one is told from an unknown one; purged well within the hour
	maxTokens            = 16384
	maxTokensPerCaller   = 1000
	defaultTokenTTL      = 5 * time.Minute
	defaultForbiddenTTL  = 2 * time.Minute
	defaultClockTolerant = 30 * time.Second
)

// TokenConfig says how long confirmation tokens live. Zero fields mean their defaults; what is over the maximum is refused
// by [New].
type TokenConfig struct {
	TTL          time.Duration // for levels up to dangerous; default 5 min, at most 15 min
	ForbiddenTTL time.Duration // for forbidden; default 2 min, at most 5 min
	// Tolerance is how far clocks may differ; default 30 s, at most 300 s. Above 60 s the server warns. Negative is none.
	Tolerance time.Duration
}

func (c TokenConfig) withDefaults() (TokenConfig, error) {
	fallback(&c.TTL, defaultTokenTTL)
	fallback(&c.ForbiddenTTL, defaultForbiddenTTL)
	if c.Tolerance == 0 {
		c.Tolerance = defaultClockTolerant
	}
	c.Tolerance = max(c.Tolerance, 0)
	switch {
	case c.TTL > maxTokenTTL:
		return c, fmt.Errorf("mcpaql: confirmation tokens may live %s at most", maxTokenTTL)
	case c.ForbiddenTTL > maxForbiddenTTL:
		return c, fmt.Errorf("mcpaql: confirmation tokens for forbidden operations may live %s at most", maxForbiddenTTL)
	case c.Tolerance > maxClockTolerance:
		return c, fmt.Errorf("mcpaql: the clock tolerance may be %s at most", maxClockTolerance)
	}
	return c, nil
}

// tokenScope is what a token is bound to. The issuer is this server: tokens are kept in its memory, so another knows none
// of them.
type tokenScope struct {
	operation  string
	parameters interlock.Digest // of the parameters as resolved, in canonical form
	connection string
}

// A tokenEntry is one token as it is kept. The token itself is not in it.
type tokenEntry struct {
	scope   tokenScope
	danger  interlock.Danger
	expires time.Time
	used    bool
}

// confirmations keeps the confirmation tokens of one server. A token proves that the client has seen a warning; it is no
// human's approval, and nothing of admission ever sees one (AQL-C-10).
type confirmations struct {
	config TokenConfig
	now    func() time.Time
	random io.Reader

	mu   sync.Mutex
	live map[string]*tokenEntry // by hash
}

func newConfirmations(config TokenConfig, now func() time.Time, random io.Reader) *confirmations {
	return &confirmations{config: config, now: now, random: random, live: map[string]*tokenEntry{}}
}

// hashToken names a token in memory and in the log.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// issue makes a token for exactly this call.
func (c *confirmations) issue(scope tokenScope, danger interlock.Danger) (token string, expires time.Time, err error) {
	var secret [tokenBytes]byte
	if _, err := io.ReadFull(c.random, secret[:]); err != nil {
		return "", time.Time{}, fmt.Errorf("drawing a confirmation token: %w", err)
	}
	token = TokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	ttl := c.config.TTL
	if danger >= interlock.DangerForbidden {
		ttl = c.config.ForbiddenTTL
	}
	now := c.now().UTC()
	expires = now.Add(ttl).Truncate(time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.purge(now)
	own := 0
	for _, entry := range c.live {
		if entry.scope.connection == scope.connection {
			own++
		}
	}
	if own >= maxTokensPerCaller || len(c.live) >= maxTokens {
		return "", time.Time{}, &Failure{Code: CodeRateLimit,
			Message: "Too many confirmations are open; redeem or let them expire before asking for more",
			Details: map[string]any{"retry_after_seconds": int(ttl.Seconds())}}
	}
	c.live[hashToken(token)] = &tokenEntry{scope: scope, danger: danger, expires: expires}
	return token, expires, nil
}

// redeem uses a token up, before what it confirms is done. Unknown and malformed tokens look alike (AQL-C-7).
func (c *confirmations) redeem(token string, scope tokenScope) *Failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	entry := c.live[hashToken(token)]
	switch {
	case entry == nil || !strings.HasPrefix(token, TokenPrefix):
		return &Failure{Code: CodeTokenInvalid,
			Message: "The confirmation token is not known; call again without '_confirmation' to get one"}
	case entry.scope != scope:
		return &Failure{Code: CodeTokenScope,
			Message: "The confirmation token was issued for another operation, other parameters or another " +
				"connection; call again without '_confirmation' to get one for this"}
	case now.After(entry.expires.Add(c.config.Tolerance)):
		return &Failure{Code: CodeTokenExpired,
			Message: "The confirmation token has expired; call again without '_confirmation' to get a new one",
			Details: map[string]any{"expired_at": stamp(entry.expires)}}
	case entry.used:
		return &Failure{Code: CodeTokenUsed,
			Message: "The confirmation token has been used; call again without '_confirmation' to get a new one"}
	}
	entry.used = true
	return nil
}

// revoke forgets the unused tokens of a connection that has ended and returns what is to be recorded of them.
func (c *confirmations) revoke(connection string) map[string]tokenEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	revoked := map[string]tokenEntry{}
	for hash, entry := range c.live {
		if entry.scope.connection == connection {
			if !entry.used && !c.now().After(entry.expires) {
				revoked[hash] = *entry
			}
			delete(c.live, hash)
		}
	}
	return revoked
}

// purge forgets tokens that have been expired for a while.
func (c *confirmations) purge(now time.Time) {
	for hash, entry := range c.live {
		if now.Sub(entry.expires) > keepExpiredTokens {
			delete(c.live, hash)
		}
	}
}

// sweep is purge for a server nobody calls.
func (c *confirmations) sweep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.purge(c.now())
}

// stamp writes a time as answers have it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
