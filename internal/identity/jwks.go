package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"interlock"
)

// Bounds on what an issuer's server can make this process do.
const (
	keysTimeout  = 5 * time.Second  // for one fetch, metadata and keys together
	maxKeysBytes = 256 << 10        // of a document
	maxKeys      = 64               // that are kept
	keysFresh    = 10 * time.Minute // then they are fetched again
	keysUsable   = 2 * time.Hour    // then they count no more, if they can't be fetched
	keysPause    = 30 * time.Second // between two fetches: an unknown key id, which anybody can write, must not become a flood
	minRSABits   = 2048
)

// A keySet holds an issuer's keys. It fetches them when a token first needs them and keeps them a while. It is safe for
// concurrent use.
type keySet struct {
	issuer Issuer
	client *http.Client
	now    func() time.Time

	current atomic.Pointer[fetchedKeys]

	fetching sync.Mutex // held over a fetch; current is read without it
	tried    time.Time  // guarded by fetching
}

type fetchedKeys struct {
	at   time.Time
	keys []jose.JSONWebKey
}

// errKeys is what callers see of a key set that can't be had; the cause is in the error beside it.
var errKeys = interlock.Errorf(interlock.CodeUnavailable, "Authorization", "the issuer's keys can't be read now; try again later")

// find returns the keys a token may be signed with: those of its key id, or of its algorithm if it names none, and the set
// they are of. Keys that are there and a little old count while others are fetched beside them.
func (s *keySet) find(ctx context.Context, id string,
	algorithm jose.SignatureAlgorithm) ([]jose.JSONWebKey, *fetchedKeys, error) {
	known := s.current.Load()
	var failed error
	switch seen := known; {
	case known == nil || s.now().Sub(known.at) > keysUsable || len(fitting(known.keys, id, algorithm)) == 0:
		s.fetching.Lock()
		failed = s.refresh(ctx, known)
		s.fetching.Unlock()
	case s.now().Sub(known.at) > keysFresh && s.fetching.TryLock():
		go func() {
			defer s.fetching.Unlock()
			_ = s.refresh(ctx, seen) // what can't be fetched is tried again, and refused once it is too old
		}()
	}
	known = s.current.Load()
	if known == nil || s.now().Sub(known.at) > keysUsable {
		return nil, nil, errors.Join(errKeys, failed)
	}
	return fitting(known.keys, id, algorithm), known, nil
}

// refresh fetches the keys unless somebody has just done or tried so. Its caller holds the lock.
func (s *keySet) refresh(ctx context.Context, seen *fetchedKeys) error {
	now := s.now()
	if s.current.Load() != seen || !s.tried.IsZero() && now.Sub(s.tried) < keysPause {
		return nil
	}
	s.tried = now
	// The fetch is everybody's: it goes on when the request it began with is gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keysTimeout)
	defer cancel()
	keys, err := s.fetch(ctx)
	if err != nil {
		return err
	}
	s.current.Store(&fetchedKeys{at: now, keys: keys})
	return nil
}

func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	address := s.issuer.Keys
	if address == "" {
		found, err := s.discover(ctx)
		if err != nil {
			return nil, err
		}
		address = found
	}
	var document struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.get(ctx, address, &document); err != nil {
		return nil, err
	}
	var keys []jose.JSONWebKey
	for _, text := range document.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(text, &key) != nil || !sound(key) {
			continue // of another kind, for another use or too weak; what it signed is not accepted
		}
		if keys = append(keys, key); len(keys) == maxKeys {
			break
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set holds no key that is accepted")
	}
	return keys, nil
}

// discover reads the address of the key set from the issuer's metadata, which must be the issuer's own (RFC 8414, 3.3).
func (s *keySet) discover(ctx context.Context) (string, error) {
	var failed error
	for _, address := range metadataAddresses(s.issuer.URL) {
		var metadata struct {
			Issuer string `json:"issuer"`
			Keys   string `json:"jwks_uri"`
		}
		if err := s.get(ctx, address, &metadata); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if metadata.Issuer != s.issuer.URL {
			return "", errors.New("the metadata is another issuer's")
		}
		if err := checkAddress("jwks_uri", metadata.Keys); err != nil {
			return "", err
		}
		// An issuer elsewhere has nothing to fetch from this machine.
		if strings.HasPrefix(metadata.Keys, "http:") && !strings.HasPrefix(s.issuer.URL, "http:") {
			return "", errors.New("the metadata names a key set without TLS")
		}
		return metadata.Keys, nil
	}
	return "", failed
}

func (s *keySet) get(ctx context.Context, address string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(address + " answers " + response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeysBytes+1))
	if err != nil {
		return err
	}
	if len(text) > maxKeysBytes {
		return errors.New(address + " answers with more than is read")
	}
	if err := json.Unmarshal(text, into); err != nil {
		return errors.New(address + " answers with something else than JSON of the right form")
	}
	return nil
}

// keysClient fetches without following redirects: where keys come from is what was configured.
func keysClient() *http.Client {
	return &http.Client{Timeout: keysTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// sound reports whether a key is a public one, for signatures, and long enough.
func sound(key jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey:
		return public.Curve == elliptic.P256()
	case ed25519.PublicKey:
		return true
	}
	return false
}

// fitting returns the keys that may have made a signature of this algorithm.
func fitting(keys []jose.JSONWebKey, id string, algorithm jose.SignatureAlgorithm) []jose.JSONWebKey {
	var fit []jose.JSONWebKey
	for _, key := range keys {
		if id != "" && key.KeyID != id || key.Algorithm != "" && key.Algorithm != string(algorithm) {
			continue
		}
		matches := false
		switch key.Key.(type) {
		case *rsa.PublicKey:
			matches = algorithm == jose.RS256 || algorithm == jose.PS256
		case *ecdsa.PublicKey:
			matches = algorithm == jose.ES256
		case ed25519.PublicKey:
			matches = algorithm == jose.EdDSA
		}
		if matches {
			fit = append(fit, key)
		}
	}
	return fit
}
