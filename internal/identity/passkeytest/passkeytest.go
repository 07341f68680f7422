// Package passkeytest is an authenticator in software, for tests: it makes passkeys and signs with them as a browser and a
// security key together would, and can be told to misbehave in the ways that must be noticed.
//
// It must never be part of the program. Start with Authenticator.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// An Authenticator holds one ES256 passkey. Its fields may be changed between signatures to make it misbehave.
type Authenticator struct {
	Origin     string // of the page, as the browser reports it
	RelyingID  string // host name the passkey is for
	Counter    uint32 // counts on with each signature; 0 with Still keeps none
	Still      bool   // does not count
	Unverified bool   // does not say that the user was verified
	Absent     bool   // does not say that somebody was there
	Framed     bool   // the page is in another site's frame
	Type       string // of the ceremony, instead of the right one

	id  []byte
	key *ecdsa.PrivateKey
}

// New returns an authenticator with a fresh key.
func New(origin, relyingID string) (*Authenticator, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("making an id: %w", err)
	}
	return &Authenticator{Origin: origin, RelyingID: relyingID, id: id, key: key}, nil
}

// ID is the credential's id.
func (a *Authenticator) ID() string { return base64.RawURLEncoding.EncodeToString(a.id) }

// Create answers navigator.credentials.create with the JSON of a PublicKeyCredential.
func (a *Authenticator) Create(challenge []byte) []byte {
	key := a.coseKey()
	data := a.authenticatorData(0x40)
	data = append(data, make([]byte, 16)...) // aaguid
	data = binary.BigEndian.AppendUint16(data, uint16(len(a.id)))
	data = append(append(data, a.id...), key...)
	object := []byte{0xa3}
	object = append(append(object, text("fmt")...), text("none")...)
	object = append(append(object, text("attStmt")...), 0xa0)
	object = append(append(object, text("authData")...), octets(data)...)
	return a.credential(map[string]any{
		"clientDataJSON":    b64(a.clientData("webauthn.create", challenge)),
		"attestationObject": b64(object),
		"transports":        []string{"internal"},
	})
}

// Get answers navigator.credentials.get with the JSON of a PublicKeyCredential.
func (a *Authenticator) Get(challenge []byte) ([]byte, error) {
	if !a.Still {
		a.Counter++
	}
	client := a.clientData("webauthn.get", challenge)
	data := a.authenticatorData(0)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(append([]byte{}, data...), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		return nil, fmt.Errorf("signing: %w", err)
	}
	return a.credential(map[string]any{
		"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": nil,
	}), nil
}

func (a *Authenticator) credential(response map[string]any) []byte {
	text, err := json.Marshal(map[string]any{"id": a.ID(), "rawId": a.ID(), "type": "public-key",
		"authenticatorAttachment": "platform", "clientExtensionResults": map[string]any{}, "response": response})
	if err != nil {
		panic("passkeytest: " + err.Error()) // strings and maps of strings marshal
	}
	return text
}

func (a *Authenticator) clientData(ceremony string, challenge []byte) []byte {
	if a.Type != "" {
		ceremony = a.Type
	}
	text, err := json.Marshal(struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"`
	}{ceremony, b64(challenge), a.Origin, a.Framed})
	if err != nil {
		panic("passkeytest: " + err.Error()) // strings marshal
	}
	return text
}

func (a *Authenticator) authenticatorData(flags byte) []byte {
	if !a.Absent {
		flags |= 0x01
	}
	if !a.Unverified {
		flags |= 0x04
	}
	hash := sha256.Sum256([]byte(a.RelyingID))
	return binary.BigEndian.AppendUint32(append(hash[:], flags), a.Counter)
}

// coseKey is {1: 2, 3: -7, -1: 1, -2: x, -3: y} in CBOR.
func (a *Authenticator) coseKey() []byte {
	point, err := a.key.PublicKey.Bytes()
	if err != nil {
		panic("passkeytest: " + err.Error()) // a generated key has a point
	}
	key := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21}
	key = append(key, octets(point[1:33])...)
	return append(append(key, 0x22), octets(point[33:])...)
}

func b64(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// text and octets are CBOR strings of less than 64 KiB.
func text(s string) []byte { return append([]byte{0x60 + byte(len(s))}, s...) }

func octets(b []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0x59}, uint16(len(b))), b...)
}
