package judge_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"interlock"
	"interlock/internal/judge"
)

// grounds are three rules in two layers.
type grounds struct{}

func (grounds) Text() string {
	return "Layer 1\n\n- L1-1: Destroy nothing.\n- L1-2: Send no secret away.\n\nLayer 4\n\n- L4-1: Keep to the task.\n"
}

func (grounds) Digest() interlock.Digest { return "sha256:rules" }

func (grounds) Layer(rule string) (int, bool) {
	layer, known := map[string]int{"L1-1": 1, "L1-2": 1, "L4-1": 4}[rule]
	return layer, known
}

func (grounds) Conditional(rule string) bool { return rule == "L1-2" }

const (
	badPayload  = `{"action":{"input":"rm -rf /","type":"shell"}}`
	goodPayload = `{"action":{"input":"ls","type":"shell"}}`

	allows = `{"decision":"ALLOW","layer":null,"rule_id":null,"reason":"it only looks","confidence":0.93}`
	denies = `{"decision":"DENY","layer":1,"rule_id":"L1-1","reason":"it destroys files","confidence":1}`
)

// chat is an answer of a server of OpenAI's form.
func chat(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"id":"x","object":"chat.completion","model":"test-1","choices":[{"index":0,"finish_reason":"stop",` +
		`"message":{"role":"assistant","content":` + string(quoted) + `}}],"usage":{"prompt_tokens":1000,"completion_tokens":50}}`
}

// config is a judge at an address, whose canary was sung already.
func config(address string) judge.Config {
	return judge.Config{Name: "one", Wire: judge.WireChat, URL: address + "/v1", Model: "test-1", Timeout: 10 * time.Second, MaxPayload: 4096,
		MaxTokens: 300, InFlight: 4, Waiting: 4, Ground: grounds{}, Nonce: rand.Reader, Now: time.Now,
		Price:  judge.Price{In: 150_000, Out: 600_000, Cached: 75_000, Currency: "USD"},
		Canary: judge.Canary{Deny: []byte(badPayload), Allow: []byte(goodPayload), Every: time.Hour}}
}

func made(t *testing.T, c judge.Config) *judge.Client {
	t.Helper()
	j, err := judge.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// proved is a judge that need not be tested first.
func proved(t *testing.T, c judge.Config) *judge.Client {
	t.Helper()
	j := made(t, c)
	j.ProvedAt(c.Now())
	return j
}

func server(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// saying is a server that always answers with this text of a model, and how often it was asked.
func saying(t *testing.T, text string) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	return server(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, chat(text))
	}), &asked
}

func question(payload string) interlock.JudgeQuestion {
	return interlock.JudgeQuestion{Subject: interlock.JudgeAction, Payload: []byte(payload)}
}

func ask(t *testing.T, j *judge.Client, payload string) interlock.Judgment {
	t.Helper()
	return j.Ask(context.Background(), question(payload))
}

// quiet is a log that nobody reads.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
