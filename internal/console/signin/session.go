package signin

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
	"time"

	"interlock"
)

// The bounds of a session.
const (
	sessionIdle = 20 * time.Minute // without a request
	sessionLife = 8 * time.Hour    // in all
	maxSessions = 256
)

// A Session is one browser in which an operator is signed in. The secret in its cookie is kept as a hash only, and it ends
// with the process.
type Session struct {
	ID       string // names it in lists and events; opens nothing
	Operator string
	Method   string // how the operator signed in
	Began    time.Time
	Seen     time.Time
	Browser  string // as it calls itself, shortened
	Current  bool   // in a list: the one that asks

	Passkey string            // it began with, by id; empty for another method
	agent   [sha256.Size]byte // of the browser's whole name: a stolen cookie does not work elsewhere without more
	Since   time.Time         // when the operator was made: a successor of the same name is another person
}

func (s *Session) over(now time.Time) bool {
	return now.Sub(s.Seen) >= sessionIdle || now.Sub(s.Began) >= sessionLife || now.Before(s.Began)
}

// Sessions are those of one process. It is safe for concurrent use.
type Sessions struct {
	now    func() time.Time
	random io.Reader

	mu     sync.Mutex
	byHash map[[sha256.Size]byte]*Session
}

func NewSessions(now func() time.Time, random io.Reader) *Sessions {
	return &Sessions{now: now, random: random, byHash: map[[sha256.Size]byte]*Session{}}
}

// Begin signs an operator in and returns the session and its secret. Beyond the bound the one that was idle longest goes.
func (s *Sessions) Begin(operator interlock.OperatorRecord, method, passkey, browser string) (Session, string, error) {
	var raw [40]byte
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.random, raw[:]); err != nil {
		return Session{}, "", fmt.Errorf("making a session: %w", err)
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
	began := &Session{ID: "ses_" + hex.EncodeToString(raw[32:]), Operator: operator.Name, Method: method, Began: now, Seen: now,
		Browser: Shortened(browser), Passkey: passkey, agent: sha256.Sum256([]byte(browser)), Since: operator.Created}
	s.byHash[sha256.Sum256([]byte(secret))] = began
	return *began, secret, nil
}

// Find returns the session of a secret. One that comes from another browser than it began in has been stolen: it ends.
func (s *Sessions) Find(secret, browser string) (found Session, stolen bool) {
	hash := sha256.Sum256([]byte(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.byHash[hash]
	switch {
	case known == nil:
		return Session{}, false
	case known.over(s.now()):
		delete(s.byHash, hash)
		return Session{}, false
	case known.agent != sha256.Sum256([]byte(browser)):
		delete(s.byHash, hash)
		return *known, true
	}
	known.Seen = s.now()
	return *known, false
}

// End ends a session by its id, if it is the operator's.
func (s *Sessions) End(id, operator string) bool {
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

// Of lists an operator's sessions, newest first.
func (s *Sessions) Of(operator, current string) []Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	var own []Session
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

func Shortened(s string) string {
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

// A Visitor is who a request comes from.
type Visitor struct {
	Session  Session
	Operator interlock.OperatorRecord
	In       bool   // signed in
	Binding  string // what a CSRF token is bound to: the session's secret, or that of a browser before it has one
}

type VisitorKey struct{}

// Stands reports whether a session has not ended.
func (s *Sessions) Stands(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.byHash {
		if known.ID == id {
			return !known.over(s.now())
		}
	}
	return false
}
