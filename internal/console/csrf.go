package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"interlock"
)

// maxForm bounds what a form may send.
const maxForm = 256 << 10

// csrf is the value of the hidden field csrf in every form of this request's browser.
func (c *Console) csrf(r *http.Request) string {
	v := c.visitor(r)
	if v.Binding == "" {
		return ""
	}
	mac := hmac.New(sha256.New, c.secret)
	mac.Write([]byte(v.Binding))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// checkForgery refuses a request that changes something and does not come from a form of ours in the same browser. Browsers
// say where a request comes from; those that don't must bring the token, and the others must as well.
func (c *Console) checkForgery(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return nil
	case http.MethodPost:
	default:
		return interlock.Errorf(interlock.CodeInvalid, "", "the console takes GET and POST")
	}
	refused := interlock.Errorf(interlock.CodeUnauthorized, "csrf",
		"this did not come from a page of this console; load the page again")
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return refused
	}
	if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && origins[0] != c.origin {
		return refused
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "", "the form can't be read or is larger than %d bytes", maxForm)
	}
	want := c.csrf(r)
	if want == "" || !hmac.Equal([]byte(r.PostForm.Get("csrf")), []byte(want)) {
		return refused
	}
	return nil
}

// The limiter of attempts to sign in or enrol. Nothing here can be guessed; it bounds what a flood can cost.
const (
	attemptBurst = 20
	attemptEvery = 3 * time.Second
	maxLimited   = 1024
)

// A limiter lets each source do so much at once and then one after another. It is safe for concurrent use.
type limiter struct {
	now func() time.Time

	mu   sync.Mutex
	full map[string]time.Time // when a source has its whole burst again
}

func newLimiter(now func() time.Time) *limiter {
	return &limiter{now: now, full: map[string]time.Time{}}
}

// allow takes one attempt of a source, if it has one.
func (l *limiter) allow(source string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.full) >= maxLimited {
		for other, at := range l.full {
			if !now.Before(at) {
				delete(l.full, other)
			}
		}
		if _, known := l.full[source]; !known && len(l.full) >= maxLimited {
			return false
		}
	}
	at := l.full[source]
	if at.Before(now) {
		at = now
	}
	if at = at.Add(attemptEvery); at.Sub(now) > attemptBurst*attemptEvery {
		return false
	}
	l.full[source] = at
	return true
}
