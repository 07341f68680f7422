package identity

import (
	"encoding/json"
	"errors"
	"strconv"

	"interlock"
)

// Proofs checks what proves an operator's words, by any method. It is package quorum's Verifier.
type Proofs struct {
	Attested func(text, signature string) error // whether the server's key signed a text as its witness; nil: nothing counts
	// whether an operator of a role signs with two factors only: a passkey, which always knows its user, or a security key that does. That an
	// SSH key in a file has a passphrase is what the program says that signs with it, and nobody here can see it; nil: no role
	Second func(role string) bool
}

// Verify reports whether a signature proves, by a method, that an operator said a statement, and names the key that proves
// it: an SSH key's fingerprint, a passkey's id, or what the server saw, which is a session's id or a challenge's. It needs
// nothing but what is stored, so an answer can be proved again when it is spent.
func (p Proofs) Verify(operator interlock.OperatorRecord, method, statement, signature string) (key string, err error) {
	switch method {
	case interlock.MethodSSH:
		key, knows, err := verifySSH(operator.SSHKey, statement, signature)
		if err == nil && !knows && p.Second != nil && p.Second(operator.Role) {
			return "", interlock.Errorf(interlock.CodeUnauthorized, "method", "operators with the role %s sign with a passkey, or a security key that "+
				"asks for a PIN (ssh-keygen -O verify-required), as council.second_factor has it", operator.Role)
		}
		return key, err
	case interlock.MethodPasskey:
		seen, err := VerifyAssertion(operator, statement, signature)
		return seen.Passkey.ID, err
	case interlock.MethodSession:
		if operator.Name == "" {
			return "", errors.New("a session is somebody's")
		}
		return p.witnessed(method, statement, signature)
	case interlock.MethodCode:
		if operator.Name != "" {
			return "", errors.New("a code is nobody's")
		}
		return p.witnessed(method, statement, signature)
	}
	return "", errors.New("an unknown method of proof")
}

// An attestation is the server's word for what it saw, as it is in a signature field.
type attestation struct {
	Subject   string `json:"subject"` // the session or challenge
	Signature string `json:"signature"`
}

// maxAttestation bounds what is read of an attestation.
const maxAttestation = 1 << 10

// Attestation returns the signature field of a statement the server saw made: method is [interlock.MethodSession] or
// [interlock.MethodCode], subject the session's or challenge's id, and sign the server's key.
func Attestation(method, subject, statement string, sign func(text string) (string, error)) (string, error) {
	signature, err := sign(attestationText(method, subject, statement))
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(attestation{Subject: subject, Signature: signature})
	return string(text), err
}

// attestationText is what the server signs: how it learned of the statement, and the statement.
func attestationText(method, subject, statement string) string {
	return "method: " + strconv.QuoteToASCII(method) + "\nsubject: " + strconv.QuoteToASCII(subject) + "\n\n" + statement
}

func (p Proofs) witnessed(method, statement, signature string) (string, error) {
	if p.Attested == nil {
		return "", errors.New("the server's key is not known here")
	}
	var a attestation
	if err := exactly(signature, maxAttestation, &a); err != nil {
		return "", err
	}
	if a.Subject == "" {
		return "", errors.New("an attestation without a subject")
	}
	return a.Subject, p.Attested(attestationText(method, a.Subject, statement), a.Signature)
}

// exactly decodes a text that must be spelled as this package spells it, so that one proof has one spelling.
func exactly(text string, bound int, into any) error {
	if len(text) > bound {
		return errors.New("the proof is too long")
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return errors.New("the proof can't be read")
	}
	if again, err := json.Marshal(into); err != nil || string(again) != text {
		return errors.New("the proof is not in its plain form")
	}
	return nil
}
