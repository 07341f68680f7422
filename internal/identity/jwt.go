package identity

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"interlock"
)

const (
	maxAccessToken = 16 << 10 // bytes
	maxCached      = 1024     // tokens that were checked and are remembered
	maxKeysTried   = 8        // for a token that names no key
	maxClaim       = 128      // bytes of an agent's or principal's name, with its issuer's
	// clockTolerance is how far an issuer's clock and this one may differ.
	clockTolerance = 60 * time.Second
)

// AccessTokens checks access tokens of configured issuers: JSON Web Tokens signed with a key of the issuer, for this audience,
// within their time (RFC 9068, and RFC 8725 on what goes wrong otherwise). It is safe for concurrent use.
type AccessTokens struct {
	issuers map[string]*trusted // by their identifier
	allowed []jose.SignatureAlgorithm
	now     func() time.Time

	mu      sync.Mutex
	checked map[[sha256.Size]byte]checkedToken // guarded by mu
}

type trusted struct {
	Issuer
	keys *keySet
}

// A checkedToken is what was found out about a token, as long as the keys it was checked with are the present ones.
type checkedToken struct {
	who    interlock.AgentRecord
	until  time.Time
	bound  string // thumbprint of the certificate it is bound to
	issuer *trusted
	set    *fetchedKeys
}

// NewAccessTokens returns a checker for tokens of the issuers; none may have another's name or identifier.
func NewAccessTokens(issuers []Issuer, now func() time.Time) (*AccessTokens, error) {
	a := &AccessTokens{issuers: map[string]*trusted{}, now: now, checked: map[[sha256.Size]byte]checkedToken{}}
	names := map[string]bool{CertificatePrefix: true}
	for n, given := range issuers {
		issuer, err := given.complete()
		if err != nil {
			var refusal *interlock.Error
			if errors.As(err, &refusal) {
				return nil, interlock.Errorf(refusal.Code, fmt.Sprintf("gateway.auth.issuers[%d].%s", n, refusal.Field),
					"%s", refusal.Message)
			}
			return nil, err
		}
		if names[issuer.Name] || a.issuers[issuer.URL] != nil {
			return nil, interlock.Errorf(interlock.CodeInvalid, fmt.Sprintf("gateway.auth.issuers[%d]", n),
				"has the name or the address of another issuer, or a name that is taken")
		}
		names[issuer.Name] = true
		a.issuers[issuer.URL] = &trusted{issuer, &keySet{issuer: issuer, client: keysClient(), now: now}}
		for _, algorithm := range issuer.algorithms() {
			if !slices.Contains(a.allowed, algorithm) {
				a.allowed = append(a.allowed, algorithm)
			}
		}
	}
	return a, nil
}

// A ScopeError refuses a token that is genuine and has not the scopes that are needed.
type ScopeError struct{ scope string }

// Error says what is missing.
func (e *ScopeError) Error() string {
	return "Authorization: the token lacks a scope that is needed: " + e.scope
}

// Scope returns the scopes that are needed, as in the header WWW-Authenticate.
func (e *ScopeError) Scope() string { return e.scope }

// Agent returns the agent and principal an access token names, or an [*interlock.Error] or [*ScopeError] that says nothing
// about which check failed beyond what its owner needs. certificate is the client's, if it has shown one that was verified: a
// token that is bound to a certificate counts only with it (RFC 8705), and one that is bound to another kind of key not at all.
func (a *AccessTokens) Agent(ctx context.Context, token string, certificate *x509.Certificate) (interlock.AgentRecord, error) {
	if len(token) > maxAccessToken {
		return interlock.AgentRecord{}, unauthorized("the token is too long")
	}
	sum := sha256.Sum256([]byte(token))
	a.mu.Lock()
	found, known := a.checked[sum]
	a.mu.Unlock()
	if !known || found.set != found.issuer.keys.current.Load() || a.now().Sub(found.set.at) > keysFresh {
		var err error
		if found, err = a.check(ctx, token); err != nil {
			return interlock.AgentRecord{}, err
		}
		a.remember(sum, found)
	}
	switch {
	case a.now().After(found.until):
		return interlock.AgentRecord{}, unauthorized("the token has expired")
	case found.bound != "" && (certificate == nil || found.bound != thumbprint(certificate)):
		return interlock.AgentRecord{}, unauthorized("the token belongs to a client certificate that was not shown")
	}
	return found.who, nil
}

// remember keeps what was found. When there is no room, everything is found again: nothing can be displaced on purpose but
// by somebody who has many genuine tokens.
func (a *AccessTokens) remember(sum [sha256.Size]byte, found checkedToken) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.checked) >= maxCached {
		clear(a.checked)
	}
	a.checked[sum] = found
}

// claims are those of an access token that are always looked at.
type claims struct {
	jwt.Claims
	Scope        string         `json:"scope"`
	Confirmation map[string]any `json:"cnf"`
}

func (a *AccessTokens) check(ctx context.Context, token string) (checkedToken, error) {
	parsed, err := jwt.ParseSigned(token, a.allowed)
	if err != nil || len(parsed.Headers) != 1 {
		return checkedToken{}, unauthorized("not a token this gateway accepts")
	}
	header := parsed.Headers[0]
	if !accessTokenType(header) {
		return checkedToken{}, unauthorized("the token is of another kind than an access token")
	}
	var unproved claims // which issuer's keys to hold it against; nothing else of it counts yet
	if err := parsed.UnsafeClaimsWithoutVerification(&unproved); err != nil {
		return checkedToken{}, unauthorized("the token's claims can't be read")
	}
	issuer := a.issuers[unproved.Issuer]
	if issuer == nil || !slices.Contains(issuer.Algorithms, header.Algorithm) {
		return checkedToken{}, unauthorized("not a token of an issuer this gateway trusts")
	}
	keys, set, err := issuer.keys.find(ctx, header.KeyID, jose.SignatureAlgorithm(header.Algorithm))
	if err != nil {
		return checkedToken{}, err
	}
	for _, key := range keys[:min(len(keys), maxKeysTried)] {
		var proved claims
		var all map[string]any
		if parsed.Claims(key.Key, &proved, &all) == nil {
			found, err := issuer.read(proved, all, a.now())
			found.issuer, found.set = issuer, set
			return found, err
		}
	}
	return checkedToken{}, unauthorized("the token's signature is not one of its issuer's")
}

// accessTokenType refuses tokens that say they are something else, such as a logout token or a proof of possession. Many
// issuers still write JWT or nothing.
func accessTokenType(header jose.Header) bool {
	given, there := header.ExtraHeaders[jose.HeaderType]
	if !there {
		return true
	}
	name, ok := given.(string)
	name = strings.TrimPrefix(strings.ToLower(name), "application/")
	return ok && (name == "jwt" || name == "at+jwt")
}

// read checks the claims of a token whose signature is its issuer's, and takes the names from it.
func (i *trusted) read(c claims, all map[string]any, now time.Time) (checkedToken, error) {
	if c.Expiry == nil {
		return checkedToken{}, unauthorized("the token has no end (exp)")
	}
	switch err := c.ValidateWithLeeway(jwt.Expected{Issuer: i.URL, AnyAudience: i.Audience, Time: now}, clockTolerance); {
	case errors.Is(err, jwt.ErrExpired):
		return checkedToken{}, unauthorized("the token has expired")
	case errors.Is(err, jwt.ErrInvalidAudience):
		return checkedToken{}, unauthorized("the token is for another audience")
	case err != nil:
		return checkedToken{}, unauthorized("the token is not valid yet")
	}
	bound, err := confirmation(c.Confirmation)
	if err != nil {
		return checkedToken{}, err
	}
	held := strings.Fields(c.Scope)
	for _, scope := range i.Scopes {
		if !slices.Contains(held, scope) && !holdsScope(all["scp"], scope) {
			return checkedToken{}, &ScopeError{strings.Join(i.Scopes, " ")}
		}
	}
	agent, principal := claim(all, i.Agent), claim(all, i.Principal)
	if !nameable(agent, len(i.Name)+1) || !nameable(principal, 0) {
		return checkedToken{}, unauthorized("the token does not name its agent and principal in the claims this gateway reads")
	}
	return checkedToken{who: interlock.AgentRecord{ID: i.Name + ":" + agent, Principal: principal},
		until: c.Expiry.Time().Add(clockTolerance), bound: bound}, nil
}

// confirmation returns the certificate a token is bound to. A binding that can't be checked here refuses: to take such a token
// from anyone who holds it is what the binding is against.
func confirmation(cnf map[string]any) (bound string, err error) {
	if cnf == nil {
		return "", nil
	}
	bound, ok := cnf["x5t#S256"].(string)
	if !ok || bound == "" || len(cnf) != 1 {
		return "", unauthorized("the token is bound to a key in a way this gateway can't check")
	}
	return bound, nil
}

// holdsScope looks into the claim some issuers write instead of scope: a list, or a text with spaces.
func holdsScope(given any, scope string) bool {
	switch held := given.(type) {
	case string:
		return slices.Contains(strings.Fields(held), scope)
	case []any:
		return slices.Contains(held, any(scope))
	}
	return false
}

// claim returns a claim that is text: by its name, or, where that begins with a slash, by the path of names to it.
func claim(all map[string]any, name string) string {
	var value any = all
	path := []string{name}
	if strings.HasPrefix(name, "/") {
		path = strings.Split(name[1:], "/")
	}
	for _, part := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return ""
		}
		value = object[part]
	}
	text, _ := value.(string)
	return text
}

// nameable reports whether text can be a name: it can be shown in a log line as it is and fits where names stand.
func nameable(name string, before int) bool {
	if name == "" || before+len(name) > maxClaim {
		return false
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

func thumbprint(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func unauthorized(message string) error {
	return interlock.Errorf(interlock.CodeUnauthorized, "Authorization", "%s", message)
}
