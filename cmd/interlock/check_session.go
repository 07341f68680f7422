package main

import (
	"encoding/json"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/origin"
	"interlock/internal/strictjson"
)

// The bounds of sessions that `check --jsonl` keeps apart, and of the calls of one whose results it can place. Whoever is over
// them is judged as if nothing had been before.
const (
	maxSessions     = 1024
	maxSessionCalls = 1024
)

// checkSessions is what the rows of --jsonl have told of the runs they belong to.
type checkSessions map[string]*checkSession

// A checkSession is one run: what it did, what it heard, and its calls by the id of their rows.
type checkSession struct {
	recent []interlock.PastAction
	heard  interlock.Heard
	calls  map[string]checkCall
}

type checkCall struct {
	action interlock.Action
	view   interlock.View
}

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
		session = &checkSession{calls: map[string]checkCall{}}
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
	case r.Prompt != nil && (len(r.Of) > 0 || len(r.Result) > 0 || r.Kind != "" || len(r.Input) > 0), r.Kind != "", len(r.Input) > 0:
		return answer, interlock.Errorf(interlock.CodeInvalid, "", "tells and proposes something at once; make two lines of it")
	case r.Prompt != nil:
		s.heard = e.Prompted(s.heard, r.Session, *r.Prompt, now)
		return answer, nil
	case len(r.Of) == 0 || len(r.Result) == 0:
		return answer, interlock.Errorf(interlock.CodeInvalid, "/of", "and result come together: the id of the call, and what it returned")
	}
	call, known := s.calls[callKey(r.Of)]
	if !known {
		return answer, interlock.Errorf(interlock.CodeNotFound, "/of", "names no line of this session so far")
	}
	before := s.heard.Orders
	s.heard = e.Returned(s.heard, r.Session, call.view, call.action, origin.Text(r.Result), now)
	answer.Heard, answer.Orders = "result", s.heard.Orders > before
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
func (s *checkSession) before(p *interlock.Proposal, session string, now time.Time) []interlock.PastAction {
	if s == nil {
		return nil
	}
	p.Requester.Run = session
	p.Origin = origin.Of(s.heard, session, p.Action, now)
	return s.recent
}

// after remembers what was judged.
func (s *checkSession) after(e *admission.Evaluator, id json.RawMessage, p interlock.Proposal, d interlock.Decision, now time.Time) {
	if s == nil {
		return
	}
	if past, ok := e.Rules.Remember(p.Action.Kind, d, now); ok {
		s.recent = interlock.Remember(s.recent, past)
	}
	if len(id) == 0 {
		return
	}
	if len(s.calls) >= maxSessionCalls {
		clear(s.calls)
	}
	s.calls[callKey(id)] = checkCall{p.Action, p.View}
}
