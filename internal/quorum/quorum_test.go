package quorum_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/quorum"
	"interlock/spec"
)

var (
	created = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	expires = created.Add(time.Hour)
	noon    = created.Add(30 * time.Minute)
)

func request() interlock.ApprovalRequest {
	return interlock.ApprovalRequest{
		ID:        "req-1",
		Action:    "sha256:aaaa",
		Ruleset:   "sha256:bbbb",
		Requester: interlock.Requester{Principal: "dana", Agent: "deployer", Run: "r1", Call: "c1"},
		Nonce:     "00112233445566778899aabbccddeeff",
		Created:   created,
		Expires:   expires,
		Display:   "git push origin main",
		Reason:    "pushes to a shared branch",
		Rule:      "git.push",
		Status:    interlock.RequestPending,
	}
}

func people() map[string]interlock.OperatorRecord {
	all := map[string]interlock.OperatorRecord{}
	for _, role := range quorum.Roles() {
		all[role] = interlock.OperatorRecord{Name: role, Role: role, SSHKey: "key-of-" + role, Created: created}
	}
	all["dana"] = interlock.OperatorRecord{Name: "dana", Role: "operator", SSHKey: "key-of-dana", Created: created}
	all["deployer"] = interlock.OperatorRecord{Name: "deployer", Role: "admin", SSHKey: "key-of-deployer", Created: created}
	all["gone"] = interlock.OperatorRecord{Name: "gone", Role: "operator", SSHKey: "key-of-gone", Created: created, Revoked: noon}
	all["odd"] = interlock.OperatorRecord{Name: "odd", Role: "root", SSHKey: "key-of-odd", Created: created}
	all["alias"] = all["operator"] // a record filed under a name that is not its own
	return all
}

func agents() map[string]interlock.AgentRecord {
	return map[string]interlock.AgentRecord{"deployer": {ID: "deployer", Principal: "dana", Created: created}}
}

// sign and verify stand in for SSH: a signature is the key and the text it was made over.
func sign(key, statement string) string { return key + "\x00" + statement }

func verify(operator interlock.OperatorRecord, method, statement, signature string) (string, error) {
	key := operator.SSHKey
	if method != interlock.MethodSSH {
		key = method + "-of-" + operator.Name
	}
	if signature != sign(key, statement) {
		return "", errors.New("no match")
	}
	return "SHA256:" + key, nil
}

func answer(req interlock.ApprovalRequest, verdict interlock.Verdict, operator string) interlock.Approval {
	statement := quorum.Statement(req, verdict, operator)
	return interlock.Approval{
		Request: req.ID, Verdict: verdict, Operator: operator, Key: "SHA256:key-of-" + operator,
		Statement: statement, Signature: sign("key-of-"+operator, statement), At: noon,
	}
}

func TestStatementIsTheDocumentedText(t *testing.T) {
	req := request()
	req.Requester.Run = "r1\nverdict: allow"
	want := `Interlock approval, version 1
request: "req-1"
verdict: deny
operator: "operator"
action: "sha256:aaaa"
ruleset: "sha256:bbbb"
principal: "dana"
agent: "deployer"
run: "r1\nverdict: allow"
display: "sha256:16f880284c51ff513ff5465f0082c75d9c7ebb186e65e98b4fa362534044846a"
nonce: "00112233445566778899aabbccddeeff"
expires: 2026-03-01T10:00:00Z
`
	if diff := cmp.Diff(want, quorum.Statement(req, interlock.Deny, "operator")); diff != "" {
		t.Errorf("statement (-want +got):\n%s", diff)
	}
}

func TestStatementBindsEveryPart(t *testing.T) {
	base := quorum.Statement(request(), interlock.Allow, "operator")
	changes := map[string]func(*interlock.ApprovalRequest){
		"id":        func(r *interlock.ApprovalRequest) { r.ID = "req-2" },
		"action":    func(r *interlock.ApprovalRequest) { r.Action = "sha256:cccc" },
		"ruleset":   func(r *interlock.ApprovalRequest) { r.Ruleset = "sha256:cccc" },
		"principal": func(r *interlock.ApprovalRequest) { r.Requester.Principal = "eve" },
		"agent":     func(r *interlock.ApprovalRequest) { r.Requester.Agent = "eve" },
		"run":       func(r *interlock.ApprovalRequest) { r.Requester.Run = "r2" },
		"display":   func(r *interlock.ApprovalRequest) { r.Display = "git status" },
		"nonce":     func(r *interlock.ApprovalRequest) { r.Nonce = "11" },
		"dry run":   func(r *interlock.ApprovalRequest) { r.DryRun = "e7" },
		"expiry":    func(r *interlock.ApprovalRequest) { r.Expires = expires.Add(time.Nanosecond) },
	}
	for name, change := range changes {
		req := request()
		change(&req)
		if quorum.Statement(req, interlock.Allow, "operator") == base {
			t.Errorf("changing the %s leaves the statement as it was", name)
		}
	}
	if quorum.Statement(request(), interlock.Deny, "operator") == base {
		t.Error("a no reads like a yes")
	}
	if quorum.Statement(request(), interlock.Allow, "admin") == base {
		t.Error("another operator's statement reads the same")
	}
}

func TestCheck(t *testing.T) {
	spec.Covers(t, "EC-H-1", "EC-H-2")
	obliged := func(kind string) func(*interlock.ApprovalRequest) {
		return func(r *interlock.ApprovalRequest) { r.Obligations = []interlock.Obligation{{Type: kind}} }
	}
	tests := []struct {
		name     string
		operator string // "operator" unless it says otherwise
		verdict  interlock.Verdict
		request  func(*interlock.ApprovalRequest)
		approval func(*interlock.Approval)
		now      time.Time
		want     interlock.Code // empty: it counts
	}{
		{name: "operator approves", verdict: interlock.Allow},
		{name: "operator denies", verdict: interlock.Deny},
		{name: "admin", operator: "admin", verdict: interlock.Allow},
		{name: "superadmin", operator: "superadmin", verdict: interlock.Allow},
		{name: "viewer", operator: "viewer", verdict: interlock.Allow, want: interlock.CodeUnauthorized},
		{name: "auditor", operator: "auditor", verdict: interlock.Deny, want: interlock.CodeUnauthorized},
		{name: "council alone", operator: "council", verdict: interlock.Allow, want: interlock.CodeUnauthorized},
		{name: "unknown role", operator: "odd", verdict: interlock.Allow, want: interlock.CodeUnauthorized},
		{name: "unknown operator", operator: "nobody", verdict: interlock.Allow, want: interlock.CodeUnauthorized},
		{name: "no operator", verdict: interlock.Allow, approval: func(a *interlock.Approval) { a.Operator = "" }, want: interlock.CodeUnauthorized},
		{name: "record under another name", operator: "alias", verdict: interlock.Allow, want: interlock.CodeUnauthorized},
		{name: "revoked operator", operator: "gone", verdict: interlock.Allow, want: interlock.CodeUnauthorized},
		{name: "revoked later", operator: "gone", verdict: interlock.Allow, now: noon.Add(-time.Second)},
		{name: "the agent itself", operator: "deployer", verdict: interlock.Allow, want: interlock.CodeUnauthorized},
		{name: "the agent's configured owner", operator: "dana", verdict: interlock.Allow, want: interlock.CodeUnauthorized},
		{name: "the owner may not even deny", operator: "dana", verdict: interlock.Deny, want: interlock.CodeUnauthorized},
		{name: "same login name, no configured owner", operator: "dana", verdict: interlock.Allow,
			request: func(r *interlock.ApprovalRequest) { r.Requester.Agent = "claude" }},
		{name: "a person asking for itself", operator: "dana", verdict: interlock.Allow,
			request: func(r *interlock.ApprovalRequest) { r.Requester.Agent = "" }, want: interlock.CodeUnauthorized},
		{name: "case does not make another person", operator: "dana", verdict: interlock.Allow,
			request: func(r *interlock.ApprovalRequest) { r.Requester = interlock.Requester{Principal: "DANA"} }, want: interlock.CodeUnauthorized},
		{name: "nobody asking", verdict: interlock.Allow,
			request: func(r *interlock.ApprovalRequest) { r.Requester = interlock.Requester{} }, want: interlock.CodeUnauthorized},
		{name: "needs admin, is operator", verdict: interlock.Allow, request: obliged(interlock.ObligationAdmin), want: interlock.CodeUnauthorized},
		{name: "needs admin, is admin", operator: "admin", verdict: interlock.Allow, request: obliged(interlock.ObligationAdmin)},
		{name: "needs council", operator: "superadmin", verdict: interlock.Allow, request: obliged(interlock.ObligationCouncil),
			want: interlock.CodeUnauthorized},
		{name: "the first of two people", operator: "operator", verdict: interlock.Allow, request: obliged(interlock.ObligationDual)},
		{name: "needs a challenge", operator: "superadmin", verdict: interlock.Allow,
			request: obliged(interlock.ObligationVerify), want: interlock.CodeUnauthorized},
		{name: "unknown obligation", operator: "superadmin", verdict: interlock.Allow, request: obliged("sacrifice"), want: interlock.CodeUnauthorized},
		{name: "needs a dry run", operator: "admin", verdict: interlock.Allow, request: obliged(interlock.ObligationDryRun), want: interlock.CodeUnauthorized},
		{name: "a no needs no dry run", operator: "admin", verdict: interlock.Deny, request: obliged(interlock.ObligationDryRun)},
		{name: "names its dry run", operator: "admin", verdict: interlock.Allow, request: func(r *interlock.ApprovalRequest) {
			obliged(interlock.ObligationDryRun)(r)
			r.DryRun = "e7"
		}, approval: func(a *interlock.Approval) { a.DryRun = "e7" }},
		{name: "names another dry run than it signed", operator: "admin", verdict: interlock.Allow, request: func(r *interlock.ApprovalRequest) {
			obliged(interlock.ObligationDryRun)(r)
			r.DryRun = "e7"
		}, approval: func(a *interlock.Approval) { a.DryRun = "e8" }, want: interlock.CodeUnauthorized},
		{name: "leaves out what it signed", operator: "admin", verdict: interlock.Allow, request: func(r *interlock.ApprovalRequest) {
			obliged(interlock.ObligationDryRun)(r)
			r.DryRun = "e7"
		}, want: interlock.CodeUnauthorized},
		{name: "needs time", operator: "admin", verdict: interlock.Allow, request: obliged(interlock.ObligationCooldown), want: interlock.CodeUnauthorized},
		{name: "confirm is what an operator does", verdict: interlock.Allow, request: obliged(interlock.ObligationConfirm)},
		{name: "verdict ask", verdict: interlock.Ask, want: interlock.CodeInvalid},
		{name: "verdict halt", verdict: interlock.Halt, want: interlock.CodeInvalid},
		{name: "verdict out of range", verdict: 9, want: interlock.CodeInvalid},
		{name: "answered before", verdict: interlock.Allow,
			request: func(r *interlock.ApprovalRequest) { r.Status = interlock.RequestApproved }, want: interlock.CodeConflict},
		{name: "denied before", verdict: interlock.Allow,
			request: func(r *interlock.ApprovalRequest) { r.Status = interlock.RequestDenied }, want: interlock.CodeConflict},
		{name: "spent", verdict: interlock.Allow,
			request: func(r *interlock.ApprovalRequest) { r.Status = interlock.RequestSpent }, want: interlock.CodeConflict},
		{name: "marked expired", verdict: interlock.Allow,
			request: func(r *interlock.ApprovalRequest) { r.Status = interlock.RequestExpired }, want: interlock.CodeExpired},
		{name: "no status", verdict: interlock.Allow, request: func(r *interlock.ApprovalRequest) { r.Status = "" }, want: interlock.CodeConflict},
		{name: "the moment it expires", verdict: interlock.Allow, now: expires, want: interlock.CodeExpired},
		{name: "the moment before", verdict: interlock.Allow, now: expires.Add(-time.Nanosecond)},
		{name: "never expires", verdict: interlock.Allow, request: func(r *interlock.ApprovalRequest) { r.Expires = time.Time{} }, want: interlock.CodeExpired},
		{name: "no nonce", verdict: interlock.Allow, request: func(r *interlock.ApprovalRequest) { r.Nonce = "" }, want: interlock.CodeInvalid},
		{name: "no action", verdict: interlock.Allow, request: func(r *interlock.ApprovalRequest) { r.Action = "" }, want: interlock.CodeInvalid},
		{name: "no ruleset", verdict: interlock.Allow, request: func(r *interlock.ApprovalRequest) { r.Ruleset = "" }, want: interlock.CodeInvalid},
		{name: "another request", verdict: interlock.Allow, approval: func(a *interlock.Approval) { a.Request = "req-2" }, want: interlock.CodeNotFound},
		{name: "one byte more in the statement", verdict: interlock.Allow, approval: func(a *interlock.Approval) {
			a.Statement += "\n"
			a.Signature = sign("key-of-operator", a.Statement)
		}, want: interlock.CodeUnauthorized},
		{name: "a signed no passed off as a yes", verdict: interlock.Deny,
			approval: func(a *interlock.Approval) { a.Verdict = interlock.Allow }, want: interlock.CodeUnauthorized},
		{name: "another's signature", verdict: interlock.Allow,
			approval: func(a *interlock.Approval) { a.Signature = sign("key-of-dana", a.Statement) }, want: interlock.CodeUnauthorized},
		{name: "no signature", verdict: interlock.Allow, approval: func(a *interlock.Approval) { a.Signature = "" }, want: interlock.CodeUnauthorized},
		{name: "another's fingerprint", verdict: interlock.Allow,
			approval: func(a *interlock.Approval) { a.Key = "SHA256:key-of-dana" }, want: interlock.CodeUnauthorized},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req, operator, now := request(), test.operator, test.now
			if operator == "" {
				operator = "operator"
			}
			if now.IsZero() {
				now = noon
			}
			if test.request != nil {
				test.request(&req)
			}
			approval := answer(req, test.verdict, operator)
			if test.approval != nil {
				test.approval(&approval)
			}
			err := quorum.Check(req, approval, people(), agents(), verify, now)
			var refusal *interlock.Error
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && !errors.As(err, &refusal):
				t.Errorf("got %v, want a refusal with code %s", err, test.want)
			case test.want != "" && refusal.Code != test.want:
				t.Errorf("got code %s (%v), want %s", refusal.Code, err, test.want)
			}
		})
	}
}

// answerBy is answer by another method than an SSH key.
func answerBy(method string, req interlock.ApprovalRequest, verdict interlock.Verdict, operator string) interlock.Approval {
	approval := answer(req, verdict, operator)
	key := method + "-of-" + operator
	approval.Method, approval.Key, approval.Signature = method, "SHA256:"+key, sign(key, approval.Statement)
	return approval
}

// TestCheckByMethod: what each method of proof can answer, and what a challenge takes.
func TestCheckByMethod(t *testing.T) {
	for _, test := range []struct {
		name, method, operator string
		verdict                interlock.Verdict
		owes                   string
		want                   string
	}{
		{"a passkey", interlock.MethodPasskey, "operator", interlock.Allow, "", ""},
		{"a session", interlock.MethodSession, "operator", interlock.Deny, "", ""},
		{"a code", interlock.MethodCode, "", interlock.Allow, "", ""},
		{"a code for a challenge", interlock.MethodCode, "", interlock.Allow, interlock.ObligationVerify, ""},
		{"a passkey for a challenge", interlock.MethodPasskey, "operator", interlock.Allow, interlock.ObligationVerify, ""},
		{"a session for a challenge", interlock.MethodSession, "operator", interlock.Allow, interlock.ObligationVerify, "needs the code"},
		{"a key for a challenge", interlock.MethodSSH, "operator", interlock.Allow, interlock.ObligationVerify, "needs the code"},
		{"a no to a challenge", interlock.MethodSession, "operator", interlock.Deny, interlock.ObligationVerify, ""},
		{"a code where an admin is needed", interlock.MethodCode, "", interlock.Allow, interlock.ObligationAdmin, "needs a named operator"},
		{"a code for two people", interlock.MethodCode, "", interlock.Allow, interlock.ObligationDual, "needs a named operator"},
		{"a code that says no", interlock.MethodCode, "", interlock.Deny, "", "a code says yes"},
		{"a code in a name", interlock.MethodCode, "operator", interlock.Allow, "", "a code says yes"},
		{"a session of nobody", interlock.MethodSession, "", interlock.Allow, "", "no such operator"},
		{"a passkey of a viewer", interlock.MethodPasskey, "viewer", interlock.Allow, "", "role"},
	} {
		req := request()
		if test.owes != "" {
			req.Obligations = []interlock.Obligation{{Type: test.owes}}
		}
		err := quorum.Check(req, answerBy(test.method, req, test.verdict, test.operator), people(), agents(), verify, noon)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	req := request()
	swapped := answerBy(interlock.MethodPasskey, req, interlock.Allow, "operator")
	swapped.Method = interlock.MethodSession
	if err := quorum.Check(req, swapped, people(), agents(), verify, noon); err == nil {
		t.Error("a passkey's proof counts as a session's")
	}
}

// TestTwoPeople: two different people, each proved, at the answer and again when it is spent.
func TestTwoPeople(t *testing.T) {
	req := request()
	req.Obligations = []interlock.Obligation{{Type: interlock.ObligationDual}}
	first := answer(req, interlock.Allow, "operator")
	if err := quorum.Check(req, first, people(), agents(), verify, noon); err != nil {
		t.Fatal(err)
	}
	one := req.Answered(first)
	if one.Status != interlock.RequestPending || one.First == nil || one.Approval != nil {
		t.Fatalf("after one yes: %+v", one)
	}
	for name, test := range map[string]struct {
		second interlock.Approval
		change func(map[string]interlock.OperatorRecord)
		want   string
	}{
		"another":            {answer(req, interlock.Allow, "admin"), nil, ""},
		"the same":           {answer(req, interlock.Allow, "operator"), nil, "needs two people"},
		"the same, by phone": {answerBy(interlock.MethodPasskey, req, interlock.Allow, "operator"), nil, "needs two people"},
		"the same key": {answer(req, interlock.Allow, "admin"), func(all map[string]interlock.OperatorRecord) {
			admin, operator := all["admin"], all["operator"]
			admin.Passkeys, operator.Passkeys = []interlock.Passkey{{ID: "p"}}, []interlock.Passkey{{ID: "p"}}
			all["admin"], all["operator"] = admin, operator
		}, "needs two people"},
		"the same, with nothing left of the first key": {answerBy(interlock.MethodPasskey, req, interlock.Allow, "operator"),
			func(all map[string]interlock.OperatorRecord) {
				operator := all["operator"]
				operator.SSHKey = ""
				all["operator"] = operator
			}, "needs two people"},
		"a no of the same": {answer(req, interlock.Deny, "operator"), nil, ""},
	} {
		all := people()
		if test.change != nil {
			test.change(all)
		}
		err := quorum.Check(one, test.second, all, agents(), verify, noon)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	both := one.Answered(answer(req, interlock.Allow, "admin"))
	if err := quorum.Recheck(both, people(), agents(), verify, noon); err != nil {
		t.Errorf("two yeses, spent: %v", err)
	}
	for name, change := range map[string]func(*interlock.ApprovalRequest){
		"without the first":  func(r *interlock.ApprovalRequest) { r.First = nil },
		"with a forged one":  func(r *interlock.ApprovalRequest) { forged := first; forged.Signature = "x"; r.First = &forged },
		"with a no as first": func(r *interlock.ApprovalRequest) { no := answer(req, interlock.Deny, "operator"); r.First = &no },
		"with one twice":     func(r *interlock.ApprovalRequest) { r.First = r.Approval },
		"of one now revoked": func(r *interlock.ApprovalRequest) { gone := answer(req, interlock.Allow, "gone"); r.First = &gone },
	} {
		spent := both
		change(&spent)
		if err := quorum.Recheck(spent, people(), agents(), verify, noon); err == nil {
			t.Errorf("%s it counts", name)
		}
	}
	if denied := one.Answered(answer(req, interlock.Deny, "admin")); denied.Status != interlock.RequestDenied {
		t.Errorf("after a yes and a no: %s", denied.Status)
	}
}

// TestSharedCredentials: a second name for the owner's key or passkey is not a second person.
func TestSharedCredentials(t *testing.T) {
	all := people()
	second := all["operator"]
	for name, share := range map[string]func(owner, second *interlock.OperatorRecord){
		"ssh key": func(owner, second *interlock.OperatorRecord) { owner.SSHKey = second.SSHKey },
		"passkey id": func(owner, second *interlock.OperatorRecord) {
			owner.Passkeys = []interlock.Passkey{{ID: "p", PublicKey: "a"}}
			second.Passkeys = []interlock.Passkey{{ID: "p", PublicKey: "b"}}
		},
		"passkey": func(owner, second *interlock.OperatorRecord) {
			owner.Passkeys = []interlock.Passkey{{ID: "p", PublicKey: "a"}}
			second.Passkeys = []interlock.Passkey{{ID: "q", PublicKey: "a"}}
		},
	} {
		owner, other := all["dana"], second
		share(&owner, &other)
		roster := map[string]interlock.OperatorRecord{"dana": owner, "operator": other}
		req := request()
		err := quorum.Check(req, answer(req, interlock.Allow, "operator"), roster, agents(), verify, noon)
		if err == nil || !strings.Contains(err.Error(), "also the requester's") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckWithoutAVerifierRefuses(t *testing.T) {
	req := request()
	if err := quorum.Check(req, answer(req, interlock.Allow, "operator"), people(), agents(), nil, noon); err == nil {
		t.Error("an unchecked signature counted")
	}
}

func TestTheZeroValuesApproveNothing(t *testing.T) {
	accept := func(interlock.OperatorRecord, string, string, string) (string, error) { return "", nil }
	if err := quorum.Check(interlock.ApprovalRequest{}, interlock.Approval{}, nil, nil, accept, time.Time{}); err == nil {
		t.Error("the zero approval counted")
	}
}
