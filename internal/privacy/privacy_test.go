package privacy_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"interlock/internal/personal"
	"interlock/internal/privacy"
	"interlock/spec"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestGate: data of the high tier takes consent and council, of the medium tier consent; what nobody permitted is taken out, or keeps the
// whole of what is of no use without it from being kept (MACE 4; its companion's POST /pii/detect_and_handle).
func TestGate(t *testing.T) {
	spec.Covers(t, "MACE-4-2")
	high, medium := privacy.Piece{Type: "us-ssn", Tier: personal.High}, privacy.Piece{Type: "email", Tier: personal.Medium}
	low, secret := privacy.Piece{Type: "plate", Tier: personal.Low}, privacy.Piece{Type: "aws-key"}
	const consent, council, both = privacy.NeedsConsent, privacy.NeedsCouncil, privacy.NeedsConsent + " " + privacy.NeedsCouncil
	type authority = privacy.Authority
	type pieces = []privacy.Piece
	for name, test := range map[string]struct {
		found        pieces
		a            authority
		whole, named bool
		want         privacy.Outcome
		needs        string
	}{
		"nothing found":                 {pieces{}, authority{}, true, true, privacy.Allowed, ""},
		"high in a text":                {pieces{high}, authority{}, false, false, privacy.Redacted, ""},
		"high as a fact":                {pieces{high}, authority{}, true, true, privacy.ConsentRequired, both},
		"high of nobody":                {pieces{high}, authority{}, true, false, privacy.Blocked, both},
		"high with consent":             {pieces{high}, authority{High: true}, true, true, privacy.ConsentRequired, council},
		"high with council and consent": {pieces{high}, authority{High: true, Council: true}, true, true, privacy.Allowed, ""},
		"high with council alone":       {pieces{high}, authority{Council: true}, true, true, privacy.ConsentRequired, consent},
		"high with consent to medium":   {pieces{high}, authority{Medium: true}, true, true, privacy.ConsentRequired, both},
		"medium as a fact":              {pieces{medium}, authority{}, true, true, privacy.ConsentRequired, consent},
		"medium with consent":           {pieces{medium}, authority{Medium: true}, true, true, privacy.Allowed, ""},
		"medium with consent to high":   {pieces{medium}, authority{High: true}, true, true, privacy.Allowed, ""},
		"low as a fact":                 {pieces{low}, authority{}, true, true, privacy.Redacted, ""},
		"a credential, with everything": {pieces{secret}, authority{true, true, true, nil}, true, true, privacy.Redacted, ""},
		"a high one beside a permitted": {pieces{medium, high}, authority{Medium: true}, false, true, privacy.Redacted, ""},
	} {
		outcome, needs := privacy.Gate(test.found, test.a, test.whole, test.named)
		if outcome != test.want || strings.Join(needs, " ") != test.needs {
			t.Errorf("%s: %s %v, want %s %v", name, outcome, needs, test.want, test.needs)
		}
	}
}

// TestKept: what nobody permitted is replaced, data of the low tier by its hash, and nothing else is changed.
func TestKept(t *testing.T) {
	text := "ssn 123-45-6789, mail ann@mail.test, plate K-AB 12"
	piece := func(part, kind string, tier personal.Tier) privacy.Piece {
		at := strings.Index(text, part)
		return privacy.Piece{Start: at, End: at + len(part), Type: kind, Tier: tier}
	}
	found := []privacy.Piece{piece("123-45-6789", "us-ssn", personal.High), piece("ann@mail.test", "email", personal.Medium),
		piece("K-AB 12", "plate", personal.Low)}
	hashes := []string{strings.Repeat("a", 64), strings.Repeat("b", 64), "0123456789abcdef0123"}
	for want, a := range map[string]privacy.Authority{
		"ssn [redacted], mail [redacted], plate [hash:0123456789abcdef]": {},
		"ssn [redacted], mail ann@mail.test, plate K-AB 12":              {Medium: true},
		text: {High: true, Council: true},
	} {
		if got := privacy.Kept(text, found, a, "[redacted]", hashes); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
	if got := privacy.Kept(text, found, privacy.Authority{}, "[redacted]", nil); strings.Contains(got, "K-AB") {
		t.Errorf("without a hash: %q", got)
	}
}

// TestConsent: a consent counts for its run alone, unless it is persistent, and never without an end (MACE privacy).
func TestConsent(t *testing.T) {
	spec.Covers(t, "MACE-PII-2")
	id := privacy.ConsentID("u-1", "claude", "run-1", "yes")
	run := privacy.Terms{ID: id, Tier: personal.Medium, Agent: "claude", Run: "run-1", Until: noon.Add(time.Hour)}
	ever := privacy.Terms{ID: id, Tier: personal.High, Persistent: true, Until: noon.Add(privacy.MaxPersistent)}
	for name, test := range map[string]struct {
		terms privacy.Terms
		edit  func(*privacy.Terms)
		want  string
	}{
		"for a run":                   {run, func(*privacy.Terms) {}, ""},
		"persistent":                  {ever, func(*privacy.Terms) {}, ""},
		"persistent without an end":   {ever, func(p *privacy.Terms) { p.Until = time.Time{} }, "until"},
		"persistent for too long":     {ever, func(p *privacy.Terms) { p.Until = p.Until.Add(time.Second) }, "until"},
		"for a run for too long":      {run, func(p *privacy.Terms) { p.Until = noon.Add(privacy.MaxRun + 1) }, "until"},
		"over already":                {run, func(p *privacy.Terms) { p.Until = noon }, "until"},
		"for no run":                  {run, func(p *privacy.Terms) { p.Run = "" }, "run"},
		"for a run and persistent":    {ever, func(p *privacy.Terms) { p.Run = "run-1" }, "run"},
		"to a tier that there is not": {run, func(p *privacy.Terms) { p.Tier = "low" }, "tier"},
		"of nothing":                  {run, func(p *privacy.Terms) { p.ID = "yes" }, "consent_id"},
	} {
		test.edit(&test.terms)
		if err := test.terms.Check(noon); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	type authority = privacy.Authority
	same := func([]privacy.Consent) {}
	given := []privacy.Consent{{Terms: run, Subject: "u-1"}, {Terms: ever, Subject: "u-1", Council: "act_1"}}
	for name, test := range map[string]struct {
		agent, run string
		at         time.Time
		edit       func([]privacy.Consent)
		want       authority
	}{
		"in the run":           {"claude", "run-1", noon, same, authority{Medium: true, High: true, Council: true}},
		"in another run":       {"claude", "run-2", noon, same, authority{High: true, Council: true}},
		"of another agent":     {"codex", "run-1", noon, same, authority{High: true, Council: true}},
		"after the first ends": {"claude", "run-1", run.Until, same, authority{High: true, Council: true}},
		"after both":           {"claude", "run-1", ever.Until, same, authority{}},
		"revoked":              {"codex", "x", noon, func(c []privacy.Consent) { c[1].Revoked = noon }, authority{}},
		"without the council":  {"codex", "x", noon, func(c []privacy.Consent) { c[1].Council = "" }, authority{High: true}},
	} {
		consents := slices.Clone(given)
		test.edit(consents)
		got := privacy.Permitted(consents, test.agent, test.run, test.at)
		if got.Medium != test.want.Medium || got.High != test.want.High || got.Council != test.want.Council {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// TestConsentID: no two consents have one name, however their parts are cut.
func TestConsentID(t *testing.T) {
	seen := map[string][4]string{}
	for _, p := range [][4]string{{"u-1", "a", "r", "yes"}, {"u-1a", "", "r", "yes"}, {"u-1", "a", "ry", "es"}, {"u-", "1a", "r", "yes"},
		{"u-1", "a", "", "ryes"}, {"u-1", "", "", "yes"}} {
		id := privacy.ConsentID(p[0], p[1], p[2], p[3])
		if other, taken := seen[id]; taken || len(id) != 64 {
			t.Errorf("%q is named %s, as is %q", p, id, other)
		}
		seen[id] = p
	}
}

// TestCheckSubject: a person is named by what says nothing of them.
func TestCheckSubject(t *testing.T) {
	for name, fine := range map[string]bool{"u-1042": true, "crm:7": true, "": false, "ann@mail.test": false, "4012888888881881": false,
		"536-22-8741": false, "a b": false, "a\x00b": false, strings.Repeat("u", 101): false} {
		if err := privacy.CheckSubject(name); (err == nil) != fine {
			t.Errorf("%q: %v", name, err)
		}
	}
}
