package quorum_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

func suppression(edit ...func(*interlock.Suppression)) interlock.Suppression {
	s := interlock.Suppression{ID: "sup_1", Rule: "net.upload", Agent: "claude", Reason: "the nightly upload", Operator: "operator",
		Created: created, Expires: expires, Key: "fp:key-of-operator"}
	for _, e := range edit {
		e(&s)
	}
	s.Statement = quorum.SuppressionStatement(s)
	return s
}

// TestCheckSuppression: every reason for which an order does not count.
func TestCheckSuppression(t *testing.T) {
	type edit = func(*interlock.Suppression)
	verify := func(operator interlock.OperatorRecord, method, _, signature string) (string, error) {
		if signature == "forged" || method != interlock.MethodSSH {
			return "", errors.New("forged")
		}
		return "fp:" + operator.SSHKey, nil
	}
	by := func(name string) edit {
		return func(s *interlock.Suppression) { s.Operator, s.Key = name, "fp:key-of-"+name }
	}
	for _, test := range []struct {
		name   string
		signed edit // before it is signed
		after  edit
		want   string
	}{
		{"sound", nil, nil, ""},
		{"by an admin, of denials", func(s *interlock.Suppression) { by("admin")(s); s.Denials = true }, nil, ""},
		{"by a path", func(s *interlock.Suppression) { s.Agent, s.Path = "", "/repo" }, nil, ""},
		{"without a scope", func(s *interlock.Suppression) { s.Agent = "" }, nil, "no rule is suppressed everywhere"},
		{"of all agents", func(s *interlock.Suppression) { s.Agent = "*" }, nil, "every agent"},
		{"of all commands", func(s *interlock.Suppression) { s.Command = "* *" }, nil, "nearly every command"},
		{"of the root", func(s *interlock.Suppression) { s.Path = "/" }, nil, "not the root"},
		{"of a relative path", func(s *interlock.Suppression) { s.Path = "src" }, nil, "absolute"},
		{"of a path that climbs", func(s *interlock.Suppression) { s.Path = "/repo/../etc" }, nil, "absolute"},
		{"without a reason", func(s *interlock.Suppression) { s.Reason = " " }, nil, "say why"},
		{"without a rule", func(s *interlock.Suppression) { s.Rule = "" }, nil, "name the rule"},
		{"too long a text", func(s *interlock.Suppression) { s.Reason = strings.Repeat("x", 501) }, nil, "too long"},
		{"for too long", func(s *interlock.Suppression) { s.Expires = created.Add(91 * 24 * time.Hour) }, nil, "at most 90 days"},
		{"expired", func(s *interlock.Suppression) { s.Expires = noon }, nil, "not in force"},
		{"not begun", func(s *interlock.Suppression) { s.Created = noon.Add(1) }, nil, "not in force"},
		{"by nobody", by("nobody"), nil, "no such operator"},
		{"by one under another name", by("alias"), nil, "no such operator"},
		{"by a viewer", by("viewer"), nil, "role"}, {"by an auditor", by("auditor"), nil, "role"}, {"by one of the council", by("council"), nil, "role"},
		{"by one who is gone", by("gone"), nil, "revoked"},
		{"of denials, by an operator", func(s *interlock.Suppression) { s.Denials = true }, nil, "admin role"},
		{"forged", nil, func(s *interlock.Suppression) { s.Signature = "forged" }, "does not verify"},
		{"by another's key", nil, func(s *interlock.Suppression) { s.Key = "fp:key-of-admin" }, "does not verify"},
		{"another rule than signed", nil, func(s *interlock.Suppression) { s.Rule = "fs.delete-home" }, "the signed statement"},
		{"another scope than signed", nil, func(s *interlock.Suppression) { s.Agent = "codex" }, "the signed statement"},
		{"another end than signed", nil, func(s *interlock.Suppression) { s.Expires = s.Expires.Add(time.Hour) }, "the signed statement"},
		{"an approval's statement", nil,
			func(s *interlock.Suppression) { s.Statement = quorum.Statement(request(), interlock.Allow, "operator") }, "the signed statement"},
	} {
		edits := []edit{}
		if test.signed != nil {
			edits = append(edits, test.signed)
		}
		s := suppression(edits...)
		if test.after != nil {
			test.after(&s)
		}
		err := quorum.OfSuppression(s).Counts(people(), agents(), verify, noon)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if err := quorum.OfSuppression(suppression()).Counts(people(), agents(), nil, noon); err == nil {
		t.Error("without a verifier it counts")
	}
}

// No value that somebody chooses can imitate a line of what is signed.
func TestSuppressionStatementCannotBeForged(t *testing.T) {
	s := suppression(func(s *interlock.Suppression) { s.Reason = "x\"\nrule: \"fs.delete-home\"" })
	if lines := strings.Count(s.Statement, "\n"); lines != 11 {
		t.Errorf("%d lines:\n%s", lines, s.Statement)
	}
}

func TestConcerns(t *testing.T) {
	agents := map[string]interlock.AgentRecord{"mine": {ID: "mine", Principal: "Operator"}, "other": {ID: "other", Principal: "dana"}, "free": {ID: "free"}}
	for agent, want := range map[string]bool{"mine": false, "other": true, "free": true, "unknown": true, "OPERATOR": false} {
		if got := quorum.Concerns(suppression(), agent, agents); got != want {
			t.Errorf("an operator's order concerns %s: %v", agent, got)
		}
	}
}

// TestSuppressionMethods: an order proved by another method than an SSH key says so, and counts by that method alone; one that a key
// proves says nothing of it, as ever.
func TestSuppressionMethods(t *testing.T) {
	for method, recorded := range map[string]string{interlock.MethodSSH: "", interlock.MethodPasskey: interlock.MethodPasskey,
		interlock.MethodSession: interlock.MethodSession} {
		given := quorum.OfSuppression(suppression()).Signed(method, "proof", "signature")
		terms, ok := given.Terms.(interlock.Suppression)
		if !ok || terms.Method != recorded || given.Method != recorded {
			t.Errorf("%s is recorded as %q", method, terms.Method)
		}
		verify := func(_ interlock.OperatorRecord, by, _, _ string) (string, error) {
			if by != method {
				return "", errors.New("forged")
			}
			return "proof", nil
		}
		if err := given.Counts(people(), agents(), verify, noon); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		terms.Method = interlock.MethodCode
		if err := quorum.OfSuppression(terms).Counts(people(), agents(), verify, noon); err == nil {
			t.Errorf("%s passes for another method", method)
		}
	}
}
