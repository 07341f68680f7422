package console

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// The bounds of a session.
const (
	sessionIdle = 20 * time.Minute // without a request
	sessionLife = 8 * time.Hour    // in all
	maxSessions = 256
)

// A session is one browser in which an operator is signed in. The secret in its cookie is kept as a hash only, and it ends
// with the process.
type session struct {
	ID       string // names it in lists and events; opens nothing
	Operator string
	Method   string // how the operator signed in
	Began    time.Time
	Seen     time.Time
	Browser  string // as it calls itself, shortened
	Current  bool   // in a list: the one that asks

	passkey string            // it began with, by id; empty for another method
	agent   [sha256.Size]byte // of the browser's whole name: a stolen cookie does not work elsewhere without more
	since   time.Time         // when the operator was made: a successor of the same name is another person
}

func (s *session) over(now time.Time) bool {
	return now.Sub(s.Seen) >= sessionIdle || now.Sub(s.Began) >= sessionLife || now.Before(s.Began)
}

// sessions are those of one process. It is safe for concurrent use.
type sessions struct {
	now    func() time.Time
	random io.Reader

	mu     sync.Mutex
	byHash map[[sha256.Size]byte]*session
}

func newSessions(now func() time.Time, random io.Reader) *sessions {
	return &sessions{now: now, random: random, byHash: map[[sha256.Size]byte]*session{}}
}

// begin signs an operator in and returns the session and its secret. Beyond the bound the one that was idle longest goes.
func (s *sessions) begin(operator interlock.OperatorRecord, method, passkey, browser string) (session, string, error) {
	var raw [40]byte
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.random, raw[:]); err != nil {
		return session{}, "", fmt.Errorf("making a session: %w", err)
	}
	secret := base64.RawURLEncoding.EncodeToString(raw[:32])
	now := s.now()
	var oldest [sha256.Size]byte
	for hash, other := range s.byHash {
		if other.over(now) {
			delete(s.byHash, hash)
		} else if known := s.byHash[oldest]; known == nil || other.Seen.Before(known.Seen) {
			oldest = hash
		}
	}
	if len(s.byHash) >= maxSessions {
		delete(s.byHash, oldest)
	}
	began := &session{ID: "ses_" + hex.EncodeToString(raw[32:]), Operator: operator.Name, Method: method, Began: now, Seen: now,
		Browser: shortened(browser), passkey: passkey, agent: sha256.Sum256([]byte(browser)), since: operator.Created}
	s.byHash[sha256.Sum256([]byte(secret))] = began
	return *began, secret, nil
}

// find returns the session of a secret. One that comes from another browser than it began in has been stolen: it ends.
func (s *sessions) find(secret, browser string) (found session, stolen bool) {
	hash := sha256.Sum256([]byte(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.byHash[hash]
	switch {
	case known == nil:
		return session{}, false
	case known.over(s.now()):
		delete(s.byHash, hash)
		return session{}, false
	case known.agent != sha256.Sum256([]byte(browser)):
		delete(s.byHash, hash)
		return *known, true
	}
	known.Seen = s.now()
	return *known, false
}

// end ends a session by its id, if it is the operator's.
func (s *sessions) end(id, operator string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for hash, known := range s.byHash {
		if known.ID == id && known.Operator == operator {
			delete(s.byHash, hash)
			return true
		}
	}
	return false
}

// of lists an operator's sessions, newest first.
func (s *sessions) of(operator, current string) []session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var own []session
	for _, known := range s.byHash {
		if known.Operator == operator && !known.over(s.now()) {
			one := *known
			one.Current = one.ID == current
			own = append(own, one)
		}
	}
	sort.Slice(own, func(i, j int) bool {
		return own[i].Began.After(own[j].Began) || own[i].Began.Equal(own[j].Began) && own[i].ID < own[j].ID
	})
	return own
}

func shortened(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' || r > '~' {
			r = '?'
		}
		if b.WriteRune(r); b.Len() >= 200 {
			break
		}
	}
	return b.String()
}

// A visitor is who a request comes from.
type visitor struct {
	session  session
	operator interlock.OperatorRecord
	in       bool   // signed in
	binding  string // what a CSRF token is bound to: the session's secret, or that of a browser before it has one
}

type visitorKey struct{}

func (c *Console) visitor(r *http.Request) visitor {
	v, _ := r.Context().Value(visitorKey{}).(visitor)
	return v
}

// operator returns who is signed in, as the record stands now.
func (c *Console) operator(r *http.Request) (interlock.OperatorRecord, bool) {
	v := c.visitor(r)
	return v.operator, v.in
}

// sessionCookie and visitCookie are prefixed where pages come over TLS, so that no neighbouring host can set them.
func (c *Console) sessionCookie() string { return c.cookieName("interlock") }
func (c *Console) visitCookie() string   { return c.cookieName("interlock-visit") }

func (c *Console) cookieName(name string) string {
	if c.secure {
		return "__Host-" + name
	}
	return name
}

func (c *Console) setCookie(w http.ResponseWriter, name, value string) {
	age := 0
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: c.secure,
		SameSite: http.SameSiteStrictMode})
}

// recognise finds out who a request comes from. The operator's record is read anew each time, so that a revocation holds at
// once.
func (c *Console) recognise(w http.ResponseWriter, r *http.Request) *http.Request {
	var v visitor
	if cookie, err := r.Cookie(c.sessionCookie()); err == nil {
		v = c.returning(w, r, cookie.Value)
	}
	if !v.in {
		v = visitor{binding: c.visit(w, r)}
	}
	return r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
}

// returning is the visitor a session's secret belongs to; nobody, if it counts no longer.
func (c *Console) returning(w http.ResponseWriter, r *http.Request, secret string) visitor {
	found, stolen := c.sessions.find(secret, r.UserAgent())
	if stolen {
		c.setCookie(w, c.sessionCookie(), "")
		c.record(r, found.Operator, "refused", "a session came from another browser than it began in, and was ended")
		_, err := c.config.Backend.RefuseApproval(r.Context(), "operator", found.Operator, "",
			interlock.Errorf(interlock.CodeUnauthorized, "session",
				"a session was used from another browser than it began in"))
		if err != nil {
			c.config.Logger.ErrorContext(r.Context(), "a stolen session could not be recorded", "operator", found.Operator)
		}
		return visitor{}
	}
	if found.ID == "" {
		c.setCookie(w, c.sessionCookie(), "")
		return visitor{}
	}
	operator, err := c.operatorNamed(r.Context(), found.Operator)
	if err != nil {
		c.config.Logger.ErrorContext(r.Context(), "the operators can't be read", "error", err.Error())
		return visitor{}
	}
	if why := c.over(found, operator); why != "" {
		c.sessions.end(found.ID, found.Operator)
		c.setCookie(w, c.sessionCookie(), "")
		c.record(r, found.Operator, "ended", why)
		return visitor{}
	}
	return visitor{session: found, operator: operator, in: true, binding: "session " + secret}
}

// over says why a session counts no longer, as its operator's record stands now; empty: it does.
func (c *Console) over(s session, operator interlock.OperatorRecord) string {
	switch {
	// a successor of the same name is another person
	case !inOffice(operator, c.config.Now()) || !operator.Created.Equal(s.since):
		return "the operator is revoked"
	case s.passkey != "" && !hasPasskey(operator, s.passkey):
		return "the passkey it began with was removed"
	}
	return ""
}

// visit is a random value of a browser that is not signed in, to bind its forms to.
func (c *Console) visit(w http.ResponseWriter, r *http.Request) string {
	if cookie, err := r.Cookie(c.visitCookie()); err == nil && len(cookie.Value) == 22 {
		return "visit " + cookie.Value
	}
	var raw [16]byte
	if _, err := io.ReadFull(c.config.Random, raw[:]); err != nil {
		return "" // no token is made for nothing, so forms are refused
	}
	value := base64.RawURLEncoding.EncodeToString(raw[:])
	c.setCookie(w, c.visitCookie(), value)
	return "visit " + value
}

// signedIn lets operators through and sends everybody else to the login page.
func (c *Console) signedIn(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := c.operator(r); ok {
			next(w, r)
			return
		}
		// A live page's stream has nobody to show a login page to.
		if r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Accept") == "text/event-stream" {
			c.fail(w, r, interlock.Errorf(interlock.CodeUnauthorized, "session", "the session has ended; log in again"))
			return
		}
		http.Redirect(w, r, "/login?next="+escape(r.URL.RequestURI()), http.StatusSeeOther)
	})
}

// record leaves an event about who came and went. One that can't be written is logged: nothing was allowed by it.
func (c *Console) record(r *http.Request, operator, what, reason string) {
	if err := c.config.Backend.RecordSession(r.Context(),
		auditlog.SessionRecord{Operator: operator, What: what, Reason: reason}); err != nil {
		c.config.Logger.ErrorContext(r.Context(), "a session event could not be recorded", "operator", operator, "what", what)
	}
}

func (c *Console) sessionsPage(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	push, err := c.pushing(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.render(w, r, http.StatusOK, "sessions.html", "Sessions", struct {
		Sessions []session
		Passkeys []interlock.Passkey
		Push     *pushing
	}{c.sessions.of(v.operator.Name, v.session.ID), v.operator.Passkeys, push})
}

func (c *Console) endSession(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	id := r.PostFormValue("id")
	if !c.sessions.end(id, v.operator.Name) {
		c.fail(w, r, interlock.Errorf(interlock.CodeNotFound, "id", "no session of yours has this id"))
		return
	}
	c.record(r, v.operator.Name, "ended", id+" was ended by its operator")
	http.Redirect(w, r, "/sessions", http.StatusSeeOther)
}

func (c *Console) logout(w http.ResponseWriter, r *http.Request) {
	v := c.visitor(r)
	c.sessions.end(v.session.ID, v.operator.Name)
	c.setCookie(w, c.sessionCookie(), "")
	c.record(r, v.operator.Name, "left", "")
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
