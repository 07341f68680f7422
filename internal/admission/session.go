package admission

import (
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/origin"
)

// maxSessionCalls bounds the calls of a session whose results can be placed. A session over it is heard as if it had not called.
const maxSessionCalls = 1024

// maxSessionFetched bounds the places remembered as fetched of one session.
const maxSessionFetched = 48

// A Session is one run as it is told afterwards, row by row: what its user said, what it proposed, what came back. It judges an
// action with what came before it, from nothing but what it was told. A nil Session judges every action as a run's first.
type Session struct {
	run    string
	recent []interlock.PastAction
	heard  origin.Heard
	calls  map[string]sessionCall
	// places that were fetched, oldest first
	fetched []string
}

type sessionCall struct {
	action interlock.Action
	view   interlock.View
}

// NewSession is a run that nothing has been told of.
func NewSession(run string) *Session { return &Session{run: run, calls: map[string]sessionCall{}} }

// Prompt takes in what the user said.
func (s *Session) Prompt(e *core.Evaluator, text string, now time.Time) {
	s.heard = e.Prompted(s.heard, s.run, text, now)
}

// Result takes in what the call of that id returned: known, if there was such a call, and whether it gives orders.
func (s *Session) Result(e *core.Evaluator, id, text string, now time.Time) (orders, known bool) {
	call, known := s.calls[id]
	if !known {
		return false, false
	}
	before := s.heard.Orders
	s.heard = e.Returned(s.heard, s.run, call.view, call.action, text, now)
	return s.heard.Orders > before, true
}

// Before fills in what came before in this session, as far as rules ask for it.
func (s *Session) Before(e *core.Evaluator, p *Case, now time.Time) {
	if s == nil {
		return
	}
	p.Requester.Run = s.run
	p.Origin = origin.Of(s.heard, s.run, p.Action, now)
	p.View.Fetched = slices.Clone(s.fetched)
	p.Recent = e.Rules.Recent(s.recent, now)
}

// After remembers what was judged. A call without an id can't be told a result.
func (s *Session) After(e *core.Evaluator, id string, p *Case, d interlock.Decision, now time.Time) {
	if s == nil {
		return
	}
	if past, ok := e.Rules.Remember(p.Action.Kind, d, now); ok {
		s.recent = interlock.Remember(s.recent, past)
	}
	for _, name := range brought(p.View, p.Origin, d) {
		if !slices.Contains(s.fetched, name) {
			s.fetched = append(s.fetched, name)
		}
	}
	if over := len(s.fetched) - maxSessionFetched; over > 0 {
		s.fetched = s.fetched[over:]
	}
	if id == "" {
		return
	}
	if len(s.calls) >= maxSessionCalls {
		clear(s.calls)
	}
	s.calls[id] = sessionCall{p.Action, p.View}
}
