package config

import "interlock"

// A Privacy is what becomes of personal data in what is recorded.
type Privacy struct {
	Log PrivacyLog `json:"log"`
}

// PrivacyLog says how personal data stands in the log. The zero value is what the profile says.
type PrivacyLog string

// What may become of it.
const (
	PrivacyKeep   PrivacyLog = "keep"   // it is recorded as it stands in what agents do
	PrivacyRedact PrivacyLog = "redact" // data of the high and the medium tier is taken out as secrets are
)

// UnmarshalText reads keep or redact.
func (p *PrivacyLog) UnmarshalText(text []byte) error {
	switch v := PrivacyLog(text); v {
	case PrivacyKeep, PrivacyRedact:
		*p = v
		return nil
	}
	return interlock.Errorf(interlock.CodeInvalid, "", "%.40q is neither keep nor redact", text)
}

// RedactsPersonal reports whether personal data is taken out of what is recorded. The profile of MACE demands it (MACE 4).
func (c *Config) RedactsPersonal() bool {
	return c.Privacy.Log == PrivacyRedact || c.Privacy.Log == "" && c.Profile == signedProfile
}

// joinPrivacy has personal data taken out where either of two settings wants it.
func joinPrivacy(base, want Config, c *Config) {
	if (base.RedactsPersonal() || want.RedactsPersonal()) && !c.RedactsPersonal() {
		c.Privacy.Log = PrivacyRedact
	}
}
