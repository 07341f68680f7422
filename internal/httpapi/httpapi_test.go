package httpapi_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"interlock"
	"interlock/internal/httpapi"
	"interlock/internal/identity"
	"interlock/spec"
)

func TestNewNamesWhatIsMissing(t *testing.T) {
	whole := func() httpapi.Config {
		backend := newBackend(t)
		return httpapi.Config{Backend: backend, Log: backend, Tokens: identity.NewTokens(backend.Ground, time.Now),
			Logger: slog.New(slog.DiscardHandler), Now: time.Now, User: "dana"}
	}
	if _, err := httpapi.New(whole()); err != nil {
		t.Fatal(err)
	}
	for field, remove := range map[string]func(*httpapi.Config){
		"Backend": func(c *httpapi.Config) { c.Backend = nil },
		"Log":     func(c *httpapi.Config) { c.Log = nil },
		"Tokens":  func(c *httpapi.Config) { c.Tokens = nil },
		"Logger":  func(c *httpapi.Config) { c.Logger = nil },
		"Now":     func(c *httpapi.Config) { c.Now = nil },
		"User":    func(c *httpapi.Config) { c.User = "" },
	} {
		config := whole()
		remove(&config)
		if _, err := httpapi.New(config); err == nil || !strings.Contains(err.Error(), "Config."+field) {
			t.Errorf("without %s: %v", field, err)
		}
	}
}

func TestAProofFromTheDoorVerifies(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	for i := range 11 {
		if got := h.do(h.server.Handler(), "POST", "/v1/decide", liveToken, fmt.Sprintf(`{"kind":"shell","input":"echo %d"}`, i)); got.Code != 200 {
			t.Fatalf("decision %d: %d %s", i, got.Code, got.Body)
		}
	}
	key := h.backend.sealer.Public()
	for size := int64(1); size <= 11; size++ {
		for index := range size {
			var proof struct {
				Index, Size      int64
				Leaf, Checkpoint string
				Proof            []string
			}
			got := h.do(h.server.Handler(), "GET", fmt.Sprintf("/v1/proof?index=%d&size=%d", index, size), liveToken, "")
			if err := json.Unmarshal(got.Body.Bytes(), &proof); err != nil || got.Code != 200 {
				t.Fatalf("%d of %d: %d %s", index, size, got.Code, got.Body)
			}
			var path tlog.RecordProof
			for _, text := range proof.Proof {
				hash, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					t.Fatal(err)
				}
				path = append(path, tlog.Hash(hash))
			}
			if size < 11 {
				if proof.Checkpoint != "" {
					t.Error("a proof for an older tree came with the newer head")
				}
				continue
			}
			head, err := key.OpenCheckpoint([]byte(proof.Checkpoint))
			if err != nil {
				t.Fatal(err)
			}
			leaf := tlog.RecordHash(h.backend.entries[index].Body)
			if err := tlog.CheckRecord(path, head.Size, tlog.Hash(head.Root), index, leaf); err != nil {
				t.Errorf("%d of %d: %v", index, size, err)
			}
		}
	}
}

// TestEventsCanBePagedThrough: following next from 0 gives every own event once and ends at size.
func TestEventsCanBePagedThrough(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Page: 3})
	for i := range 10 {
		token := liveToken
		if i%3 == 0 {
			token = otherToken
		}
		h.do(h.server.Handler(), "POST", "/v1/decide", token, `{"kind":"shell","input":"true"}`)
	}
	var indexes []int64
	for from := int64(0); ; {
		var page struct {
			Events     []struct{ Index int64 }
			Next, Size int64
		}
		got := h.do(h.server.Handler(), "GET", fmt.Sprintf("/v1/events?from=%d&limit=2", from), liveToken, "")
		if err := json.Unmarshal(got.Body.Bytes(), &page); err != nil {
			t.Fatalf("%v in %s", err, got.Body)
		}
		for _, event := range page.Events {
			indexes = append(indexes, event.Index)
		}
		if from = page.Next; from == page.Size {
			break
		}
	}
	if diff := cmp.Diff([]int64{1, 2, 4, 5, 7, 8}, indexes); diff != "" {
		t.Errorf("own events (-want +got):\n%s", diff)
	}
}

// TestTheLogIsForPeople: where the profile says so no agent reads events, its own included, and whoever owns the store does.
func TestTheLogIsForPeople(t *testing.T) {
	spec.Covers(t, "ASA-14.3-1")
	h := newHouse(t, httpapi.Limits{}, func(c *httpapi.Config) { c.LogForPeople = true })
	h.do(h.server.Handler(), "POST", "/v1/decide", liveToken, `{"kind":"shell","input":"true"}`)
	if got := h.do(h.server.Handler(), "GET", "/v1/events", liveToken, ""); got.Code != 403 || strings.Contains(got.Body.String(), "event_id") {
		t.Errorf("an agent is answered %d %s", got.Code, got.Body)
	}
	if got := h.do(h.server.LocalHandler(), "GET", "/v1/events", "", ""); got.Code != 200 || !strings.Contains(got.Body.String(), "builder") {
		t.Errorf("whoever owns the store is answered %d %s", got.Code, got.Body)
	}
}

func TestStoreGone(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	if got := h.do(h.server.Handler(), "POST", "/v1/decide", liveToken, `{"kind":"shell","input":"true"}`); got.Code != 200 {
		t.Fatalf("before: %d %s", got.Code, got.Body)
	}
	h.backend.down = true
	tests := []struct {
		handler      http.Handler
		method, path string
		token, body  string
		status       int
		want         string
	}{
		{h.server.Handler(), "POST", "/v1/decide", liveToken, `{"kind":"shell","input":"true"}`, 500, `"answer":"deny"`},
		{h.server.LocalHandler(), "POST", "/v1/decide", "", `{"kind":"shell","input":"true"}`, 500, `"answer":"deny"`},
		{h.server.Handler(), "POST", "/access/v1/evaluation", liveToken, `{}`, 500, `"decision":false`},
		{h.server.Handler(), "GET", "/v1/checkpoint", liveToken, "", 500, `"code":"internal"`},
		{h.server.Handler(), "GET", "/readyz", "", "", 503, `"code":"unavailable"`},
		{h.server.Handler(), "GET", "/healthz", "", "", 200, `"status":"ok"`},
		{h.server.Handler(), "GET", "/metrics", "", "", 200, "interlock_build_info"},
	}
	for _, test := range tests {
		got := h.do(test.handler, test.method, test.path, test.token, test.body)
		if got.Code != test.status || !strings.Contains(got.Body.String(), test.want) {
			t.Errorf("%s %s: %d %s, want %d with %s", test.method, test.path, got.Code, got.Body, test.status, test.want)
		}
		if strings.Contains(got.Body.String(), "disk") {
			t.Errorf("%s %s tells a caller what broke inside: %s", test.method, test.path, got.Body)
		}
	}
	if !strings.Contains(h.logged.String(), "the disk is gone") {
		t.Error("the server's log does not say what broke")
	}
}

func TestBusyServerSaysSoAndStillAnswersHealth(t *testing.T) {
	h := newHouse(t, httpapi.Limits{Concurrent: 2})
	h.backend.hold, h.backend.held = make(chan struct{}), make(chan struct{}, 2)
	var under sync.WaitGroup
	for range 2 {
		under.Go(func() {
			if got := h.do(h.server.Handler(), "POST", "/v1/decide", liveToken, `{"kind":"shell","input":"wait"}`); got.Code != 200 {
				t.Errorf("under way: %d", got.Code)
			}
		})
		<-h.backend.held
	}
	for _, path := range []string{"/v1/decide", "/access/v1/evaluation"} {
		got := h.do(h.server.Handler(), "POST", path, liveToken, `{"kind":"shell","input":"true"}`)
		if got.Code != 503 || got.Header().Get("Retry-After") != "1" || strings.Contains(got.Body.String(), "true") {
			t.Errorf("%s over the bound: %d %v %s", path, got.Code, got.Header(), got.Body)
		}
	}
	if got := h.do(h.server.Handler(), "GET", "/healthz", "", ""); got.Code != 200 {
		t.Errorf("health while busy: %d", got.Code)
	}
	close(h.backend.hold)
	under.Wait()
	if got := h.do(h.server.Handler(), "POST", "/v1/decide", liveToken, `{"kind":"shell","input":"true"}`); got.Code != 200 {
		t.Errorf("after: %d %s", got.Code, got.Body)
	}
}

// TestServeDrains: what is under way when the server is told to stop is answered, and both doors are closed afterwards.
func TestServeDrains(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	h.backend.hold, h.backend.held = make(chan struct{}), make(chan struct{})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s")
	unix, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.server.Serve(ctx, tcp, unix) }()

	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	answered := make(chan string, 1)
	go func() {
		response, err := client.Post("http://localhost/v1/decide", "application/json", strings.NewReader(`{"kind":"shell","input":"wait"}`))
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		answered <- string(body)
	}()
	<-h.backend.held
	stop()
	// The listeners close before the drain waits, so a refused connection shows that the stop is under way.
	for {
		conn, err := net.Dial("tcp", tcp.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	close(h.backend.hold)
	if got := <-answered; !strings.Contains(got, `"answer":"allow"`) {
		t.Errorf("the request under way got %s", got)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := net.Dial("unix", path); err == nil {
		t.Error("the socket still answers")
	}
}

func TestServeEndsWhenAListenerFails(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	tcp.Close()
	if err := h.server.Serve(t.Context(), tcp, nil); err == nil || !strings.Contains(err.Error(), "serving") {
		t.Errorf("Serve on a closed listener: %v", err)
	}
	if err := h.server.Serve(t.Context(), nil, nil); err == nil {
		t.Error("Serve on nothing succeeded")
	}
}

// TestBuffersAreNotShared: answers of concurrent callers never mix, whatever buffers they were read and written with.
func TestBuffersAreNotShared(t *testing.T) {
	h := newHouse(t, httpapi.Limits{})
	handler := h.server.Handler()
	var callers sync.WaitGroup
	for caller := range 8 {
		callers.Go(func() {
			for i := range 200 {
				text := strings.Repeat(fmt.Sprintf("%c", 'a'+caller), 1+i*17%3000)
				body := fmt.Sprintf(`{"kind":"tool","tool":%q,"arguments":{"x":%q}}`, text[:min(len(text), 9)], text)
				if got := h.do(handler, "POST", "/v1/decide", liveToken, body); got.Code != 200 {
					t.Errorf("%d: %s", got.Code, got.Body)
				}
			}
		})
	}
	callers.Wait()
	for _, p := range h.backend.seen {
		var arguments struct{ X string }
		if err := json.Unmarshal(p.Action.Arguments, &arguments); err != nil {
			t.Fatal(err)
		}
		if arguments.X != strings.Repeat(arguments.X[:1], len(arguments.X)) || !strings.HasPrefix(arguments.X, p.Action.Tool) {
			t.Fatalf("a mixed proposal: %s %s", p.Action.Tool, p.Action.Arguments)
		}
	}
}

// TestAnswersReadBackAsTheyWere holds the hand-written encoder against encoding/json for any answer.
func TestAnswersReadBackAsTheyWere(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\"\\\n\r\t\x00\x1f", "\u2028\u2029", "日本", "<&>", "a\xff\xfe\"<\u2028"}))
	strings := rapid.SliceOfN(text, 0, 3)
	verdict := rapid.SampledFrom([]interlock.Verdict{interlock.Deny, interlock.Allow, interlock.Ask, interlock.Halt})
	obligations := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) interlock.Obligation {
		return interlock.Obligation{Type: text.Draw(r, "type"), Note: text.Draw(r, "note")}
	}), 0, 2)
	finding := rapid.Custom(func(r *rapid.T) interlock.Finding {
		return interlock.Finding{Gate: text.Draw(r, "gate"), Rule: text.Draw(r, "rule"), Layer: rapid.Int().Draw(r, "layer"),
			Verdict: verdict.Draw(r, "verdict"), Reason: text.Draw(r, "reason"), Suggestion: text.Draw(r, "suggestion"),
			Heuristic: rapid.Bool().Draw(r, "heuristic"), Obligations: obligations.Draw(r, "obligations"),
			Impacts: rapid.SliceOfN(rapid.Int(), 0, 3).Draw(r, "impacts"), Tags: strings.Draw(r, "tags")}
	})
	impact := rapid.Custom(func(r *rapid.T) interlock.Impact {
		return interlock.Impact{Kind: interlock.ImpactKind(text.Draw(r, "kind")), Target: text.Draw(r, "target"),
			Reach: interlock.Reach(text.Draw(r, "reach")), Reversibility: interlock.Reversibility(text.Draw(r, "reversibility")),
			Amount: rapid.Int64().Draw(r, "amount"), Confidence: interlock.Confidence(text.Draw(r, "confidence")),
			Via: text.Draw(r, "via"), Traits: strings.Draw(r, "traits")}
	})
	rapid.Check(t, func(r *rapid.T) {
		answer := interlock.Answer{Decision: interlock.Decision{Verdict: verdict.Draw(r, "verdict"), Answer: verdict.Draw(r, "answer"),
			Findings: rapid.SliceOfN(finding, 0, 3).Draw(r, "findings"), Obligations: obligations.Draw(r, "obligations"),
			Impacts: rapid.SliceOfN(impact, 0, 3).Draw(r, "impacts"), Risk: rapid.Int().Draw(r, "risk"),
			Danger: interlock.Danger(rapid.IntRange(0, 4).Draw(r, "danger")), Mode: interlock.Mode(rapid.IntRange(0, 3).Draw(r, "mode")),
			Profile: text.Draw(r, "profile"), Approval: text.Draw(r, "approval"), Action: interlock.Digest(text.Draw(r, "action")),
			Ruleset: interlock.Digest(text.Draw(r, "ruleset")), Snapshot: interlock.Digest(text.Draw(r, "snapshot"))},
			Event: text.Draw(r, "event"), Index: rapid.Int64().Draw(r, "index"), Checkpoint: rapid.SliceOf(rapid.Byte()).Draw(r, "checkpoint"),
			Request: text.Draw(r, "request"), Gateway: rapid.Bool().Draw(r, "gateway"),
			Unsure: rapid.Bool().Draw(r, "unsure"), Repeated: rapid.Bool().Draw(r, "repeated"),
			Always: rapid.Bool().Draw(r, "always")}
		encoder := &bytes.Buffer{}
		plain := json.NewEncoder(encoder)
		plain.SetEscapeHTML(false)
		if answer.Findings == nil {
			answer.Findings = []interlock.Finding{}
		}
		if answer.Impacts == nil {
			answer.Impacts = []interlock.Impact{}
		}
		if err := plain.Encode(answer); err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(encoder.String(), string(httpapi.AppendAnswer(nil, &answer))+"\n"); diff != "" {
			r.Fatalf("(-encoding/json +ours):\n%s", diff)
		}
	})
}

// FuzzDecide: whatever the body, the answer is JSON; it says allow only if the backend recorded an allow; and an error is
// never an allow.
func FuzzDecide(f *testing.F) {
	for _, seed := range []string{`{"kind":"shell","input":"true"}`, `{"kind":"tool","tool":"x","arguments":{"a":[1,{}]}}`,
		`{"kind":"shell","input":"deny"}`, `{"kind":"http","arguments":{"url":"https://a","method":"GET"}}`,
		`{"action":{"kind":"shell","input":"unrecorded"},"can_ask":true}`, `{"kind":"shell","kind":"x"}`, `{`, "\xff", `[[[[`} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, body string, overSocket bool) {
		if strings.Contains(body, "wait") || body == "" {
			return // the fake waits for a hand that is not here
		}
		h := newHouse(t, httpapi.Limits{})
		handler, token := h.server.Handler(), liveToken
		if overSocket {
			handler, token = h.server.LocalHandler(), ""
		}
		got := h.do(handler, "POST", "/v1/decide", token, body)
		var answer struct {
			Answer string `json:"answer"`
			Event  string `json:"event_id"`
			Error  *struct{ Code, Message string }
		}
		if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil {
			t.Fatalf("the answer is not JSON: %v in %q", err, got.Body)
		}
		if answer.Answer == "allow" && (answer.Event == "" || got.Code != 200 || len(h.backend.seen) != 1) {
			t.Errorf("allow without a record: %d %s", got.Code, got.Body)
		}
		if got.Code != 200 && answer.Answer != "deny" {
			t.Errorf("status %d with answer %q", got.Code, answer.Answer)
		}
		if got.Code >= 400 && got.Code < 500 && (answer.Error == nil || answer.Error.Message == "") {
			t.Errorf("status %d without a reason: %s", got.Code, got.Body)
		}
	})
}

func TestMetricsFailureIsAnError(t *testing.T) {
	backend := newBackend(t)
	server, err := httpapi.New(httpapi.Config{Backend: backend, Log: backend, Tokens: identity.NewTokens(backend.Ground, time.Now),
		Logger: slog.New(slog.DiscardHandler), Now: time.Now, User: "dana",
		Metrics: func(io.Writer) error { return errors.New("no") }, Ready: func(context.Context) error { return errors.New("read only") }})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/metrics": 500, "/readyz": 503} {
		request := httptest.NewRequest("GET", path, nil)
		request.Host = "127.0.0.1"
		recorder := httptest.NewRecorder()
		server.Handler().ServeHTTP(recorder, request)
		if recorder.Code != want {
			t.Errorf("%s: %d, want %d", path, recorder.Code, want)
		}
	}
}

// TestAViewCantLeaveOutInterlocksOwn: a caller on the socket may add to what is protected and can't take away from it.
func TestAViewCantLeaveOutInterlocksOwn(t *testing.T) {
	backend := newBackend(t)
	own := interlock.View{Home: "/home/dana", Self: []string{"/i/home", "/i/bin"}, Endpoints: []string{"127.0.0.1:7433"}, Production: []string{"prod-*"}}
	server, err := httpapi.New(httpapi.Config{Backend: backend, Log: backend, Tokens: identity.NewTokens(backend.Ground, time.Now),
		Logger: slog.New(slog.DiscardHandler), Now: time.Now, User: "dana",
		View: func(dir string) interlock.View { v := own; v.Workspace = dir; return v }})
	if err != nil {
		t.Fatal(err)
	}
	h := &house{backend: backend, server: server}
	for body, want := range map[string]interlock.View{
		`{"action":{"kind":"shell","input":"1"},"view":{}}`: {Self: own.Self, Endpoints: own.Endpoints, Production: own.Production},
		`{"action":{"kind":"shell","input":"2"},"view":{"workspace":"/x","self":["/mine","/i/bin"],"production":["prod-*"]}}`: {Workspace: "/x",
			Self: []string{"/i/home", "/i/bin", "/mine"}, Endpoints: own.Endpoints, Production: own.Production},
		`{"action":{"kind":"shell","input":"3","dir":"/w"}}`: {Home: own.Home, Workspace: "/w", Self: own.Self,
			Endpoints: own.Endpoints, Production: own.Production},
		`{"kind":"shell","input":"4","dir":"/w"}`: {Home: own.Home, Workspace: "/w", Self: own.Self,
			Endpoints: own.Endpoints, Production: own.Production},
	} {
		backend.seen = nil
		if got := h.do(server.LocalHandler(), "POST", "/v1/decide", "", body); got.Code != 200 {
			t.Fatalf("%s: %d %s", body, got.Code, got.Body)
		}
		if diff := cmp.Diff(want, backend.seen[0].View); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

// TestEveryLookIsRecorded: where looks are recorded, each call that leaves no event of its own does before it is answered, with who asked; what
// leaves its own leaves no second one, what says how the server does leaves none, and what can't be recorded is not answered.
func TestEveryLookIsRecorded(t *testing.T) {
	spec.Covers(t, "MACE-12-15")
	var looks []string
	fails := false
	h := newHouse(t, httpapi.Limits{}, func(c *httpapi.Config) {
		c.Looked = func(_ context.Context, by interlock.Requester, what string) error {
			if fails {
				return interlock.Errorf(interlock.CodeUnavailable, "", "the store is full")
			}
			looks = append(looks, by.Agent+" of "+by.Principal+": "+what)
			return nil
		}
	})
	decided := h.do(h.server.Handler(), "POST", "/v1/decide", liveToken, `{"kind":"shell","input":"true"}`)
	var own struct {
		Event string `json:"event_id"`
	}
	if err := json.Unmarshal(decided.Body.Bytes(), &own); err != nil || own.Event == "" || len(looks) > 0 {
		t.Fatalf("a decision: %s, looks %v, %v", decided.Body, looks, err)
	}
	for _, call := range [][3]string{{"GET", "/v1/events", ""}, {"GET", "/v1/events?from=0", ""}, {"HEAD", "/v1/checkpoint", ""},
		{"GET", "/v1/proof?index=0", ""}, {"GET", "/safety/events/" + own.Event, ""}, {"GET", "/v1/messages/waiting", ""},
		{"GET", "/v1/whatif", ""}, {"GET", "/v1/shadow", ""}, {"POST", "/v1/heartbeat", `{}`},
		{"POST", "/v1/requests/apr_0123456789ab/wait", `{"timeout_seconds": 0}`}} {
		looks = nil
		path, _, _ := strings.Cut(call[1], "?")
		got := h.do(h.server.Handler(), call[0], call[1], liveToken, call[2])
		if want := "builder of dana: " + call[0] + " " + path; len(looks) != 1 || looks[0] != want {
			t.Errorf("%s %s is answered %d and leaves %q", call[0], call[1], got.Code, looks)
		}
		if path == "/v1/events" && strings.Contains(got.Body.String(), string(interlock.EventAccess)) {
			t.Errorf("an agent is shown its own looks: %s", got.Body)
		}
	}
	looks = nil
	for _, call := range [][2]string{{"GET", "/healthz"}, {"GET", "/readyz"}, {"GET", "/metrics"}, {"GET", "/v1/nothing"}} {
		h.do(h.server.Handler(), call[0], call[1], liveToken, "")
	}
	h.do(h.server.Handler(), "GET", "/v1/events", "ilk_unknown", "")
	if len(looks) != 0 {
		t.Errorf("%q are recorded", looks)
	}
	fails = true
	if got := h.do(h.server.Handler(), "GET", "/v1/events", liveToken, ""); got.Code != 503 || strings.Contains(got.Body.String(), own.Event) {
		t.Errorf("a look that can't be recorded is answered %d %s", got.Code, got.Body)
	}
}
