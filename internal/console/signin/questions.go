package signin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
)

// The bounds of questions.
const (
	questionLife = 5 * time.Minute
	maxSpent     = 1024
)

// Questions are what browsers are asked to have signed by a passkey, beside approvals: each is answered once, by the browser it
// was put to. A question is not kept: what comes back with the answer says what was asked, under a code of this process. So
// however many strangers load the page, nobody's question is lost by it. It is safe for concurrent use.
type Questions struct {
	now    func() time.Time
	random io.Reader
	secret []byte // of this process; questions of another count for nothing
	origin string

	mu    sync.Mutex
	spent map[string]time.Time // what counted once, until it would not count anyway
	tried map[string]bool      // questions that came back with whatever answer, as long as there is room to remember them
}

func NewQuestions(now func() time.Time, random io.Reader, secret []byte, origin string) *Questions {
	return &Questions{now: now, random: random, secret: secret, origin: origin,
		spent: map[string]time.Time{}, tried: map[string]bool{}}
}

// Ask makes a question that nobody was asked before, for one browser. It returns what the form sends back, and the text to sign.
func (q *Questions) Ask(header, binding string) (asked, text string, err error) {
	var raw [16]byte
	q.mu.Lock() // the source of randomness may not be safe by itself
	_, err = io.ReadFull(q.random, raw[:])
	q.mu.Unlock()
	if err != nil {
		return "", "", fmt.Errorf("asking for a signature: %w", err)
	}
	expires := q.now().Add(questionLife)
	plain := hex.EncodeToString(raw[:]) + "." + strconv.FormatInt(expires.UnixNano(), 10)
	return plain + "." + q.code(plain, header, binding), q.text(header, hex.EncodeToString(raw[:]), expires), nil
}

func (q *Questions) text(header, nonce string, expires time.Time) string {
	return header + "origin: " + strconv.QuoteToASCII(q.origin) + "\nnonce: " + nonce + "\nexpires: " +
		expires.UTC().Format(time.RFC3339Nano) + "\n"
}

// code binds a question to its kind and its browser. Codes of forms are made over something that begins otherwise.
func (q *Questions) code(plain, header, binding string) string {
	mac := hmac.New(sha256.New, q.secret)
	mac.Write([]byte("question\n" + plain + "\n" + header + binding))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Take returns the text of a question that was put to this browser, is not too old and did not come back yet.
func (q *Questions) Take(asked, header, binding string) (string, error) {
	old := interlock.Errorf(interlock.CodeExpired, "nonce", "the page is too old or was used already; load it again")
	nonce, rest, _ := strings.Cut(asked, ".")
	when, code, _ := strings.Cut(rest, ".")
	if binding == "" || !hmac.Equal([]byte(code), []byte(q.code(nonce+"."+when, header, binding))) {
		return "", old
	}
	at, err := strconv.ParseInt(when, 10, 64)
	if err != nil {
		return "", old // unreachable: this process wrote it
	}
	expires := time.Unix(0, at)
	if !q.now().Before(expires) || !q.first(nonce) {
		return "", old
	}
	return q.text(header, nonce, expires), nil
}

// Answered remembers that a question was answered, and fails if it was before.
func (q *Questions) Answered(asked string) error {
	nonce, _, _ := strings.Cut(asked, ".")
	if !q.Spend(nonce, q.now().Add(questionLife)) {
		return interlock.Errorf(interlock.CodeExpired, "nonce", "the page is too old or was used already; load it again")
	}
	return nil
}

// first reports whether a question comes back for the first time. Strangers can fill this memory with wrong answers, and then it is
// forgotten; a right answer is remembered by spend, and nobody but operators can give one.
func (q *Questions) first(nonce string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, tried := q.tried[nonce]
	_, spent := q.spent[nonce]
	if tried || spent {
		return false
	}
	if len(q.tried) >= maxSpent {
		clear(q.tried)
	}
	q.tried[nonce] = true
	return true
}

// Spend remembers something until a time, and reports whether it was new. It refuses what it has no room to remember.
func (q *Questions) Spend(what string, until time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for other, asked := range q.spent {
		if !now.Before(asked) {
			delete(q.spent, other)
		}
	}
	if _, known := q.spent[what]; known || len(q.spent) >= maxSpent {
		return false
	}
	q.spent[what] = until
	return true
}
