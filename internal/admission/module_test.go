package admission_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/module"
	"interlock/internal/phase"
	"interlock/internal/quorum"
	"interlock/spec"
)

const aModule = `{"type":"agent","display_name":"the builder","version":"1","policy":{"forbidden_actions":["rm *"],"immutable_actions":["rm *"]}}`

// modular is a council with an agent that is no module yet.
func modular(t *testing.T, params ...string) *house {
	t.Helper()
	h := council(t)
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Principal: "alice", Trust: interlock.TrustValidated,
		Created: h.now}); err != nil {
		t.Fatal(err)
	}
	for _, p := range params {
		h.enrols(quorum.ActRegister, p)
	}
	return h
}

// tryEnrol asks for something of the agent's registration.
func (h *house) tryEnrol(kind, params string) (interlock.ActionRequest, error) {
	h.t.Helper()
	detail, err := governance.Detail(governance.RequestTerms{Target: "agent:claude", Params: params})
	if err != nil {
		h.t.Fatal(err)
	}
	done, err := h.CarryOut(h.t.Context(), h.signs(interlock.VerbRequest, kind, detail, "it is needed", "aud"))
	return done.Request, err
}

// enrols has something of the agent's registration asked for, approved as it takes, and carried out.
func (h *house) enrols(kind, params string) {
	h.t.Helper()
	r, err := h.tryEnrol(kind, params)
	if err != nil {
		h.t.Fatal(err)
	}
	switch r.Ballot.Approval {
	case interlock.ApprovalCouncil:
		h.votes(r.ID, "approve", "member-0", "member-1", "member-2")
	default:
		h.votes(r.ID, "approve", "ada")
	}
	if r.Ballot.Approval == interlock.ApprovalNotify {
		h.now = h.now.Add(25 * time.Hour)
	}
	if got, err := h.executes(r.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		h.t.Fatalf("%s: %s %s, %v", kind, got.Status, got.Why, err)
	}
}

func (h *house) module() *interlock.Module {
	h.t.Helper()
	return h.standing().Agents["claude"].Module
}

func (h *house) health() (module.Health, module.Status) {
	h.t.Helper()
	standing := h.standing()
	return containment.HealthOf(&standing, "claude")
}

// TestGOVT2: changing who registered a node is refused by MACE's name and changes nothing, and so is whatever else never changes.
func TestGOVT2(t *testing.T) {
	spec.Covers(t, "MACE-GOV-T2", "MACE-GOV-6")
	h := modular(t, aModule)
	before := h.module()
	if before == nil || before.Registration.By != "aud" || !before.Registration.At.Equal(h.now) || before.Timeout != 30000 ||
		before.Attempts != 3 {
		t.Fatalf("registered: %+v", before)
	}
	if e := h.newest(interlock.EventIdentity); !strings.Contains(string(e.Payload), `"registered_by":"aud"`) {
		t.Errorf("IDENTITY_CHANGE says %s", e.Payload)
	}
	with := func(old, fresh string) string { return strings.Replace(aModule, old, fresh, 1) }
	for field, params := range map[string]string{
		"registration.registered_by": with(`"version"`,
			fmt.Sprintf(`"registration":{"registered_by":"ada","registered_at":%q},"version"`,
				before.Registration.At.Format(time.RFC3339Nano))),
		"registration.registered_at": with(`"version"`,
			`"registration":{"registered_by":"aud","registered_at":"2020-01-01T00:00:00Z"},"version"`),
		"type":                     with(`"agent"`, `"router"`),
		"policy.allowed_actions":   with(`"forbidden_actions":["rm *"]`, `"allowed_actions":["rm *"]`),
		"policy.immutable_actions": with(`,"immutable_actions":["rm *"]`, ``),
	} {
		_, err := h.tryEnrol(quorum.ActRegister, params)
		if codeOf(err) != interlock.CodeConflict && codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(),
			"ImmutableFieldError") ||
			!strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	all, err := h.Actions(t.Context(), 100)
	if diff := cmp.Diff(before, h.module()); diff != "" || err != nil || len(all) != 1 {
		t.Errorf("something was changed, or asked for: %d requests, %v\n%s", len(all), err, diff)
	}
	if !slices.Contains(h.entries(), interlock.EventApprovalRefused) {
		t.Error("the attempts are not recorded")
	}
}

// TestModuleGetsMoreByRequest: registering a module takes an admin and gives it nothing that it does not have; a further action takes the
// council's knowledge, an external service its quorum; what was approved of another registration is invalid.
func TestModuleGetsMoreByRequest(t *testing.T) {
	spec.Covers(t, "MACE-2-7", "MACE-2-8")
	bound := `{"type":"agent","version":"1","policy":{"allowed_actions":["ls*"]}}`
	wider := strings.Replace(bound, `["ls*"]`, `["cat*","ls*"]`, 1)
	calls := strings.Replace(bound, `"version"`, `"external_services":["api.example.com"],"version"`, 1)
	h := modular(t)
	for what, params := range map[string]string{"no module": `{"type":"robot","version":"1"}`, "a service at first": calls,
		"another's word": strings.Replace(bound,
			`"version"`, `"registration":{"registered_by":"ada","registered_at":"2020-01-01T00:00:00Z"},"version"`, 1), "not JSON": "{",
		"more": `{"types":1}`,
		"a budget of nothing": strings.Replace(bound, `"version"`, `"budgets":[{"measure":"joy","most":1,"within_s":1}],"version"`,
			1)} {
		if r, err := h.tryEnrol(quorum.ActRegister, params); err == nil {
			t.Errorf("%s is asked for as %s", what, r.ID)
		}
	}
	if _, err := h.tryEnrol(interlock.ActService, calls); codeOf(err) != interlock.CodeNotFound {
		t.Errorf("of no module: %v", err)
	}
	h.enrols(quorum.ActRegister, bound)
	if a := h.propose("cat notes"); a.Answer != interlock.Deny || a.Decisive().Rule != "module.not-allowed" {
		t.Errorf("not allowed: %v %+v", a.Answer, a.Decisive())
	}
	for kind, params := range map[string]string{quorum.ActRegister: wider, interlock.ActModuleBudget: wider,
		interlock.ActModuleAction: calls} {
		if _, err := h.tryEnrol(kind, params); codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(),
			"is asked for by ") {
			t.Errorf("%s gives more: %v", kind, err)
		}
	}
	service, err := h.tryEnrol(interlock.ActService, calls)
	if err != nil || service.Ballot.Approval != interlock.ApprovalCouncil {
		t.Fatalf("%+v %v", service.Ballot, err)
	}
	if _, err := h.executes(service.ID, "executing", "ada"); codeOf(err) != interlock.CodeConflict || len(h.module().Services) != 0 {
		t.Errorf("without the council: %v", err)
	}
	h.votes(service.ID, "approve", "member-0", "member-1", "member-2")
	h.enrols(interlock.ActModuleAction, wider)
	if a := h.propose("cat notes"); a.Answer != interlock.Allow {
		t.Errorf("allowed since: %v %+v", a.Answer, a.Decisive())
	}
	if got, err := h.executes(service.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionInvalidated ||
		len(h.module().Services) != 0 {
		t.Errorf("approved of another registration: %s %s, %v", got.Status, got.Why, err)
	}
	h.enrols(interlock.ActService, strings.Replace(calls, `["ls*"]`, `["cat*","ls*"]`, 1))
	if m := h.module(); !slices.Equal(m.Services, []string{"api.example.com"}) || m.Registration.By != "aud" {
		t.Errorf("%+v", m)
	}
	h.entries()
}

// TestModuleChangesItself: what a module is made of it does not change, and that it may takes a quorum of the council, whoever asks as what.
func TestModuleChangesItself(t *testing.T) {
	spec.Covers(t, "MACE-2-4")
	made := `{"type":"agent","version":"1","code":["/srv/builder"]}`
	open := strings.Replace(made, `"code":["/srv/builder"]`, `"code":[]`, 1)
	h := modular(t)
	if _, err := h.tryEnrol(quorum.ActRegister, strings.Replace(made, "/srv", "srv", 1)); codeOf(err) != interlock.CodeInvalid ||
		!strings.Contains(err.Error(), "code") {
		t.Errorf("a path from nowhere: %v", err)
	}
	h.enrols(quorum.ActRegister, made)
	writes := func() interlock.Answer { return h.propose("cp new.py /srv/builder/main.py") }
	if a := writes(); a.Answer != interlock.Deny || a.Decisive().Rule != "module.code" {
		t.Fatalf("%v %+v", a.Answer, a.Decisive())
	}
	if a := h.propose("cp new.py /srv/other.py"); a.Decisive() != nil && a.Decisive().Rule == "module.code" {
		t.Errorf("another file: %+v", a.Decisive())
	}
	for _, kind := range []string{quorum.ActRegister, interlock.ActModuleAction, interlock.ActModuleBudget, interlock.ActService} {
		if _, err := h.tryEnrol(kind, open); codeOf(err) != interlock.CodeUnauthorized || !strings.Contains(err.Error(),
			interlock.ActModuleCode) {
			t.Errorf("as %s: %v", kind, err)
		}
	}
	asked, err := h.tryEnrol(interlock.ActModuleCode, open)
	if err != nil || asked.Ballot.Approval != interlock.ApprovalCouncil {
		t.Fatalf("%+v %v", asked.Ballot, err)
	}
	if _, err := h.executes(asked.ID, "executing", "ada"); codeOf(err) != interlock.CodeConflict {
		t.Errorf("before the council has voted: %v", err)
	}
	h.votes(asked.ID, "approve", "member-0", "member-1", "member-2")
	if got, err := h.executes(asked.ID, "executing", "ada"); err != nil || got.Status != interlock.ActionExecuted {
		t.Fatal(got.Status, got.Why, err)
	}
	if a := writes(); a.Decisive() != nil && a.Decisive().Rule == "module.code" {
		t.Errorf("what the council approved: %+v", a.Decisive())
	}
}

// TestWhatServicesAnswered: what a service answered a module is kept only where its registration says so, sealed and without secrets, and the
// outcome names it; of what an agent tells itself, of another agent and of what is too large nothing is.
func TestWhatServicesAnswered(t *testing.T) {
	spec.Covers(t, "MACE-5.3-2")
	const bare, keeps = `{"type":"agent","version":"1"}`, `{"type":"agent","version":"1","persist_external_outputs":true}`
	var sealed []string
	var broken error
	h := council(t, func(c *admission.Config) {
		c.Record.Seal = func(text []byte) ([]byte, error) {
			if broken != nil {
				return nil, broken
			}
			sealed = append(sealed, string(text))
			return []byte("sealed"), nil
		}
	})
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude", Principal: "alice", Trust: interlock.TrustValidated,
		Created: h.now}); err != nil {
		t.Fatal(err)
	}
	calls := 0
	ends := func(agent, said string) (named, kept string) {
		t.Helper()
		sealed = nil
		calls++
		who := interlock.Requester{Agent: agent, Principal: "alice", Run: "run-1", Call: fmt.Sprint("call-", calls)}
		answer := h.propose("git status", func(p *admission.Case) { p.Requester, p.Unseen = who, true })
		sealed = nil
		if err := h.Conclude(t.Context(), admission.Concluded{Requester: who, Answer: answer,
			Measured: interlock.Measured{Said: []byte(said)},
			Outcome:  interlock.Outcome{Action: answer.Action, Status: interlock.OutcomeSuccess}}); err != nil {
			t.Fatal(err)
		}
		named = h.newest(interlock.EventOutcome).Snapshots[auditlog.SnapshotSaid]
		if named != "" {
			text, found, err := h.store.Blob(t.Context(), interlock.Digest(named))
			if err != nil || !found || string(text) != "sealed" || len(sealed) != 1 {
				t.Fatalf("it is kept as %q, %v %v, of %q", text, found, err, sealed)
			}
			return named, sealed[0]
		}
		return "", strings.Join(sealed, "")
	}
	const answered = `{"content":[{"type":"text","text":"the weather is fine"}]}`
	nothing := func(what, agent, said string) {
		t.Helper()
		if named, kept := ends(agent, said); named != "" || kept != "" {
			t.Errorf("%s: %s %q", what, named, kept)
		}
	}
	nothing("no module", "claude", answered)
	h.enrols(quorum.ActRegister, bare)
	nothing("a module that says nothing of it", "claude", answered)
	h.enrols(interlock.ActService, keeps)
	if named, kept := ends("claude", answered); named != string(auditlog.BlobDigest([]byte(answered))) || kept != answered {
		t.Errorf("%s %q", named, kept)
	}
	if _, kept := ends("claude", `{"text":"the key is `+"AKIA"+`QZ7LMNOP4RSTUVWX"}`); strings.Contains(kept, "QZ7LMNOP4RSTUVWX") ||
		kept == "" {
		t.Errorf("with a secret: %q", kept)
	}
	nothing("another agent", "other", answered)
	nothing("nothing was seen", "claude", "")
	nothing("too much", "claude", strings.Repeat("x", 300<<10))
	if err := h.Report(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice", Run: "run-1", Call: "call-3"},
		interlock.Outcome{Status: interlock.OutcomeSuccess, Detail: answered}); err != nil {
		t.Fatal(err)
	}
	broken = errors.New("the key is gone")
	ends("claude", answered)
	if e := h.newest(interlock.EventAlert); !strings.Contains(string(e.Payload), "could not be kept") {
		t.Errorf("what could not be kept is told as %s", e.Payload)
	}
	if len(sealed) > 0 {
		t.Errorf("of an agent's own word %q is kept", sealed)
	}
}

// TestNodeGoesOffline: what fails degrades a module and takes it offline, each as an event; then a person answers each of its actions, and
// nothing quarantines it but people. Its own word takes it back from there no more than silence does; registered again it begins again.
func TestNodeGoesOffline(t *testing.T) {
	spec.Covers(t, "MACE-5.2-2", "MACE-SR-1", "MACE-GOV-T5")
	h := modular(t, aModule)
	if health, status := h.health(); status != module.Degraded || health.Trust != module.Initial {
		t.Fatalf("nothing is known of it, and it is %s", status)
	}
	h.did("ls 1", "claude", "run-1", "cli", interlock.OutcomeFailure, false)
	if e := h.newest(interlock.EventNodeDegraded); !strings.Contains(string(e.Payload), `"apt":"0.249500000"`) {
		t.Errorf("NODE_DEGRADED says %s", e.Payload)
	}
	h.did("ls 2", "claude", "run-1", "cli", interlock.OutcomeSuccess, false)
	if health, status := h.health(); health.Failures != 0 || status != module.Degraded {
		t.Errorf("after something went well: %+v, %s", health, status)
	}
	before := h.count(interlock.EventNodeDegraded)
	h.did("ls 3", "claude", "run-1", "cli", interlock.OutcomeSuccess, true)
	if h.count(interlock.EventNodeDegraded) != before {
		t.Error("what changes nothing is recorded")
	}
	h.did("ls 4", "claude", "run-1", "cli", interlock.OutcomeUnknown, true)
	if e := h.newest(interlock.EventNodeOffline); !strings.Contains(string(e.Payload), `"apt":"0.000000000"`) || !strings.Contains(
		strings.Join(h.alerts, "\n"), "node-offline: claude") {
		t.Errorf("NODE_OFFLINE says %s, people are told %q", e.Payload, h.alerts)
	}
	a := h.propose("ls 5")
	if a.Verdict != interlock.Ask || a.Decisive().Rule != "module.offline" {
		t.Errorf("offline: %v %+v", a.Verdict, a.Decisive())
	}
	if p, _ := h.phaseOf("agent:claude"); p != "" && p != phase.Primary {
		t.Errorf("failures have moved it to %s", p)
	}
	if err := h.Report(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice", Run: "run-1"},
		interlock.Outcome{Action: a.Action, Event: a.Event, Status: interlock.OutcomeSuccess}); err != nil {
		t.Fatal(err)
	}
	if _, status := h.health(); status != module.Offline {
		t.Errorf("by its own word it is %s", status)
	}
	q := h.asks(quorum.ActQuarantine, "agent:claude", "ada")
	h.votes(q.ID, "approve", "member-0", "member-1", "member-2")
	if _, err := h.executes(q.ID, "executing", "ada"); err != nil {
		t.Fatal(err)
	}
	if _, status := h.health(); status != module.Quarantined {
		t.Errorf("the council has quarantined it, and it is %s", status)
	}
	q = h.asks(quorum.ActUnquarantine, "agent:claude", "ada")
	h.votes(q.ID, "approve", "member-0", "member-1", "member-2")
	if _, err := h.executes(q.ID, "executing", "ada"); err != nil {
		t.Fatal(err)
	}
	h.enrols(quorum.ActRegister, aModule)
	if a := h.propose("ls 6"); a.Answer != interlock.Allow {
		t.Errorf("registered again: %v %+v", a.Answer, a.Decisive())
	}
	h.entries()
}

// TestTooLongIsATimeout: what takes longer than a module may counts as failed, however it ended.
func TestTooLongIsATimeout(t *testing.T) {
	spec.Covers(t, "MACE-5.2-1")
	h := modular(t, aModule)
	for took, want := range map[time.Duration]int{30 * time.Second: 0, 30*time.Second + 1: 1} {
		a := h.propose(fmt.Sprint("ls ", took))
		o := interlock.Outcome{Action: a.Action, Event: a.Event, Status: interlock.OutcomeSuccess, Duration: took}
		if err := h.Carried(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice", Run: "run-1"}, o,
			interlock.Measured{}); err != nil {
			t.Fatal(err)
		}
		if health, _ := h.health(); health.Failures != want {
			t.Errorf("after %v: %+v", took, health)
		}
		h.enrols(quorum.ActRegister, aModule)
	}
}

// TestPeopleSayHowFarToTrust: what people approve or reject of what a module asked for moves its trust.
func TestPeopleSayHowFarToTrust(t *testing.T) {
	h := modular(t, aModule)
	for vote, want := range map[string]string{"approve": "0.599500000", "reject": "0.499500000"} {
		r, _, err := h.AskAction(t.Context(), interlock.Requester{Agent: "claude", Principal: "alice"}, "code_upload", "version 2",
			governance.RequestTerms{Target: "agent:claude", Params: vote})
		if err != nil {
			t.Fatal(err)
		}
		h.votes(r.ID, vote, "member-0", "member-1", "member-2")
		if health, _ := h.health(); health.Trust.String() != want {
			t.Errorf("after %s: %s, not %s", vote, health.Trust, want)
		}
		h.enrols(quorum.ActRegister, aModule)
	}
}

// TestModuleBudget: a module's budgets come with its registration, which is in the snapshot of the registry, and are exceeded by a request
// that people approve and by nothing else.
func TestModuleBudget(t *testing.T) {
	spec.Covers(t, "MACE-5.1-2")
	budgets := func(actions, tokens int) string {
		return strings.Replace(aModule, `"version"`, fmt.Sprintf(`"budgets":[{"measure":"actions","most":%d,"within_s":360000},`+
			`{"measure":"tokens","most":%d,"within_s":360000}],"version"`, actions, tokens), 1)
	}
	h := modular(t, budgets(2, 1000))
	for n := range 2 {
		if a := h.propose(fmt.Sprint("ls ", n)); a.Answer != interlock.Allow {
			t.Fatalf("%v %+v", a.Answer, a.Decisive())
		}
	}
	if a := h.propose("ls 3"); a.Answer != interlock.Deny || a.Decisive().Rule != "limit.module:actions" {
		t.Errorf("over the budget: %v %+v", a.Answer, a.Decisive())
	}
	if _, err := h.tryEnrol(quorum.ActRegister, budgets(3, 1000)); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("a larger budget by registering: %v", err)
	}
	if _, err := h.tryEnrol(quorum.ActRegister, aModule); codeOf(err) != interlock.CodeUnauthorized {
		t.Errorf("no budget by registering: %v", err)
	}
	h.enrols(interlock.ActModuleBudget, budgets(4, 1000))
	if a := h.propose("ls 4"); a.Answer != interlock.Allow {
		t.Errorf("within the larger one: %v %+v", a.Answer, a.Decisive())
	}
	h.reports("claude", tokens(1, 1000, "r"))
	if a := h.propose("ls 5"); a.Answer != interlock.Deny || a.Decisive().Rule != "budget.module:tokens" {
		t.Errorf("all tokens are used: %v %+v", a.Answer, a.Decisive())
	}
	if a := h.propose("ls", from("codex", "alice", "r")); a.Answer != interlock.Allow {
		t.Errorf("another agent: %v %+v", a.Answer, a.Decisive())
	}
}

// TestAccountReview: an account whose refusals open its breaker is to be looked at, once for each time; and a heuristic of misuse blocks
// nothing: what is beyond it waits for a person, who is told to look.
func TestAccountReview(t *testing.T) {
	spec.Covers(t, "MACE-7-2", "MACE-7-3")
	h := newHouse(t, atTier(t, 1))
	for n := range 5 {
		h.refuse()
		if want := n / 2; h.count(interlock.EventAccountReview) != min(want, 1) {
			t.Errorf("after %d refusals: %d reviews", n+1, h.count(interlock.EventAccountReview))
		}
	}
	if e := h.newest(interlock.EventAccountReview); !strings.Contains(string(e.Payload), `"heuristic":"refusals"`) ||
		!strings.Contains(string(e.Payload), `"then":"blocked","threshold":3`) || !strings.Contains(string(e.Payload),
		`"window_seconds":600`) {
		t.Errorf("it says %s", e.Payload)
	}
	h.entries()

	h = newHouse(t, under(t, "limits:\n  - {id: team.scraping, per: agent, measure: actions, most: 2, within: 10m, verdict: ask, account_review: true}\n"))
	h.propose("ls 1")
	h.propose("ls 2")
	for n := range 3 { // the same question again is the same request
		if a := h.propose("ls too many"); a.Verdict != interlock.Ask || a.Decisive().Rule != "limit.team.scraping" {
			t.Errorf("time %d: %v %+v", n, a.Verdict, a.Decisive())
		}
	}
	if e := h.newest(interlock.EventAccountReview); h.count(interlock.EventAccountReview) != 1 ||
		!strings.Contains(string(e.Payload), `"heuristic":"team.scraping"`) || !strings.Contains(string(e.Payload), `"then":"asked"`) {
		t.Errorf("%d reviews, the last says %s", h.count(interlock.EventAccountReview), e.Payload)
	}
	if !strings.Contains(strings.Join(h.alerts, "\n"), "account-review: claude: it wants more than the limit team.scraping") {
		t.Errorf("people are told %q", h.alerts)
	}
	if h.breaker("agent:claude") != nil {
		t.Error("a heuristic has blocked it")
	}
}
