package try

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/origin"
	"interlock/internal/strictjson"
)

// maxSessions bounds the sessions that `check --jsonl` keeps apart. A session over it is judged as if nothing had been before.
const maxSessions = 1024

// checkSessions is what the rows of --jsonl have told of the runs they belong to.
type checkSessions map[string]*checkSession

// A checkSession is one run.
type checkSession struct{ *admission.Session }

// of returns the session of a row; nil where the row names none.
func (s checkSessions) of(name string) *checkSession {
	if name == "" {
		return nil
	}
	session := s[name]
	if session == nil {
		if len(s) >= maxSessions {
			clear(s)
		}
		session = &checkSession{admission.NewSession(name)}
		s[name] = session
	}
	return session
}

// checkHeard is what is answered to a row that only tells something.
type checkHeard struct {
	Session string `json:"session"`
	Heard   string `json:"heard"` // prompt or result
	Orders  bool   `json:"orders,omitempty"`
}

// tells reports whether a row says what the user said or what a call returned, instead of proposing something.
func (r *checkRequest) tells() bool { return r.Prompt != nil || len(r.Of) > 0 || len(r.Result) > 0 }

// hear takes in what a row tells.
func (s *checkSession) hear(e *admission.Evaluator, r *checkRequest, now time.Time) (checkHeard, error) {
	answer := checkHeard{Session: r.Session, Heard: "prompt"}
	switch {
	case s == nil:
		return answer, interlock.Errorf(interlock.CodeInvalid, "/session", "is missing; a prompt or a result belongs to one")
	case r.Prompt != nil && (len(r.Of) > 0 || len(r.Result) > 0 || r.Kind != "" || len(r.Input) > 0), r.Kind != "",
		len(r.Input) > 0:
		return answer, interlock.Errorf(interlock.CodeInvalid, "", "tells and proposes something at once; make two lines of it")
	case r.Prompt != nil:
		s.Prompt(e, *r.Prompt, now)
		return answer, nil
	case len(r.Of) == 0 || len(r.Result) == 0:
		return answer, interlock.Errorf(interlock.CodeInvalid, "/of",
			"and result come together: the id of the call, and what it returned")
	}
	orders, known := s.Session.Result(e, callKey(r.Of), origin.Text(r.Result), now)
	if !known {
		return answer, interlock.Errorf(interlock.CodeNotFound, "/of", "names no line of this session so far")
	}
	answer.Heard, answer.Orders = "result", orders
	return answer, nil
}

// callKey is an id as rows may spell it.
func callKey(id json.RawMessage) string {
	if canonical, err := strictjson.Canonical(id); err == nil {
		return string(canonical)
	}
	return string(id)
}

// before fills in what came before in this session.
func (s *checkSession) before(e *admission.Evaluator, p *admission.Case, now time.Time) {
	if s != nil {
		s.Before(e, p, now)
	}
}

// after remembers what was judged.
func (s *checkSession) after(e *admission.Evaluator, id json.RawMessage, p *admission.Case,
	d interlock.Decision, now time.Time) {
	if s == nil {
		return
	}
	key := ""
	if len(id) > 0 {
		key = callKey(id)
	}
	s.After(e, key, p, d, now)
}

// printText shows a person what the classifier found.
func printText(w io.Writer, c *interlock.Classified) error {
	if c == nil {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "text   %s", c.Classification)
	if c.Rule != "" {
		fmt.Fprintf(&b, " by %s: %s", c.Rule, c.Reason)
	}
	b.WriteString("\n")
	for _, s := range c.Spans {
		fmt.Fprintf(&b, "  - bytes %d to %d: %s, by %s\n", s.Start, s.End, s.Kind, s.Rule)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
