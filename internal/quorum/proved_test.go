package quorum_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
	"interlock/spec"
)

// TestWhoMayGiveWhat: the roles whose order counts, for each kind of order; nobody else's does, and nobody's that is not listed. Each role
// has rights of its own, none has one that it is not for, and of what nobody knows there is none.
func TestWhoMayGiveWhat(t *testing.T) {
	spec.Covers(t, "MACE-ROLE-1")
	const governs, answers, forces = "admin superadmin", "operator admin superadmin", "council admin superadmin"
	everybody := strings.Join(quorum.Roles(), " ")
	may := map[interlock.Verb]string{interlock.VerbReadSealed: "auditor " + governs, interlock.VerbReplay: "auditor council " + answers}
	for roles, verbs := range map[string][]interlock.Verb{
		governs: {interlock.VerbUnblock, interlock.VerbPromote, interlock.VerbRevoke, interlock.VerbAddOperator, interlock.VerbAddAgent,
			interlock.VerbWeakKeys, interlock.VerbPromoteRules, interlock.VerbAdoptRules, interlock.VerbAdoptGround, interlock.VerbAdoptSettings,
			interlock.VerbHold, interlock.VerbReleaseKill, interlock.VerbBeginRollback, interlock.VerbMend, interlock.VerbPause,
			interlock.VerbResume},
		answers: {interlock.VerbNewCode, interlock.VerbDemote, interlock.VerbGrant, interlock.VerbEndGrant, interlock.VerbSuppress,
			interlock.VerbLift, interlock.VerbApproveTool, interlock.VerbQuarantineTool, interlock.VerbSignTools, interlock.VerbTriage,
			interlock.VerbKill, interlock.VerbTightenPhase, interlock.VerbSecond, interlock.VerbTripBreaker, interlock.VerbResetBreaker,
			interlock.VerbTellRollback, interlock.VerbChangeRun, interlock.VerbUnlockCommitment, interlock.VerbConsent,
			interlock.VerbRevokeConsent},
		forces: {interlock.VerbClearHold, interlock.VerbForceContinue, interlock.VerbLoosenPhase, interlock.VerbRootCause, interlock.VerbVote,
			interlock.VerbExecute, interlock.VerbDataRequest},
		everybody: {interlock.VerbChangeOperator, interlock.VerbRequest, interlock.VerbWithdraw}, // of one's own; see admission
	} {
		for _, verb := range verbs {
			may[verb] = roles
		}
	}
	rights := map[string]string{}
	for _, role := range append(quorum.Roles(), "root", "Admin", "") {
		for _, v := range append(quorum.Verbs(), quorum.Verb{Name: "amnesty"}) {
			given := quorum.Given{Order: interlock.Order{Verb: v.Name}}
			switch v.Name {
			case interlock.VerbGrant:
				given.Terms = interlock.Grant{}
			case interlock.VerbSuppress:
				given.Terms = interlock.Suppression{}
			}
			err := given.MayGive(interlock.OperatorRecord{Name: "olga", Role: role}, nil, noon)
			if can := slices.Contains(strings.Fields(may[v.Name]), role); can != (err == nil) {
				t.Errorf("%s by %q: %v", v.Name, role, err)
			}
			if err == nil {
				rights[role] += " " + string(v.Name)
			}
		}
		for _, approval := range []string{interlock.ApprovalAdmin, interlock.ApprovalNotify, interlock.ApprovalCouncil, interlock.ApprovalDual} {
			want := approval == interlock.ApprovalCouncil && role == quorum.RoleCouncil ||
				approval != interlock.ApprovalCouncil && slices.Contains(strings.Fields(governs), role)
			if got := seatedFor(approval, role); got != want {
				t.Errorf("%q votes where %s is wanted: %t", role, approval, got)
			}
			if want {
				rights[role] += " " + approval
			}
		}
		if got, want := quorum.Governs(role), slices.Contains(strings.Fields(governs), role); got != want {
			t.Errorf("%q governs: %v", role, got)
		}
		if got, want := quorum.ValidRole(role), slices.Contains(quorum.Roles(), role); got != want {
			t.Errorf("%q is a role: %v", role, got)
		}
	}
	if rights["root"]+rights["Admin"]+rights[""] != "" {
		t.Errorf("what is no role may: %q", rights)
	}
	whose := map[string]string{}
	for _, role := range quorum.Roles()[:5] { // a superadmin may what an admin may, and acts beside one in an emergency
		if other, same := whose[rights[role]]; same {
			t.Errorf("%s and %s have the same rights", role, other)
		}
		whose[rights[role]] = role
	}
	if len(may) != len(quorum.Verbs()) {
		t.Errorf("%d kinds of order are listed here, and there are %d", len(may), len(quorum.Verbs()))
	}
}

// seatedFor reports whether somebody with a role is put on the roster of a request beside enough others.
func seatedFor(approval, role string) bool {
	operators := map[string]interlock.OperatorRecord{"olga": {Name: "olga", Role: role, SSHKey: "key of olga"}}
	for _, other := range []string{"council", "council", "council", "admin", "superadmin"} {
		name := fmt.Sprint("other-", len(operators))
		operators[name] = interlock.OperatorRecord{Name: name, Role: other, SSHKey: "key of " + name}
	}
	b, err := quorum.NewBallot(approval, quorum.Question{ID: "act_1", Opened: noon}, interlock.CouncilTerms{Quorum: 3, Window: time.Hour},
		operators, nil)
	return err == nil && slices.ContainsFunc(b.Roster, func(e interlock.Elector) bool { return e.Name == "olga" })
}

// TestAnOrderAndItsTermsBelongTogether: one that stands has terms, one that is carried out once has none.
func TestAnOrderAndItsTermsBelongTogether(t *testing.T) {
	olga := interlock.OperatorRecord{Name: "olga", Role: quorum.RoleAdmin}
	for name, given := range map[string]quorum.Given{
		"a grant without terms":    {Order: interlock.Order{Verb: interlock.VerbGrant}},
		"an unblocking with terms": {Order: interlock.Order{Verb: interlock.VerbUnblock}, Terms: interlock.Grant{}},
	} {
		refused(t, name, given.MayGive(olga, nil, noon), "no such order")
	}
	if verb, known := quorum.VerbOf("amnesty"); known || !verb.Loosens || quorum.Loosens(interlock.VerbDemote) ||
		!quorum.Loosens(interlock.VerbPromote) {
		t.Errorf("a verb nobody knows: %+v, %v", verb, known)
	}
}

// TestOrdersThatTakeAPerson: permitting weak keys takes what no program of the same user can do, and every order about who there
// is takes the operator's own credential.
func TestOrdersThatTakeAPerson(t *testing.T) {
	touched := people()
	for _, name := range []string{"admin"} {
		o := touched[name]
		o.SSHKey = "sk-of-" + name
		touched[name] = o
	}
	by := func(verb interlock.Verb, method, key string) quorum.Given {
		o := order(verb, "admin", func(o *interlock.Order) { o.Subject, o.Method = "home", method })
		o.Key, o.Signature = "SHA256:"+key, sign(key, o.Statement)
		return quorum.OfOrder(o, interlock.Requester{})
	}
	const weak, add, hold = interlock.VerbWeakKeys, interlock.VerbAddOperator, interlock.VerbHold
	for _, test := range []struct {
		name        string
		verb        interlock.Verb
		method, key string
		roster      map[string]interlock.OperatorRecord
		want        string
	}{
		{"weak keys by a passkey", weak, interlock.MethodPasskey, "passkey-of-admin", people(), ""},
		{"weak keys by a touched key", weak, interlock.MethodSSH, "sk-of-admin", touched, ""},
		{"weak keys by a key in software", weak, interlock.MethodSSH, "key-of-admin", people(), "a passkey or a security key"},
		{"weak keys by a session", weak, interlock.MethodSession, "session-of-admin", people(), "own key or passkey"},
		{"an operator by a key in software", add, interlock.MethodSSH, "key-of-admin", people(), ""},
		{"an operator by a code", add, interlock.MethodCode, "code-of-admin", people(), "own key or passkey"},
		{"a hold by a session", hold, interlock.MethodSession, "session-of-admin", people(), ""},
	} {
		refused(t, test.name, by(test.verb, test.method, test.key).Counts(test.roster, agents(), verify, noon), test.want)
	}
	for method, want := range map[string]string{interlock.MethodPasskey: "person", interlock.MethodSSH: "key", "": "key",
		interlock.MethodSession: "server", interlock.MethodCode: "server"} {
		if got := quorum.Proves(people()["admin"], method); got != want {
			t.Errorf("%q proves %q", method, got)
		}
	}
}

// TestWhatWasCarriedOutStands: an order stays its operator's word for as long as they are in office, whenever it was given.
func TestWhatWasCarriedOutStands(t *testing.T) {
	all := people()
	given := quorum.OfOrder(order(interlock.VerbNewCode, "operator"), interlock.Requester{})
	later := expires.AddDate(1, 0, 0)
	refused(t, "a year later", given.Stands(all["operator"], verify, later), "")
	refused(t, "another's", given.Stands(all["admin"], verify, noon), "no such operator")
	nobody := quorum.OfOrder(order(interlock.VerbNewCode, ""), interlock.Requester{})
	refused(t, "nobody's", nobody.Stands(interlock.OperatorRecord{Role: quorum.RoleAdmin}, verify, noon), "no such operator")
	revoked := all["operator"]
	revoked.Revoked = noon
	refused(t, "one who is gone", given.Stands(revoked, verify, noon), "revoked")
	viewer := all["operator"]
	viewer.Role = quorum.RoleViewer
	refused(t, "one who may not any more", given.Stands(viewer, verify, noon), "role")
	given.Signature = "x"
	refused(t, "forged", given.Stands(all["operator"], verify, noon), "does not verify")
}

// TestNobodyIsNoOperator: a record without a name gives no orders and answers nothing, however it came to be filed.
func TestNobodyIsNoOperator(t *testing.T) {
	all := people()
	all[""] = interlock.OperatorRecord{Role: quorum.RoleSuperadmin, SSHKey: "key-of-"}
	refused(t, "an order", quorum.OfOrder(order(interlock.VerbHold, ""), interlock.Requester{}).Counts(all, nil, verify, noon), "no such operator")
	refused(t, "an answer", quorum.Check(request(), answer(request(), interlock.Allow, ""), all, nil, verify, noon), "no such operator")
	refused(t, "its question", quorum.MayAnswer(request(), all[""], nil, noon), "revoked")
}

// TestWhatIsSpentWasAnswered: an approval is spent only from a request that is approved, by an answer that is a yes.
func TestWhatIsSpentWasAnswered(t *testing.T) {
	sound := request().Answered(answer(request(), interlock.Allow, "operator"))
	refused(t, "sound", quorum.Recheck(sound, people(), agents(), verify, noon), "")
	for name, change := range map[string]func(*interlock.ApprovalRequest){
		"pending":    func(r *interlock.ApprovalRequest) { r.Status = interlock.RequestPending },
		"spent":      func(r *interlock.ApprovalRequest) { r.Status = interlock.RequestSpent },
		"unanswered": func(r *interlock.ApprovalRequest) { r.Approval = nil },
		"denied": func(r *interlock.ApprovalRequest) {
			no := answer(*r, interlock.Deny, "operator")
			r.Approval = &no
		},
	} {
		r := sound
		change(&r)
		refused(t, name, quorum.Recheck(r, people(), agents(), verify, noon), "carries no approval")
	}
}

// TestOnePersonSignsOnce: of a replay's orders, those of one person count once, by whatever they are known: name, key or passkey.
func TestOnePersonSignsOnce(t *testing.T) {
	all := people()
	for _, name := range []string{"carla", "Carla", "carl", "cora", "chris"} {
		all[name] = interlock.OperatorRecord{Name: name, Role: quorum.RoleCouncil, SSHKey: "key-of-" + name}
	}
	for _, name := range []string{"carl", "cora"} {
		o := all[name]
		o.Passkeys = []interlock.Passkey{{ID: "one", PublicKey: "p"}}
		all[name] = o
	}
	by := func(names ...string) (list []interlock.Order) {
		for _, name := range names {
			list = append(list, order(interlock.VerbReplay, name,
				func(o *interlock.Order) { o.Subject, o.Detail, o.Method = "run-1", "production", interlock.MethodSSH }))
		}
		return list
	}
	for names, want := range map[string]string{
		"carla carl chris":   "",
		"carla Carla chris":  "quorum of the council",
		"carl cora chris":    "quorum of the council",
		"superadmin auditor": "",
		"auditor operator":   "an admin and an auditor",
	} {
		_, err := quorum.CheckReplay("production", "run-1", by(strings.Fields(names)...), all, nil, verify, noon)
		refused(t, names, err, want)
	}
}

// TestNobodyLoosensForThemselves: an order that loosens is nobody's about themselves, whether an agent is named, a person or both.
func TestNobodyLoosensForThemselves(t *testing.T) {
	for _, test := range []struct {
		name  string
		verb  interlock.Verb
		about interlock.Requester
		want  string
	}{
		{"about oneself", interlock.VerbNewCode, interlock.Requester{Principal: "operator"}, "can't answer its own"},
		{"about oneself as an agent", interlock.VerbNewCode, interlock.Requester{Agent: "operator"}, "can't answer its own"},
		{"about another", interlock.VerbNewCode, interlock.Requester{Principal: "dana"}, ""},
		{"about nobody", interlock.VerbNewCode, interlock.Requester{}, ""},
		{"tighter, about oneself", interlock.VerbDemote, interlock.Requester{Principal: "operator"}, ""},
	} {
		err := quorum.OfOrder(order(test.verb, "operator"), test.about).Counts(people(), agents(), verify, noon)
		refused(t, test.name, err, test.want)
	}
}
