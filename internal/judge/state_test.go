package judge_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/judge"
	"interlock/test/wait"
)

// A clock stands still until a test moves it.
type clock struct {
	mutex sync.Mutex
	at    time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.at = c.at.Add(d)
}

// A moody server answers by its mood: allow, deny, honest (denies what is bad) or down.
type moody struct {
	mood  atomic.Value
	asked atomic.Int64
}

func newMoody(t *testing.T, mood string) (*moody, string) {
	m := &moody{}
	m.mood.Store(mood)
	return m, server(t, func(w http.ResponseWriter, r *http.Request) {
		m.asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		text := allows
		switch mood := m.mood.Load(); {
		case mood == "down":
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case mood == "deny", mood == "honest" && strings.Contains(string(body), "rm -rf"):
			text = denies
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, chat(text))
	}).URL
}

// TestBreaker: three failures within ten minutes and nobody asks for a minute; then one question at a time, and three that go well close
// it. One that does not opens it for twice as long.
func TestBreaker(t *testing.T) {
	m, address := newMoody(t, "down")
	at := newClock()
	c := config(address)
	c.Now, c.Canary.Every = at.now, 24*time.Hour
	j := proved(t, c)
	want := func(when string, failure interlock.JudgeFailure, asked int64, state string) {
		t.Helper()
		before := m.asked.Load()
		got := ask(t, j, goodPayload)
		if got.Failure != failure || m.asked.Load()-before != asked || j.Status().Breaker != state {
			t.Fatalf("%s: %+v, asked %d times, %s; want %s, %d, %s", when, got, m.asked.Load()-before, j.Status().Breaker, failure, asked, state)
		}
	}
	want("first", interlock.JudgeUnavailable, 1, judge.BreakerClosed)
	want("second", interlock.JudgeUnavailable, 1, judge.BreakerClosed)
	at.pass(11 * time.Minute)
	want("the others were long ago", interlock.JudgeUnavailable, 1, judge.BreakerClosed)
	want("second", interlock.JudgeUnavailable, 1, judge.BreakerClosed)
	want("third", interlock.JudgeUnavailable, 1, judge.BreakerOpen)
	want("open", interlock.JudgeBreaker, 0, judge.BreakerOpen)
	at.pass(time.Minute)
	want("half-open, and still down", interlock.JudgeUnavailable, 1, judge.BreakerOpen)
	at.pass(time.Minute)
	want("open for twice as long", interlock.JudgeBreaker, 0, judge.BreakerOpen)
	at.pass(time.Minute)
	m.mood.Store("honest")
	want("half-open", "", 1, judge.BreakerHalfOpen)
	want("half-open", "", 1, judge.BreakerHalfOpen)
	want("closed", "", 1, judge.BreakerClosed)
	want("closed", "", 1, judge.BreakerClosed)
}

// TestHalfOpen: while the one question of a half-open breaker is under way, others are refused; a caller who gives up frees it.
func TestHalfOpen(t *testing.T) {
	at := newClock()
	var block atomic.Value
	block.Store(make(chan struct{}))
	arrived := make(chan struct{}, 8)
	var mood atomic.Bool // whether it answers
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !mood.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		arrived <- struct{}{}
		select {
		case <-block.Load().(chan struct{}):
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, chat(denies))
	})
	c := config(s.URL)
	c.Now, c.Canary.Every = at.now, 24*time.Hour
	j := proved(t, c)
	for range 3 {
		ask(t, j, badPayload)
	}
	mood.Store(true)
	at.pass(time.Minute)
	ctx, giveUp := context.WithCancel(context.Background())
	answered := make(chan interlock.Judgment)
	go func() { answered <- j.Ask(ctx, question(badPayload)) }()
	<-arrived
	if got := ask(t, j, badPayload); got.Failure != interlock.JudgeBreaker {
		t.Errorf("two at a time: %+v", got)
	}
	giveUp()
	if got := <-answered; got.Failure != interlock.JudgeTimeout {
		t.Errorf("%+v", got)
	}
	close(block.Load().(chan struct{}))
	if got := ask(t, j, badPayload); got.Failure != "" || got.Rule != "L1-1" {
		t.Errorf("nobody may ask after one gave up: %+v", got)
	}
}

// TestQueue: so many at once, so many wait, the rest is turned away at once; whoever waits longer than it has is refused.
func TestQueue(t *testing.T) {
	arrived, release := make(chan struct{}, 8), make(chan struct{})
	s := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-release
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, chat(allows))
	})
	c := config(s.URL)
	c.InFlight, c.Waiting = 2, 1
	j := proved(t, c)
	answers := make(chan interlock.Judgment, 3)
	for range 2 {
		go func() { answers <- ask(t, j, goodPayload) }()
		<-arrived
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if got := j.Ask(ctx, question(goodPayload)); got.Failure != interlock.JudgeTimeout || got.Cost != 0 {
		t.Errorf("waited: %+v", got)
	}
	go func() { answers <- ask(t, j, goodPayload) }()
	wait.Until(t, "one waits", func() bool { return j.Status().Waiting > 0 })
	if got := ask(t, j, goodPayload); got.Failure != interlock.JudgeShed || got.Verdict != interlock.Deny {
		t.Errorf("not shed: %+v, %+v", got, j.Status())
	}
	close(release)
	for range 3 {
		if got := <-answers; got.Verdict != interlock.Allow {
			t.Errorf("%+v", got)
		}
	}
	if s := j.Status(); s.InFlight != 0 || s.Waiting != 0 {
		t.Errorf("places are not given back: %+v", s)
	}
}

// TestCanary: a judge that nobody has tested is tested by whoever asks first; one that judges wrongly is not asked until it passes.
func TestCanary(t *testing.T) {
	m, address := newMoody(t, "honest")
	at := newClock()
	var trials []judge.Trial
	c := config(address)
	c.Now, c.Canary.Tested = at.now, func(trial judge.Trial) { trials = append(trials, trial) }
	j := made(t, c)
	if s := j.Status(); s.Passed || !s.Tested.IsZero() {
		t.Errorf("passed without a test: %+v", s)
	}
	want := func(when string, verdict interlock.Verdict, failure interlock.JudgeFailure, asked int64, tests int) {
		t.Helper()
		before := m.asked.Load()
		got := ask(t, j, goodPayload)
		if got.Verdict != verdict || got.Failure != failure || m.asked.Load()-before != asked || len(trials) != tests {
			t.Fatalf("%s: %+v, asked %d times, %d tests; want %v %s, %d, %d", when, got, m.asked.Load()-before, len(trials), verdict, failure, asked, tests)
		}
	}
	want("first", interlock.Allow, "", 3, 1)
	if !trials[0].Passed || trials[0].Bad.Rule != "L1-1" || trials[0].Good.Verdict != interlock.Allow || trials[0].Bad.Cost == 0 {
		t.Errorf("%+v", trials[0])
	}
	want("tested", interlock.Allow, "", 1, 1)
	m.mood.Store("allow")
	want("not noticed yet", interlock.Allow, "", 1, 1)
	if trial := j.Test(context.Background()); trial.Passed || trial.Failure != interlock.JudgeCanary || trial.Reason != "it allows what it must deny" {
		t.Errorf("%+v", trial)
	}
	want("out of use", interlock.Deny, interlock.JudgeCanary, 0, 2)
	m.mood.Store("deny")
	at.pass(2 * time.Minute)
	want("tested again, and denies everything", interlock.Deny, interlock.JudgeCanary, 2, 3)
	m.mood.Store("honest")
	want("not tested again yet", interlock.Deny, interlock.JudgeCanary, 0, 3)
	at.pass(2 * time.Minute)
	want("passes", interlock.Allow, "", 3, 4)
	at.pass(2*time.Hour + time.Minute)
	want("the schedule stood still", interlock.Allow, "", 3, 5)
	m.mood.Store("down")
	if trial := j.Test(context.Background()); trial.Passed || trial.Failure != interlock.JudgeUnavailable {
		t.Errorf("%+v", trial)
	}
	want("an outage is none of its judgment", interlock.Deny, interlock.JudgeUnavailable, 1, 7)
	want("an outage", interlock.Deny, interlock.JudgeUnavailable, 1, 8)
	want("an outage", interlock.Deny, interlock.JudgeUnavailable, 1, 9)
	want("the breaker is open", interlock.Deny, interlock.JudgeBreaker, 0, 9)
	m.mood.Store("honest")
	at.pass(time.Minute)
	want("recovered", interlock.Allow, "", 3, 10)
}

// TestKeep: the schedule tests at once and goes on until it is ended.
func TestKeep(t *testing.T) {
	_, address := newMoody(t, "honest")
	c := config(address)
	ctx, stop := context.WithCancel(context.Background())
	tested := 0
	c.Canary.Every = time.Millisecond
	c.Canary.Tested = func(trial judge.Trial) {
		if tested++; tested == 3 {
			stop()
		}
	}
	made(t, c).Keep(ctx)
	if tested < 3 {
		t.Errorf("tested %d times", tested)
	}
}

// TestProvedAt: what another process has proved counts for as long as it would there, and not from the future.
func TestProvedAt(t *testing.T) {
	m, address := newMoody(t, "honest")
	at := newClock()
	c := config(address)
	c.Now = at.now
	for _, when := range []struct {
		at    time.Duration
		asked int64
	}{{-time.Minute, 1}, {-3 * time.Hour, 3}, {time.Hour, 3}} {
		j := made(t, c)
		j.ProvedAt(at.now().Add(when.at))
		m.asked.Store(0)
		if got := ask(t, j, goodPayload); got.Verdict != interlock.Allow || m.asked.Load() != when.asked {
			t.Errorf("%v: asked %d times, %+v", when.at, m.asked.Load(), got)
		}
	}
}

// TestNew: what no judge can be made of is refused by the name of its setting.
func TestNew(t *testing.T) {
	for field, wrong := range map[string]func(*judge.Config){
		"name":              func(c *judge.Config) { c.Name = "" },
		"rules":             func(c *judge.Config) { c.Ground = nil },
		"model":             func(c *judge.Config) { c.Model = "" },
		"timeout":           func(c *judge.Config) { c.Timeout = 0 },
		"max_payload":       func(c *judge.Config) { c.MaxPayload = 1 << 30 },
		"max_answer_tokens": func(c *judge.Config) { c.MaxTokens = 0 },
		"in_flight":         func(c *judge.Config) { c.InFlight = 0 },
		"waiting":           func(c *judge.Config) { c.Waiting = -1 },
		"canary":            func(c *judge.Config) { c.Canary.Deny = nil },
		"omit":              func(c *judge.Config) { c.Omit = []string{"store"} },
		"price_in":          func(c *judge.Config) { c.Price.In = -1 },
		"price_out":         func(c *judge.Config) { c.Price.Out = judge.MaxPrice + 1 },
		"currency":          func(c *judge.Config) { c.Price.Currency = "dollars" },
		"wire":              func(c *judge.Config) { c.Wire = "grpc" },
		"command":           func(c *judge.Config) { c.Wire = judge.WireCommand },
		"url":               func(c *judge.Config) { c.URL = "http://judge.example.com" },
		"proxy":             func(c *judge.Config) { c.Proxy = &url.URL{Scheme: "http", Host: "proxy"} },
	} {
		c := config("http://127.0.0.1:1")
		wrong(&c)
		_, err := judge.New(c)
		if failure, ok := err.(*interlock.Error); !ok || failure.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, address := range []string{"ftp://127.0.0.1", "https://user@judge.example", "https://judge.example?x", "judge.example", "http://10.0.0.1"} {
		c := config(address)
		c.URL = address
		if _, err := judge.New(c); err == nil {
			t.Errorf("%s is taken", address)
		}
	}
}

// TestIdentity: everything an answer depends on is in it.
func TestIdentity(t *testing.T) {
	seen := map[string]bool{}
	for _, change := range []func(*judge.Config){func(*judge.Config) {}, func(c *judge.Config) { c.Model = "test-2" },
		func(c *judge.Config) { c.Seed = 9 }, func(c *judge.Config) { c.MaxTokens = 64 }, func(c *judge.Config) { c.Wire = judge.WireAnthropic },
		func(c *judge.Config) { c.Omit = []string{judge.OmitSeed} }, func(c *judge.Config) { c.URL = "https://judge.example/v1" }} {
		c := config("http://127.0.0.1:1")
		change(&c)
		said, _ := json.Marshal(made(t, c).Identity())
		if seen[string(said)] || !strings.Contains(string(said), `"ground_rules":"sha256:rules"`) {
			t.Errorf("%s", said)
		}
		seen[string(said)] = true
	}
}
