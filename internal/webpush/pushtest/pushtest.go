// Package pushtest is a browser that wants to be told and the push service it uses, for tests: it reads messages as RFC 8291 has a
// browser read them, and knows their sender as RFC 8292 has a push service know him.
package pushtest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// A Receiver is one browser with its push service. It is safe for concurrent use.
type Receiver struct {
	*httptest.Server
	private *ecdh.PrivateKey
	auth    []byte

	mu     sync.Mutex
	status int
	got    []Received
	came   chan struct{} // closed and replaced whenever something has come
}

// A Received is one message as it came.
type Received struct {
	Plain  []byte
	Header http.Header
	Size   int    // of what was sent
	Key    string // of who signed it
	Claims Claims
	Fault  error // what is wrong with it
}

// Claims are what a sender says of itself.
type Claims struct {
	Audience string `json:"aud"`
	Subject  string `json:"sub"`
	Expires  int64  `json:"exp"`
}

// New starts a push service on this machine, over TLS.
func New() (*Receiver, error) {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	r := &Receiver{private: private, auth: []byte("0123456789abcdef"), status: http.StatusCreated, came: make(chan struct{})}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(r.take))
	return r, nil
}

// Endpoint is the address that the browser tells, which nobody else is to know.
func (r *Receiver) Endpoint() string { return r.URL + "/wpush/secret-of-this-browser" }

// Public is the browser's key.
func (r *Receiver) Public() *ecdh.PublicKey { return r.private.PublicKey() }

// Keys are the browser's key and what it shares with the sender, as it tells them.
func (r *Receiver) Keys() (p256dh, auth string) {
	return base64.RawURLEncoding.EncodeToString(r.private.PublicKey().Bytes()), base64.RawURLEncoding.EncodeToString(r.auth)
}

// PEM is the certificate of the service.
func (r *Receiver) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Server.Certificate().Raw})
}

// Answer has the push service answer with a status from now on.
func (r *Receiver) Answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// Got is what has come so far; next is closed when more has.
func (r *Receiver) Got() (got []Received, next <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Received{}, r.got...), r.came
}

func (r *Receiver) take(w http.ResponseWriter, request *http.Request) {
	one := Received{Header: request.Header}
	body, err := io.ReadAll(request.Body)
	one.Size = len(body)
	if err == nil {
		one.Plain, err = r.open(body)
	}
	if err == nil {
		err = one.signed(request.Header.Get("Authorization"))
	}
	if err == nil && one.Claims.Audience != r.URL {
		err = fmt.Errorf("the token is for %q", one.Claims.Audience)
	}
	one.Fault = err
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, one)
	close(r.came)
	r.came = make(chan struct{})
	w.Header().Set("Location", "https://elsewhere.example/")
	w.WriteHeader(r.status)
}

// open decrypts one record of the content coding aes128gcm.
func (r *Receiver) open(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) {
		return nil, errors.New("no head")
	}
	salt, sender, record := body[:16], body[21:21+int(body[20])], body[21+int(body[20]):]
	if size := binary.BigEndian.Uint32(body[16:20]); int(size) < len(record) || len(body) > 4096 {
		return nil, fmt.Errorf("records of %d bytes, one of %d, in %d", size, len(record), len(body))
	}
	public, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := r.private.ECDH(public)
	if err != nil {
		return nil, err
	}
	info := "WebPush: info\x00" + string(r.private.PublicKey().Bytes()) + string(sender)
	secret, err := hkdf.Key(sha256.New, shared, r.auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	plain, whole := bytes.CutSuffix(bytes.TrimRight(plain, "\x00"), []byte{2})
	if !whole {
		return nil, errors.New("the record is not the last")
	}
	return plain, nil
}

// signed reads who sends, and holds the token against the key.
func (m *Received) signed(header string) error {
	token, key, _ := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return fmt.Errorf("signed as %q", header)
	}
	point, err := base64.RawURLEncoding.DecodeString(key)
	if err != nil {
		return err
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return fmt.Errorf("a signature of %d bytes, %w", len(signature), err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature does not hold")
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(claims, &m.Claims)
	}
	if left := time.Until(time.Unix(m.Claims.Expires, 0)); err == nil && (left < time.Hour || left > 24*time.Hour) {
		err = fmt.Errorf("it counts for %v", left)
	}
	m.Key = key
	return err
}
