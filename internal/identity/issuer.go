package identity

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"interlock"
)

// An Issuer is an OAuth authorization server whose access tokens name agents.
type Issuer struct {
	Name       string   // leads the names of its agents, as in NAME:CLIENT, so that none is a registered agent's
	URL        string   // its issuer identifier, exactly as in the claim iss
	Audience   []string // what the claim aud must hold one of
	Keys       string   // where its key set is; empty: where its metadata says
	Algorithms []string // of signatures; empty: all of [TokenAlgorithms]
	Agent      string   // the claim that names the agent; empty: client_id
	Principal  string   // the claim that names who answers for it; empty: sub
	Scopes     []string // all of them are needed
}

// TokenAlgorithms are the signature algorithms an access token may have. There is no symmetric one among them, and no "none".
func TokenAlgorithms() []string { return []string{"RS256", "PS256", "ES256", "EdDSA"} }

// complete returns the issuer with its defaults, or an error that names what is wrong.
func (i Issuer) complete() (Issuer, error) {
	if err := CheckName("name", i.Name); err != nil {
		return i, err
	}
	if err := checkAddress("issuer", i.URL); err != nil {
		return i, err
	}
	if i.Keys != "" {
		if err := checkAddress("jwks", i.Keys); err != nil {
			return i, err
		}
	}
	if len(i.Audience) == 0 || slices.Contains(i.Audience, "") {
		return i, interlock.Errorf(interlock.CodeInvalid, "audience",
			"is missing; name what this issuer's tokens for the gateway hold in aud")
	}
	if len(i.Algorithms) == 0 {
		i.Algorithms = TokenAlgorithms()
	}
	for _, name := range i.Algorithms {
		if !slices.Contains(TokenAlgorithms(), name) {
			return i, interlock.Errorf(interlock.CodeInvalid, "algorithms", "%.20q is not accepted; name some of %s", name,
				strings.Join(TokenAlgorithms(), ", "))
		}
	}
	if i.Agent == "" {
		i.Agent = "client_id"
	}
	if i.Principal == "" {
		i.Principal = "sub"
	}
	return i, nil
}

// algorithms are the accepted ones as the library names them.
func (i Issuer) algorithms() []jose.SignatureAlgorithm {
	var named []jose.SignatureAlgorithm
	for _, name := range i.Algorithms {
		named = append(named, jose.SignatureAlgorithm(name))
	}
	return named
}

// checkAddress accepts https, and http to this machine: anyone who can change keys on their way can be any agent.
func checkAddress(field, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" &&
		!(u.Scheme == "http" && loopback(u.Hostname())) {
		return interlock.Errorf(interlock.CodeInvalid, field,
			"must be an https address without a user name; http only on this machine")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// metadataAddresses are where an issuer's metadata may stand: RFC 8414 puts its path behind the well-known one, OpenID
// Connect Discovery before it.
func metadataAddresses(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil // unreachable for an issuer that was completed
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	base := u.Scheme + "://" + u.Host
	return []string{base + "/.well-known/oauth-authorization-server" + path, base + path + "/.well-known/openid-configuration"}
}
