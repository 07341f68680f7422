package identity

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/url"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// CertificatePrefix leads the names of agents that are known by a client certificate, as in tls:NAME.
const CertificatePrefix = "tls"

// CertificateNames are the fields of a client certificate that may name its agent.
func CertificateNames() []string { return []string{"uri", "dns", "email", "cn"} }

// CheckNamed refuses what can't be the name of an agent that another authority names: the authority's name, a colon, and a name.
func CheckNamed(field, name string) error {
	authority, rest, ok := strings.Cut(name, ":")
	if ok && nameable(rest, len(authority)+1) {
		return CheckName(field, authority)
	}
	return interlock.Errorf(interlock.CodeInvalid, field,
		"an agent that an issuer or a certificate names is called as in corp:reporter, without spaces")
}

// Credentials are what agents show over HTTP: tokens of Interlock's own, access tokens of configured issuers, and
// client certificates. What operators have, keys, passkeys, sessions and codes, is none of these. It is safe for concurrent use.
type Credentials struct {
	Tokens      *Tokens
	Access      *AccessTokens // nil: none is taken
	Certificate string        // one of [CertificateNames], for agents that show a certificate and no token; empty: none is taken
	Ground      func(context.Context, ...ledger.Ref) (ledger.Standing, error)
	Now         func() time.Time
}

// Bearer returns the agent a bearer token belongs to. certificate is the client's verified one, or nil. With a refusal of an
// agent that is known and revoked, its record comes back too.
func (c *Credentials) Bearer(ctx context.Context, token string, certificate *x509.Certificate) (interlock.AgentRecord, error) {
	if c.Access == nil || TokenShaped(token) {
		return c.Tokens.Agent(ctx, token)
	}
	record, err := c.Access.Agent(ctx, token, certificate)
	if err != nil {
		return interlock.AgentRecord{}, err
	}
	return c.unregistered(ctx, record)
}

// ByCertificate returns the agent a verified client certificate names.
func (c *Credentials) ByCertificate(ctx context.Context, certificate *x509.Certificate) (interlock.AgentRecord, error) {
	if c.Certificate == "" {
		return interlock.AgentRecord{}, unauthorized("send Bearer and the agent's token")
	}
	name := certificateName(certificate, c.Certificate)
	if !nameable(name, len(CertificatePrefix)+1) {
		return interlock.AgentRecord{}, unauthorized("the client certificate does not name one agent in the field this gateway reads")
	}
	return c.unregistered(ctx, interlock.AgentRecord{ID: CertificatePrefix + ":" + name, Principal: name})
}

// certificateName returns the one name of a kind in a certificate. Two are none: which of them acts would be anybody's guess.
func certificateName(certificate *x509.Certificate, kind string) string {
	var names []string
	switch kind {
	case "uri":
		for _, u := range certificate.URIs {
			names = append(names, (*url.URL).String(u))
		}
	case "dns":
		names = certificate.DNSNames
	case "email":
		names = certificate.EmailAddresses
	case "cn":
		names = []string{certificate.Subject.CommonName}
	}
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// unregistered holds an agent that another authority named against those registered here. A registered agent with a token of
// its own is known by that token and nothing else; its name can't be had this way, since no name of ours has a colon, and is
// refused all the same. One registered without a token may be revoked here and has the owner it was registered with.
func (c *Credentials) unregistered(ctx context.Context, named interlock.AgentRecord) (interlock.AgentRecord, error) {
	standing, err := c.Ground(ctx, ledger.Ref{Kind: ledger.Agent, Key: named.ID})
	if err != nil {
		return interlock.AgentRecord{}, fmt.Errorf("reading the agents: %w", err)
	}
	known, registered := standing.Agents[named.ID]
	switch {
	case !registered:
		return named, stopped(ctx, c.Ground, named, c.Now())
	case known.TokenHash != "":
		return interlock.AgentRecord{}, unauthorized("this agent is known by a token of its own")
	case !known.Revoked.IsZero() && !c.Now().Before(known.Revoked):
		return known, unauthorized("this agent is revoked")
	}
	if known.Principal == "" {
		known.Principal = named.Principal
	}
	return known, stopped(ctx, c.Ground, known, c.Now())
}
