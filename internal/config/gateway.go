package config

import "interlock"

// A Gateway is how `interlock gateway` serves its clients, see [Config].
type Gateway struct {
	GatewayServers
	GatewayHTTP
	Patience Duration `json:"patience"`

	Record GatewayRecord `json:"record"`

	Texts TextRuleset `json:"texts"`

	TrustOnFirstUse *bool `json:"trust_on_first_use"` // unset: of programs on this machine
}

// A GatewayHTTP is how the gateway serves clients over HTTP.
type GatewayHTTP struct {
	Listen   string      `json:"listen"`
	URL      string      `json:"url"`
	Hosts    []string    `json:"hosts"`
	Origins  []string    `json:"origins"`
	Remote   bool        `json:"allow_remote"`
	Auth     GatewayAuth `json:"auth"`
	TLS      GatewayTLS  `json:"tls"`
	Sessions int         `json:"sessions"`

	Connections int `json:"connections"`
	PerAddress  int `json:"connections_per_address"`
}

// check refuses bounds that bound nothing; zero, which is what is not set, means the default.
func (g GatewayHTTP) check() error {
	for _, bound := range []struct {
		field string
		value int
	}{{"sessions", g.Sessions}, {"connections", g.Connections}, {"connections_per_address", g.PerAddress}} {
		if bound.value < 0 {
			return interlock.Errorf(interlock.CodeInvalid, "gateway."+bound.field, "must be at least 1")
		}
	}
	return nil
}

// A GatewayAuth says whose tokens are taken beside those of registered agents.
type GatewayAuth struct {
	Issuers []GatewayIssuer `json:"issuers"`
}

// A GatewayIssuer is an authorization server. What its fields may hold is for package identity to check.
type GatewayIssuer struct {
	Name       string   `json:"name"`
	Issuer     string   `json:"issuer"`
	Audience   []string `json:"audience"`
	JWKS       string   `json:"jwks"`
	Algorithms []string `json:"algorithms"`
	Agent      string   `json:"agent_claim"`
	Principal  string   `json:"principal_claim"`
	Scopes     []string `json:"scopes"`
}

// A GatewayTLS is the gateway's certificate, and which certificates of clients it takes.
type GatewayTLS struct {
	Cert     string `json:"cert"`
	Key      string `json:"key"`
	ClientCA string `json:"client_ca"`
	Client   string `json:"client"`
	Agent    string `json:"client_name"`
}

// A GatewayRecord says which calls leave an event.
type GatewayRecord string

// What may be recorded.
const (
	RecordAll        GatewayRecord = "all"        // every call; the zero value means the same
	RecordObjections GatewayRecord = "objections" // where nothing is enforced, only calls that something objects to
)

// UnmarshalText accepts exactly the two names.
func (r *GatewayRecord) UnmarshalText(text []byte) error {
	switch GatewayRecord(text) {
	case RecordAll, RecordObjections:
		*r = GatewayRecord(text)
		return nil
	}
	return interlock.Errorf(interlock.CodeInvalid, "", "%.40q is not known; name all or objections", text)
}

// A TextRuleset names what texts are classified by.
type TextRuleset string

// What there is to classify by.
const (
	TextsOff     TextRuleset = "off"         // nothing; the zero value means the same, but under the profile of MACE
	TextsResults TextRuleset = "results"     // what tools return to an agent at work
	TextsMACE    TextRuleset = "mace-stage1" // what people read and what is kept: every tier of personal data is taken out
)

// under is what a ruleset that is not named is under a profile: MACE has every text classified.
func (r TextRuleset) under(profile string) TextRuleset {
	if r == "" && profile == signedProfile {
		return TextsMACE
	}
	return r
}

// ResultTexts is what the answers of servers are classified by.
func (c *Config) ResultTexts() TextRuleset { return c.Gateway.Texts.under(c.Profile) }

// Off reports whether nothing is classified.
func (r TextRuleset) Off() bool { return r == "" || r == TextsOff }

// UnmarshalText accepts exactly the three names.
func (r *TextRuleset) UnmarshalText(text []byte) error {
	switch TextRuleset(text) {
	case TextsOff, TextsResults, TextsMACE:
		*r = TextRuleset(text)
		return nil
	}
	return interlock.Errorf(interlock.CodeInvalid, "", "%.40q is not known; name off, results or mace-stage1", text)
}

// weakerTexts is what makes a setting of this kind weaker, and strictestTexts keeps that from happening.
const weakerTexts = "one that takes less out"

func strictestTexts(base, want TextRuleset) TextRuleset {
	if want.strictness() < base.strictness() {
		return base
	}
	return want
}

// strictness orders rulesets of texts.
func (r TextRuleset) strictness() int {
	switch r {
	case TextsMACE:
		return 2
	case TextsResults:
		return 1
	}
	return 0
}
