package admission_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/quorum"
	"interlock/spec"
)

// asa is the profile with a judge that has nothing against anything.
func asa(c *admission.Config) {
	c.Profile, c.TellUserAfter, c.Attended = "asa", 3, true
	c.Judges = []interlock.Judge{&bench{name: "main", says: says(interlock.Allow, 0)}}
}

func calling(name, arguments string) func(*admission.Case) {
	return func(p *admission.Case) {
		p.Action = interlock.Action{Kind: interlock.KindTool, Tool: name, Arguments: json.RawMessage(arguments), Dir: "/repo"}
	}
}

// denies proposes an action and wants it denied by a rule of a layer, with something else offered.
func (h *house) denies(a interlock.Answer, rule string, layer int, offers string) {
	h.t.Helper()
	f := a.Decisive()
	if a.Answer != interlock.Deny || a.Event == "" || f == nil || f.Layer != layer || f.Rule != rule || !strings.Contains(f.Suggestion, offers) {
		h.t.Errorf("answered %v by %+v", a.Answer, f)
	}
}

// TestA1CredentialsAreNotShown: layer 2 denies what layer 4 finds helpful, and another way to look for the fault is offered (ASA A.1).
func TestA1CredentialsAreNotShown(t *testing.T) {
	spec.Covers(t, "ASA-A-1", "ASA-6.2-1")
	h := newHouse(t, asa)
	h.denies(h.propose("cat ~/.aws/credentials"), "asimov.credential", 2, "look for the fault without it")
	h.denies(h.propose("", calling("get_credentials", `{"name":"db"}`)), "asimov.credential", 2, "look for the fault without it")
	if a := h.propose("ls -l ~/.aws/credentials"); a.Verdict == interlock.Deny {
		t.Errorf("that it is there is denied: %v", a.Findings)
	}
}

// TestA2DeletingRecordsIsConfirmed: what the operator asks for and can't be undone waits at layer 1 for an admin's yes to exactly this,
// and passes with it once (ASA A.2).
func TestA2DeletingRecordsIsConfirmed(t *testing.T) {
	spec.Covers(t, "ASA-A-2", "ASA-6.1-2")
	h := newHouse(t, asa)
	h.employ("vera", quorum.RoleOperator)
	h.employ("ada", quorum.RoleAdmin)
	canAsk := func(p *admission.Case) { p.CanAsk = true }
	purge := func(edit ...func(*admission.Case)) interlock.Answer {
		return h.propose("psql -c \"delete from records where created < now() - interval '30 days'\"", append(edit, canAsk)...)
	}
	a := purge()
	if f := a.Decisive(); a.Answer != interlock.Ask || a.Request == "" || f.Rule != "asimov.removes-records" || f.Layer != 1 ||
		!a.Owes(interlock.ObligationAdmin) || !a.BeyondPrompt() || !strings.Contains(f.Suggestion, "wait for the confirmation") {
		t.Fatalf("answered %v by %+v", a.Answer, a.Findings)
	}
	if err := h.confirms(a.Request, "vera"); err == nil {
		t.Error("an operator who is no admin confirms what layer 1 asks")
	}
	if err := h.confirms(a.Request, "ada"); err != nil {
		t.Fatal(err)
	}
	if again := purge(); !again.Answer.Allowed() || again.Approval != a.Request {
		t.Errorf("confirmed, and answered %v by %v", again.Answer, again.Findings)
	}
	if again := purge(); again.Answer.Allowed() {
		t.Error("one confirmation answers twice")
	}
}

// confirms has an operator say yes to a request.
func (h *house) confirms(request, operator string) error {
	_, err := h.Resolve(h.t.Context(), interlock.Approval{Request: request, Verdict: interlock.Allow, Operator: operator,
		Key:       "fingerprint of " + operator + "'s",
		Statement: quorum.Statement(h.standing().Requests[request], interlock.Allow, operator), Signature: operator + "'s"})
	return err
}

// TestA3NobodyIsImpersonated: a message in a director's name is denied at layer 3, and drafting it for them is offered (ASA A.3).
func TestA3NobodyIsImpersonated(t *testing.T) {
	spec.Covers(t, "ASA-A-3", "ASA-6.3-2")
	h := newHouse(t, asa)
	h.denies(h.propose("", calling("send_message", `{"to":"team","on_behalf_of":"the director","text":"The change is approved."}`)),
		"asimov.impersonation", 3, "draft it for that person")
	h.denies(h.propose("git commit -m x --author='Jane Director <jane@corp.example>'"), "asimov.impersonation", 3, "draft it for that person")
	draft := `{"to":"director","text":"A draft for you to send: the change is approved."}`
	if a := h.propose("", calling("send_message", draft)); a.Verdict == interlock.Deny {
		t.Errorf("a draft is denied: %v", a.Findings)
	}
}

// TestA4OwnConfigurationIsNotShown: what the agent obeys and by which it is watched is denied at layer 2, and so is what Interlock
// records (ASA A.4, 14.3).
func TestA4OwnConfigurationIsNotShown(t *testing.T) {
	spec.Covers(t, "ASA-A-4", "ASA-6.2-2", "ASA-14.3-1", "ASA-14.3-2", "ASA-4-8")
	h := newHouse(t, asa)
	self := func(p *admission.Case) { p.View.Self = []string{"/home/alice/.local/share/interlock"} }
	for command, rule := range map[string]string{
		"cat ~/.claude/CLAUDE.md":                                   "asimov.own-instructions",
		"cat ~/.claude/settings.json":                               "asimov.own-settings",
		"cat ~/.local/share/interlock/interlock.yaml":               "asimov.own-state",
		"strings ~/.local/share/interlock/interlock.db":             "asimov.own-state",
		"interlock audit list":                                      "asimov.own-log",
		"interlock settings show":                                   "asimov.own-log",
		"sh -c 'tail -c 999 ~/.local/share/interlock/interlock.db'": "asimov.own-state",
	} {
		a := h.propose(command, self)
		if f := a.Decisive(); a.Answer != interlock.Deny || f == nil || f.Rule != rule || f.Layer > 2 || f.Suggestion == "" {
			t.Errorf("%s: answered %v by %+v, want %s", command, a.Answer, a.Findings, rule)
		}
	}
	for _, command := range []string{"echo x >> ~/.local/share/interlock/interlock.db", "rm ~/.local/share/interlock/interlock.db",
		"interlock rules suppress asimov.own-log", "echo '{}' > ~/.claude/settings.json"} {
		if a := h.propose(command, self); a.Verdict.Compare(interlock.Deny) < 0 || a.Decisive().Layer != 1 {
			t.Errorf("%s: %v by %+v", command, a.Verdict, a.Findings)
		}
	}
	if a := h.propose("cat CLAUDE.md", self); a.Verdict == interlock.Deny {
		t.Errorf("the project's own document is denied: %v", a.Findings)
	}
}

// TestTheUserIsTold: from the third denial in a row of the same thing on, however it is spelled, the agent is told to tell its user, and
// the operators are told once; another task, another run and an operator's yes begin anew (ASA 16.5).
func TestTheUserIsTold(t *testing.T) {
	spec.Covers(t, "ASA-16.5-1", "ASA-16.5-3")
	h := newHouse(t, asa)
	told := func(a interlock.Answer) bool {
		return strings.Contains(a.Decisive().Suggestion, "tell the user that it can't be achieved within the present safety constraints")
	}
	python := func(p *admission.Case) {
		p.Action.Kind, p.Action.Input = interlock.KindPython, "import shutil\nshutil.rmtree('build')"
	}
	elsewhere := func(p *admission.Case) { p.Requester.Run = "run-2" }
	for n, step := range []struct {
		command string
		edit    []func(*admission.Case)
		told    bool
	}{
		{"rm -rf build", nil, false},
		{"rm -r ./build", nil, false},
		{"rm -rf dist", nil, false},
		{"rm -rf build", []func(*admission.Case){elsewhere}, false},
		{"", []func(*admission.Case){python}, true},
		{"cd .. && rm -rf /repo/build", nil, true},
		{"rm -rf dist", nil, false},
	} {
		a := h.propose(step.command, step.edit...)
		if a.Answer != interlock.Deny || told(a) != step.told {
			t.Errorf("step %d: answered %v, told %v: %+v", n, a.Answer, told(a), a.Findings[0])
		}
	}
	if n := h.told("repeated-denials"); n != 1 {
		t.Errorf("operators were told %d times", n)
	}
	h.now = h.now.Add(time.Hour)
	if a := h.propose("rm -rf build"); told(a) {
		t.Error("what was denied an hour ago counts")
	}
	for _, e := range h.log() {
		if strings.Contains(string(e.Body), "tell the user that it can't") {
			t.Error("the log holds another decision than was made")
		}
	}
}
