package identity_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/identity"
	"interlock/internal/identity/passkeytest"
)

const (
	page = "http://localhost:7433"
	host = "localhost"
)

// enrolled is an authenticator and the operator who registered it.
func enrolled(t testing.TB) (*passkeytest.Authenticator, interlock.OperatorRecord) {
	t.Helper()
	a, err := passkeytest.New(page, host)
	if err != nil {
		t.Fatal(err)
	}
	challenge := identity.StatementChallenge("enrol me")
	passkey, err := identity.NewPasskey(a.Create(challenge), challenge, page, host, "laptop", noon)
	if err != nil {
		t.Fatal(err)
	}
	return a, interlock.OperatorRecord{Name: "olga", Role: "operator", Passkeys: []interlock.Passkey{passkey}}
}

// assert has statements signed.
func assert(t testing.TB, a *passkeytest.Authenticator, statements ...string) string {
	t.Helper()
	answer, err := a.Get(identity.StatementChallenge(statements...))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := identity.Assertion(answer, statements...)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}

func TestNewPasskey(t *testing.T) {
	a, operator := enrolled(t)
	got := operator.Passkeys[0]
	want := interlock.Passkey{ID: a.ID(), PublicKey: got.PublicKey, Algorithm: -7, RelyingID: host, Name: "laptop",
		Transports: []string{"internal"}, Created: noon}
	if diff := cmp.Diff(want, got); diff != "" || got.PublicKey == "" {
		t.Errorf("passkey (-want +got):\n%s", diff)
	}
}

// TestNewPasskeyRefuses: what does not fit what was asked for registers nothing.
func TestNewPasskeyRefuses(t *testing.T) {
	challenge := identity.StatementChallenge("enrol me")
	for name, broken := range map[string]func(*passkeytest.Authenticator) (response, challenge []byte, origin, host string){
		"another challenge": func(a *passkeytest.Authenticator) ([]byte, []byte, string, string) {
			return a.Create(identity.StatementChallenge("enrol eve")), challenge, page, host
		},
		"another origin": func(a *passkeytest.Authenticator) ([]byte, []byte, string, string) {
			a.Origin = "http://localhost:9999"
			return a.Create(challenge), challenge, page, host
		},
		"another host": func(a *passkeytest.Authenticator) ([]byte, []byte, string, string) {
			a.RelyingID = "evil.example"
			return a.Create(challenge), challenge, page, host
		},
		"no verification of the user": func(a *passkeytest.Authenticator) ([]byte, []byte, string, string) {
			a.Unverified = true
			return a.Create(challenge), challenge, page, host
		},
		"a frame": func(a *passkeytest.Authenticator) ([]byte, []byte, string, string) {
			a.Framed = true
			return a.Create(challenge), challenge, page, host
		},
		"an assertion": func(a *passkeytest.Authenticator) ([]byte, []byte, string, string) {
			a.Type = "webauthn.get"
			return a.Create(challenge), challenge, page, host
		},
		"plain http elsewhere": func(a *passkeytest.Authenticator) ([]byte, []byte, string, string) {
			a.Origin, a.RelyingID = "http://interlock.example", "interlock.example"
			return a.Create(challenge), challenge, a.Origin, a.RelyingID
		},
		"no JSON": func(*passkeytest.Authenticator) ([]byte, []byte, string, string) {
			return []byte("passkey"), challenge, page, host
		},
		"too much": func(*passkeytest.Authenticator) ([]byte, []byte, string, string) {
			return []byte(strings.Repeat(" ", 65<<10)), challenge, page, host
		},
	} {
		a, err := passkeytest.New(page, host)
		if err != nil {
			t.Fatal(err)
		}
		response, challenge, origin, host := broken(a)
		if got, err := identity.NewPasskey(response, challenge, origin, host, "", noon); err == nil || got.ID != "" {
			t.Errorf("%s: registered", name)
		}
	}
}

// TestVerifyAssertion: a passkey's signature proves one statement, and every way in which one does not.
func TestVerifyAssertion(t *testing.T) {
	type device = *passkeytest.Authenticator
	edited := func(edit func(map[string]any)) func(string) string {
		return func(signature string) string {
			var parts map[string]any
			if err := json.Unmarshal([]byte(signature), &parts); err != nil {
				panic(err)
			}
			edit(parts)
			text, err := json.Marshal(struct { // in the order the package writes them
				A any `json:"passkey"`
				B any `json:"authenticator_data"`
				C any `json:"client_data"`
				D any `json:"signature"`
				E any `json:"batch,omitempty"`
			}{parts["passkey"], parts["authenticator_data"], parts["client_data"], parts["signature"], parts["batch"]})
			if err != nil {
				panic(err)
			}
			return string(text)
		}
	}
	for _, test := range []struct {
		name   string
		before func(device)
		after  func(string) string
		claim  string // what it is said to be about; the statement, if empty
		want   string
	}{
		{name: "sound"},
		{name: "from another port of this host", before: func(a device) { a.Origin = "http://localhost:1" }},
		{name: "over TLS", before: func(a device) { a.Origin = "https://localhost" }},
		{name: "another statement", claim: statement + "x", want: "over something else"},
		{name: "another origin", before: func(a device) { a.Origin = "https://evil.example" }, want: "another site"},
		{name: "an origin that only looks right", before: func(a device) { a.Origin = "http://localhost.evil.example" }, want: "another site"},
		{name: "an origin with a user", before: func(a device) { a.Origin = "http://evil@localhost" }, want: "another site"},
		{name: "another host", before: func(a device) { a.RelyingID = "evil.example" }, want: "another site"},
		{name: "a frame", before: func(a device) { a.Framed = true }, want: "frame"},
		{name: "nobody there", before: func(a device) { a.Absent = true }, want: "did not see"},
		{name: "nobody verified", before: func(a device) { a.Unverified = true }, want: "did not see"},
		{name: "a registration", before: func(a device) { a.Type = "webauthn.create" }, want: "something else"},
		{name: "another passkey's name", after: edited(func(p map[string]any) { p["passkey"] = "AAAA" }), want: "not one of"},
		{name: "a bit of the data turned", after: edited(func(p map[string]any) {
			raw, _ := base64.RawURLEncoding.DecodeString(p["authenticator_data"].(string))
			raw[36] ^= 1
			p["authenticator_data"] = base64.RawURLEncoding.EncodeToString(raw)
		}), want: "did not sign"},
		{name: "data cut short", after: edited(func(p map[string]any) { p["authenticator_data"] = "AAAA" }), want: "too short"},
		{name: "no signature", after: edited(func(p map[string]any) { p["signature"] = "" }), want: "base64url"},
		{name: "line ends in it", after: edited(func(p map[string]any) { p["signature"] = p["signature"].(string) + "\n" }), want: "base64url"},
		{name: "a batch it was not in", after: edited(func(p map[string]any) {
			p["batch"] = []string{strings.Repeat("a", 64),
				strings.Repeat("b", 64)}
		}), want: "not among"},
		{name: "spaces around it", after: func(s string) string { return s + " " }, want: "plain form"},
		{name: "members beside it", after: func(s string) string { return strings.Replace(s, "{", `{"x":1,`, 1) }, want: "plain form"},
		{name: "no JSON", after: func(string) string { return "x" }, want: "can't be read"},
		{name: "nothing", after: func(string) string { return "" }, want: "can't be read"},
		{name: "too much", after: func(s string) string { return s + strings.Repeat(" ", 17<<10) }, want: "too long"},
	} {
		a, operator := enrolled(t)
		if test.before != nil {
			test.before(a)
		}
		signature := assert(t, a, statement)
		if test.after != nil {
			signature = test.after(signature)
		}
		claim := test.claim
		if claim == "" {
			claim = statement
		}
		seen, err := identity.VerifyAssertion(operator, claim, signature)
		if test.want == "" && (err != nil || seen.Passkey.ID != a.ID() || seen.Origin != a.Origin) {
			t.Errorf("%s: %+v, %v", test.name, seen, err)
		}
		if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || seen.Passkey.ID != "") {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	a, operator := enrolled(t)
	_, other := enrolled(t)
	if _, err := identity.VerifyAssertion(other, statement, assert(t, a, statement)); err == nil {
		t.Error("another operator's passkey counts")
	}
	operator.Passkeys[0].PublicKey = other.Passkeys[0].PublicKey
	if _, err := identity.VerifyAssertion(operator, statement, assert(t, a, statement)); err == nil {
		t.Error("another key than the registered one counts")
	}
}

// TestBatch: one signature over several statements proves each, and none beside.
func TestBatch(t *testing.T) {
	a, operator := enrolled(t)
	signature := assert(t, a, "one", "two", "three")
	for _, statement := range []string{"one", "two", "three"} {
		if _, err := identity.VerifyAssertion(operator, statement, signature); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, err := identity.VerifyAssertion(operator, "four", signature); err == nil {
		t.Error("a statement that was not in the batch counts")
	}
	if _, err := identity.VerifyAssertion(operator, "one",
		strings.Replace(signature, `,"batch":[`, `,"batch":["`+strings.Repeat("0", 64)+`",`, 1)); err == nil {
		t.Error("a batch that grew counts")
	}
	if _, err := identity.Assertion([]byte(`{"id":"x"}`), make([]string, identity.MaxBatch+1)...); err == nil {
		t.Error("a batch without bound")
	}
}

// TestFresh: a counter that does not move on tells of a copy; one that is never kept tells nothing.
func TestFresh(t *testing.T) {
	for _, test := range []struct {
		stored, now uint32
		fresh       bool
	}{{0, 0, true}, {0, 1, true}, {4, 5, true}, {5, 5, false}, {5, 4, false}, {5, 0, false}} {
		err := identity.Asserted{Passkey: interlock.Passkey{SignCount: test.stored}, Counter: test.now}.Fresh()
		if (err == nil) != test.fresh {
			t.Errorf("%d after %d: %v", test.now, test.stored, err)
		}
	}
}

// TestProofs: each method proves with its own kind of proof and no other.
func TestProofs(t *testing.T) {
	a, operator := enrolled(t)
	path, public := newKey(t, "-t", "ed25519")
	operator.SSHKey = public
	signer, err := identity.FileSigner(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ssh, err := signer.SignApproval(random{}, statement)
	if err != nil {
		t.Fatal(err)
	}
	seal := func(text string) (string, error) { return "sealed " + text, nil }
	proofs := identity.Proofs{Attested: func(text, signature string) error {
		if signature != "sealed "+text {
			return errors.New("no")
		}
		return nil
	}}
	session, _ := identity.Attestation(interlock.MethodSession, "ses-1", statement, seal)
	code, _ := identity.Attestation(interlock.MethodCode, "chl-1", statement, seal)
	nobody := interlock.OperatorRecord{}
	proof := map[string]string{"ssh": ssh, "passkey": assert(t, a, statement), "session": session, "code": code}
	key := map[string]string{"ssh": signer.PublicKey().Fingerprint(), "passkey": a.ID(), "session": "ses-1", "code": "chl-1"}
	for method := range proof {
		for kind, signature := range proof {
			who := operator
			if method == "code" {
				who = nobody
			}
			got, err := proofs.Verify(who, method, statement, signature)
			if method == kind && (err != nil || got != key[kind]) {
				t.Errorf("%s: %q, %v", method, got, err)
			}
			if method != kind && err == nil {
				t.Errorf("a proof by %s counts as one by %s", kind, method)
			}
			if _, err := proofs.Verify(who, method, statement+"x", signature); err == nil {
				t.Errorf("a proof by %s counts for another statement", kind)
			}
		}
	}
	for name, test := range map[string]struct {
		proofs    identity.Proofs
		who       interlock.OperatorRecord
		method    string
		signature string
	}{
		"a session of nobody":        {proofs, nobody, "session", session},
		"a code of somebody":         {proofs, operator, "code", code},
		"no method":                  {proofs, operator, "", ssh},
		"an unknown method":          {proofs, operator, "fax", session},
		"no key of the server":       {identity.Proofs{}, operator, "session", session},
		"a session of another id":    {proofs, operator, "session", strings.Replace(session, "ses-1", "ses-2", 1)},
		"a session without an id":    {proofs, operator, "session", strings.Replace(session, "ses-1", "", 1)},
		"an operator without a key":  {proofs, interlock.OperatorRecord{Name: "otto"}, "ssh", ssh},
		"an operator without a pass": {proofs, interlock.OperatorRecord{Name: "otto"}, "passkey", proof["passkey"]},
	} {
		if _, err := test.proofs.Verify(test.who, test.method, statement, test.signature); err == nil {
			t.Errorf("%s counts", name)
		}
	}
}

type random struct{}

func (random) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// FuzzVerifyAssertion: nothing but the signature as it was made proves the statement, whatever stands in its place.
func FuzzVerifyAssertion(f *testing.F) {
	a, operator := enrolled(f)
	good := assert(f, a, statement)
	f.Add(good)
	f.Add(assert(f, a, "one", "two"))
	f.Add(strings.Replace(good, `"client_data":"`, `"client_data":"e30`, 1))
	f.Add(`{"passkey":"` + a.ID() + `","authenticator_data":"","client_data":"","signature":""}`)
	f.Fuzz(func(t *testing.T, signature string) {
		if _, err := identity.VerifyAssertion(operator, statement, signature); err == nil && signature != good {
			t.Errorf("%q proves it too", signature)
		}
	})
}

// FuzzAssertion: whatever a browser sends, what comes of it is bounded and either refused or in the one plain form.
func FuzzAssertion(f *testing.F) {
	a, operator := enrolled(f)
	answer, err := a.Get(identity.StatementChallenge(statement))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(answer)
	f.Add([]byte(`{"id":"x","response":{}}`))
	f.Fuzz(func(t *testing.T, browser []byte) {
		signature, err := identity.Assertion(browser, statement)
		if err != nil {
			return
		}
		if _, err := identity.VerifyAssertion(operator, statement, signature); err != nil && strings.Contains(err.Error(), "plain form") {
			t.Errorf("%q is not in the plain form", signature)
		}
	})
}
