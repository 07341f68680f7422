package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/httpapi"
	"interlock/internal/identity"
	"interlock/internal/ledger"
)

// instant answers without deciding, so that what is measured is the door.
type instant struct {
	auditlog.HashRows
	standing ledger.Standing
	answer   interlock.Answer
}

func (b *instant) ProposeBy(context.Context, admission.Way, interlock.Proposal) interlock.Answer {
	return b.answer
}
func (b *instant) Report(context.Context, interlock.Requester, interlock.Outcome) error {
	return nil
}
func (b *instant) Refuse(context.Context, interlock.Requester, string, error) interlock.Answer {
	return interlock.Answer{}
}
func (b *instant) RefuseApproval(context.Context, string, string, string, error) (ledger.Receipt, error) {
	return ledger.Receipt{}, nil
}
func (b *instant) Known(context.Context, ...ledger.Ref) (ledger.Standing, error) {
	return b.standing, nil
}

func (b *instant) Pending(context.Context, int) (int, error) { return 0, nil }

func (b *instant) Ground(context.Context, ...ledger.Ref) (ledger.Standing, error) {
	return b.standing, nil
}
func (b *instant) HearPrompt(context.Context, interlock.Requester, string) error { return nil }
func (b *instant) HearResult(context.Context, interlock.Proposal, string) error  { return nil }
func (b *instant) Head(context.Context) (ledger.Head, error)                     { return ledger.Head{}, nil }
func (b *instant) Entries(context.Context, interlock.EventType, ledger.Span) ([]interlock.Entry, error) {
	return nil, nil
}
func (b *instant) Entry(context.Context, string) (interlock.Entry, bool, error) {
	return interlock.Entry{}, false, nil
}

func newInstant(b *testing.B) *httpapi.Server {
	b.Helper()
	backend := &instant{
		standing: ledger.Standing{Version: 1,
			Agents: map[string]interlock.AgentRecord{"builder": {ID: "builder", TokenHash: identity.HashToken(liveToken)}}},
		answer: interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow, Profile: "guard",
			Impacts: []interlock.Impact{{Kind: interlock.ImpactRead, Target: "/w/a.txt", Reach: interlock.ReachWorkspace,
				Reversibility: interlock.Readonly, Confidence: interlock.Parsed, Via: "cat"}},
			Action:  interlock.Digest("sha256:" + fmt.Sprintf("%064d", 1)),
			Ruleset: interlock.Digest("sha256:" + fmt.Sprintf("%064d", 2)), Snapshot: interlock.Digest("sha256:" + fmt.Sprintf("%064d", 3))},
			Event: fmt.Sprintf("%064d", 4), Index: 123456, Checkpoint: bytes.Repeat([]byte("c"), 240)},
	}
	server, err := httpapi.New(httpapi.Config{Backend: backend, Log: backend, Tokens: identity.NewTokens(backend.Ground, time.Now),
		Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)), Now: time.Now, User: "dana"})
	if err != nil {
		b.Fatal(err)
	}
	return server
}

const benchBody = `{"kind":"shell","input":"go test ./internal/... && git status --short","dir":"/home/dana/project","run":"run-1","call_id":"call-000001"}`

// discard is a response writer that keeps nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkDoor is what one request costs beside net/http, the decision and its record. Budget: 6 µs, because at 40,000
// requests a second on two cores a whole request, load generator included, has 50 µs.
func BenchmarkDoor(b *testing.B) {
	handler := newInstant(b).Handler()
	request := httptest.NewRequest("POST", "/v1/decide", nil)
	request.Host = "127.0.0.1:7433"
	request.Header = http.Header{"Authorization": {"Bearer " + liveToken}, "Content-Type": {"application/json"}}
	body := bytes.NewReader([]byte(benchBody))
	request.ContentLength = body.Size()
	request.Body = io.NopCloser(body)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		body.Reset([]byte(benchBody))
		clear(w.header)
		handler.ServeHTTP(w, request)
	}
}

// BenchmarkAppendAnswer is writing one answer.
func BenchmarkAppendAnswer(b *testing.B) {
	answer := &interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Deny, Findings: []interlock.Finding{{Gate: "rules",
		Rule: "fs.delete-system", Layer: 1, Verdict: interlock.Deny, Reason: "this deletes system files", Tags: []string{"ASI02"}}}},
		Event: fmt.Sprintf("%064d", 4), Checkpoint: bytes.Repeat([]byte("c"), 240)}
	var buffer []byte
	b.ReportAllocs()
	for b.Loop() {
		buffer = httpapi.AppendAnswer(buffer[:0], answer)
	}
}

// BenchmarkLoopback is one caller over a kept connection, net/http and its client included.
func BenchmarkLoopback(b *testing.B) {
	server := httptest.NewServer(newInstant(b).Handler())
	defer server.Close()
	client := server.Client()
	b.ReportAllocs()
	for b.Loop() {
		request, err := http.NewRequest("POST", server.URL+"/v1/decide", bytes.NewReader([]byte(benchBody)))
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+liveToken)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
}
