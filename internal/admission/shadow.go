package admission

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/engine"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// The bounds of deciding beside the ruleset in force. What there is no room for is counted and left out: nobody waits.
const (
	maxShadowed   = 256             // decisions that wait to be made under the candidate
	shadowLook    = time.Second     // between two looks at whether there is a candidate
	shadowRest    = 2 * time.Second // between two times that what was counted is noted
	shadowFarwell = 2 * time.Second // for what still waits when the process ends
)

// A shadowed decision is one that was made, recorded and answered, with what it was made from.
type shadowed struct {
	proposal interlock.Proposal
	under    *core.ActiveRules // what made it
	made     evaluation
	event    string
	index    int64
	at       time.Time
}

// A candidate is the ruleset that decides beside the one in force.
type candidate struct {
	body  ledger.CandidateBody
	rules *ruleset.Ruleset
}

// shadow decides beside. It has no part in any answer: what it is handed has been answered already.
type shadow struct {
	a     *Admission
	queue chan shadowed
	stop  chan struct{}

	guard  sync.Mutex // of begin and close
	closed bool

	dropped atomic.Int64
	runs    atomic.Bool  // there was a candidate at the last look
	looked  atomic.Int64 // when that was, in nanoseconds
	changes atomic.Int64 // how often this process has begun or ended one
	known   atomic.Int64 // how many of them were looked at
	working atomic.Bool
	work    sync.WaitGroup

	candidate *candidate // the worker's own, as everything below
	counted   ledger.ShadowBody
}

func newShadow(a *Admission) *shadow {
	return &shadow{a: a, queue: make(chan shadowed, maxShadowed), stop: make(chan struct{})}
}

// beside hands over a decision that was answered. It costs two loads where no candidate decides.
func (s *shadow) beside(one shadowed) {
	if s == nil {
		return
	}
	if !s.a.Config.Brief && !s.runs.Load() && !s.stale() && one.at.UnixNano()-s.looked.Load() < int64(shadowLook) {
		return
	}
	select {
	case s.queue <- one:
	default:
		s.dropped.Add(1)
	}
	if !s.a.Config.Brief { // which has its answer to give first
		s.begin()
	}
}

// begin starts the worker if it rests.
func (s *shadow) begin() {
	if s.working.Load() {
		return
	}
	s.guard.Lock()
	defer s.guard.Unlock()
	if !s.closed && s.working.CompareAndSwap(false, true) {
		s.work.Go(s.run)
	}
}

// run decides what waits, notes what it has counted now and then, and rests when nothing has come for a while.
func (s *shadow) run() {
	defer func() {
		s.working.Store(false)
		if len(s.queue) > 0 { // it came while this one ended
			s.begin()
		}
	}()
	if !s.look() {
		s.drain(false)
		return
	}
	rest := time.NewTimer(shadowRest)
	defer rest.Stop()
	for {
		select {
		case one := <-s.queue:
			if s.stale() {
				s.note()
				if !s.look() {
					s.drain(false)
					return
				}
			}
			s.decide(one)
		case <-s.stop:
			s.drain(true)
			s.note()
			return
		case <-rest.C:
			busy := s.counted.Decisions > 0
			s.note()
			if !busy && len(s.queue) == 0 {
				return
			}
			if !s.look() {
				s.drain(false)
				return
			}
			rest.Reset(shadowRest)
		}
	}
}

// drain empties the queue, deciding what waits in it or not.
func (s *shadow) drain(deciding bool) {
	deadline := time.Now().Add(shadowFarwell)
	for {
		select {
		case one := <-s.queue:
			if deciding && time.Now().Before(deadline) {
				s.decide(one)
			} else if deciding {
				s.dropped.Add(1)
			}
		default:
			if !deciding {
				s.dropped.Store(0)
			}
			return
		}
	}
}

// close decides what waits, notes it and ends. A brief process begins here, after its answer.
func (s *shadow) close() {
	if s == nil {
		return
	}
	if s.a.Config.Brief && len(s.queue) > 0 {
		s.begin()
	}
	s.guard.Lock()
	if !s.closed {
		s.closed = true
		close(s.stop)
	}
	s.guard.Unlock()
	s.work.Wait()
}

// look reads which candidate there is, and reports whether it can decide. One that has run out decides no more.
func (s *shadow) look() bool {
	changes := s.changes.Load()
	found := s.find()
	s.looked.Store(s.a.Config.Now().UnixNano())
	s.runs.Store(found)
	s.known.Store(changes) // until then whatever is decided waits to be looked at
	if !found {
		s.candidate, s.counted = nil, ledger.ShadowBody{}
	}
	return found
}

func (s *shadow) find() (found bool) {
	defer func() { // rules that nobody has tried yet must not end the process that decides
		if recover() != nil {
			found = false
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), shadowFarwell)
	defer cancel()
	body, _, err := s.a.Candidate(ctx)
	if err != nil || body.Ruleset == "" || !s.a.Config.Now().Before(body.Until) {
		return false
	}
	if s.candidate != nil && s.candidate.body.Ruleset == body.Ruleset && s.candidate.body.Began.Equal(body.Began) {
		return true
	}
	rules, err := s.a.RulesOfCandidate(body)
	if err != nil {
		return false
	}
	s.candidate, s.counted = &candidate{body, rules}, ledger.ShadowBody{}
	return true
}

// decide makes one decision under the candidate and counts how it compares. A panic of rules that nobody has tried is
// counted too.
func (s *shadow) decide(one shadowed) {
	if one.at.Before(s.candidate.body.Began) {
		return
	}
	defer func() {
		if recover() != nil {
			s.counted.Failed++
		}
	}()
	now := decideUnder(&one.under.Evaluator, s.candidate.rules, &one)
	s.count(&one, &now)
}

// decideUnder decides again what was decided, under other rules: from the same analysis, unless they call other things
// production. Approvals and grants are for a ruleset, so none count; that changes answers, and what is compared is verdicts.
func decideUnder(e *core.Evaluator, rules *ruleset.Ruleset, one *shadowed) interlock.Decision {
	snapshot, analysis := one.made.snapshot, one.made.analysis
	snapshot.Grants = nil
	if !slices.Equal(rules.Production(), e.Rules.Production()) || !slices.Equal(rules.Staging(), e.Rules.Staging()) {
		snapshot.View.Staging = rules.Staging()
		snapshot.View.Production = append(slices.Clone(one.proposal.View.Production), rules.Production()...)
		analysis = e.Analyser.Analyse(snapshot.View, one.proposal.Action)
	}
	return engine.Decide(rules, snapshot, one.proposal.Action, analysis, one.made.limits, nil, one.at)
}

func (s *shadow) count(one *shadowed, now *interlock.Decision) {
	was := &one.made.Decision
	s.counted.Count(one.at, was.Verdict, now.Verdict)
	if was.Verdict == now.Verdict {
		return
	}
	stricter := was
	if now.Verdict.Compare(was.Verdict) > 0 {
		stricter = now
	}
	p := ledger.Parted{Agent: one.proposal.Requester.Agent, Rule: "none", Was: was.Verdict, Now: now.Verdict, Count: 1,
		Examples: []ledger.PartedExample{{Event: one.event, Index: one.index, At: one.at}}}
	if f := stricter.Decisive(); f != nil {
		p.Rule, p.Examples[0].Reason = f.Rule, s.a.Redact(f.Reason)
	}
	s.counted.Part(p)
}

// changed says that this process has begun or ended a shadow.
func (s *shadow) changed() {
	if s != nil {
		s.changes.Add(1)
	}
}

func (s *shadow) stale() bool { return s.changes.Load() != s.known.Load() }

// note adds what was counted to what is kept of the candidate. What can't be noted now is noted later, or gone with the
// process: nothing depends on it.
func (s *shadow) note() {
	s.counted.Dropped += int(s.dropped.Swap(0))
	if s.candidate == nil || s.counted.Decisions+s.counted.Dropped+s.counted.Failed == 0 {
		return
	}
	more := s.counted
	s.counted = ledger.ShadowBody{}
	if more.To.IsZero() { // nothing but what was dropped
		more.To = s.a.Config.Now().UTC()
		more.From = more.To
	}
	ctx, cancel := context.WithTimeout(context.Background(), shadowFarwell)
	defer cancel()
	err := s.a.Config.Store.Note(ctx, core.Key(ledger.Shadow, string(s.candidate.body.Ruleset)), func(value any) (any, error) {
		have, _ := value.(ledger.ShadowBody)
		have.Ruleset = s.candidate.body.Ruleset
		have.Add(more)
		return have, nil
	})
	if err != nil {
		more.Add(s.counted)
		s.counted = more
	}
}
