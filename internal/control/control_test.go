package control_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/control"
	"interlock/internal/ledger"
	"interlock/spec"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// A switchboard remembers what was thrown.
type switchboard struct {
	guard  sync.Mutex
	told   []string
	thrown []ledger.HoldBody
	fails  error
	begun  chan struct{} // if set, is told of each stop, which waits for more
	more   chan struct{}
}

func (s *switchboard) Kill(_ context.Context, mode ledger.KillMode, why, by string) (ledger.HoldBody, error) {
	if s.begun != nil {
		s.begun <- struct{}{}
		<-s.more
	}
	s.guard.Lock()
	defer s.guard.Unlock()
	h := ledger.Kill(mode, why, by, noon)
	if s.fails == nil {
		s.thrown = append(s.thrown, h)
	}
	return h, s.fails
}

func (s *switchboard) ProposeKill(_ context.Context, observer, why string) (ledger.HoldBody, error) {
	s.guard.Lock()
	defer s.guard.Unlock()
	h := ledger.Kill(ledger.KillProposed, why, observer, noon)
	h.Deadline = noon.Add(5 * time.Minute)
	s.thrown = append(s.thrown, h)
	return h, s.fails
}

func (s *switchboard) Killed(context.Context) (ledger.HoldBody, bool, error) {
	if len(s.thrown) == 0 {
		return ledger.HoldBody{}, false, s.fails
	}
	return s.thrown[0], true, s.fails
}

const token = control.TokenPrefix + "0123"

func door(s *switchboard) http.Handler {
	return control.Handler(control.Config{Backend: s, Token: token, Now: func() time.Time { return noon },
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

func ask(h http.Handler, method, path, body string, edit ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:7434"
	r.Header.Set("Authorization", "Bearer "+token)
	for _, e := range edit {
		e(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func with(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header[name] = []string{value} }
}

// TestKill: whoever has the credential stops everything, and nobody else does.
func TestKill(t *testing.T) {
	spec.Covers(t, "EC-ENV-21")
	s := &switchboard{}
	h := door(s)
	const stop = `{"reason":"card testing"}`
	for name, test := range map[string]struct {
		status       int
		method, path string
		body, says   string
		edit         func(*http.Request)
	}{
		"nobody": {401, "POST", "/v1/kill", stop, "the token of the control door",
			func(r *http.Request) { r.Header.Del("Authorization") }},
		"an agent":       {401, "POST", "/v1/kill", stop, "an agent's opens nothing", with("Authorization", "Bearer ilk_abc")},
		"a longer token": {401, "POST", "/v1/kill", stop, "token", with("Authorization", "Bearer "+token+"4")},
		"two tokens": {401, "POST", "/v1/kill", stop, "token", func(r *http.Request) {
			r.Header.Add("Authorization",
				"Bearer "+token)
		}},
		"a page":          {403, "POST", "/v1/kill", stop, "web page", with("Origin", "http://127.0.0.1:7434")},
		"another name":    {403, "POST", "/v1/kill", stop, "own name", func(r *http.Request) { r.Host = "evil.example" }},
		"no reason":       {400, "POST", "/v1/kill", `{"reason":" "}`, `"field":"/reason"`, nil},
		"no such mode":    {400, "POST", "/v1/kill", `{"reason":"x","mode":"softly"}`, `"field":"/mode"`, nil},
		"another member":  {400, "POST", "/v1/kill", `{"reason":"x","release":true}`, `release`, nil},
		"twice":           {400, "POST", "/v1/kill", `{"reason":"x","reason":"y"}`, `reason`, nil},
		"no JSON":         {400, "POST", "/v1/kill", `reason=x`, `"error"`, nil},
		"too long":        {413, "POST", "/v1/kill", `{"reason":"` + strings.Repeat("x", 5000) + `"}`, "4096 bytes", nil},
		"letting go on":   {405, "DELETE", "/v1/kill", "", "", nil},
		"something else":  {404, "POST", "/v1/decide", "{}", "", nil},
		"only looking":    {200, "GET", "/v1/kill", "", `{"stopped":false}`, nil},
		"looking unasked": {401, "GET", "/v1/kill", "", "token", func(r *http.Request) { r.Header.Del("Authorization") }},
	} {
		edit := test.edit
		if edit == nil {
			edit = func(*http.Request) {}
		}
		w := ask(h, test.method, test.path, test.body, edit)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) || strings.Contains(w.Body.String(), token) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if len(s.thrown) > 0 {
		t.Fatalf("it was stopped: %+v", s.thrown)
	}
	w := ask(h, "POST", "/v1/kill", `{"reason":"card testing","by":"fraud desk","mode":"graduated"}`)
	want := `{"stopped":true,"step":"closing","mode":"graduated","reason":"card testing","by":"fraud desk","since":"2026-11-20T12:00:00Z"}` + "\n"
	if w.Code != 200 || w.Body.String() != want || len(s.thrown) != 1 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(h, "POST", "/v1/kill", stop); w.Code != 200 || s.thrown[1].Mode != ledger.KillHard ||
		s.thrown[1].By != "the control door" {
		t.Errorf("%d %s, %+v", w.Code, w.Body, s.thrown)
	}
	if w := ask(h, "GET", "/v1/kill", ""); w.Body.String() != want {
		t.Errorf("it says %s", w.Body)
	}
}

// TestAStopThatFails is told, and never as done.
func TestAStopThatFails(t *testing.T) {
	h := door(&switchboard{fails: errors.New("the disk at /home/ada is full")})
	for _, method := range []string{"POST", "GET"} {
		w := ask(h, method, "/v1/kill", `{"reason":"x"}`)
		if w.Code != 503 || strings.Contains(w.Body.String(), "ada") || bytes.Contains(w.Body.Bytes(), []byte(`"stopped":true`)) {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
}

// TestHangingUp: whoever hangs up has stopped everything all the same; and no more than a few wait at once.
func TestHangingUp(t *testing.T) {
	s := &switchboard{begun: make(chan struct{}), more: make(chan struct{})}
	h := door(s)
	ctx, hangUp := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		ask(h, "POST", "/v1/kill", `{"reason":"x"}`, func(r *http.Request) { *r = *r.WithContext(ctx) })
	}()
	<-s.begun
	hangUp()
	var others sync.WaitGroup
	for range 15 {
		others.Go(func() { ask(h, "POST", "/v1/kill", `{"reason":"x"}`) })
		<-s.begun
	}
	if w := ask(h, "GET", "/v1/kill", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "16 requests") {
		t.Errorf("a seventeenth: %d %s", w.Code, w.Body)
	}
	close(s.more)
	<-done
	if others.Wait(); len(s.thrown) != 16 {
		t.Errorf("stopped %d times", len(s.thrown))
	}
}

// TestServe answers on a listener until it is told to end.
func TestServe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- control.Serve(ctx, listener, control.Config{Backend: &switchboard{}, Token: token, Now: time.Now,
			Logger: slog.New(slog.DiscardHandler)})
	}()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+listener.Addr().String()+"/v1/kill", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 200 {
		t.Errorf("%d", answer.StatusCode)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestNewToken is another each time, and none without randomness.
func TestNewToken(t *testing.T) {
	one, err := control.NewToken(strings.NewReader(strings.Repeat("1", 32)))
	if err != nil || len(one) != len(control.TokenPrefix)+64 || !strings.HasPrefix(one, control.TokenPrefix) {
		t.Errorf("%q, %v", one, err)
	}
	if _, err := control.NewToken(strings.NewReader("too little")); err == nil {
		t.Error("a token without its randomness")
	}
}

// TestSignals: an observer tells what it sees and can't stop anything with its token; it is told what is wrong with a signal, and
// sends no more than it may.
func TestSignals(t *testing.T) {
	spec.Covers(t, "EC-ENV-16")
	s := &switchboard{}
	clock := noon
	h := control.Handler(control.Config{Backend: s, Token: token, Watch: s, Now: func() time.Time { return clock },
		Logger: slog.New(slog.DiscardHandler)})
	observer := with("Authorization", "Bearer ilkobs_meter")
	const drift = `{"kind":"drift","agent":"claude","value":61}`
	if w := ask(h, "POST", "/v1/signals", drift, observer); w.Code != 200 ||
		w.Body.String() != `{"event_id":"e","told":true,"stopped":false}`+"\n" ||
		len(s.told) != 1 || s.told[0] != "meter claude 61" {
		t.Errorf("%d %s %q", w.Code, w.Body, s.told)
	}
	if w := ask(h, "POST", "/v1/signals", drift); w.Code != 200 || s.told[1] != "control claude 61" {
		t.Errorf("with the control token: %d %s", w.Code, w.Body)
	}
	for name, test := range map[string]struct {
		status     int
		path, body string
		edit       func(*http.Request)
	}{
		"an agent":           {401, "/v1/signals", drift, with("Authorization", "Bearer ilk_abc")},
		"an unnamed reason":  {400, "/v1/kill", `{}`, observer},
		"another member":     {400, "/v1/signals", `{"kind":"drift","agent":"claude","value":61,"phase":"P"}`, observer},
		"a fraction":         {400, "/v1/signals", `{"kind":"drift","agent":"claude","value":0.61}`, observer},
		"what is no signal":  {400, "/v1/signals", `{"kind":"weather","agent":"claude","value":61}`, observer},
		"a store that fails": {503, "/v1/signals", `{"kind":"drift","agent":"broken","value":61}`, observer},
	} {
		if w := ask(h, "POST", test.path, test.body, test.edit); w.Code != test.status || len(s.told) != 2 || len(s.thrown) != 0 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := ask(h, "POST", "/v1/kill", `{"reason":"card testing","by":"olga"}`, observer); w.Code != 200 ||
		s.thrown[0].Mode != ledger.KillProposed ||
		s.thrown[0].By != "meter" || !strings.Contains(w.Body.String(), `"stopped":false,"proposed":true`) ||
		!strings.Contains(w.Body.String(), `"until":"2026-11-20T12:05:00Z"`) {
		t.Errorf("an observer that asks to stop everything: %d %s", w.Code, w.Body)
	}
	for range 200 {
		ask(h, "POST", "/v1/signals", drift, observer)
	}
	if w := ask(h, "POST", "/v1/signals", drift, observer); w.Code != 429 || w.Header().Get("Retry-After") == "" ||
		len(s.told) > 102 {
		t.Errorf("a flood: %d %s, %d taken in", w.Code, w.Body, len(s.told))
	}
	before := len(s.told)
	clock = clock.Add(-time.Hour)
	if ask(h, "POST", "/v1/signals", drift, observer); len(s.told) != before {
		t.Error("a clock that was set back gives more")
	}
	clock = noon.Add(time.Second)
	for range 20 {
		ask(h, "POST", "/v1/signals", drift, observer)
	}
	if got := len(s.told) - before; got < 10 || got > 11 {
		t.Errorf("a second later %d are taken in", got)
	}
}

func (s *switchboard) Observer(_ context.Context, token string) (interlock.AgentRecord, error) {
	name, ok := strings.CutPrefix(token, "ilkobs_")
	if !ok {
		return interlock.AgentRecord{}, errors.New("unknown")
	}
	return interlock.AgentRecord{ID: name, Observer: true}, nil
}

func (s *switchboard) Signal(_ context.Context, observer string, signal interlock.Signal) (containment.SignalAnswer, error) {
	switch {
	case signal.Kind == "weather":
		return containment.SignalAnswer{}, interlock.Errorf(interlock.CodeInvalid, "/kind", "is not known")
	case signal.Agent == "broken":
		return containment.SignalAnswer{}, errors.New("the disk is full")
	}
	s.told = append(s.told, fmt.Sprint(observer, " ", signal.Agent, " ", signal.Value))
	return containment.SignalAnswer{Event: "e", Told: true}, nil
}

// TestLooksAreRecorded: where looks are recorded, what only shows something leaves an event with who asked, or is not answered.
func TestLooksAreRecorded(t *testing.T) {
	spec.Covers(t, "MACE-12-15")
	var looks []string
	var fails error
	s := &switchboard{}
	h := control.Handler(control.Config{Backend: s, Token: token, Now: func() time.Time { return noon },
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Looked: func(_ context.Context, by interlock.Requester,
			what string) error {
			looks = append(looks, by.Agent+": "+what)
			return fails
		}})
	if got := ask(h, http.MethodGet, "/v1/kill", ""); got.Code != http.StatusOK {
		t.Fatal(got.Code, got.Body)
	}
	ask(h, http.MethodPost, "/v1/kill", `{"reason":"a drill"}`)
	if len(looks) != 1 || looks[0] != "interlock: GET /v1/kill" || len(s.thrown) != 1 {
		t.Errorf("looks %q, stops %v", looks, s.thrown)
	}
	fails = errors.New("full")
	if got := ask(h, http.MethodGet, "/v1/kill", ""); got.Code != http.StatusServiceUnavailable {
		t.Errorf("a look that can't be recorded is answered %d %s", got.Code, got.Body)
	}
	if got := ask(h, http.MethodPost, "/v1/kill", `{"reason":"now"}`); got.Code != http.StatusOK {
		t.Errorf("a stop waits for a record of a look: %d %s", got.Code, got.Body)
	}
}
