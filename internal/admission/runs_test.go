package admission_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
	"interlock/rules"
	"interlock/spec"
)

// typedRules are what a team's documents say of its agents.
const typedRules = `
runs: {depth: 2, turns: 10, retries: 3, resolver: the planner}
types:
  - {name: planner, accountable: ada, tools: ["*"], tier: 3}
  - {name: clerk, accountable: ada, tools: ["ls *", "git status"]}
  - {name: builder, accountable: bob, tools: ["ls *", "go *", "make *", "git *"], alive: 30s, spawn: {open: 3, most: 5, within: 1h}}
  - {name: tester, accountable: bob, tools: ["ls *", "go test*"], runs: delegated}
  - {name: reader, accountable: bob, tools: ["*"], runs: required}
`

// team is a house whose rules define types, with an agent of each; each agent bears its type's name.
func team(t *testing.T, documents ...string) *house {
	t.Helper()
	if len(documents) == 0 {
		documents = []string{typedRules}
	}
	h := newHouse(t, func(c *admission.Config) {
		set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), map[string][]byte{"team.yaml": []byte(documents[0])})
		if err != nil {
			t.Fatal(err)
		}
		c.Rules = set
	})
	for _, name := range []string{"planner", "clerk", "builder", "tester", "reader", "stranger"} {
		if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: name, Type: name, Principal: "ada", Trust: interlock.TrustCommunityReviewed,
			Created: h.now}); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h *house) register(agent string, q interlock.RunRequest) (interlock.Run, error) {
	h.t.Helper()
	return h.RegisterRun(h.t.Context(), interlock.Requester{Agent: agent, Principal: "ada"}, q)
}

func (h *house) run(agent string, q interlock.RunRequest) interlock.Run {
	h.t.Helper()
	run, err := h.register(agent, q)
	if err != nil {
		h.t.Fatal(err)
	}
	return run
}

func (h *house) beat(agents ...string) {
	h.t.Helper()
	for _, agent := range agents {
		if err := h.Heartbeat(h.t.Context(), interlock.Requester{Agent: agent}); err != nil {
			h.t.Fatal(err)
		}
	}
}

func in(agent, run string) func(*admission.Case) {
	return func(p *admission.Case) { p.Requester = interlock.Requester{Agent: agent, Principal: "ada", Run: run} }
}

// answers proposes a command and fails the test unless the rule that decides it is the one named; none means that it is allowed.
func (h *house) answers(command, agent, run, rule string) {
	h.t.Helper()
	a := h.propose(command, in(agent, run))
	got := ""
	if a.Answer != interlock.Allow {
		got = a.Decisive().Rule
	}
	if got != rule {
		h.t.Errorf("%s by %s in %q: %v by %q, want %q: %+v", command, agent, run, a.Answer, got, rule, a.Findings)
	}
}

func refusedWith(t *testing.T, err error, code interlock.Code, says string) {
	t.Helper()
	refused := (*interlock.Error)(nil)
	if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(err.Error(), says) {
		t.Errorf("refused with %v, want %s and %q", err, code, says)
	}
}

// TestTypesAreHeldAgainst: what an agent's type does not give it is denied, a type nobody defined may look and do nothing, and where
// the ruleset defines none nobody is held against one.
func TestTypesAreHeldAgainst(t *testing.T) {
	h := team(t)
	h.answers("git status", "clerk", "s1", "")
	h.answers("go test ./...", "clerk", "s1", "type.tools")
	h.answers("git status && go test ./...", "clerk", "s1", "type.tools")
	h.answers("ls /repo", "stranger", "s1", "")
	h.answers("touch x", "stranger", "s1", "type.undefined")
	h.answers("ls /repo", "reader", "s1", "type.runs")
	h.answers("ls /repo", "tester", "s1", "type.runs")
	untyped := newHouse(t)
	untyped.answers("touch x", "stranger", "s1", "")
}

// TestDelegatedRunsGiveNothingMore: an action in a run that was delegated is permitted by the types of all who delegated it and of its
// agent, or by nobody; and there is no way around (RT-02, RT-09).
func TestDelegatedRunsGiveNothingMore(t *testing.T) {
	spec.Covers(t, "EC-RT-02", "EC-RT-09")
	h := team(t)
	h.beat("builder")
	root := h.run("clerk", interlock.RunRequest{Task: "look", Box: 3600})
	given := h.run("clerk", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
	h.answers("git status", "builder", given.ID, "")
	h.answers("go test ./...", "builder", given.ID, "type.tools") // the builder's, and not the clerk's
	a := h.propose("go test ./...", in("builder", given.ID))
	if f := a.Decisive(); f.Reason != "the type clerk of the agent clerk, which delegated this, does not have this tool or command (tools)" {
		t.Errorf("it says %q", f.Reason)
	}
	entry, _, err := h.store.Entry(t.Context(), a.Event)
	if err != nil {
		t.Fatal(err)
	}
	said, err := auditlog.ReadDecision(entry)
	if err != nil || said.Accountable != "bob" || said.Basis == nil || len(said.Basis.Links) != 1 || said.Basis.Links[0].Agent != "clerk" {
		t.Errorf("the log says %+v of %q, %v", said.Basis, said.Accountable, err)
	}
	// Leaving the run out, taking another's, an own one of before, or a new one: nothing of it launders.
	h.answers("go test ./...", "builder", "s1", "type.runs")
	h.answers("go test ./...", "builder", root.ID, "type.run")
	h.answers("go test ./...", "builder", "run_000000000000000000000000", "type.run")
	_, err = h.register("builder", interlock.RunRequest{Task: "fresh"})
	refusedWith(t, err, interlock.CodeUnauthorized, "begins no other by itself")
	_, err = h.register("builder", interlock.RunRequest{Parent: root.ID, Agent: "tester"})
	refusedWith(t, err, interlock.CodeUnauthorized, "is no open run of this agent")
	_, err = h.register("builder", interlock.RunRequest{Parent: given.ID, Agent: "clerk"})
	refusedWith(t, err, interlock.CodeConflict, "goes round in no circle")
	// One further: all three are asked.
	third := h.run("builder", interlock.RunRequest{Parent: given.ID, Agent: "tester"})
	h.answers("ls /repo", "tester", third.ID, "")
	h.answers("go test ./...", "tester", third.ID, "type.tools")
	_, err = h.register("tester", interlock.RunRequest{Parent: third.ID, Agent: "planner"})
	refusedWith(t, err, interlock.CodeLimited, "clerk has begun may be delegated on 2 times")
	if third.Until.IsZero() || !third.Until.Equal(root.Until) {
		t.Errorf("it may go on until %v, and the first one until %v", third.Until, root.Until)
	}
	// What has ended gives nothing any more, all the way down.
	if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "clerk"}, root.ID, interlock.RunEnd{Status: interlock.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	h.answers("ls /repo", "tester", third.ID, "type.run")
	h.answers("git status", "builder", given.ID, "type.run")
	if n := h.count(interlock.EventRunEnded); n != 3 {
		t.Errorf("%d runs ended", n)
	}
	h.answers("go version", "builder", "s1", "") // nothing binds it now
}

// TestRunsAreTheirAgents: nobody else acts in a run or ends it, and to others it is not there.
func TestRunsAreTheirAgents(t *testing.T) {
	h := team(t)
	run := h.run("planner", interlock.RunRequest{Key: "k", Task: "plan"})
	again := h.run("planner", interlock.RunRequest{Key: "k", Task: "plan"})
	if run.ID != again.ID || !ledger.Registered(run.ID) || h.count(interlock.EventRunRegistered) != 1 {
		t.Errorf("the same key registers %q and %q", run.ID, again.ID)
	}
	_, err := h.register("planner", interlock.RunRequest{Key: "k", Task: "another"})
	refusedWith(t, err, interlock.CodeConflict, "another run already")
	if other := h.run("clerk", interlock.RunRequest{Key: "k"}); other.ID == run.ID {
		t.Error("two agents have one run")
	}
	h.answers("ls /repo", "clerk", run.ID, "type.run")
	for _, who := range []string{"clerk", "nobody"} {
		_, err = h.EndRun(t.Context(), interlock.Requester{Agent: who}, run.ID, interlock.RunEnd{Status: interlock.RunCancelled})
		refusedWith(t, err, interlock.CodeNotFound, "no run of this name")
	}
	h.answers("ls /repo", "planner", run.ID, "")
	h.beat("builder")
	given := h.run("planner", interlock.RunRequest{Parent: run.ID, Agent: "builder"})
	_, err = h.EndRun(t.Context(), interlock.Requester{Agent: "planner"}, given.ID, interlock.RunEnd{Status: interlock.RunCompleted})
	refusedWith(t, err, interlock.CodeUnauthorized, "only its own agent completes")
	for range 2 { // the same end again changes nothing
		if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "planner"}, given.ID,
			interlock.RunEnd{Status: interlock.RunCancelled}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = h.EndRun(t.Context(), interlock.Requester{Agent: "builder"}, given.ID, interlock.RunEnd{Status: interlock.RunCompleted})
	refusedWith(t, err, interlock.CodeConflict, "has ended already")
	if n := h.count(interlock.EventRunEnded); n != 1 {
		t.Errorf("%d ends were recorded", n)
	}
}

// TestEndedRunsWithdrawWhatTheyAsked: a question of a run that has ended is answered by nobody any more.
func TestEndedRunsWithdrawWhatTheyAsked(t *testing.T) {
	h := team(t)
	run := h.run("planner", interlock.RunRequest{})
	asked := h.propose("git push --force origin main", func(p *admission.Case) { in("planner", run.ID)(p); p.CanAsk = true })
	elsewhere := h.propose("git push --force origin other", func(p *admission.Case) { in("planner", "s2")(p); p.CanAsk = true })
	if asked.Request == "" || elsewhere.Request == "" {
		t.Fatalf("nothing is asked: %+v", asked)
	}
	if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "planner"}, run.ID, interlock.RunEnd{Status: interlock.RunFailed}); err != nil {
		t.Fatal(err)
	}
	if n, err := h.Pending(t.Context(), 10); err != nil || n != 1 {
		t.Errorf("%d questions wait, %v", n, err)
	}
	if n := h.count(interlock.EventApprovalExpired); n != 1 {
		t.Errorf("%d questions were withdrawn", n)
	}
}

// TestTimeBox: past its time nothing is done in a run, nor in one that was delegated in it.
func TestTimeBox(t *testing.T) {
	h := team(t)
	h.beat("builder")
	root := h.run("planner", interlock.RunRequest{Box: 60})
	given := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder", Box: 3600})
	h.now = h.now.Add(59 * time.Second)
	h.answers("git status", "builder", given.ID, "")
	h.now = h.now.Add(time.Second)
	h.answers("git status", "builder", given.ID, "type.run")
	a := h.propose("git status", in("planner", root.ID))
	if f := a.Decisive(); f == nil || !strings.Contains(f.Reason, "time_box_seconds") {
		t.Errorf("%+v", a.Findings)
	}
}

// TestWorkGoesToWhoIsThere: work is not given to an agent that was not heard for as long as its type says.
func TestWorkGoesToWhoIsThere(t *testing.T) {
	spec.Covers(t, "EC-1.7", "EC-T1.9")
	h := team(t)
	root := h.run("planner", interlock.RunRequest{})
	give := func() error {
		_, err := h.register("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
		return err
	}
	refusedWith(t, give(), interlock.CodeUnavailable, "give the work to another")
	h.beat("builder")
	if err := give(); err != nil {
		t.Error(err)
	}
	h.now = h.now.Add(31 * time.Second)
	refusedWith(t, give(), interlock.CodeUnavailable, "has not been heard for 30s")
	if _, err := h.register("planner", interlock.RunRequest{Parent: root.ID, Agent: "tester"}); err != nil {
		t.Errorf("it can't be given to another: %v", err)
	}
}

// TestSpawnCap: of many registrations at once as many are made as the cap has room for; the others are refused, and told to people.
func TestSpawnCap(t *testing.T) {
	spec.Covers(t, "EC-1.5a")
	h := team(t, strings.Replace(typedRules, "open: 3, most: 5", "open: 50, most: 5", 1))
	h.beat("builder")
	root := h.run("planner", interlock.RunRequest{})
	const callers = 16
	errs := make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			_, errs[i] = h.RegisterRun(t.Context(), interlock.Requester{Agent: "planner"}, interlock.RunRequest{Parent: root.ID, Agent: "builder"})
		})
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		refusedWith(t, err, interlock.CodeLimited, "5 runs were registered here within 1h0m0s")
	}
	if made != 5 {
		t.Errorf("%d were registered, of 5", made)
	}
	if n := h.count(interlock.EventAlert); n != callers-5 || len(h.alerts) != n {
		t.Errorf("%d alerts, %d told", n, len(h.alerts))
	}
	h.now = h.now.Add(time.Hour + time.Second)
	h.beat("builder")
	h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
}

// TestOpenRunsAreBounded: an agent holds as many runs at once as its type lets it, and gets room as they end.
func TestOpenRunsAreBounded(t *testing.T) {
	h := team(t)
	h.beat("builder")
	root := h.run("planner", interlock.RunRequest{})
	var last interlock.Run
	for range 3 {
		last = h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
	}
	_, err := h.register("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
	refusedWith(t, err, interlock.CodeLimited, "holds 3 open runs")
	if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "builder"}, last.ID, interlock.RunEnd{Status: interlock.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
}

// TestTurnCap: two agents that talk in a circle stop at the cap, and it is said who decides.
func TestTurnCap(t *testing.T) {
	spec.Covers(t, "EC-1.5", "EC-T1.5")
	h := team(t)
	h.beat("builder")
	root := h.run("planner", interlock.RunRequest{})
	given := h.run("planner", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
	turns := 0
	var err error
	for n := range 12 { // each in its own run of the orchestration
		who, run := "planner", root.ID
		if n%2 == 1 {
			who, run = "builder", given.ID
		}
		if _, err = h.Turn(t.Context(), interlock.Requester{Agent: who}, run, "price"); err != nil {
			break
		}
		turns++
	}
	if turns != 10 {
		t.Errorf("%d turns were taken", turns)
	}
	refusedWith(t, err, interlock.CodeLimited, "the planner decides")
	if len(h.alerts) != 1 || h.count(interlock.EventTurn) != 10 {
		t.Errorf("%q was told of %d turns", h.alerts, h.count(interlock.EventTurn))
	}
	if _, err := h.Turn(t.Context(), interlock.Requester{Agent: "planner"}, root.ID, "another"); err != nil {
		t.Errorf("another conversation: %v", err)
	}
	_, err = h.Turn(t.Context(), interlock.Requester{Agent: "clerk"}, root.ID, "price")
	refusedWith(t, err, interlock.CodeNotFound, "no run of this name")
}

// TestOutputFormat: a result that does not parse, lacks a member, has it as null or is empty leaves the run open and reaches nobody.
func TestOutputFormat(t *testing.T) {
	spec.Covers(t, "EC-1.8", "EC-T1.10")
	h := team(t)
	run := h.run("planner", interlock.RunRequest{Output: &interlock.RunOutput{Kind: "object", Fields: []string{"sum"}, Bytes: 40}})
	end := func(result string) error {
		_, err := h.EndRun(t.Context(), interlock.Requester{Agent: "planner"}, run.ID,
			interlock.RunEnd{Status: interlock.RunCompleted, Result: json.RawMessage(result)})
		return err
	}
	for result, says := range map[string]string{"": "is missing", `{"sum":1`: "is no JSON", `{"sum":1,"sum":2}`: "is no JSON", `[1]`: "kind array",
		`{}`: "is empty", `{"other":1}`: `no member "sum"`, `{"sum":null}`: `no member "sum"`, "null": "kind null",
		`{"sum":1,"more":"` + strings.Repeat("x", 40) + `"}`: "larger than the 40 bytes"} {
		refusedWith(t, end(result), interlock.CodeInvalid, says)
	}
	h.answers("ls /repo", "planner", run.ID, "")
	if err := end(`{"sum":1}`); err != nil {
		t.Error(err)
	}
	for kind, results := range map[string][]string{"array": {"[1]"}, "string": {`"x"`}, "number": {"1", "-1.5"}, "boolean": {"true", "false"}} {
		for _, result := range results {
			run = h.run("planner", interlock.RunRequest{Output: &interlock.RunOutput{Kind: kind}})
			if err := end(result); err != nil {
				t.Errorf("%s as %s: %v", result, kind, err)
			}
		}
	}
}

// TestRetryCap: a task is tried once and so often again; then it has failed, and not another attempt is made, also after a restart.
func TestRetryCap(t *testing.T) {
	spec.Covers(t, "EC-1.10", "EC-T1.12")
	h := team(t)
	for n := range 4 {
		run := h.run("planner", interlock.RunRequest{Task: "deploy"})
		if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "planner"}, run.ID, interlock.RunEnd{Status: interlock.RunFailed}); err != nil {
			t.Fatal(err)
		}
		if told := len(h.alerts); (n == 3) != (told == 1) {
			t.Errorf("after attempt %d: %q", n+1, h.alerts)
		}
	}
	_, err := h.register("planner", interlock.RunRequest{Task: "deploy"})
	refusedWith(t, err, interlock.CodeLimited, "was tried 4 times")
	h.run("planner", interlock.RunRequest{Task: "another"})
	run := h.run("clerk", interlock.RunRequest{Task: "deploy"}) // of one agent
	if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "clerk"}, run.ID, interlock.RunEnd{Status: interlock.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		h.run("clerk", interlock.RunRequest{Task: "deploy"}) // what was completed begins anew
	}
	_, err = h.register("clerk", interlock.RunRequest{Task: "deploy"})
	refusedWith(t, err, interlock.CodeLimited, "was tried 4 times")
}

// TestRoleMatrix: every role is refused every other role's tools.
func TestRoleMatrix(t *testing.T) {
	spec.Covers(t, "EC-T1.6")
	own := map[string]string{"analyst": "git log", "executor": "touch result.txt", "critic": "wc -l result.txt"}
	h := team(t, `
types:
  - {name: analyst, role: analyst, accountable: ada, tools: ["git log*"]}
  - {name: executor, role: executor, accountable: ada, tools: ["touch *"]}
  - {name: critic, role: critic, accountable: ada, tools: ["wc *"]}
`)
	for role := range own {
		if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: role + "-1", Type: role, Principal: "ada",
			Trust: interlock.TrustCommunityReviewed, Created: h.now}); err != nil {
			t.Fatal(err)
		}
	}
	for role := range own {
		for of, command := range own {
			want := "type.tools"
			if of == role {
				want = ""
			}
			h.answers(command, role+"-1", "s1", want)
		}
	}
}

// TestRunsThatAreRefused: what is too long, too much or not there is refused with the field, and nothing is registered.
func TestRunsThatAreRefused(t *testing.T) {
	h := team(t)
	long := strings.Repeat("x", 129)
	for name, tc := range map[string]struct {
		q    interlock.RunRequest
		says string
	}{
		"key":        {interlock.RunRequest{Key: long}, "/key: is longer"},
		"task":       {interlock.RunRequest{Task: "a\x00b"}, "/task: holds a character"},
		"agent":      {interlock.RunRequest{Agent: "builder"}, "/parent: is missing"},
		"parent":     {interlock.RunRequest{Parent: "s1"}, "/parent: is no id"},
		"not held":   {interlock.RunRequest{Parent: "run_000000000000000000000000", Agent: "builder"}, "/parent: is no open run"},
		"tools":      {interlock.RunRequest{Tools: slices.Repeat([]string{"x"}, 65)}, "/tools: has more than 64"},
		"no tool":    {interlock.RunRequest{Tools: []string{""}}, "/tools: has an entry"},
		"box":        {interlock.RunRequest{Box: -1}, "/time_box_seconds: is from 1"},
		"long box":   {interlock.RunRequest{Box: 1 << 40}, "/time_box_seconds: is from 1"},
		"output":     {interlock.RunRequest{Output: &interlock.RunOutput{Kind: "prose"}}, "/output/kind: is one of"},
		"fields":     {interlock.RunRequest{Output: &interlock.RunOutput{Kind: "array", Fields: []string{"x"}}}, "/output/fields: are of an object"},
		"size":       {interlock.RunRequest{Output: &interlock.RunOutput{Kind: "array", Bytes: -1}}, "/output/bytes: is from 1"},
		"no sort of": {interlock.RunRequest{Output: &interlock.RunOutput{Kind: "object", Fields: []string{""}}}, "/output/fields: has an entry"},
	} {
		_, err := h.register("planner", tc.q)
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := h.register("clerk", interlock.RunRequest{Tools: []string{"go build"}})
	refusedWith(t, err, interlock.CodeUnauthorized, "the type of the agent clerk does not give")
	_, err = h.register("tester", interlock.RunRequest{})
	refusedWith(t, err, interlock.CodeUnauthorized, "begin nothing by themselves")
	root := h.run("planner", interlock.RunRequest{})
	_, err = h.register("planner", interlock.RunRequest{Parent: root.ID, Agent: "nobody"})
	refusedWith(t, err, interlock.CodeNotFound, "no agent of this name")
	if n := h.count(interlock.EventRunRegistered); n != 1 {
		t.Errorf("%d runs were registered", n)
	}
	if n := h.count(interlock.EventRefusal); n != 16 {
		t.Errorf("%d refusals were recorded", n)
	}
}

// TestSessionsAreBound: what a harness does in a session that is bound to a run is done in that run, until it has ended.
func TestSessionsAreBound(t *testing.T) {
	h := team(t)
	h.beat("builder")
	root := h.run("clerk", interlock.RunRequest{})
	given := h.run("clerk", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
	bind := func(agent, run, session string) error {
		return h.BindRun(t.Context(), interlock.Requester{Agent: agent}, run, session)
	}
	for range 2 {
		if err := bind("builder", given.ID, "s1"); err != nil {
			t.Fatal(err)
		}
	}
	h.answers("git status", "builder", "s1", "")
	h.answers("go test ./...", "builder", "s1", "type.tools")
	h.answers("git status", "builder", "s2", "type.runs")
	if n := h.count(interlock.EventRunBound); n != 1 {
		t.Errorf("%d bindings were recorded", n)
	}
	asked := h.propose("git push --force origin main", func(p *admission.Case) { in("builder", "s1")(p); p.CanAsk = true })
	if f := asked.Decisive(); asked.Answer == interlock.Allow || f.Rule != "type.tools" {
		t.Errorf("%+v", asked.Findings)
	}
	refusedWith(t, bind("clerk", given.ID, "s9"), interlock.CodeNotFound, "no run of this name")
	refusedWith(t, bind("builder", root.ID, "s9"), interlock.CodeNotFound, "no run of this name")
	refusedWith(t, bind("builder", given.ID, ""), interlock.CodeInvalid, "/session")
	refusedWith(t, bind("builder", given.ID, given.ID), interlock.CodeInvalid, "/session")
	again := h.run("clerk", interlock.RunRequest{Parent: root.ID, Agent: "builder"})
	refusedWith(t, bind("builder", again.ID, "s1"), interlock.CodeConflict, "is bound to the run "+given.ID)
	if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "builder"}, given.ID, interlock.RunEnd{Status: interlock.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	h.answers("git status", "builder", "s1", "type.runs") // bound to nothing, while another run is held
	if err := bind("builder", again.ID, "s1"); err != nil {
		t.Fatal(err)
	}
	h.answers("git status", "builder", "s1", "")

	// What a session has asked is withdrawn with its run.
	own := h.run("planner", interlock.RunRequest{})
	if err := bind("planner", own.ID, "p1"); err != nil {
		t.Fatal(err)
	}
	if a := h.propose("git push --force origin main", func(p *admission.Case) { in("planner", "p1")(p); p.CanAsk = true }); a.Request == "" {
		t.Fatalf("nothing is asked: %+v", a.Findings)
	}
	if _, err := h.EndRun(t.Context(), interlock.Requester{Agent: "planner"}, own.ID, interlock.RunEnd{Status: interlock.RunFailed}); err != nil {
		t.Fatal(err)
	}
	if n, err := h.Pending(t.Context(), 10); err != nil || n != 0 {
		t.Errorf("%d questions wait, %v", n, err)
	}
}

// TestRunsWithoutTypes: where a ruleset defines no types, runs bound nothing but their time, and are as many as the standards let.
func TestRunsWithoutTypes(t *testing.T) {
	h := newHouse(t)
	var last interlock.Run
	for range 100 {
		last = h.run("planner", interlock.RunRequest{Box: 60})
	}
	_, err := h.register("planner", interlock.RunRequest{})
	refusedWith(t, err, interlock.CodeLimited, "holds 100 open runs")
	h.answers("touch x", "planner", last.ID, "")
	h.answers("touch x", "planner", "s1", "")
	h.now = h.now.Add(time.Minute)
	h.answers("touch x", "planner", last.ID, "type.run")
	_, err = h.register("planner", interlock.RunRequest{Parent: last.ID, Agent: "other"})
	refusedWith(t, err, interlock.CodeUnauthorized, "is no open run")
}

// FuzzRunRequest: whatever is asked, a run is refused with a field or registered within its bounds, and never one of another agent's.
func FuzzRunRequest(f *testing.F) {
	for _, seed := range []string{`{}`, `{"key":"k","task":"t","tools":["ls x"],"time_box_seconds":60,"output":{"kind":"object","fields":["a"]}}`,
		`{"parent":"run_000000000000000000000000","agent":"builder"}`, `{"task":"\u0000"}`, `{"tools":[""]}`, `{"time_box_seconds":1e9}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var q interlock.RunRequest
		if strictjson.Decode(body, &q) != nil {
			return
		}
		h := team(t)
		run, err := h.register("clerk", q)
		refused := (*interlock.Error)(nil)
		switch {
		case err != nil && (!errors.As(err, &refused) || refused.Field == ""):
			t.Errorf("%q: %v", body, err)
		case err == nil && (run.Agent != "clerk" || !ledger.Registered(run.ID) || len(run.Task) > 200 || len(run.Tools) > 64 || run.Parent != ""):
			t.Errorf("%q registers %+v", body, run)
		}
	})
}
