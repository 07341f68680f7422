package identity

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"interlock"
)

// The bounds of what a browser sends.
const (
	maxAssertion    = 16 << 10
	maxRegistration = 64 << 10
	MaxBatch        = 100 // statements signed at once
)

// batchHeader begins what is signed when several statements are signed at once. No statement begins with it.
const batchHeader = "Interlock batch, version 1\n"

// PasskeyAlgorithms are the COSE algorithms a passkey may use: EdDSA, ES256, RS256.
func PasskeyAlgorithms() []int64 {
	return []int64{int64(webauthncose.AlgEdDSA), int64(webauthncose.AlgES256), int64(webauthncose.AlgRS256)}
}

// StatementChallenge is what a passkey is asked to sign for one or more statements: the SHA-256 of the one, or of a text
// that lists the SHA-256 of each.
func StatementChallenge(statements ...string) []byte {
	if len(statements) == 1 {
		sum := sha256.Sum256([]byte(statements[0]))
		return sum[:]
	}
	hashes := make([]string, len(statements))
	for i, statement := range statements {
		hashes[i] = statementHash(statement)
	}
	return batchChallenge(hashes)
}

func statementHash(statement string) string {
	sum := sha256.Sum256([]byte(statement))
	return hex.EncodeToString(sum[:])
}

func batchChallenge(hashes []string) []byte {
	sum := sha256.Sum256([]byte(batchHeader + strings.Join(hashes, "\n") + "\n"))
	return sum[:]
}

// An assertion is a passkey's signature as it is in a signature field: all that is needed to check it again.
type assertion struct {
	Passkey           string   `json:"passkey"` // id
	AuthenticatorData string   `json:"authenticator_data"`
	ClientData        string   `json:"client_data"`
	Signature         string   `json:"signature"`
	Batch             []string `json:"batch,omitempty"` // SHA-256 of each statement, where several were signed at once
}

// Assertion returns the signature field of statements that a browser had signed by a passkey, from the JSON of its
// PublicKeyCredential. It checks nothing but the form; [VerifyAssertion] does.
func Assertion(browser []byte, statements ...string) (string, error) {
	if len(browser) > maxAssertion || len(statements) == 0 || len(statements) > MaxBatch {
		return "", interlock.Errorf(interlock.CodeInvalid, "assertion", "is too long")
	}
	var got struct {
		ID       string `json:"id"`
		Response struct {
			AuthenticatorData string `json:"authenticatorData"`
			ClientData        string `json:"clientDataJSON"`
			Signature         string `json:"signature"`
		} `json:"response"`
	}
	if err := json.Unmarshal(browser, &got); err != nil || got.ID == "" {
		return "", interlock.Errorf(interlock.CodeInvalid, "assertion", "is not what a browser returns for a passkey")
	}
	a := assertion{Passkey: got.ID, AuthenticatorData: got.Response.AuthenticatorData,
		ClientData: got.Response.ClientData, Signature: got.Response.Signature}
	if len(statements) > 1 {
		for _, statement := range statements {
			a.Batch = append(a.Batch, statementHash(statement))
		}
	}
	text, err := json.Marshal(a)
	return string(text), err
}

// AssertionPasskey is the id of the passkey that a signature field says it was made with. It proves nothing.
func AssertionPasskey(signature string) string {
	var a assertion
	if exactly(signature, maxAssertion, &a) != nil {
		return ""
	}
	return a.Passkey
}

// Asserted is what a passkey's signature says beside the statement.
type Asserted struct {
	Passkey interlock.Passkey // as registered
	Counter uint32            // signatures made so far, by the authenticator's own count; 0 if it keeps none
	Origin  string            // of the page that asked for the signature
}

// VerifyAssertion reports whether a signature field proves that one of the operator's passkeys signed a statement, with its
// user present and verified, for a page of the passkey's own host. It does not look at the counter, which moves on after
// the signature was made; see [Asserted.Fresh].
func VerifyAssertion(operator interlock.OperatorRecord, statement, signature string) (Asserted, error) {
	var a assertion
	if err := exactly(signature, maxAssertion, &a); err != nil {
		return Asserted{}, err
	}
	n := slices.IndexFunc(operator.Passkeys, func(p interlock.Passkey) bool { return p.ID == a.Passkey })
	if n < 0 || a.Passkey == "" {
		return Asserted{}, errors.New("the passkey is not one of the operator's")
	}
	passkey := operator.Passkeys[n]
	challenge, err := challengeOf(a, statement)
	if err != nil {
		return Asserted{}, err
	}
	clientData, err := decode(a.ClientData)
	if err != nil {
		return Asserted{}, err
	}
	origin, err := checkClientData(clientData, challenge, passkey.RelyingID)
	if err != nil {
		return Asserted{}, err
	}
	data, err := decode(a.AuthenticatorData)
	if err != nil {
		return Asserted{}, err
	}
	counter, err := checkAuthenticatorData(data, passkey.RelyingID)
	if err != nil {
		return Asserted{}, err
	}
	hash := sha256.Sum256(clientData)
	if err := checkPasskeySignature(passkey, append(slices.Clip(data), hash[:]...), a.Signature); err != nil {
		return Asserted{}, err
	}
	return Asserted{Passkey: passkey, Counter: counter, Origin: origin}, nil
}

// Fresh reports whether an assertion that was just made may have come from the one authenticator the passkey was made on: a
// count that does not move on means that there is a copy.
func (a Asserted) Fresh() error {
	if (a.Counter != 0 || a.Passkey.SignCount != 0) && a.Counter <= a.Passkey.SignCount {
		return interlock.Errorf(interlock.CodeUnauthorized, "passkey",
			"this passkey's counter went back: somebody may hold a copy of it; register another")
	}
	return nil
}

// challengeOf is the challenge that a signature over the statement must answer.
func challengeOf(a assertion, statement string) ([]byte, error) {
	if len(a.Batch) == 0 {
		return StatementChallenge(statement), nil
	}
	if len(a.Batch) < 2 || len(a.Batch) > MaxBatch || !slices.Contains(a.Batch, statementHash(statement)) {
		return nil, errors.New("the statement is not among those that were signed")
	}
	for _, hash := range a.Batch {
		if raw, err := hex.DecodeString(hash); err != nil || len(raw) != sha256.Size || hash != strings.ToLower(hash) {
			return nil, errors.New("the list of what was signed can't be read")
		}
	}
	return batchChallenge(a.Batch), nil
}

// checkClientData holds what the browser says it asked for against what it should have asked.
func checkClientData(text, challenge []byte, relyingID string) (origin string, err error) {
	var data protocol.CollectedClientData
	if err := json.Unmarshal(text, &data); err != nil {
		return "", errors.New("the browser's data can't be read")
	}
	got, err := base64.RawURLEncoding.Strict().DecodeString(data.Challenge)
	switch {
	case data.Type != protocol.AssertCeremony:
		return "", errors.New("the signature was made for something else")
	case err != nil || subtle.ConstantTimeCompare(got, challenge) != 1:
		return "", errors.New("the signature is over something else")
	case data.CrossOrigin || data.TopOrigin != "":
		return "", errors.New("the signature was made in a frame of another site")
	case !OriginFits(data.Origin, relyingID):
		return "", errors.New("the signature was made for another site")
	}
	return data.Origin, nil
}

// OriginFits reports whether a page of this origin is of the host a passkey was made for: over TLS, or on this machine.
func OriginFits(origin, relyingID string) bool {
	u, err := url.Parse(origin)
	if err != nil || relyingID == "" || u.Hostname() != relyingID || origin != u.Scheme+"://"+u.Host {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && (relyingID == "localhost" || strings.HasSuffix(relyingID, ".localhost"))
}

// The layout of authenticator data.
const (
	flagPresent  = 0x01
	flagVerified = 0x04
	minAuthData  = 37
)

func checkAuthenticatorData(data []byte, relyingID string) (counter uint32, err error) {
	hash := sha256.Sum256([]byte(relyingID))
	switch {
	case len(data) < minAuthData:
		return 0, errors.New("the authenticator's data is too short")
	case subtle.ConstantTimeCompare(data[:32], hash[:]) != 1:
		return 0, errors.New("the signature was made for another site")
	case data[32]&flagPresent == 0 || data[32]&flagVerified == 0:
		return 0, errors.New("the authenticator did not see to who its user is")
	}
	return binary.BigEndian.Uint32(data[33:37]), nil
}

func checkPasskeySignature(passkey interlock.Passkey, signed []byte, signature string) error {
	raw, err := decode(signature)
	if err != nil {
		return err
	}
	public, err := decode(passkey.PublicKey)
	if err != nil {
		return err
	}
	key, err := webauthncose.ParsePublicKey(public)
	if err != nil {
		return errors.New("the passkey's public key can't be read")
	}
	if good, err := webauthncose.VerifySignature(key, signed, raw); err != nil || !good {
		return errors.New("the passkey did not sign this")
	}
	return nil
}

func decode(text string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) == 0 || base64.RawURLEncoding.EncodeToString(raw) != text { // the decoder skips line ends
		return nil, errors.New("a part of the proof is not base64url")
	}
	return raw, nil
}

// NewPasskey reads what a browser returns for a passkey that was just made, the JSON of its PublicKeyCredential, and holds
// it against the challenge, the page's origin and the host it is for. Attestation statements prove a maker and are not
// asked for.
func NewPasskey(browser, challenge []byte, origin, relyingID, name string, now time.Time) (interlock.Passkey, error) {
	refused := interlock.Errorf(interlock.CodeUnauthorized, "passkey",
		"the browser's new passkey does not fit what was asked for; try again")
	if len(browser) > maxRegistration || !OriginFits(origin, relyingID) {
		return interlock.Passkey{}, refused
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(browser)
	if err != nil {
		return interlock.Passkey{}, refused
	}
	var algorithms []protocol.CredentialParameter
	for _, a := range PasskeyAlgorithms() {
		algorithms = append(algorithms, protocol.CredentialParameter{Type: protocol.PublicKeyCredentialType,
			Algorithm: webauthncose.COSEAlgorithmIdentifier(a)})
	}
	if _, err := parsed.Verify(base64.RawURLEncoding.EncodeToString(challenge), relyingID, []string{origin}, nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, true, true, nil, algorithms, protocol.AttestationPolicy{},
		protocol.SignaturePolicy{}); err != nil {
		return interlock.Passkey{}, refused
	}
	data := parsed.Response.AttestationObject.AuthData
	key, err := webauthncose.ParsePublicKey(data.AttData.CredentialPublicKey)
	algorithm := algorithmOf(key)
	if err != nil || !slices.Contains(PasskeyAlgorithms(), algorithm) || bytes.Equal(data.AttData.CredentialID, nil) {
		return interlock.Passkey{}, interlock.Errorf(interlock.CodeInvalid, "passkey",
			"keys of this passkey's type are not accepted; use EdDSA, ES256 or RS256")
	}
	passkey := interlock.Passkey{ID: base64.RawURLEncoding.EncodeToString(data.AttData.CredentialID),
		PublicKey: base64.RawURLEncoding.EncodeToString(data.AttData.CredentialPublicKey), Algorithm: algorithm,
		SignCount: data.Counter, Backup: data.Flags.HasBackupEligible(), RelyingID: relyingID, Name: name, Created: now}
	for _, transport := range parsed.Response.Transports {
		passkey.Transports = append(passkey.Transports, string(transport))
	}
	return passkey, nil
}

func algorithmOf(key any) int64 {
	switch key := key.(type) {
	case webauthncose.OKPPublicKeyData:
		return key.Algorithm
	case webauthncose.EC2PublicKeyData:
		return key.Algorithm
	case webauthncose.RSAPublicKeyData:
		return key.Algorithm
	}
	return 0
}
