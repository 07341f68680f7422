package identity_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/ledger"
)

func credentials(t *testing.T, a *authority, agents ...interlock.AgentRecord) *identity.Credentials {
	t.Helper()
	standing := ledger.Standing{Version: 1, Agents: map[string]interlock.AgentRecord{}}
	for _, agent := range agents {
		standing.Agents[agent.ID] = agent
	}
	read := func(context.Context, ...ledger.Ref) (ledger.Standing, error) { return standing, nil }
	return &identity.Credentials{Tokens: identity.NewTokens(read, atNoon), Access: accessTokens(t, atNoon, issuer(a)), Certificate: "uri",
		Ground: read, Now: atNoon}
}

func TestBearer(t *testing.T) {
	a := newAuthority(t)
	key := edwards(t)
	a.publish(public(key, "k"))
	token, hash, err := identity.NewToken(bytes.NewReader(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	access := sign(t, key, jose.EdDSA, "k", nil, goodClaims(a))
	own := interlock.AgentRecord{ID: "reporter", Principal: "carl", TokenHash: hash}
	registered := interlock.AgentRecord{ID: "corp:reporter", Principal: "dora", Trust: interlock.TrustValidated}
	revoked, taken := registered, registered
	revoked.Revoked = noon.Add(-time.Hour)
	taken.TokenHash = identity.HashToken("another")
	for name, test := range map[string]struct {
		token  string
		agents []interlock.AgentRecord
		want   interlock.AgentRecord
		err    string
	}{
		"a token of our own":                  {token, []interlock.AgentRecord{own}, own, ""},
		"an issuer's agent has its own name":  {access, []interlock.AgentRecord{own}, interlock.AgentRecord{ID: "corp:reporter", Principal: "anna"}, ""},
		"one that is registered has an owner": {access, []interlock.AgentRecord{registered}, registered, ""},
		"one that is revoked":                 {access, []interlock.AgentRecord{revoked}, revoked, "revoked"},
		"one that has a token":                {access, []interlock.AgentRecord{taken}, interlock.AgentRecord{}, "token of its own"},
		"an unknown token":                    {token, nil, interlock.AgentRecord{}, "unknown"},
		"a signature of an operator":          {"U1NIU0lHAAAAAQ", nil, interlock.AgentRecord{}, "not a token"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := credentials(t, a, test.agents...).Bearer(context.Background(), test.token, nil)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("agent (-want +got):\n%s", diff)
			}
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

func TestByCertificate(t *testing.T) {
	a := newAuthority(t)
	spiffe := &url.URL{Scheme: "spiffe", Host: "example.org", Path: "/agents/reporter"}
	one := &x509.Certificate{Subject: pkix.Name{CommonName: "reporter"}, URIs: []*url.URL{spiffe}, DNSNames: []string{"a.example", "b.example"}}
	for kind, want := range map[string]string{"uri": "tls:spiffe://example.org/agents/reporter", "cn": "tls:reporter", "dns": "", "email": "", "": ""} {
		c := credentials(t, a)
		c.Certificate = kind
		got, err := c.ByCertificate(context.Background(), one)
		if got.ID != want || (err == nil) != (want != "") {
			t.Errorf("by %q: %+v, %v; want %q", kind, got, err, want)
		}
	}
	gone := interlock.AgentRecord{ID: "tls:spiffe://example.org/agents/reporter", Revoked: noon}
	if got, err := credentials(t, a, gone).ByCertificate(context.Background(), one); err == nil || got.ID != gone.ID {
		t.Errorf("a revoked agent: %+v, %v", got, err)
	}
}

func TestCheckNamed(t *testing.T) {
	for name, want := range map[string]bool{"corp:reporter": true, "tls:spiffe://example.org/a": true, "reporter": false,
		":x": false, "corp:": false, "Corp:x": false, "corp:a b": false} {
		if err := identity.CheckNamed("NAME", name); (err == nil) != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}
