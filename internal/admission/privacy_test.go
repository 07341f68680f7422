package admission_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/admission/messages"
	"interlock/internal/classify"
	"interlock/internal/ledger"
	"interlock/internal/personal"
	"interlock/internal/privacy"
	"interlock/internal/quorum"
	"interlock/spec"
)

// ssn is the number of the companion's vectors.
const ssn = "123-45-6789"

// openKeys seal by name alone, so that a test sees under which key something is.
type openKeys struct{}

func (openKeys) Make() (string, []byte, error) { return "age1", []byte("private"), nil }
func (openKeys) Seal(public string, text []byte) ([]byte, error) {
	return slices.Concat([]byte("sealed for "+public+":"), text), nil
}
func (openKeys) Open(key, sealed []byte) ([]byte, error) {
	if string(key) != "private" {
		return nil, errors.New("no key")
	}
	return bytes.TrimPrefix(sealed, []byte("sealed for age1:")), nil
}

// vaulted gives a house a vault and a key for hashes.
func vaulted(c *admission.Config) {
	hashing(c)
	c.People = openKeys{}
}

func consentDetail(t *testing.T, now time.Time, tier personal.Tier, said string, edit ...func(*privacy.Terms)) string {
	t.Helper()
	terms := privacy.Terms{Tier: tier, Persistent: true, Until: now.Add(24 * time.Hour)}
	for _, e := range edit {
		e(&terms)
	}
	terms.ID = privacy.ConsentID("u-1", terms.Agent, terms.Run, said+string(tier))
	detail, err := governance.Detail(terms)
	if err != nil {
		t.Fatal(err)
	}
	return detail
}

// consents has an operator put a persistent consent on record, and returns its id.
func (h *house) consents(subject string, tier personal.Tier, operator string, edit ...func(*privacy.Terms)) string {
	h.t.Helper()
	detail := consentDetail(h.t, h.now, tier, "yes", edit...)
	if _, err := h.CarryOut(h.t.Context(), h.signs(interlock.VerbConsent, subject, detail, "on a form", operator)); err != nil {
		h.t.Fatal(err)
	}
	terms, err := governance.TermsOf[privacy.Terms](detail)
	if err != nil {
		h.t.Fatal(err)
	}
	return terms.ID
}

// personalText is a text with pieces of personal data, each of a kind and tier.
func personalText(subject, text string, keep bool, pieces map[string]personal.Tier) governance.PersonalText {
	p := governance.PersonalText{Subject: subject, Keep: keep, Screening: messages.Screening{Where: "text to keep", Text: text,
		Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}, Classification: "REDACT", Rule: "personal.high",
		Ruleset: "sha256:01", Found: len(pieces)}}
	for value, tier := range pieces { // any order: there is one piece in most
		at := strings.Index(text, value)
		p.Pieces = append(p.Pieces, privacy.Piece{Start: at, End: at + len(value), Type: "us-ssn", Tier: tier})
	}
	slices.SortFunc(p.Pieces, func(a, b privacy.Piece) int { return a.Start - b.Start })
	if len(pieces) == 0 {
		p.Classification, p.Rule = "OK", ""
	}
	return p
}

func (h *house) handles(p governance.PersonalText) (governance.PersonalAnswer, []interlock.EventType) {
	h.t.Helper()
	before := len(h.entries())
	out, err := h.HandlePersonal(h.t.Context(), p)
	if err != nil {
		h.t.Fatal(err)
	}
	return out, h.since(before)
}

// nowhere fails if any of the log, or of what is kept beside it unsealed, holds a value.
func (h *house) nowhere(value string) {
	h.t.Helper()
	for _, e := range h.log() {
		if bytes.Contains(e.Body, []byte(value)) {
			h.t.Errorf("entry %d (%s) holds it", e.Index, e.Type)
		}
	}
}

// approved has a council of five say yes to a request, and it carried out.
func (h *house) approved(kind, target string) (interlock.ActionRequest, error) {
	h.t.Helper()
	r := h.asks(kind, target, "ada")
	h.votes(r.ID, quorum.VoteApprove, "member-0", "member-1", "member-2")
	return h.executes(r.ID, string(interlock.ActionExecuting), "ada")
}

// TestS02 is MACE's golden test: who tries to persist personal data of the high tier without consent is told so in its words, PII_FLAGGED
// and REDACTION_EVENT are there with the keyed hash, and the value is nowhere. It is recorded before anything is answered.
func TestS02(t *testing.T) {
	spec.Covers(t, "MACE-S-02", "MACE-4-1", "MACE-4-2")
	h := newHouse(t, vaulted)
	out, left := h.handles(personalText("u-1", "her number is "+ssn, true, map[string]personal.Tier{ssn: personal.High}))
	if out.Outcome != privacy.ConsentRequired || out.Code != "PRIVACY_BLOCKED" || out.Kept != "" ||
		out.Message != "I can’t store or repeat that kind of sensitive personal information." ||
		out.Text != "her number is [redacted]" || !slices.Equal(out.Needs, []string{"consent", "council"}) {
		t.Errorf("%+v", out)
	}
	if !slices.Equal(left, []interlock.EventType{"REDACTION_EVENT", "PII_FLAGGED"}) {
		t.Errorf("left %v", left)
	}
	flagged := string(h.signed(interlock.EventPersonal).Payload)
	if len(out.Found) != 1 || out.Found[0].Hash == "" || !strings.Contains(flagged, `"pii_hash":"`) ||
		!strings.Contains(flagged, `"redaction_reason":"PII_DETECTED"`) || !strings.Contains(flagged, `"durable":true`) {
		t.Errorf("%+v: %s", out.Found, flagged)
	}
	h.nowhere(ssn)
	h.store.commit = func(func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		return ledger.Receipt{}, errors.New("the disk is full")
	}
	if out, err := h.HandlePersonal(t.Context(), personalText("", ssn, false, map[string]personal.Tier{ssn: personal.High})); err == nil {
		t.Errorf("answered without a record: %+v", out)
	}
}

// TestFPRIV is the companion's suite about privacy: each tier with and without what it takes.
func TestFPRIV(t *testing.T) {
	spec.Covers(t, "MACE-4-2")
	h := council(t, vaulted)
	const mail, plate = "ann@mail.test", "K-AB 12"
	high, medium, low := map[string]personal.Tier{ssn: personal.High}, map[string]personal.Tier{mail: personal.Medium},
		map[string]personal.Tier{plate: personal.Low}
	is := func(what string, p governance.PersonalText, outcome privacy.Outcome, text string, events ...interlock.EventType) {
		t.Helper()
		if out, left := h.handles(p); out.Outcome != outcome || out.Text != text || !slices.Equal(left, events) {
			t.Errorf("%s: %s %q, left %v; want %s %q, %v", what, out.Outcome, out.Text, left, outcome, text, events)
		}
	}
	const redacted, flagged = interlock.EventRedaction, interlock.EventPersonal
	is("nothing personal", personalText("", "a plain text", false, nil), privacy.Allowed, "a plain text")
	is("a card in passing", personalText("", "x "+ssn, false, high), privacy.Redacted, "x [redacted]", redacted, flagged)
	is("an address in passing", personalText("", "x "+mail, false, medium), privacy.Redacted, "x [redacted]", redacted, flagged)
	is("an address as a fact", personalText("u-1", "x "+mail, true, medium), privacy.ConsentRequired, "x [redacted]", redacted, flagged)
	h.consents("u-1", personal.Medium, "ada")
	is("with consent", personalText("u-1", "x "+mail, true, medium), privacy.Allowed, "x "+mail, interlock.EventPersonalKept)
	is("that consent, another tier", personalText("u-1", "x "+ssn, true, high), privacy.ConsentRequired, "x [redacted]", redacted, flagged)
	is("that consent, another person", personalText("u-2", "x "+mail, true, medium), privacy.ConsentRequired, "x [redacted]", redacted, flagged)
	id := h.consents("u-1", personal.High, "ada")
	is("high with consent alone", personalText("u-1", ssn, true, high), privacy.ConsentRequired, "[redacted]", redacted, flagged)
	if r, err := h.approved(quorum.ActKeepPersonal, "consent:"+id); err != nil || r.Status != interlock.ActionExecuted {
		t.Fatalf("%+v, %v", r, err)
	}
	is("high with council", personalText("u-1", ssn, true, high), privacy.Allowed, ssn, interlock.EventPersonalKept)
	if out, _ := h.handles(personalText("", "plate "+plate, false, low)); !strings.HasPrefix(out.Text, "plate [") || strings.Contains(out.Text, plate) {
		t.Errorf("low: %+v", out)
	}
	done, err := h.CarryOut(t.Context(), h.signs(interlock.VerbRevokeConsent, id, "", "by telephone", "ada"))
	if err != nil || h.newest(interlock.EventConsentRevoked).ID != done.Events[0] {
		t.Fatal(err)
	}
	is("after it was revoked", personalText("u-1", ssn, true, high), privacy.ConsentRequired, "[redacted]", redacted, flagged)
	h.nowhere(ssn)
	h.nowhere(mail)
}

// TestConsentForARun: a consent without --persistent counts in its own run, and not after its end.
func TestConsentForARun(t *testing.T) {
	spec.Covers(t, "MACE-PII-2")
	h := council(t, vaulted)
	h.consents("u-1", personal.Medium, "ada", func(p *privacy.Terms) { p.Persistent, p.Agent, p.Run = false, "claude", "run-1" })
	text := personalText("u-1", "ann@mail.test", false, map[string]personal.Tier{"ann@mail.test": personal.Medium})
	other := text
	other.Requester.Run = "run-2"
	for _, c := range []struct {
		text governance.PersonalText
		want privacy.Outcome
	}{{text, privacy.Allowed}, {other, privacy.ConsentRequired}} {
		if out, _ := h.handles(c.text); out.Outcome != c.want {
			t.Errorf("in %s: %s", c.text.Requester.Run, out.Outcome)
		}
	}
	h.now = h.now.Add(24 * time.Hour)
	if out, _ := h.handles(text); out.Outcome != privacy.ConsentRequired {
		t.Errorf("after its end: %s", out.Outcome)
	}
}

// TestFDSR is the companion's suite about requests of people: what is kept is opened for its person by an admin or the council with a
// signed admin_access_event, deleted by the council's decision alone, and nothing is left; the log verifies before and after.
func TestFDSR(t *testing.T) {
	spec.Covers(t, "MACE-4-3", "MACE-4-4", "MACE-PII-3")
	h := council(t, vaulted)
	h.consents("u-1", personal.Medium, "ada")
	out, _ := h.handles(personalText("u-1", "ann@mail.test", true, map[string]personal.Tier{"ann@mail.test": personal.Medium}))
	wants := func(subject, what, operator string) (core.Carried, error) {
		return h.CarryOut(t.Context(), h.signs(interlock.VerbDataRequest, subject, what, "passport at the counter", operator))
	}
	for _, operator := range []string{"aud", "nobody"} {
		if _, err := wants("u-1", governance.DataExport, operator); codeOf(err) != interlock.CodeUnauthorized {
			t.Errorf("%s reads it: %v", operator, err)
		}
	}
	before := len(h.entries())
	done, err := wants("u-1", governance.DataExport, "member-0")
	if err != nil || done.Opened[out.Kept] != "ann@mail.test" || len(done.Opened) != 1 {
		t.Fatalf("%v, %v", done.Opened, err)
	}
	if left := h.since(before); !slices.Equal(left, []interlock.EventType{"DSR_REQUEST", "admin_access_event"}) {
		t.Errorf("left %v", left)
	}
	if e := h.signed(interlock.EventAccess); !strings.Contains(string(e.Payload), "member-0") {
		t.Errorf("%s", e.Payload)
	}

	before = len(h.entries())
	done, err = wants("u-1", governance.DataDelete, "ada")
	if err != nil || done.Request.Class != 3 || done.Request.Ballot.Approval != interlock.ApprovalCouncil {
		t.Fatalf("%+v, %v", done.Request, err)
	}
	twice, err := wants("u-1", governance.DataDelete, "member-4")
	if err != nil {
		t.Fatal(err)
	}
	if left := h.since(before); len(left) < 3 || !slices.Equal(left[:3], []interlock.EventType{"DSR_REQUEST", "DSR_DELETE_REQUEST", "ACTION_REQUEST"}) {
		t.Errorf("left %v", left)
	}
	if _, err := h.executes(done.Request.ID, string(interlock.ActionExecuting), "ada"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("deleted without the council: %v", err)
	}
	h.votes(done.Request.ID, quorum.VoteApprove, "member-0", "member-1", "member-2")
	before = len(h.entries())
	if r, err := h.executes(done.Request.ID, string(interlock.ActionExecuting), "ada"); err != nil || r.Status != interlock.ActionExecuted {
		t.Fatalf("%+v, %v", r, err)
	}
	if left := h.since(before); !slices.Contains(left, interlock.EventType("deletion_manifest")) {
		t.Errorf("left %v", left)
	}
	if e := h.signed(interlock.EventDeletedPersonal); !strings.Contains(string(e.Payload), `"texts":1`) {
		t.Errorf("%s", e.Payload)
	}
	g := h.standing()
	if p, known := g.Person("u-1"); !known || p.Key != nil || p.Destroyed.IsZero() || len(g.KeptOf("u-1")) != 0 {
		t.Errorf("left: %+v, %d texts", p, len(g.KeptOf("u-1")))
	}
	for what, err := range map[string]error{
		"deleted twice":   func() error { _, err := wants("u-1", governance.DataDelete, "ada"); return err }(),
		"opened":          func() error { _, err := wants("u-1", governance.DataExport, "ada"); return err }(),
		"consented again": func() error { _, err := h.tryConsent("u-1", "once more"); return err }(),
	} {
		if codeOf(err) != interlock.CodeConflict || !strings.Contains(err.Error(), "key already destroyed") {
			t.Errorf("%s: %v", what, err)
		}
	}
	h.votes(twice.Request.ID, quorum.VoteApprove, "member-0", "member-1", "member-2")
	if r, err := h.executes(twice.Request.ID, string(interlock.ActionExecuting), "ada"); err != nil || r.Status != interlock.ActionFailed ||
		!strings.Contains(r.Why, "key already destroyed") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := wants("u-9", governance.DataDelete, "ada"); codeOf(err) != interlock.CodeNotFound {
		t.Errorf("of nobody: %v", err)
	}
	h.nowhere("ann@mail.test")
}

func (h *house) tryConsent(subject, said string) (core.Carried, error) {
	return h.CarryOut(h.t.Context(), h.signs(interlock.VerbConsent, subject, consentDetail(h.t, h.now, personal.Medium, said), "on a form", "ada"))
}

// TestPersonalRefusals: what is asked for wrongly is refused in exact words, and leaves nothing half done.
func TestPersonalRefusals(t *testing.T) {
	h := council(t, vaulted)
	long := personalText("", "x", false, nil)
	long.Text = strings.Repeat("x", privacy.MaxText+1)
	revoked := personalText("u-1", "ann@mail.test", true, map[string]personal.Tier{"ann@mail.test": personal.Medium})
	for what, c := range map[string]struct {
		text governance.PersonalText
		code interlock.Code
		says string
	}{
		"too long":            {long, interlock.CodeLimited, "is longer than 65536 bytes"},
		"kept of nobody":      {personalText("", "x", true, nil), interlock.CodeInvalid, "name whose data is to be kept"},
		"a name as subject":   {personalText("ann@mail.test", "x", false, nil), interlock.CodeInvalid, "by an id"},
		"kept of a stranger":  {personalText("u-3", "nothing personal", true, nil), interlock.CodeUnauthorized, "no consent of this person"},
		"a card as a subject": {personalText("4012888888881881", "x", false, nil), interlock.CodeInvalid, "is personal data itself"},
	} {
		before := len(h.entries())
		if _, err := h.HandlePersonal(t.Context(), c.text); codeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
		if left := h.since(before); len(left) != 0 {
			t.Errorf("%s leaves %v", what, left)
		}
	}
	for what, detail := range map[string]string{"no terms": "{}", "unknown members": `{"consent_id":"x","tier":"high","forever":true}`,
		"of a tier that there is not": strings.Replace(consentDetail(t, h.now, "medium", "a"), `"medium"`, `"low"`, 1)} {
		_, err := h.CarryOut(t.Context(), h.signs(interlock.VerbConsent, "u-1", detail, "on a form", "ada"))
		if codeOf(err) != interlock.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	id := h.consents("u-1", personal.Medium, "ada")
	for what, c := range map[string]struct{ kind, target, says string }{
		"a consent that needs no council": {quorum.ActKeepPersonal, "consent:" + id, "takes no council's approval"},
		"a consent that there is not":     {quorum.ActKeepPersonal, "consent:" + strings.Repeat("0", 64), "name a consent"},
		"no consent":                      {quorum.ActKeepPersonal, "u-1", "name a consent"},
		"a deletion that nobody made":     {quorum.ActDeletePerson, "person:u-1", "a person asks for that"},
	} {
		if r, err := h.tryAsk(c.kind, c.target, "ada"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %s, %v", what, r.Status, err)
		}
		if r, _, err := h.AskAction(t.Context(), author("claude"), c.kind, "please", governance.RequestTerms{Target: c.target}); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, of an agent: %s, %v", what, r.Status, err)
		}
	}
	if _, err := h.tryConsent("u-1", "yes"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("the same consent again: %v", err)
	}
	// what is revoked between the look and the write is not kept
	taken := false
	h.store.commit = func(next func() (ledger.Receipt, error)) (ledger.Receipt, error) {
		if !taken {
			taken = true
			if _, err := h.CarryOut(t.Context(), h.signs(interlock.VerbRevokeConsent, id, "", "by telephone", "ada")); err != nil {
				t.Fatal(err)
			}
		}
		return next()
	}
	if out, err := h.HandlePersonal(t.Context(), revoked); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("kept after it was revoked: %+v, %v", out, err)
	}
}

// TestPersonalDataIsNotInTheLog: where the settings want it, numbers of persons, cards, accounts and addresses in what an agent does are
// taken out of what is recorded, as secrets are, and what the decision was made from is sealed (MACE 4).
func TestPersonalDataIsNotInTheLog(t *testing.T) {
	spec.Covers(t, "MACE-4-1")
	var sealed [][]byte
	h := newHouse(t, func(c *admission.Config) {
		c.Redact = classify.RedactPersonal
		c.Record.Seal = func(text []byte) ([]byte, error) { sealed = append(sealed, text); return []byte("sealed"), nil }
	})
	for _, value := range []string{"536-22-8741", "4012 8888 8888 1881", "DE89 3704 0044 0532 0130 00", "ann@mailhouse.org"} {
		h.propose("echo her number: " + value)
		h.nowhere(value)
		if n := len(sealed); n == 0 || !bytes.Contains(sealed[n-1], []byte(value)) {
			t.Errorf("%s: what the decision was made from is not sealed", value)
		}
	}
}
