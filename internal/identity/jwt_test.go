package identity_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/identity"
)

// An authority is an authorization server: metadata, keys, and tokens signed with them.
type authority struct {
	t       *testing.T
	server  *httptest.Server
	keys    atomic.Pointer[jose.JSONWebKeySet]
	fetches atomic.Int64
	broken  atomic.Bool
	issuer  string // what its metadata says; default its own
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	routes := http.NewServeMux()
	routes.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		issuer := a.server.URL
		if a.issuer != "" {
			issuer = a.issuer
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": issuer, "jwks_uri": a.server.URL + "/keys"})
	})
	routes.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		a.fetches.Add(1)
		if a.broken.Load() {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(a.keys.Load())
	})
	a.server = httptest.NewServer(routes)
	t.Cleanup(a.server.Close)
	a.publish()
	return a
}

func (a *authority) publish(keys ...jose.JSONWebKey) {
	a.keys.Store(&jose.JSONWebKeySet{Keys: keys})
}

// sign writes a token as an authority would, whatever its header and claims say.
func sign(t *testing.T, key any, algorithm jose.SignatureAlgorithm, id string, header map[jose.HeaderKey]any, claims map[string]any) string {
	t.Helper()
	options := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{}}
	maps.Copy(options.ExtraHeaders, header)
	if id != "" {
		options.ExtraHeaders["kid"] = id
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func public(key crypto.Signer, id string) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"}
}

func edwards(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

// with returns claims changed: a nil value takes the claim away.
func with(base map[string]any, changes map[string]any) map[string]any {
	made := maps.Clone(base)
	for name, value := range changes {
		if made[name] = value; value == nil {
			delete(made, name)
		}
	}
	return made
}

func goodClaims(a *authority) map[string]any {
	return map[string]any{"iss": a.server.URL, "aud": "https://gateway.example", "exp": noon.Add(time.Hour).Unix(), "iat": noon.Unix(),
		"sub": "anna", "client_id": "reporter", "scope": "tools read", "act": map[string]any{"sub": "robot"}}
}

func issuer(a *authority) identity.Issuer {
	return identity.Issuer{Name: "corp", URL: a.server.URL, Audience: []string{"https://gateway.example"}}
}

func accessTokens(t *testing.T, now func() time.Time, issuers ...identity.Issuer) *identity.AccessTokens {
	t.Helper()
	tokens, err := identity.NewAccessTokens(issuers, now)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func atNoon() time.Time { return noon }

func TestAccessTokenOfEachAlgorithm(t *testing.T) {
	a := newAuthority(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ed := edwards(t)
	a.publish(public(rsaKey, "r"), public(curve, "e"), public(ed, "d"))
	tokens := accessTokens(t, atNoon, issuer(a))
	for _, test := range []struct {
		algorithm jose.SignatureAlgorithm
		id        string
		key       any
	}{{jose.RS256, "r", rsaKey}, {jose.PS256, "r", rsaKey}, {jose.ES256, "e", curve}, {jose.EdDSA, "d", ed}, {jose.EdDSA, "", ed}} {
		for range 2 { // the second comes from memory
			got, err := tokens.Agent(context.Background(), sign(t, test.key, test.algorithm, test.id, nil, goodClaims(a)), nil)
			if diff := cmp.Diff(interlock.AgentRecord{ID: "corp:reporter", Principal: "anna"}, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", test.algorithm, err, diff)
			}
		}
	}
	if n := a.fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

func TestAccessTokenRefused(t *testing.T) {
	a := newAuthority(t)
	key, other := edwards(t), edwards(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	encryption := public(other, "enc")
	encryption.Use = "enc"
	a.publish(public(key, "k"), public(weak, "weak"), encryption, jose.JSONWebKey{Key: []byte(strings.Repeat("s", 32)), KeyID: "shared"})
	good := goodClaims(a)
	now := func(changes map[string]any) string { return sign(t, key, jose.EdDSA, "k", nil, with(good, changes)) }
	whole := now(nil)
	parts := strings.Split(whole, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
	scoped := issuer(a)
	scoped.Scopes = []string{"tools", "write"}
	nested := issuer(a)
	nested.Agent = "/act/none"
	for name, test := range map[string]struct {
		token  string
		issuer identity.Issuer
		want   string
	}{
		"nothing":              {"", issuer(a), "not a token"},
		"garbage":              {"a.b.c", issuer(a), "not a token"},
		"no signature":         {none, issuer(a), "not a token"},
		"signature cut":        {parts[0] + "." + parts[1] + ".", issuer(a), "signature"},
		"another's key":        {sign(t, other, jose.EdDSA, "k", nil, good), issuer(a), "signature"},
		"a key for encryption": {sign(t, other, jose.EdDSA, "enc", nil, good), issuer(a), "signature"},
		"a weak key":           {sign(t, weak, jose.RS256, "weak", nil, good), issuer(a), "signature"},
		"a shared secret":      {sign(t, []byte(strings.Repeat("s", 32)), jose.HS256, "shared", nil, good), issuer(a), "not a token"},
		"an unknown key":       {sign(t, key, jose.EdDSA, "x", nil, good), issuer(a), "signature"},
		"a key in the header":  {sign(t, other, jose.EdDSA, "", map[jose.HeaderKey]any{"jwk": public(other, "")}, good), issuer(a), "signature"},
		"another kind":         {sign(t, key, jose.EdDSA, "k", map[jose.HeaderKey]any{"typ": "dpop+jwt"}, good), issuer(a), "another kind"},
		"a header that must be read": {sign(t, key, jose.EdDSA, "k", map[jose.HeaderKey]any{"crit": []string{"must"}, "must": 1},
			good), issuer(a), "signature"},
		"too long":                 {now(map[string]any{"filler": strings.Repeat("x", 16<<10)}), issuer(a), "too long"},
		"another issuer":           {now(map[string]any{"iss": "https://elsewhere.example"}), issuer(a), "trusts"},
		"another audience":         {now(map[string]any{"aud": "https://other.example"}), issuer(a), "audience"},
		"no audience":              {now(map[string]any{"aud": nil}), issuer(a), "audience"},
		"expired":                  {now(map[string]any{"exp": noon.Add(-61 * time.Second).Unix()}), issuer(a), "expired"},
		"no end":                   {now(map[string]any{"exp": nil}), issuer(a), "no end"},
		"not yet":                  {now(map[string]any{"nbf": noon.Add(2 * time.Minute).Unix()}), issuer(a), "not valid yet"},
		"issued later":             {now(map[string]any{"iat": noon.Add(2 * time.Minute).Unix()}), issuer(a), "not valid yet"},
		"no agent":                 {now(map[string]any{"client_id": nil}), issuer(a), "does not name"},
		"an agent that is no text": {now(map[string]any{"client_id": 7}), issuer(a), "does not name"},
		"an agent with a space":    {now(map[string]any{"client_id": "a b"}), issuer(a), "does not name"},
		"an agent with a newline":  {now(map[string]any{"client_id": "a\nb"}), issuer(a), "does not name"},
		"an agent too long":        {now(map[string]any{"client_id": strings.Repeat("a", 124)}), issuer(a), "does not name"},
		"no principal":             {now(map[string]any{"sub": ""}), issuer(a), "does not name"},
		"a path to nothing":        {whole, nested, "does not name"},
		"bound to a certificate":   {now(map[string]any{"cnf": map[string]any{"x5t#S256": "abc"}}), issuer(a), "client certificate"},
		"bound to a key":           {now(map[string]any{"cnf": map[string]any{"jkt": "abc"}}), issuer(a), "can't check"},
		"a scope missing":          {whole, scoped, "lacks a scope"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := accessTokens(t, atNoon, test.issuer).Agent(context.Background(), test.token, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || got.ID != "" {
				t.Errorf("%+v, %v; want a refusal with %q", got, err, test.want)
			}
			var refusal *interlock.Error
			var scope *identity.ScopeError
			if !errors.As(err, &refusal) && !errors.As(err, &scope) || refusal != nil && refusal.Code != interlock.CodeUnauthorized {
				t.Errorf("%v is no refusal an agent may read", err)
			}
		})
	}
}

func TestAccessTokenWithinTolerance(t *testing.T) {
	a := newAuthority(t)
	key := edwards(t)
	a.publish(public(key, "k"))
	now := noon
	tokens := accessTokens(t, func() time.Time { return now }, issuer(a))
	token := sign(t, key, jose.EdDSA, "k", nil, with(goodClaims(a), map[string]any{"exp": noon.Unix(), "nbf": noon.Add(59 * time.Second).Unix()}))
	for after, want := range map[time.Duration]bool{0: true, 59 * time.Second: true, 62 * time.Second: false} {
		now = noon.Add(after)
		if _, err := tokens.Agent(context.Background(), token, nil); (err == nil) != want {
			t.Errorf("%v after its end: %v", after, err)
		}
	}
}

func TestClaimsName(t *testing.T) {
	a := newAuthority(t)
	key := edwards(t)
	a.publish(public(key, "k"))
	named := issuer(a)
	named.Agent, named.Principal, named.Scopes = "/act/sub", "https://example.com/owner", []string{"a", "b"}
	token := sign(t, key, jose.EdDSA, "k", map[jose.HeaderKey]any{"typ": "at+jwt"},
		with(goodClaims(a), map[string]any{"https://example.com/owner": "bert", "scope": nil, "scp": []string{"a", "b"}}))
	got, err := accessTokens(t, atNoon, named).Agent(context.Background(), token, nil)
	if diff := cmp.Diff(interlock.AgentRecord{ID: "corp:robot", Principal: "bert"}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTokenBoundToACertificate(t *testing.T) {
	a := newAuthority(t)
	key := edwards(t)
	a.publish(public(key, "k"))
	mine, other := &x509.Certificate{Raw: []byte("mine")}, &x509.Certificate{Raw: []byte("other")}
	token := sign(t, key, jose.EdDSA, "k", nil,
		with(goodClaims(a), map[string]any{"cnf": map[string]any{"x5t#S256": "P9MFQv4_YbFL1KSy3Atvsw-m9j685S3Rd4qqjE3ALP8"}}))
	tokens := accessTokens(t, atNoon, issuer(a))
	for range 2 {
		if _, err := tokens.Agent(context.Background(), token, other); err == nil {
			t.Error("a token was taken with another's certificate")
		}
		if _, err := tokens.Agent(context.Background(), token, nil); err == nil {
			t.Error("a token was taken without its certificate")
		}
		if _, err := tokens.Agent(context.Background(), token, mine); err != nil {
			t.Error(err)
		}
	}
}

// A key that turns up is found at once, a flood of key ids that don't exist fetches nothing more, and a key that is withdrawn
// counts no longer.
func TestKeysRotate(t *testing.T) {
	a := newAuthority(t)
	first, second := edwards(t), edwards(t)
	a.publish(public(first, "1"))
	now := noon
	tokens := accessTokens(t, func() time.Time { return now }, issuer(a))
	old := sign(t, first, jose.EdDSA, "1", nil, goodClaims(a))
	try := func(token string) error { _, err := tokens.Agent(context.Background(), token, nil); return err }
	if err := try(old); err != nil {
		t.Fatal(err)
	}
	a.publish(public(second, "2"))
	now = now.Add(time.Minute)
	if err := try(sign(t, second, jose.EdDSA, "2", nil, goodClaims(a))); err != nil {
		t.Errorf("a new key was not looked for: %v", err)
	}
	if err := try(old); err == nil {
		t.Error("a withdrawn key still counts")
	}
	for n := range 100 {
		_ = try(sign(t, second, jose.EdDSA, strings.Repeat("x", n+1), nil, goodClaims(a)))
	}
	if n := a.fetches.Load(); n != 2 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

func TestKeysThatCannotBeFetched(t *testing.T) {
	a := newAuthority(t)
	key := edwards(t)
	a.publish(public(key, "k"))
	var later atomic.Int64 // keys that are a little old are fetched beside the request that finds them so
	tokens := accessTokens(t, func() time.Time { return noon.Add(time.Duration(later.Load())) }, issuer(a))
	claims := with(goodClaims(a), map[string]any{"exp": noon.Add(10 * time.Hour).Unix()})
	try := func() error {
		_, err := tokens.Agent(context.Background(), sign(t, key, jose.EdDSA, "k", nil, claims), nil)
		return err
	}
	a.broken.Store(true)
	var refusal *interlock.Error
	if err := try(); !errors.As(err, &refusal) || refusal.Code != interlock.CodeUnavailable {
		t.Fatalf("keys that were never read: %v", err)
	}
	a.broken.Store(false)
	if err := try(); err == nil {
		t.Error("the keys were asked for again at once")
	}
	later.Add(int64(time.Minute))
	if err := try(); err != nil {
		t.Fatal(err)
	}
	a.broken.Store(true)
	later.Add(int64(time.Hour))
	if err := try(); err != nil {
		t.Errorf("keys that are an hour old, while the issuer does not answer: %v", err)
	}
	later.Add(int64(2 * time.Hour))
	if err := try(); !errors.As(err, &refusal) || refusal.Code != interlock.CodeUnavailable {
		t.Errorf("keys that are three hours old: %v", err)
	}
}

func TestMetadataOfAnotherIssuer(t *testing.T) {
	a := newAuthority(t)
	key := edwards(t)
	a.publish(public(key, "k"))
	a.issuer = "https://elsewhere.example"
	if _, err := accessTokens(t, atNoon, issuer(a)).Agent(context.Background(), sign(t, key, jose.EdDSA, "k", nil, goodClaims(a)), nil); err == nil {
		t.Error("keys were taken from another issuer's metadata")
	}
	direct := issuer(a)
	direct.Keys = a.server.URL + "/keys"
	if _, err := accessTokens(t, atNoon, direct).Agent(context.Background(), sign(t, key, jose.EdDSA, "k", nil, goodClaims(a)), nil); err != nil {
		t.Errorf("a key set that is configured: %v", err)
	}
}

func TestIssuerSettingsRefused(t *testing.T) {
	good := identity.Issuer{Name: "corp", URL: "https://login.example", Audience: []string{"g"}}
	for want, change := range map[string]func(*identity.Issuer){
		"issuers[0].name":       func(i *identity.Issuer) { i.Name = "Corp:x" },
		"issuers[0].issuer":     func(i *identity.Issuer) { i.URL = "http://login.example" },
		"issuers[0].audience":   func(i *identity.Issuer) { i.Audience = nil },
		"issuers[0].algorithms": func(i *identity.Issuer) { i.Algorithms = []string{"HS256"} },
		"issuers[0].jwks":       func(i *identity.Issuer) { i.Keys = "file:///etc/keys" },
		"issuers[0]":            func(i *identity.Issuer) { i.Name = "tls" },
	} {
		bad := good
		change(&bad)
		if _, err := identity.NewAccessTokens([]identity.Issuer{bad}, atNoon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want it to name %s", err, want)
		}
	}
	if _, err := identity.NewAccessTokens([]identity.Issuer{good, good}, atNoon); err == nil || !strings.Contains(err.Error(), "issuers[1]") {
		t.Errorf("one issuer twice: %v", err)
	}
}

// FuzzAccessToken: no text that the issuer did not sign is anybody's.
func FuzzAccessToken(f *testing.F) {
	for _, seed := range []string{"", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJFZERTQSIsImtpZCI6ImsifQ.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUifQ.AA"} {
		f.Add(seed)
	}
	tokens, err := identity.NewAccessTokens([]identity.Issuer{{Name: "corp", URL: "https://login.example",
		Audience: []string{"g"}, Keys: "http://127.0.0.1:1/none"}}, atNoon)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, token string) {
		record, err := tokens.Agent(context.Background(), token, nil)
		var refusal *interlock.Error
		if record.ID != "" || !errors.As(err, &refusal) {
			t.Errorf("%q: %+v, %v", token, record, err)
		}
	})
}
