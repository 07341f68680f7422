package admission_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/admission/governance"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/notice"
	"interlock/internal/quorum"
	"interlock/internal/store/storagetest"
	"interlock/spec"
)

// lists are an operator's own rules: one pattern that denies, one rule that wants a code.
const lists = `
policy:
  deny: ["shred *"]
rules:
  - id: local.publish
    layer: 3
    kinds: [shell]
    match: {glob: ["publish *"]}
    verdict: ask
    reason: this shows work to the public
    obligations: [{type: verify}]
    tests: {ask: ["publish notes"], pass: ["echo publish"]}
`

// A phone is a channel that keeps what it is told, in memory only.
type phone struct {
	mu      sync.Mutex
	notices []notice.Notice
	down    bool
}

func (p *phone) Notify(_ context.Context, n notice.Notice) notice.Delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return notice.Delivery{Failed: []string{"phone: no signal"}}
	}
	p.notices = append(p.notices, n)
	return notice.Delivery{Channels: []string{"phone"}}
}

// code returns the code of the newest notice.
func (p *phone) code(t *testing.T) string {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notices) == 0 {
		t.Fatal("no code was sent")
	}
	return p.notices[len(p.notices)-1].Code.Reveal()
}

// ruled gives a house rules of its operators.
func ruled(t *testing.T, document string) func(*admission.Config) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lists.yaml"), []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := config.Defaults()
	settings.Rules = dir
	evaluator, err := embedded.NewEvaluator(settings)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *admission.Config) { c.Evaluator = *evaluator }
}

// guarded is a house with the operator's rules, a phone, and a server's key that is taken at its word.
func guarded(t *testing.T, edit ...func(*admission.Config)) (*house, *phone) {
	t.Helper()
	told := &phone{}
	h := newHouse(t, append([]func(*admission.Config){ruled(t, lists), func(c *admission.Config) {
		fingerprint := c.Verify
		c.Notify = told
		c.Attest = func(_, subject, _ string) (string, error) { return "witnessed " + subject, nil }
		c.Verify = func(o interlock.OperatorRecord, method, statement, signature string) (string, error) {
			if method == interlock.MethodCode {
				return strings.TrimPrefix(signature, "witnessed "), nil
			}
			return fingerprint(o, method, statement, signature)
		}
	}}, edit...)...)
	return h, told
}

// step makes a proposal one that a monitored execution reports.
func step(p *admission.Case) {
	p.Loop = &interlock.Loop{Execution: "exe_1", Step: 1, Limit: 50, Tolerance: 50}
}

func from(agent, principal, run string) func(*admission.Case) {
	return func(p *admission.Case) {
		p.Requester = interlock.Requester{Agent: agent, Principal: principal, Run: run}
	}
}

func (h *house) standing() ledger.Standing {
	h.t.Helper()
	standing, err := h.Ground(h.t.Context(), storagetest.Everything()...)
	if err != nil {
		h.t.Fatal(err)
	}
	return standing
}

func (h *house) verifies(agent, challenge, code string) governance.Verification {
	h.t.Helper()
	v, err := h.Verify(h.t.Context(), interlock.Requester{Agent: agent, Principal: "alice", Run: "another"}, challenge, code)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

func (h *house) employ(name, role string) {
	h.t.Helper()
	if err := h.PutOperator(h.t.Context(), interlock.OperatorRecord{Name: name, Role: role, SSHKey: "key of " + name, Created: h.now}); err != nil {
		h.t.Fatal(err)
	}
}

// order is an operator's order as signed.
func (h *house) order(verb interlock.Verb, subject, operator string) interlock.Order {
	o := interlock.Order{ID: "ord_1", Verb: verb, Subject: subject, Reason: "looked at it", Operator: operator, At: h.now,
		Expires: h.now.Add(5 * time.Minute), Method: interlock.MethodSSH, Key: "fingerprint of " + operator + "'s", Signature: operator + "'s"}
	o.Statement = quorum.OrderStatement(o)
	return o
}

// blocked is a guarded house whose agent tried what an operator's pattern denies.
func blocked(t *testing.T, edit ...func(*admission.Config)) (*house, *phone, interlock.Answer) {
	t.Helper()
	h, told := guarded(t, edit...)
	answer := h.propose("shred notes.txt", step)
	if answer.Answer.Allowed() || answer.Challenge == "" {
		t.Fatalf("answer %v, challenge %q: want a hard block", answer.Answer, answer.Challenge)
	}
	return h, told, answer
}

// TestHardBlock: what a pattern denies stops the agent in the same commit, and its code goes to the channel alone.
func TestHardBlock(t *testing.T) {
	spec.Covers(t, "AQL-8.8", "AQL-8.8.2a")
	h, told, answer := blocked(t)
	want := []interlock.EventType{interlock.EventBlock, interlock.EventBlocked, interlock.EventChallenge, interlock.EventChallenge}
	if diff := cmp.Diff(want, h.entries()); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if log := h.log(); len(log[0].Checkpoint) > 0 || len(log[1].Checkpoint) > 0 || len(log[2].Checkpoint) == 0 {
		t.Error("the block was not one commit with the decision")
	}
	if diff := cmp.Diff([]string{"phone"}, answer.Channels); diff != "" {
		t.Errorf("channels (-want +got):\n%s", diff)
	}
	if uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`); !uuid.MatchString(answer.Challenge) {
		t.Errorf("the challenge's id %q is no UUID of version 4", answer.Challenge)
	}
	code := told.code(t)
	if format := regexp.MustCompile(`^([0-9A-HJKMNP-TV-Z]{4}-){7}[0-9A-HJKMNP-TV-Z]{4}$`); !format.MatchString(code) {
		t.Errorf("the code %q is not eight groups of four: 160 bits", code)
	}
	notice := told.notices[0]
	if notice.Severity != interlock.TierDangerZone || notice.Challenge != answer.Challenge || !strings.Contains(notice.Display, "shred notes.txt") {
		t.Errorf("the notice: %+v", notice)
	}
	_, second, _ := blocked(t)
	if second.code(t) == code {
		t.Error("two codes are the same")
	}
}

// TestHardBlockBindsTheAgent: no other run, call, element or door of the same agent gets round it; another agent is not in it.
func TestHardBlockBindsTheAgent(t *testing.T) {
	spec.Covers(t, "AQL-8.8.3a")
	h, _, answer := blocked(t)
	for name, edit := range map[string][]func(*admission.Case){
		"the same step":            {step},
		"a new execution":          {step, func(p *admission.Case) { p.Loop.Execution = "exe_2" }},
		"a new connection":         {step, from("claude", "alice", "run-2")},
		"another door":             {from("claude", "alice", "run-3"), func(p *admission.Case) { p.Door = "hook" }},
		"a call id of its own":     {event("PreToolUse", "toolu_9")},
		"no run":                   {from("claude", "alice", "")},
		"what the door says of it": {step, func(p *admission.Case) { p.Loop.Verifying = "none" }},
	} {
		got := h.propose("git status", edit...)
		if snapshot := h.standing().Challenges[answer.Challenge]; !snapshot.Blocks(requesterOf(edit)) {
			t.Fatal("the challenge does not bind the requester the case names")
		}
		if got.Challenge != answer.Challenge || got.Answer != interlock.Halt {
			t.Errorf("%s: %v, challenge %q, want %q", name, got.Answer, got.Challenge, answer.Challenge)
		}
	}
	if other := h.propose("git status", step, from("codex", "alice", "run-1")); other.Challenge != "" || other.Answer != interlock.Allow {
		t.Errorf("another agent got %v, challenge %q", other.Answer, other.Challenge)
	}
	if n := len(h.standing().Challenges); n != 1 {
		t.Errorf("%d challenges stand, want one", n)
	}
}

func requesterOf(edit []func(*admission.Case)) interlock.Requester {
	p := admission.Case{Proposal: interlock.Proposal{Requester: interlock.Requester{Principal: "alice", Agent: "claude", Run: "run-1"}}}
	for _, e := range edit {
		e(&p)
	}
	return p.Requester
}

// TestBlockOutlivesAnotherOwner: a registered agent is its token, so giving it another owner lifts nothing.
func TestBlockOutlivesAnotherOwner(t *testing.T) {
	h, _ := guarded(t)
	agent := interlock.AgentRecord{ID: "builder", Principal: "dana", Created: h.now}
	if err := h.PutAgent(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	answer := h.propose("shred notes.txt", from("builder", "says-so", "r"), step)
	agent.Principal = "erik"
	if err := h.PutAgent(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	if again := h.propose("git status", from("builder", "erik", "r2")); again.Answer != interlock.Halt ||
		again.Challenge != answer.Challenge || answer.Challenge == "" {
		t.Errorf("challenge %q, want %q", again.Challenge, answer.Challenge)
	}
}

// TestOnlyEnforcingBlocks: in every other mode nobody is blocked and no code is made.
func TestOnlyEnforcingBlocks(t *testing.T) {
	for _, mode := range []interlock.Mode{interlock.Monitoring, interlock.Logging, interlock.Disabled} {
		h, told := guarded(t, func(c *admission.Config) { c.Mode = mode })
		answer := h.propose("shred notes.txt", step)
		if answer.Answer != interlock.Allow || answer.Challenge != "" || len(told.notices) > 0 || len(h.standing().Challenges) > 0 {
			t.Errorf("%s: answer %v, challenge %q, %d notices", mode, answer.Answer, answer.Challenge, len(told.notices))
		}
	}
	h, told := guarded(t)
	if plain := h.propose("shred notes.txt"); plain.Challenge != "" || len(told.notices) > 0 {
		t.Errorf("a call outside a monitored execution blocked its agent: %q", plain.Challenge)
	}
}

// TestNobodyToTell: without a channel, or with one that fails, the block stands, the answer names no channel, and the log says
// that the code reached nobody.
func TestNobodyToTell(t *testing.T) {
	for name, edit := range map[string]func(*admission.Config){
		"no channel":    func(c *admission.Config) { c.Notify = nil },
		"one is down":   func(c *admission.Config) { c.Notify = &phone{down: true} },
		"one is broken": func(c *admission.Config) { c.Notify = broken{} },
	} {
		h, _, answer := blocked(t, edit)
		if len(answer.Channels) != 0 {
			t.Errorf("%s: channels %v", name, answer.Channels)
		}
		types := h.entries()
		if last := types[len(types)-1]; last != interlock.EventAlert {
			t.Errorf("%s: the log ends in %s", name, last)
		}
		for _, e := range h.log() {
			if strings.Contains(string(e.Body), "1234-SECRET") {
				t.Errorf("%s: what broke reached the log", name)
			}
		}
		if again := h.propose("git status"); again.Challenge != answer.Challenge {
			t.Errorf("%s: the block does not stand", name)
		}
	}
}

type broken struct{}

func (broken) Notify(context.Context, notice.Notice) notice.Delivery { panic("1234-SECRET") }
