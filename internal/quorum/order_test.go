package quorum_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
)

// order is a sound order by a person, changed and then signed.
func order(verb interlock.Verb, by string, edit ...func(*interlock.Order)) interlock.Order {
	o := interlock.Order{ID: "ord-1", Verb: verb, Subject: "chl-1", Reason: "looked at it", Operator: by,
		At: noon.Add(-time.Minute), Expires: noon.Add(5 * time.Minute), Method: interlock.MethodPasskey}
	for _, e := range edit {
		e(&o)
	}
	key := o.Method + "-of-" + by
	if o.Method == interlock.MethodSSH {
		key = "key-of-" + by
	}
	o.Statement, o.Key = quorum.OrderStatement(o), "SHA256:"+key
	o.Signature = sign(key, o.Statement)
	return o
}

// TestCheckOrder: who may give which order, and every reason for which one does not count.
func TestCheckOrder(t *testing.T) {
	type edit = func(*interlock.Order)
	unsigned := func(o *interlock.Order) { o.Method, o.Key, o.Statement, o.Signature = "", "", "", "" }
	for _, test := range []struct {
		name          string
		verb          interlock.Verb
		by            string
		before, after edit
		want          string
	}{
		{"unblock by an admin", interlock.VerbUnblock, "admin", nil, nil, ""},
		{"unblock with an SSH key", interlock.VerbUnblock, "admin", func(o *interlock.Order) { o.Method = interlock.MethodSSH }, nil, ""},
		{"unblock by an operator", interlock.VerbUnblock, "operator", nil, nil, "admin role"},
		{"unblock by an auditor", interlock.VerbUnblock, "auditor", nil, nil, "admin role"},
		{"unblock by the agent's owner", interlock.VerbUnblock, "dana", nil, nil, "admin role"},
		{"unblock by the agent itself", interlock.VerbUnblock, "deployer", nil, nil, "can't answer its own request"},
		{"a new code by an operator", interlock.VerbNewCode, "operator", nil, nil, ""},
		{"a new code by the agent's owner", interlock.VerbNewCode, "dana", nil, nil, "owner"},
		{"a new code by a viewer", interlock.VerbNewCode, "viewer", nil, nil, "role"},
		{"promote by a superadmin", interlock.VerbPromote, "superadmin", nil, nil, ""},
		{"promote by an operator", interlock.VerbPromote, "operator", nil, nil, "admin role"},
		{"demote with a name only", interlock.VerbDemote, "operator", nil, unsigned, "the signed statement"},
		{"demote one's own agent", interlock.VerbDemote, "dana", nil, nil, ""},
		{"end a grant with a name only", interlock.VerbEndGrant, "operator", nil, unsigned, "the signed statement"},
		{"revoke with a name only", interlock.VerbRevoke, "admin", nil, unsigned, "the signed statement"},
		{"revoke by an admin", interlock.VerbRevoke, "admin", nil, nil, ""},
		{"revoke on the word of a session", interlock.VerbRevoke, "admin",
			func(o *interlock.Order) { o.Method = interlock.MethodSession }, nil, "own key or passkey"},
		{"promote with a name only", interlock.VerbPromote, "admin", nil, unsigned, "the signed statement"},
		{"a verb nobody knows", "amnesty", "superadmin", nil, nil, "no such order"},
		{"nobody", interlock.VerbUnblock, "nobody", nil, nil, "no such operator"},
		{"under another name", interlock.VerbUnblock, "alias", nil, nil, "no such operator"},
		{"revoked", interlock.VerbNewCode, "gone", nil, nil, "revoked"},
		{"without a subject", interlock.VerbUnblock, "admin", func(o *interlock.Order) { o.Subject = "" }, nil, "name what"},
		{"without an id", interlock.VerbUnblock, "admin", func(o *interlock.Order) { o.ID = "" }, nil, "ten minutes"},
		{"expired", interlock.VerbUnblock, "admin", func(o *interlock.Order) { o.Expires = noon }, nil, "ten minutes"},
		{"from tomorrow", interlock.VerbUnblock, "admin",
			func(o *interlock.Order) { o.At, o.Expires = noon.Add(time.Hour), noon.Add(61*time.Minute) }, nil, "ten minutes"},
		{"kept too long", interlock.VerbUnblock, "admin", func(o *interlock.Order) { o.Expires = noon.Add(time.Hour) }, nil, "ten minutes"},
		{"too long a reason", interlock.VerbUnblock, "admin", func(o *interlock.Order) { o.Reason = strings.Repeat("x", 501) }, nil, "too long"},
		{"another subject than signed", interlock.VerbUnblock, "admin", nil, func(o *interlock.Order) { o.Subject = "chl-2" }, "the signed statement"},
		{"another verb than signed", interlock.VerbNewCode, "admin", nil, func(o *interlock.Order) { o.Verb = interlock.VerbUnblock }, "the signed statement"},
		{"forged", interlock.VerbUnblock, "admin", nil, func(o *interlock.Order) { o.Signature = "x" }, "does not verify"},
		{"by another method than signed", interlock.VerbUnblock, "admin", nil,
			func(o *interlock.Order) { o.Method = interlock.MethodSession }, "does not verify"},
		{"with another key", interlock.VerbUnblock, "admin", nil, func(o *interlock.Order) { o.Key = "SHA256:x" }, "not the operator's registered key"},
	} {
		var edits []edit
		if test.before != nil {
			edits = append(edits, test.before)
		}
		o := order(test.verb, test.by, edits...)
		if test.after != nil {
			test.after(&o)
		}
		people := people()
		if test.name == "unblock by the agent's owner" {
			test.want, people["dana"] = "owner", interlock.OperatorRecord{Name: "dana", Role: quorum.RoleAdmin, SSHKey: "key-of-dana"}
		}
		err := quorum.OfOrder(o, request().Requester).Counts(people, agents(), verify, noon)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	if err := quorum.OfOrder(order(interlock.VerbUnblock, "admin"), interlock.Requester{}).Counts(people(), agents(), nil, noon); err == nil {
		t.Error("without a verifier it counts")
	}
}

// No value that somebody chooses can imitate a line of what is signed, and no order reads like an approval.
func TestOrderStatementCannotBeForged(t *testing.T) {
	o := order(interlock.VerbUnblock, "admin", func(o *interlock.Order) { o.Reason = "x\"\nverb: \"promote" })
	if lines := strings.Count(o.Statement, "\n"); lines != 9 || strings.HasPrefix(o.Statement, "Interlock approval") {
		t.Errorf("%d lines:\n%s", lines, o.Statement)
	}
}
