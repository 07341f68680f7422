package mcpaql

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"interlock"
	"interlock/spec"
)

// testTokens are tokens whose clock the test moves.
func testTokens(t *testing.T, config TokenConfig) (*confirmations, *time.Time) {
	t.Helper()
	config, err := config.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return newConfirmations(config, func() time.Time { return at }, rand.Reader), &at
}

var scope = tokenScope{operation: "execute_agent", parameters: "sha256:1", connection: "one"}

func (c *confirmations) mustIssue(t *testing.T, scope tokenScope, danger interlock.Danger) (string, time.Time) {
	t.Helper()
	token, expires, err := c.issue(scope, danger)
	if err != nil {
		t.Fatal(err)
	}
	return token, expires
}

func codeFor(f *Failure) Code {
	if f == nil {
		return ""
	}
	return f.Code
}

func TestTokensAreUnguessableAndKeptAsHashes(t *testing.T) {
	spec.Covers(t, "AQL-C-1")
	tokens, _ := testTokens(t, TokenConfig{})
	seen := map[string]bool{}
	for range 200 {
		token, _ := tokens.mustIssue(t, scope, interlock.DangerReversible)
		secret, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, "conf_"))
		if err != nil || len(secret)*8 < 128 || seen[token] || !regexp.MustCompile(`^conf_[A-Za-z0-9_-]{3,75}$`).MatchString(token) {
			t.Fatalf("token %q: %d bytes, %v, seen %v", token, len(secret), err, seen[token])
		}
		seen[token] = true
		for kept := range tokens.live {
			if strings.Contains(kept, token[5:]) {
				t.Fatalf("%q is kept as it is", token)
			}
		}
	}
	tokens.random = iotest.ErrReader(errors.New("empty"))
	if token, _, err := tokens.issue(scope, interlock.DangerReversible); err == nil {
		t.Errorf("without randomness there is the token %q", token)
	}
}

func TestTokensAreUsedOnceWithinTheirScopeAndTime(t *testing.T) {
	spec.Covers(t, "AQL-C-2", "AQL-C-3", "AQL-C-7")
	type step struct {
		after time.Duration
		scope tokenScope
		alter func(string) string
		want  Code
	}
	with := func(change func(*tokenScope)) tokenScope { s := scope; change(&s); return s }
	for name, steps := range map[string][]step{
		"once":                  {{scope: scope, want: ""}, {scope: scope, want: CodeTokenUsed}},
		"another operation":     {{scope: with(func(s *tokenScope) { s.operation = "abort_execution" }), want: CodeTokenScope}, {scope: scope, want: ""}},
		"other parameters":      {{scope: with(func(s *tokenScope) { s.parameters = "sha256:2" }), want: CodeTokenScope}},
		"another connection":    {{scope: with(func(s *tokenScope) { s.connection = "two" }), want: CodeTokenScope}},
		"at its end":            {{after: 5*time.Minute + 30*time.Second, scope: scope, want: ""}},
		"after its end":         {{after: 5*time.Minute + 31*time.Second, scope: scope, want: CodeTokenExpired}},
		"used and expired":      {{scope: scope, want: ""}, {after: 6 * time.Minute, scope: scope, want: CodeTokenExpired}},
		"unknown":               {{alter: func(s string) string { return s[:len(s)-1] + "x" }, scope: scope, want: CodeTokenInvalid}},
		"malformed":             {{alter: func(string) string { return "conf_" }, scope: scope, want: CodeTokenInvalid}},
		"empty":                 {{alter: func(string) string { return "" }, scope: scope, want: CodeTokenInvalid}},
		"without its prefix":    {{alter: func(s string) string { return s[5:] }, scope: scope, want: CodeTokenInvalid}},
		"purged within an hour": {{after: 59 * time.Minute, scope: scope, want: CodeTokenInvalid}},
	} {
		tokens, at := testTokens(t, TokenConfig{})
		token, _ := tokens.mustIssue(t, scope, interlock.DangerReversible)
		messages := map[string]bool{}
		for n, s := range steps {
			*at = at.Add(s.after)
			if s.after > time.Hour/2 {
				tokens.sweep()
			}
			presented := token
			if s.alter != nil {
				presented = s.alter(token)
			}
			failure := tokens.redeem(presented, s.scope)
			if codeFor(failure) != s.want {
				t.Errorf("%s, step %d: %v, want %s", name, n, failure, s.want)
			}
			if failure != nil {
				messages[failure.Message] = true
			}
		}
		_ = messages
	}
	// Unknown and malformed ones look alike.
	tokens, _ := testTokens(t, TokenConfig{})
	a, b := tokens.redeem("conf_AAAAAAAAAAAAAAAAAAAAAA", scope), tokens.redeem("nonsense", scope)
	if a.Message != b.Message || a.Code != b.Code || len(a.Details)+len(b.Details) > 0 {
		t.Errorf("%v and %v tell an unknown token from a malformed one", a, b)
	}
}

func TestTokenLifetimes(t *testing.T) {
	spec.Covers(t, "AQL-C-4")
	for name, tc := range map[string]struct {
		config TokenConfig
		danger interlock.Danger
		want   time.Duration
	}{
		"by default":            {TokenConfig{}, interlock.DangerDestructive, 5 * time.Minute},
		"dangerous":             {TokenConfig{}, interlock.DangerDangerous, 5 * time.Minute},
		"forbidden":             {TokenConfig{}, interlock.DangerForbidden, 2 * time.Minute},
		"configured":            {TokenConfig{TTL: 15 * time.Minute}, interlock.DangerDangerous, 15 * time.Minute},
		"configured, forbidden": {TokenConfig{ForbiddenTTL: 5 * time.Minute}, interlock.DangerForbidden, 5 * time.Minute},
		"one leaves the other":  {TokenConfig{TTL: time.Minute}, interlock.DangerForbidden, 2 * time.Minute},
	} {
		tokens, at := testTokens(t, tc.config)
		if _, expires := tokens.mustIssue(t, scope, tc.danger); expires.Sub(*at) != tc.want {
			t.Errorf("%s: %s, want %s", name, expires.Sub(*at), tc.want)
		}
	}
	for name, config := range map[string]TokenConfig{"ttl": {TTL: 15*time.Minute + 1},
		"forbidden": {ForbiddenTTL: 5*time.Minute + 1}, "tolerance": {Tolerance: 301 * time.Second}} {
		if _, err := config.withDefaults(); err == nil {
			t.Errorf("%s: too long and accepted", name)
		}
	}
}

func TestClockTolerance(t *testing.T) {
	spec.Covers(t, "AQL-C-5")
	for name, tc := range map[string]struct {
		tolerance, late time.Duration
		want            Code
		warned          bool
	}{
		"by default":       {0, 30 * time.Second, "", false},
		"by default, over": {0, 31 * time.Second, CodeTokenExpired, false},
		"none":             {-1, time.Second, CodeTokenExpired, false},
		"a minute":         {time.Minute, time.Minute, "", false},
		"long":             {61 * time.Second, 61 * time.Second, "", true},
		"longest":          {300 * time.Second, 300 * time.Second, "", true},
	} {
		tokens, at := testTokens(t, TokenConfig{Tolerance: tc.tolerance})
		token, expires := tokens.mustIssue(t, scope, interlock.DangerDestructive)
		*at = expires.Add(tc.late)
		if failure := tokens.redeem(token, scope); codeFor(failure) != tc.want {
			t.Errorf("%s: %v, want %s", name, failure, tc.want)
		}
		var log strings.Builder
		config := Config{Backend: noBackend{}, Rules: noRules, Now: time.Now, Random: rand.Reader,
			Logger: slog.New(slog.NewTextHandler(&log, nil)), Tokens: TokenConfig{Tolerance: tc.tolerance}}
		if _, err := New(config); err != nil || strings.Contains(log.String(), "tolerance") != tc.warned {
			t.Errorf("%s: %v, logged %q", name, err, log.String())
		}
	}
}

func TestAThousandTokensFit(t *testing.T) {
	spec.Covers(t, "AQL-C-9")
	tokens, at := testTokens(t, TokenConfig{})
	var all []string
	for range 1000 {
		token, _ := tokens.mustIssue(t, scope, interlock.DangerReversible)
		all = append(all, token)
	}
	if _, _, err := tokens.issue(scope, interlock.DangerReversible); err == nil {
		t.Error("one connection may hold more than its share")
	}
	other := scope
	other.connection = "two"
	tokens.mustIssue(t, other, interlock.DangerReversible) // is not kept out by the first
	for _, token := range all {
		if failure := tokens.redeem(token, scope); failure != nil {
			t.Fatal(failure)
		}
	}
	*at = at.Add(time.Hour)
	tokens.sweep()
	if len(tokens.live) != 0 {
		t.Errorf("%d tokens are kept for an hour", len(tokens.live))
	}
}

func TestAConnectionsTokensEndWithIt(t *testing.T) {
	tokens, _ := testTokens(t, TokenConfig{})
	token, _ := tokens.mustIssue(t, scope, interlock.DangerReversible)
	used, _ := tokens.mustIssue(t, scope, interlock.DangerReversible)
	tokens.redeem(used, scope)
	if revoked := tokens.revoke("one"); len(revoked) != 1 || revoked[hashToken(token)].scope != scope {
		t.Errorf("revoked %v", revoked)
	}
	if failure := tokens.redeem(token, scope); codeFor(failure) != CodeTokenInvalid {
		t.Errorf("after its connection: %v", failure)
	}
}
