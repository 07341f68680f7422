package auditlog

import (
	"encoding/base64"
	"errors"
	"fmt"

	"interlock"
)

// attestationHeader begins everything the log's key signs as a witness of what the server saw. Neither a checkpoint nor an
// event begins with it, so none of the three can be passed off as another.
const attestationHeader = "interlock attestation v1\n"

// Attest signs a text as seen by this server: that a console session gave an answer, that a right code was given. The caller
// must have seen it.
func (s *Sealer) Attest(text string) (signature string, err error) {
	raw, err := s.sign([]byte(attestationHeader + text))
	if err != nil {
		return "", fmt.Errorf("auditlog: sign an attestation: %w", err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// CheckAttestation reports whether a text was attested by the server that keeps this log.
func (k *PublicKey) CheckAttestation(text, signature string) error {
	raw, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || base64.StdEncoding.EncodeToString(raw) != signature || !k.Verify([]byte(attestationHeader+text), raw) {
		return errors.New("the server's key did not sign this")
	}
	return nil
}

// SignedEvent reads an entry whose event this key has signed by itself, as it does those by which people govern. Whatever is not
// so signed, or is not what its hashes say, is an error: those who can write to a store's file can make no such event without the
// key.
func (k *PublicKey) SignedEvent(e interlock.Entry) (Event, error) {
	event, err := ParseEvent(e.Body)
	switch {
	case err != nil:
		return Event{}, fmt.Errorf("auditlog: read the event: %w", err)
	case !signed(event.Type) || event.Type != e.Type || event.ID != e.ID || !isEventID(&event):
		return Event{}, fmt.Errorf("auditlog: the event %.64q is not of a type that is signed, or not the one that is named", e.ID)
	case !event.Sound():
		return Event{}, fmt.Errorf("auditlog: the payload of %.64q is not the one that was hashed", e.ID)
	}
	if err := k.verifyEvent(&event); err != nil {
		return Event{}, fmt.Errorf("auditlog: the event %.64q: %w", e.ID, err)
	}
	return event, nil
}
