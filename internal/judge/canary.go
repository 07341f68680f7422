package judge

import (
	"context"
	"sync"
	"time"

	"interlock"
)

// A Canary is how a judge is tested: one question that it must deny and one that it must allow.
type Canary struct {
	Deny, Allow []byte // payloads of actions
	Every       time.Duration
	Tested      func(Trial) // called after every test, also where it went well; nil: nobody hears of it
}

// A Trial is what came of testing a judge. One that was not passed is an alarm.
type Trial struct {
	Judge   string                 `json:"judge"`
	At      time.Time              `json:"at"`
	Passed  bool                   `json:"passed"`
	Failure interlock.JudgeFailure `json:"failure,omitempty"` // canary where it judged wrongly, else why it did not judge
	Reason  string                 `json:"reason,omitempty"`
	Bad     interlock.Judgment     `json:"bad"`  // of what must be denied
	Good    interlock.Judgment     `json:"good"` // of what must be allowed; not asked where the other failed
}

// recheckAfter is how long a judge that judged wrongly is not tested again by callers; the schedule and people test it earlier.
const recheckAfter = time.Minute

// A proof is when a judge last passed its test, or why it did not.
type proof struct {
	turn  chan struct{} // one test at a time
	mutex sync.Mutex
	last  Trial
	until time.Time // the test is good until then; zero: it was not passed
}

func newProof() proof { return proof{turn: make(chan struct{}, 1)} }

// ProvedAt has the judge count as tested then, by another process with the same identity: a process that lives for one question need
// not test it first.
func (c *Client) ProvedAt(at time.Time) {
	c.proof.mutex.Lock()
	defer c.proof.mutex.Unlock()
	if at.After(c.config.Now()) {
		return
	}
	c.proof.last = Trial{Judge: c.config.Name, At: at, Passed: true}
	c.proof.until = at.Add(2 * c.config.Canary.Every)
}

// Keep tests the judge now and on its schedule until ctx ends.
func (c *Client) Keep(ctx context.Context) {
	ticker := time.NewTicker(c.config.Canary.Every)
	defer ticker.Stop()
	for {
		c.Test(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Test asks the judge both questions of its canary, whatever breaker and queue say.
func (c *Client) Test(ctx context.Context) Trial {
	select {
	case c.proof.turn <- struct{}{}:
		defer func() { <-c.proof.turn }()
	case <-ctx.Done():
		return Trial{Judge: c.config.Name, At: c.config.Now(), Failure: interlock.JudgeTimeout, Reason: "another test was under way"}
	}
	return c.test(ctx)
}

func (c *Client) test(ctx context.Context) Trial {
	t := Trial{Judge: c.config.Name, At: c.config.Now()}
	t.Bad = c.testOne(ctx, c.config.Canary.Deny)
	if t.Bad.Failure == "" {
		t.Good = c.testOne(ctx, c.config.Canary.Allow)
	}
	switch {
	case t.Bad.Failure != "":
		t.Failure, t.Reason = t.Bad.Failure, t.Bad.Reason
	case t.Bad.Verdict == interlock.Allow:
		t.Failure, t.Reason = interlock.JudgeCanary, "it allows what it must deny"
	case t.Good.Failure != "":
		t.Failure, t.Reason = t.Good.Failure, t.Good.Reason
	case t.Good.Verdict != interlock.Allow:
		t.Failure, t.Reason = interlock.JudgeCanary, "it denies what it must allow"
	default:
		t.Passed = true
	}
	if t.Passed || ctx.Err() == nil { // who gives up while testing has proved nothing
		c.proof.mutex.Lock()
		c.proof.last, c.proof.until = t, time.Time{}
		if t.Passed {
			c.proof.until = t.At.Add(2 * c.config.Canary.Every)
		}
		c.proof.mutex.Unlock()
	}
	if c.config.Canary.Tested != nil {
		c.config.Canary.Tested(t)
	}
	return t
}

func (c *Client) testOne(ctx context.Context, payload []byte) interlock.Judgment {
	start := c.config.Now()
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	body, refused := c.written(interlock.JudgeQuestion{Subject: interlock.JudgeAction, Payload: payload})
	if refused.Failure != "" {
		return c.signed(refused, start)
	}
	return c.signed(c.send(ctx, body), start)
}

// proved reports whether the judge has passed its test lately. Where nobody has tested it yet, or the schedule stood still, it is tested
// now, by the first caller.
func (c *Client) proved(ctx context.Context) (interlock.Judgment, bool) {
	if refused, known := c.standing(); known {
		return refused, refused.Failure == ""
	}
	probe, may := c.breaker.enter(c.config.Now())
	if !may {
		return failed(interlock.JudgeBreaker, "the judge failed too often and is not asked for a while"), false
	}
	select {
	case c.proof.turn <- struct{}{}:
		defer func() { <-c.proof.turn }()
	case <-ctx.Done():
		c.breaker.leave(c.config.Now(), probe, wentNeither)
		return failed(interlock.JudgeTimeout, "the judge was being tested"), false
	}
	if refused, known := c.standing(); known { // somebody else has
		c.breaker.leave(c.config.Now(), probe, wentNeither)
		return refused, refused.Failure == ""
	}
	t := c.test(ctx)
	how := wentWell
	if !t.Passed && t.Failure != interlock.JudgeCanary {
		how = outcome(ctx, failed(t.Failure, ""))
	}
	c.breaker.leave(c.config.Now(), probe, how)
	if t.Passed {
		return interlock.Judgment{}, true
	}
	return failed(t.Failure, "tested first: "+t.Reason), false
}

// standing is what is known without asking: that the judge was tested, or that it judged wrongly a moment ago.
func (c *Client) standing() (refused interlock.Judgment, known bool) {
	c.proof.mutex.Lock()
	defer c.proof.mutex.Unlock()
	now := c.config.Now()
	switch {
	case now.Before(c.proof.until):
		return interlock.Judgment{}, true
	case c.proof.last.Failure == interlock.JudgeCanary && now.Sub(c.proof.last.At) < min(recheckAfter, c.config.Canary.Every):
		return failed(interlock.JudgeCanary, "the judge failed its test: "+c.proof.last.Reason), true
	}
	return interlock.Judgment{}, false
}

// A Status is how a judge is doing in this process.
type Status struct {
	interlock.JudgeIdentity
	Breaker  string    `json:"breaker"`
	Until    time.Time `json:"open_until,omitzero"`
	Tested   time.Time `json:"tested,omitzero"` // zero: not by this process
	Passed   bool      `json:"passed"`
	Reason   string    `json:"reason,omitempty"`
	InFlight int       `json:"in_flight"`
	Waiting  int       `json:"waiting"`
}

// Status is how the judge is doing.
func (c *Client) Status() Status {
	s := Status{JudgeIdentity: c.identity, InFlight: len(c.queue.slots), Waiting: int(c.queue.waiting.Load())}
	s.Breaker, s.Until = c.breaker.state(c.config.Now())
	c.proof.mutex.Lock()
	defer c.proof.mutex.Unlock()
	s.Tested, s.Passed, s.Reason = c.proof.last.At, c.proof.last.Passed && c.config.Now().Before(c.proof.until), c.proof.last.Reason
	return s
}
