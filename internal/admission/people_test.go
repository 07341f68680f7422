package admission_test

import (
	"strings"
	"testing"

	"interlock"
	"interlock/internal/admission/governance"
	"interlock/internal/quorum"
)

// TestFirstOperator: somebody who governs is made without an order once, and not where anybody ever governed.
func TestFirstOperator(t *testing.T) {
	person := func(name, role string) interlock.OperatorRecord {
		return interlock.OperatorRecord{Name: name, Role: role, SSHKey: "key of " + name}
	}
	h := newHouse(t)
	h.employ("olga", quorum.RoleOperator) // as earlier versions let anybody add
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude"}); err != nil {
		t.Fatal(err)
	}
	for want, operator := range map[string]interlock.OperatorRecord{
		"the first operator governs": person("ada", quorum.RoleOperator),
		"an operator has this name":  person("olga", quorum.RoleAdmin),
		"an agent has this name":     person("claude", quorum.RoleAdmin),
		"belongs to operator olga":   {Name: "ada", Role: quorum.RoleAdmin, SSHKey: "key of olga"},
	} {
		if _, err := h.FirstOperator(t.Context(), operator, governance.SaidSettings{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := h.FirstOperator(t.Context(), person("ada", quorum.RoleAdmin), governance.SaidSettings{}); err != nil {
		t.Fatal(err)
	}
	ada := person("ada", quorum.RoleAdmin)
	for range 2 { // in office, and when she is gone
		if _, err := h.FirstOperator(t.Context(), person("eve", quorum.RoleSuperadmin), governance.SaidSettings{}); err == nil ||
			!strings.Contains(err.Error(), "somebody governs here already") {
			t.Errorf("a second one: %v", err)
		}
		ada.Revoked = h.now
		if err := h.PutOperator(t.Context(), ada); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOrdersAboutPeople: what an admin's order may not make of anybody.
func TestOrdersAboutPeople(t *testing.T) {
	h := newHouse(t)
	for _, role := range []string{quorum.RoleAdmin, quorum.RoleSuperadmin, quorum.RoleOperator} {
		h.employ("a-"+role, role)
	}
	if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: "claude"}); err != nil {
		t.Fatal(err)
	}
	give := func(verb interlock.Verb, by, subject, detail string) error {
		given := h.about(subject, detail)(by)
		given.Verb = verb
		_, err := h.CarryOut(t.Context(), given.Signed(interlock.MethodSSH, "fingerprint of "+by+"'s", by+"'s"))
		return err
	}
	const add, change, agent = interlock.VerbAddOperator, interlock.VerbChangeOperator, interlock.VerbAddAgent
	for _, c := range []struct {
		verb                      interlock.Verb
		by, subject, detail, want string
	}{
		{add, "a-admin", "eve", `{"role":"superadmin","ssh_key":"x"}`, "superadmin role"},
		{add, "a-admin", "eve", `{"role":"king","ssh_key":"x"}`, "no role"},
		{add, "a-admin", "eve", `{"role":"admin"}`, "no way to answer"},
		{add, "a-admin", "eve", `{"role":"admin","ssh_key":"x","ssh_key":"y"}`, "does not say"},
		{add, "a-admin", "eve", `{"role":"admin","ssh_key":"x","more":1}`, "does not say"},
		{add, "a-admin", "claude", `{"role":"admin","ssh_key":"x"}`, "no identity is both"},
		{add, "a-admin", "a-operator", `{"role":"admin","ssh_key":"x"}`, "has this name"},
		{add, "a-admin", "eve", `{"role":"admin","ssh_key":"key of a-operator"}`, "one key is one person"},
		{change, "a-admin", "a-superadmin", `{"ssh_key":"x"}`, "superadmin role"},
		{change, "a-operator", "a-admin", `{"ssh_key":"x"}`, "admin role"},
		{change, "a-operator", "a-operator", `{"role":"admin"}`, "admin role"},
		{change, "a-operator", "a-operator", `{"teams":["dba"]}`, "admin role"},
		{change, "a-operator", "a-operator", `{"remove_passkey":"none"}`, "no passkey"},
		{change, "a-admin", "nobody", `{"ssh_key":"x"}`, "in office"},
		{agent, "a-admin", "new", `{"trust":"certified"}`, "is earned"},
		{agent, "a-admin", "new", `{"trust":"validated","token":"x"}`, "another token"},
		{agent, "a-admin", "a-operator", `{"trust":"validated"}`, "no identity is both"},
		{agent, "a-admin", "claude", `{"trust":"validated"}`, "an agent has this name"},
		{agent, "a-admin", "interlock", `{"trust":"validated"}`, "calls itself"},
		{agent, "a-admin", "control", `{"trust":"validated","observer":true}`, "calls itself"},
		{add, "a-admin", "interlock", `{"role":"admin","ssh_key":"x"}`, "calls itself"},
		{interlock.VerbRevoke, "a-admin", "nobody", "", "nobody of this name"},
	} {
		if err := give(c.verb, c.by, c.subject, c.detail); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s by %s of %s %s: %v, want %q", c.verb, c.by, c.subject, c.detail, err, c.want)
		}
	}
	if err := give(interlock.VerbRevoke, "a-superadmin", "a-admin", ""); err != nil {
		t.Fatal(err)
	}
	if err := give(interlock.VerbRevoke, "a-superadmin", "a-superadmin", ""); err == nil ||
		!strings.Contains(err.Error(), "nobody would be left") {
		t.Errorf("the last who governs: %v", err)
	}
	if got := governance.BindToken(""); got != "" {
		t.Errorf("no token is bound as %q", got)
	}
}

// TestNobodyIsInterlock: whoever names itself as Interlock does, where no credential says who it is, does nothing; a name that only begins
// like that is any agent's.
func TestNobodyIsInterlock(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{"interlock", "control", "unknown"} {
		if a := h.propose("ls", from(name, "alice", "r")); a.Answer != interlock.Deny || !strings.Contains(a.Decisive().Reason, "calls itself") {
			t.Errorf("%s: %v %+v", name, a.Answer, a.Decisive())
		}
		who := interlock.Requester{Agent: name}
		if _, err := h.RegisterRun(t.Context(), who, interlock.RunRequest{Task: "x"}); codeOf(err) != interlock.CodeInvalid {
			t.Errorf("%s registers a run: %v", name, err)
		}
		if err := h.Heartbeat(t.Context(), who); codeOf(err) != interlock.CodeInvalid {
			t.Errorf("%s is heard: %v", name, err)
		}
	}
	if a := h.propose("ls", from("interlock-builder", "alice", "r")); a.Answer != interlock.Allow {
		t.Errorf("%v %+v", a.Answer, a.Decisive())
	}
}
