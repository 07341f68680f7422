package mcpgateway_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/config"
	"interlock/internal/mcpgateway"
	"interlock/internal/quorum"
	"interlock/internal/store/driver"
	"interlock/internal/store/sqlite"
	"interlock/internal/store/storagetest"
	"interlock/test/wait"
)

// A house is a store in a file, with as many admissions over it as processes would have, and a clock the test moves.
type house struct {
	t      *testing.T
	path   string
	sealer *auditlog.Sealer
	key    []byte

	mu  sync.Mutex
	now time.Time
}

func newHouse(t *testing.T) *house {
	t.Helper()
	private, _, err := auditlog.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, path: filepath.Join(t.TempDir(), "interlock.db"), sealer: sealer, key: make([]byte, mcpgateway.KeyBytes),
		now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	_, _ = rand.Read(h.key)
	return h
}

func (h *house) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) later(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// process opens the store as one more process would; closing it ends that process.
func (h *house) process() *admission.Admission {
	h.t.Helper()
	evaluator, err := embedded.NewEvaluator(config.Defaults())
	if err != nil {
		h.t.Fatal(err)
	}
	evaluator.Attended = true
	store, err := sqlite.Open(h.path, driver.Options{Sealer: h.sealer, Now: h.clock})
	if err != nil {
		h.t.Fatal(err)
	}
	a, err := admission.New(admission.Config{Evaluator: *evaluator, Store: store, Redact: classify.Redact,
		Verify: func(_ interlock.OperatorRecord, _, _, signature string) (string, error) {
			return "fingerprint of " + signature, nil
		},
		Now: h.clock, Random: rand.Reader})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { a.Close() })
	return a
}

// answer answers a request as the operator bob, whose key every signature of the fake verifier matches.
func (h *house) answer(a *admission.Admission, id string, verdict interlock.Verdict) {
	h.t.Helper()
	standing, err := a.Ground(h.t.Context(), storagetest.Everything()...)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, known := standing.Operators["bob"]; !known {
		if err := a.PutOperator(h.t.Context(), interlock.OperatorRecord{Name: "bob", Role: "operator", SSHKey: "key", Created: h.clock()}); err != nil {
			h.t.Fatal(err)
		}
	}
	if _, err := a.Resolve(h.t.Context(), interlock.Approval{Request: id, Verdict: verdict, Operator: "bob", Key: "fingerprint of bob's",
		Statement: quorum.Statement(standing.Requests[id], verdict, "bob"), Signature: "bob's"}); err != nil {
		h.t.Fatal(err)
	}
}

// waiting waits until one request is pending and returns its id.
func (h *house) waiting(a *admission.Admission) string {
	h.t.Helper()
	id := ""
	wait.Until(h.t, "a request is pending", func() bool {
		requests, err := a.Requests(h.t.Context(), 0)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, r := range requests.Rows {
			if r.Status == interlock.RequestPending {
				id = r.ID
			}
		}
		return id != ""
	})
	return id
}

func (h *house) asker(a *admission.Admission, edit ...func(*mcpgateway.AskConfig)) *mcpgateway.Asker {
	h.t.Helper()
	c := mcpgateway.AskConfig{Approvals: a, Key: h.key, Patience: time.Millisecond, Console: "https://console.example", Now: h.clock}
	for _, e := range edit {
		e(&c)
	}
	asker, err := mcpgateway.NewAsker(c)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(asker.Close)
	return asker
}

func patient(c *mcpgateway.AskConfig) { c.Patience = time.Minute }

// question is a call that the default profile asks about: it addresses people.
func question(call string, edit ...func(*mcpgateway.Question)) mcpgateway.Question {
	q := mcpgateway.Question{Method: "tools/call", Client: mcpgateway.Abilities{Revision: "2025-11-25"}, Proposal: interlock.Proposal{
		Action: interlock.Action{Kind: interlock.KindTool, Tool: "mail.send_email",
			Arguments: json.RawMessage(`{"attachment":"/etc/hosts","to":"all@example.org"}`)},
		Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "session", Call: call}, Door: "gateway", CanAsk: true}}
	for _, e := range edit {
		e(&q)
	}
	return q
}

// decided is a question's outcome, from a goroutine of its own.
func decided(ctx context.Context, a *mcpgateway.Asker, q mcpgateway.Question) <-chan mcpgateway.Settled {
	out := make(chan mcpgateway.Settled, 1)
	go func() { out <- a.Decide(ctx, q) }()
	return out
}

// structured is what a tool result says to programs.
func structured(t *testing.T, s mcpgateway.Settled) mcpgateway.Refused {
	t.Helper()
	var result struct {
		Structured mcpgateway.Refused `json:"structuredContent"`
		IsError    bool               `json:"isError"`
	}
	if err := json.Unmarshal(s.Result, &result); err != nil || !result.IsError || s.Forward {
		t.Fatalf("no refusal: %s (forward %v, %v)", s.Result, s.Forward, err)
	}
	return result.Structured
}
