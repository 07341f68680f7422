package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// noon is the one time of these tests.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// zeroes is the randomness of a log key that signs nothing but tests.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// fakeBackend is a small admission with a real, sealed log in memory. It polices what a door must keep: every proposal is
// well formed and canonical, no name is longer than the log takes, and no allow is handed out without its event.
type fakeBackend struct {
	t      testing.TB
	sealer *auditlog.Sealer

	mu       sync.Mutex
	entries  []interlock.Entry
	head     ledger.Head
	runs     map[string]int64
	standing ledger.Standing
	events   []string // what the test asserts: type, role, actor and what was said
	reported []interlock.Outcome
	seen     []admission.Case
	down     bool // the store is gone
	hold     chan struct{}
	held     chan struct{}
	watches  []chan struct{}
	reading  chan struct{} // says that the head is read, and waits for read
	read     chan struct{}
}

func newBackend(t testing.TB) *fakeBackend {
	t.Helper()
	private, _, err := auditlog.GenerateKey(zeroes{})
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	return &fakeBackend{t: t, sealer: sealer, runs: map[string]int64{}}
}

// append seals one event, as a store would.
func (b *fakeBackend) append(kind interlock.EventType, role, actor string, payload any) (ledger.Receipt, error) {
	if b.down {
		return ledger.Receipt{}, errors.New("the disk is gone")
	}
	data, err := strictjson.Marshal(payload)
	if err != nil {
		b.t.Errorf("payload of %s: %v", kind, err)
		return ledger.Receipt{}, err
	}
	b.runs[actor]++
	draft := ledger.Draft{Type: kind, Run: actor, Seed: "seed-of-" + actor, Actor: actor, Role: role, Recorded: noon,
		Snapshots: map[string]string{"ruleset": "sha256:beef"}, Payload: data}
	entries, head, err := b.sealer.Seal(b.head, []ledger.Draft{draft}, []int64{b.runs[actor]}, nil)
	if err != nil {
		b.t.Errorf("sealing %s: %v", kind, err)
		return ledger.Receipt{}, err
	}
	b.entries, b.head = append(b.entries, entries...), head
	return ledger.Receipt{First: entries[0].Index, Events: []string{entries[0].ID}, Checkpoint: head.Checkpoint}, nil
}

// ProposeBy answers by a word in the input: ask, deny, halt, costly, unrecorded (a broken backend that allows without an event),
// panic, wait; anything else is allowed.
func (b *fakeBackend) ProposeBy(ctx context.Context, way admission.Way, p interlock.Proposal) interlock.Answer {
	b.police(p)
	text := p.Action.Input + p.Action.Tool + string(p.Action.Arguments)
	if strings.Contains(text, "wait") {
		b.held <- struct{}{}
		<-b.hold
	}
	if strings.Contains(text, "panic") {
		panic("a defect that quotes " + text)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, admission.Case{Proposal: p, Way: way})
	digest, err := strictjson.ActionDigest(p.Action)
	if err != nil {
		b.t.Errorf("digest: %v", err)
	}
	answer := interlock.Answer{Decision: interlock.Decision{Verdict: interlock.Allow, Answer: interlock.Allow, Profile: "guard",
		Findings: []interlock.Finding{}, Action: digest, Ruleset: "sha256:beef", Snapshot: "sha256:cafe",
		Impacts: []interlock.Impact{{Kind: interlock.ImpactRead, Target: "/w/a.txt", Reach: interlock.ReachWorkspace,
			Reversibility: interlock.Readonly, Confidence: interlock.Parsed, Via: "cat"}}}}
	object := func(verdict interlock.Verdict) {
		answer.Verdict, answer.Answer = verdict, verdict
		answer.Findings = []interlock.Finding{{Gate: "rules", Rule: "test." + verdict.String(), Layer: 2, Verdict: verdict,
			Reason: "the test says " + verdict.String()}}
	}
	if strings.Contains(text, "my card") {
		answer.Text = &interlock.Classified{Classification: "REDACT", Message: "Some information was removed for safety.", Shown: "my [redacted]"}
	}
	switch {
	case strings.Contains(text, "unrecorded"):
		return answer
	case strings.Contains(text, "ask"):
		object(interlock.Ask)
		answer.Request = "apr_0123456789ab"
		answer.Obligations = []interlock.Obligation{{Type: interlock.ObligationConfirm}}
		if !p.CanAsk {
			answer.Answer = interlock.Deny
		}
	case strings.Contains(text, "deny"):
		object(interlock.Deny)
	case strings.Contains(text, "halt"):
		object(interlock.Halt)
	case strings.Contains(text, "costly"):
		answer = interlock.Refusal(string(interlock.CodeLimited), "too many that are costly wait already")
	}
	receipt, err := b.append(interlock.EventDecision, "agent", p.Requester.Agent, map[string]string{"digest": string(digest)})
	if err != nil {
		return interlock.Refusal("unavailable", "the decision could not be recorded")
	}
	b.events = append(b.events, fmt.Sprintf("%s %s %s/%s run=%q call=%q door=%s ask=%t: %s %s", interlock.EventDecision, "agent",
		p.Requester.Principal, p.Requester.Agent, p.Requester.Run, p.Requester.Call, p.Door, p.CanAsk, answer.Verdict, describe(p)))
	answer.Event, answer.Index, answer.Checkpoint = receipt.Events[0], receipt.First, receipt.Checkpoint
	return answer
}

func describe(p interlock.Proposal) string {
	data, err := json.Marshal(struct {
		interlock.Action
		Workspace string `json:"workspace,omitempty"`
	}{p.Action, p.View.Workspace})
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (b *fakeBackend) police(p interlock.Proposal) {
	if !p.Action.Kind.Valid() {
		b.t.Errorf("a proposal with kind %q came through", p.Action.Kind)
	}
	if p.Requester.Agent == "" || p.Door == "" {
		b.t.Errorf("a proposal without requester or door came through: %+v", p)
	}
	for _, name := range []string{p.Requester.Agent, p.Requester.Principal, p.Requester.Run, p.Requester.Call, p.Event, p.Door} {
		if len(name) > 256 {
			b.t.Errorf("a name of %d bytes came through", len(name))
		}
	}
	if p.Action.Kind.TakesObject() {
		canonical, err := strictjson.Canonical(p.Action.Arguments)
		if err != nil || !bytes.Equal(canonical, p.Action.Arguments) || canonical[0] != '{' {
			b.t.Errorf("arguments came through that are not a canonical object: %.200q (%v)", p.Action.Arguments, err)
		}
		if p.Action.Input != "" {
			b.t.Error("an object action came through with an input")
		}
	} else if len(p.Action.Arguments) > 0 {
		b.t.Error("a text action came through with arguments")
	}
}

func (b *fakeBackend) Report(_ context.Context, r interlock.Requester, o interlock.Outcome) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o.Event == strings.Repeat("0", 64) {
		return interlock.Errorf(interlock.CodeNotFound, "/event_id", "no such decision")
	}
	if _, err := b.append(interlock.EventOutcome, "agent", r.Agent, map[string]string{"outcome": string(o.Status)}); err != nil {
		return err
	}
	b.reported = append(b.reported, o)
	b.events = append(b.events, fmt.Sprintf("%s agent %s/%s run=%q call=%q: %s event=%s action=%s took=%s %s", interlock.EventOutcome,
		r.Principal, r.Agent, r.Run, r.Call, o.Status, o.Event, o.Action, o.Duration, o.Detail))
	return nil
}

func (b *fakeBackend) Refuse(_ context.Context, r interlock.Requester, door string, cause error) interlock.Answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Agent == "" {
		b.t.Error("a refusal without an agent was recorded")
	}
	if _, err := b.append(interlock.EventRefusal, "agent", r.Agent, map[string]string{"reason": cause.Error()}); err == nil {
		b.events = append(b.events, fmt.Sprintf("%s agent %s door=%s: %s", interlock.EventRefusal, r.Agent, door, cause))
	}
	return interlock.Refusal("refused", "refused")
}

func (b *fakeBackend) RefuseApproval(_ context.Context, role, actor, request string, cause error) (ledger.Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	receipt, err := b.append(interlock.EventApprovalRefused, role, actor, map[string]string{"request": request})
	if err == nil {
		b.events = append(b.events, fmt.Sprintf("%s %s %s request=%q", interlock.EventApprovalRefused, role, actor, request))
	}
	return receipt, err
}

func (b *fakeBackend) Known(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error) {
	return b.Ground(ctx, refs...)
}

func (b *fakeBackend) Pending(ctx context.Context, _ int) (int, error) {
	standing, err := b.Ground(ctx)
	pending := 0
	for _, r := range standing.Requests {
		if r.Status == interlock.RequestPending && noon.Before(r.Expires) {
			pending++
		}
	}
	return pending, err
}

func (b *fakeBackend) Ground(context.Context, ...ledger.Ref) (ledger.Standing, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return ledger.Standing{}, errors.New("the disk is gone")
	}
	return b.standing, nil
}

func (b *fakeBackend) Head(context.Context) (ledger.Head, error) {
	if b.reading != nil {
		b.reading <- struct{}{}
		<-b.read
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.down {
		return ledger.Head{}, errors.New("the disk is gone")
	}
	return b.head, nil
}

func (b *fakeBackend) Hashes(_ context.Context, index int64) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if index < 0 || index >= int64(len(b.entries)) {
		return nil, fmt.Errorf("no entry %d", index)
	}
	return b.entries[index].Hashes, nil
}

func (b *fakeBackend) Entries(_ context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from, limit := span.From, span.Limit
	if from < 0 || limit < 1 || kind != "" || span.Newest {
		b.t.Errorf("asked for %d %s entries from %d, newest first: %v", limit, kind, from, span.Newest)
		return nil, errors.New("bad range")
	}
	if from >= int64(len(b.entries)) {
		return nil, nil
	}
	return b.entries[from:min(from+int64(limit), int64(len(b.entries)))], nil
}

func (b *fakeBackend) Entry(_ context.Context, id string) (interlock.Entry, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, entry := range b.entries {
		if entry.ID == id {
			return entry, true, nil
		}
	}
	return interlock.Entry{}, false, nil
}
