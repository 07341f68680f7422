package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"
)

// KeyBytes is how long a key is as it is kept.
const KeyBytes = 32

// tokenLife is for how long a push service may believe a token. It may not be more than a day, and clocks differ.
const tokenLife = 12 * time.Hour

// A Key is by which push services know who sends. Subscriptions are bound to it: one that is lost ends them all.
type Key struct{ private *ecdsa.PrivateKey }

// NewKey makes a key, as it is kept.
func NewKey(random io.Reader) ([]byte, error) {
	for {
		raw := make([]byte, KeyBytes)
		if _, err := io.ReadFull(random, raw); err != nil {
			return nil, err
		}
		if _, err := ParseKey(raw); err == nil {
			return raw, nil
		}
	}
}

// ParseKey reads a key as it is kept.
func ParseKey(raw []byte) (Key, error) {
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	if err != nil {
		return Key{}, errors.New("this is no key for push messages")
	}
	return Key{private}, nil
}

// Public is the public half, as a browser takes it.
func (k Key) Public() (string, error) {
	point, err := k.private.PublicKey.Bytes()
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(point), nil
}

// authorization is the header that tells a push service who sends, and whom to write to about it.
func (k Key) authorization(endpoint, contact string, now time.Time) (string, error) {
	to, err := url.Parse(endpoint)
	if err != nil {
		return "", errors.New("the address can't be used")
	}
	claims, err := json.Marshal(struct {
		Audience string `json:"aud"`
		Expires  int64  `json:"exp"`
		Subject  string `json:"sub"`
	}{to.Scheme + "://" + to.Host, now.Add(tokenLife).Unix(), contact})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	token := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(token))
	r, s, err := ecdsa.Sign(rand.Reader, k.private, sum[:])
	if err != nil {
		return "", fmt.Errorf("signing for a push service: %w", err)
	}
	signature := make([]byte, 2*KeyBytes)
	r.FillBytes(signature[:KeyBytes])
	s.FillBytes(signature[KeyBytes:])
	public, err := k.Public()
	return "vapid t=" + token + "." + encode(signature) + ", k=" + public, err
}
