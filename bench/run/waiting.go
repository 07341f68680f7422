package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"interlock"
	"interlock/embedded"
	"interlock/internal/identity"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// How many agents wait for a human at once, how many of them are answered, and how often one that waits asks again.
const (
	waitingAgents   = 1000
	waitingAnswered = 100
	waitingPoll     = 10 * time.Millisecond
)

// A waiter is an agent over HTTP that holds a pending approval.
type waiter struct {
	address, token, request string
	client                  *http.Client
}

// waiting measures what a thousand agents that wait for a human cost, and how long after the human's answer an agent goes on.
func waiting(b *bench) error {
	home, err := b.home("waiting")
	if err != nil {
		return err
	}
	backend, err := embedded.Open(b.ctx, embedded.Config{Home: home})
	if err != nil {
		return err
	}
	defer backend.Close()
	waiters, err := b.waiters(backend)
	if err != nil {
		return err
	}
	signer, err := b.operator(backend)
	if err != nil {
		return err
	}
	defer signer.Close()
	address, stop, err := b.server(home)
	if err != nil {
		return err
	}
	defer stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	for _, w := range waiters {
		w.address, w.client = address+"/mcp", client
	}
	busy := waiters[waitingAgents] // one more, who only does harmless work
	if _, err := busy.operate("mcp_aql_execute", "execute_agent", map[string]any{"element_name": "task"}); err != nil {
		return err
	}
	before, err := busy.work()
	if err != nil {
		return err
	}
	idle := residentMB(b.pid)
	var begun atomic.Int64
	_, asked, err := load(16, time.Minute, func(int) error {
		n := begun.Add(1) - 1
		if n >= waitingAgents {
			return errEnough
		}
		return waiters[n].ask()
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	full := residentMB(b.pid)
	during, err := busy.work()
	if err != nil {
		return err
	}
	reached, err := b.answer(backend, signer, waiters[:waitingAnswered])
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\n## A thousand agents waiting for a human\n\n%d agents over `/mcp` of `interlock up`, each with an execution that pauses for an approval; 16 ask at a time. MCP-AQL has no call\n"+
		"that waits: an agent reports the identical step again, here %s after each answer it did not like. The operator's answer is signed and\n"+
		"made durable by another process on the same store; what counts is the time from then to the end of the agent's call that goes on.\n"+
		"Budget: an answer reaches the agent within 100 ms.\n\n", waitingAgents, waitingPoll)
	fmt.Fprintf(b.out, "| | p50 ms | p95 ms | p99 ms |\n|---|---:|---:|---:|\n")
	for _, row := range []struct {
		name  string
		times []time.Duration
	}{{"a harmless step, nobody waiting", before}, {"the same, all waiting", during}, {"beginning and asking (two calls)", asked},
		{"from the operator's answer to the agent", reached}} {
		fmt.Fprintf(b.out, "| %s | %s | %s | %s |\n", row.name, millis(quantile(row.times, 0.5)),
			millis(quantile(row.times, 0.95)), millis(quantile(row.times, 0.99)))
	}
	fmt.Fprintf(b.out, "\nServer memory (resident): %.0f MB with nobody waiting, %.0f MB with all; %.0f KB for each.\n", idle,
		full, (full-idle)*1024/waitingAgents)
	return nil
}

// errEnough ends a load that has done all there is to do.
var errEnough = errors.New("enough")

// waiters registers the agents and one more.
func (b *bench) waiters(backend *embedded.Backend) ([]*waiter, error) {
	var out []*waiter
	for n := range waitingAgents + 1 {
		token, hash, err := identity.NewToken(rand.Reader)
		if err != nil {
			return nil, err
		}
		if err := backend.PutAgent(b.ctx,
			interlock.AgentRecord{ID: fmt.Sprintf("waiter-%04d", n), Trust: interlock.TrustValidated, TokenHash: hash,
				Created: time.Now().UTC()}); err != nil {
			return nil, err
		}
		out = append(out, &waiter{token: token})
	}
	return out, nil
}

// operator registers one who can answer, with a key made for it.
func (b *bench) operator(backend *embedded.Backend) (*identity.Signer, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.scratch, "operator")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, err
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	record := interlock.OperatorRecord{Name: "olga", Role: "operator",
		SSHKey: strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), Created: time.Now().UTC()}
	if err := backend.PutOperator(b.ctx, record); err != nil {
		return nil, err
	}
	return identity.FileSigner(file, func() ([]byte, error) { return nil, errors.New("the key has no passphrase") })
}

// operate carries one operation out and returns its data.
func (w *waiter) operate(tool, operation string, params map[string]any) (map[string]any, error) {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": map[string]any{"operation": operation, "params": params}}})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest("POST", w.address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + w.token, "Content-Type": "application/json",
		"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"} {
		request.Header.Set(name, value)
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	var envelope struct {
		Success bool
		Data    map[string]any
	}
	if err := json.Unmarshal(text, &answer); err != nil || len(answer.Result.Content) != 1 {
		return nil, fmt.Errorf("%s: %s", operation, text)
	}
	if err := json.Unmarshal([]byte(answer.Result.Content[0].Text), &envelope); err != nil || !envelope.Success {
		return nil, fmt.Errorf("%s: %s", operation, text)
	}
	return envelope.Data, nil
}

// step reports the action that only a human lets through.
func (w *waiter) step() (map[string]any, error) {
	return w.operate("mcp_aql_create", "record_execution_step",
		map[string]any{"element_name": "task", "next_action_hint": "git push --force origin main"})
}

// ask begins an execution and gets it paused.
func (w *waiter) ask() error {
	if _, err := w.operate("mcp_aql_execute", "execute_agent", map[string]any{"element_name": "task"}); err != nil {
		return err
	}
	data, err := w.step()
	if err != nil {
		return err
	}
	if w.request, _ = data["request_id"].(string); w.request == "" {
		return fmt.Errorf("a step that wants an approval was answered %v", data)
	}
	return nil
}

// work reports harmless steps, within the step limit.
func (w *waiter) work() ([]time.Duration, error) {
	var times []time.Duration
	for n := range 200 {
		if n%40 == 0 {
			if _, err := w.operate("mcp_aql_execute", "complete_execution", map[string]any{"element_name": "task"}); err != nil {
				return nil, err
			}
			if _, err := w.operate("mcp_aql_execute", "execute_agent", map[string]any{"element_name": "task"}); err != nil {
				return nil, err
			}
		}
		start := time.Now()
		data, err := w.operate("mcp_aql_create", "record_execution_step",
			map[string]any{"element_name": "task", "next_action_hint": fmt.Sprintf("cat notes-%d.txt", n)})
		if err != nil {
			return nil, err
		}
		if data["continue"] != true {
			return nil, fmt.Errorf("a harmless step was answered %v", data)
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

// answer has an operator approve one request after the other while its agent asks again and again, and returns how long each
// answer took to reach its agent.
func (b *bench) answer(backend *embedded.Backend, signer *identity.Signer, waiters []*waiter) ([]time.Duration, error) {
	var times []time.Duration
	for _, w := range waiters {
		type end struct {
			at  time.Time
			err error
		}
		asking, passed := make(chan struct{}), make(chan end, 1)
		go func() {
			for n := 0; ; n++ {
				data, err := w.step()
				if n == 0 {
					close(asking)
				}
				if err != nil || data["continue"] == true {
					passed <- end{time.Now(), err}
					return
				}
				time.Sleep(waitingPoll)
			}
		}()
		<-asking
		given, err := b.approve(backend, signer, w.request)
		if err != nil {
			return nil, err
		}
		select {
		case e := <-passed:
			if e.err != nil {
				return nil, e.err
			}
			times = append(times, max(e.at.Sub(given), 0))
		case <-time.After(10 * time.Second):
			return nil, errors.New("an approval never reached its agent")
		}
	}
	return times, nil
}

// approve signs and hands in a yes, and returns when it was durable.
func (b *bench) approve(backend *embedded.Backend, signer *identity.Signer, id string) (time.Time, error) {
	standing, err := backend.Ground(b.ctx, ledger.Ref{Kind: ledger.Request, Key: id})
	if err != nil {
		return time.Time{}, err
	}
	approval := interlock.Approval{Request: id, Verdict: interlock.Allow, Operator: "olga", Key: signer.PublicKey().Fingerprint(),
		Statement: quorum.Statement(standing.Requests[id], interlock.Allow, "olga")}
	if approval.Signature, err = signer.SignApproval(rand.Reader, approval.Statement); err != nil {
		return time.Time{}, err
	}
	_, err = backend.Resolve(b.ctx, approval)
	return time.Now(), err
}
