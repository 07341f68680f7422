package quorum_test

import (
	"fmt"
	"testing"
	"time"

	"interlock"
	"interlock/internal/quorum"
	"interlock/spec"
)

func TestTally(t *testing.T) {
	spec.Covers(t, "MACE-GOV-4")
	const pending, approved, rejected, expired = interlock.ActionPending, interlock.ActionApproved, interlock.ActionRejected,
		interlock.ActionExpired
	for _, c := range []struct {
		roster, quorum, approve, reject, abstain int
		open, closed                             interlock.ActionStatus
	}{
		{5, 3, 0, 0, 0, pending, expired},
		{5, 3, 2, 0, 0, pending, expired},   // two of three wanted
		{5, 3, 3, 0, 0, approved, approved}, // three of five, whatever the other two say
		{5, 3, 2, 1, 0, pending, approved},  // two more could turn it
		{5, 3, 2, 2, 0, pending, rejected},  // a tie rejects
		{5, 3, 1, 2, 0, pending, rejected},
		{5, 3, 0, 3, 0, rejected, rejected},
		{5, 3, 2, 2, 1, rejected, rejected},
		{5, 3, 2, 0, 2, pending, expired},
		{5, 3, 0, 0, 3, expired, expired}, // the quorum is out of reach
		{5, 3, 2, 0, 3, expired, expired},
		{3, 3, 2, 0, 1, expired, expired},
		{2, 3, 0, 0, 0, expired, expired},
		{4, 4, 2, 2, 0, rejected, rejected},
		{1, 1, 1, 0, 0, approved, approved},
		{5, 0, 5, 0, 0, rejected, rejected}, // no quorum approves nothing
	} {
		v := quorum.Votes{Roster: c.roster, Quorum: c.quorum, Approve: c.approve, Reject: c.reject, Abstain: c.abstain}
		if got := quorum.Tally(v, false); got != c.open {
			t.Errorf("%+v while open: %s, want %s", v, got, c.open)
		}
		if got := quorum.Tally(v, true); got != c.closed {
			t.Errorf("%+v when closed: %s, want %s", v, got, c.closed)
		}
	}
}

// FuzzTallyEarlyClose: what a vote comes to before everybody has voted is what it comes to whatever the rest say; and a closed vote is
// never pending.
func FuzzTallyEarlyClose(f *testing.F) {
	f.Add(5, 3, 3, 0, 0)
	f.Add(25, 13, 4, 9, 2)
	f.Fuzz(func(t *testing.T, roster, needed, approve, reject, abstain int) {
		v := quorum.Votes{Roster: clamp(roster, 25), Quorum: clamp(needed, 26)}
		v.Approve = clamp(approve, v.Roster)
		v.Reject = clamp(reject, v.Roster-v.Approve)
		v.Abstain = clamp(abstain, v.Roster-v.Approve-v.Reject)
		if quorum.Tally(v, true) == interlock.ActionPending {
			t.Fatalf("%+v is pending although it is closed", v)
		}
		early := quorum.Tally(v, false)
		if early == interlock.ActionPending {
			return
		}
		open := v.Outstanding()
		for a := 0; a <= open; a++ {
			for r := 0; a+r <= open; r++ {
				for s := 0; a+r+s <= open; s++ {
					w := v
					w.Approve, w.Reject, w.Abstain = v.Approve+a, v.Reject+r, v.Abstain+s
					if late := quorum.Tally(w, true); late != early {
						t.Fatalf("%+v closed early as %s, and %+v comes to %s", v, early, w, late)
					}
				}
			}
		}
	})
}

func clamp(n, most int) int {
	if n < 0 {
		n = -(n + 1)
	}
	return n % (most + 1)
}

// council is a roster with a ballot, and how its members sign.
type council struct {
	operators map[string]interlock.OperatorRecord
	question  quorum.Question
	ballot    interlock.Ballot
	now       time.Time
}

func seated(tb testing.TB, members int) *council {
	tb.Helper()
	c := &council{operators: map[string]interlock.OperatorRecord{}, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	for n := range members {
		name := fmt.Sprintf("member-%02d", n)
		c.operators[name] = interlock.OperatorRecord{Name: name, Role: quorum.RoleCouncil, SSHKey: "key of " + name}
	}
	c.question = quorum.Question{ID: "act_1", Action: "sha256:aa", Display: "request: act_1\n", Opened: c.now,
		Requester: interlock.Requester{Agent: "asker", Principal: "asker"}}
	var err error
	c.ballot, err = quorum.NewBallot(interlock.ApprovalCouncil, c.question, interlock.CouncilTerms{Quorum: 3, Window: time.Hour},
		c.operators, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func (c *council) vote(name, vote string) interlock.Order {
	o := interlock.Order{ID: "ord_" + name, Verb: interlock.VerbVote, Subject: c.question.ID, Reason: "looked at it", Operator: name, At: c.now,
		Expires: c.now.Add(time.Minute), Detail: quorum.VoteDetail(quorum.Vote{Action: c.question.Action,
			Display: quorum.DisplayDigest(c.question.Display), Request: c.question.ID, Roster: c.ballot.Hash, Vote: vote})}
	return sealed(o)
}

// sealed signs an order as its operator would.
func sealed(o interlock.Order) interlock.Order {
	given := quorum.OfOrder(o, interlock.Requester{})
	return given.Signed(interlock.MethodSSH, "fingerprint of "+o.Operator+"'s", o.Operator+"'s").Order
}

func believing(o interlock.OperatorRecord, _, _, signature string) (string, error) {
	if signature != o.Name+"'s" {
		return "", fmt.Errorf("somebody else's")
	}
	return "fingerprint of " + signature, nil
}

func (c *council) count(now time.Time) quorum.Count {
	return quorum.CountBallot(c.question, c.ballot, c.operators, nil, believing, now)
}

// FuzzBallotOrder: votes that come in another order, or twice, come to the same.
func FuzzBallotOrder(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 2}, uint8(1))
	f.Add([]byte{1, 1, 0, 0}, uint8(3))
	f.Fuzz(func(t *testing.T, votes []byte, by uint8) {
		c := seated(t, 5)
		for n, v := range votes[:min(len(votes), 5)] {
			c.ballot.Votes = append(c.ballot.Votes, c.vote(fmt.Sprintf("member-%02d", n),
				[]string{quorum.VoteApprove, quorum.VoteReject, quorum.VoteAbstain}[v%3]))
		}
		want := c.count(c.now)
		if n := len(c.ballot.Votes); n > 0 {
			k := int(by) % n
			turned := append(append([]interlock.Order{}, c.ballot.Votes[k:]...), c.ballot.Votes[:k]...)
			c.ballot.Votes = append(turned, c.ballot.Votes[0])
		}
		if got := c.count(c.now); got != want {
			t.Fatalf("in another order: %+v, want %+v", got, want)
		}
	})
}

// TestCheatingAVote: each way of cheating is refused with its reason, and its harmless twin counts.
func TestCheatingAVote(t *testing.T) {
	c := seated(t, 5)
	honest := c.vote("member-00", quorum.VoteApprove)
	check := func(o interlock.Order, now time.Time) error {
		return quorum.CheckVote(c.question, c.ballot, o, c.operators, nil, now)
	}
	if err := check(honest, c.now); err != nil {
		t.Fatalf("an honest vote: %v", err)
	}
	says := func(edit func(*quorum.Vote)) interlock.Order {
		v, err := quorum.VoteOf(honest)
		if err != nil {
			t.Fatal(err)
		}
		edit(&v)
		o := honest
		o.Detail = quorum.VoteDetail(v)
		return sealed(o)
	}
	refused := func(what, field string, err error) {
		t.Helper()
		if fieldOf(err) != field {
			t.Errorf("%s: %v, want a refusal about %s", what, err, field)
		}
	}
	refused("for another request", "request_id", check(says(func(v *quorum.Vote) { v.Request = "act_2" }), c.now))
	refused("for another digest", "action_digest", check(says(func(v *quorum.Vote) { v.Action = "sha256:bb" }), c.now))
	refused("that was shown something else", "display_digest", check(says(func(v *quorum.Vote) { v.Display = "sha256:cc" }), c.now))
	refused("by another roster", "roster_hash", check(says(func(v *quorum.Vote) { v.Roster = "sha256:dd" }), c.now))
	refused("that is none", "vote", check(says(func(v *quorum.Vote) { v.Vote = "maybe" }), c.now))
	refused("late", "vote", check(honest, c.ballot.Closes))
	mute := c.vote("member-01", quorum.VoteReject)
	mute.Reason = " "
	refused("to reject without a reason", "reason", check(sealed(mute), c.now))
	if err := check(c.vote("member-01", quorum.VoteReject), c.now); err != nil {
		t.Errorf("to reject with a reason: %v", err)
	}
	refused("of somebody who is not on the roster", "operator", check(c.vote("stranger", quorum.VoteApprove), c.now))
	voted := *c
	voted.ballot.Votes = []interlock.Order{honest}
	refused("twice", "operator", quorum.CheckVote(c.question, voted.ballot, c.vote("member-00", quorum.VoteReject), c.operators, nil, c.now))
	changed := func(edit func(*interlock.OperatorRecord)) error {
		operators := map[string]interlock.OperatorRecord{}
		for name, o := range c.operators {
			operators[name] = o
		}
		o := operators["member-00"]
		edit(&o)
		operators["member-00"] = o
		return quorum.CheckVote(c.question, c.ballot, honest, operators, nil, c.now)
	}
	refused("of somebody who was revoked", "operator", changed(func(o *interlock.OperatorRecord) { o.Revoked = c.now }))
	refused("of somebody who is now an admin", "operator", changed(func(o *interlock.OperatorRecord) { o.Role = quorum.RoleAdmin }))
	refused("with another key", "operator", changed(func(o *interlock.OperatorRecord) { o.SSHKey = "another key" }))
	refused("with another member's key", "operator", changed(func(o *interlock.OperatorRecord) { o.SSHKey = "key of member-01" }))
	if err := changed(func(o *interlock.OperatorRecord) { o.Teams = []string{"new"} }); err != nil {
		t.Errorf("of somebody who is in another team now: %v", err)
	}
}

func fieldOf(err error) string {
	if e, is := err.(*interlock.Error); is {
		return e.Field
	}
	return ""
}

// TestRosterLeavesOut: who asks, whoever has a key of theirs, and one person under two names are on no roster.
func TestRosterLeavesOut(t *testing.T) {
	c := seated(t, 6)
	names := func(requester string, edit func(map[string]interlock.OperatorRecord)) (list []string) {
		operators := map[string]interlock.OperatorRecord{}
		for name, o := range c.operators {
			operators[name] = o
		}
		edit(operators)
		q := c.question
		q.Requester = interlock.Requester{Agent: requester, Principal: requester}
		b, err := quorum.NewBallot(interlock.ApprovalCouncil, q, interlock.CouncilTerms{Quorum: 3, Window: time.Hour}, operators, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range b.Roster {
			list = append(list, e.Name)
		}
		return list
	}
	nothing := func(map[string]interlock.OperatorRecord) {}
	if got := names("asker", nothing); len(got) != 6 {
		t.Errorf("of six members %v vote", got)
	}
	if got := names("member-03", nothing); len(got) != 5 {
		t.Errorf("who asks votes: %v", got)
	}
	if got := names("asker", func(o map[string]interlock.OperatorRecord) {
		o["auditor"] = interlock.OperatorRecord{Name: "auditor", Role: quorum.RoleAuditor, SSHKey: "key of member-02"}
	}); len(got) != 5 {
		t.Errorf("who is an auditor as well votes: %v", got)
	}
	if got := names("asker", func(o map[string]interlock.OperatorRecord) {
		o["asker"] = interlock.OperatorRecord{Name: "asker", Role: quorum.RoleAdmin, SSHKey: "key of member-01"}
	}); len(got) != 5 {
		t.Errorf("who has the requester's key votes: %v", got)
	}
}

// TestForgedVotesCountForNothing: a vote that somebody else signed, or that was put on the ballot for another roster, is not counted.
func TestForgedVotesCountForNothing(t *testing.T) {
	c := seated(t, 5)
	for n := range 3 {
		c.ballot.Votes = append(c.ballot.Votes, c.vote(fmt.Sprintf("member-%02d", n), quorum.VoteApprove))
	}
	if got := c.count(c.now); got.Status != interlock.ActionApproved || got.Approve != 3 {
		t.Fatalf("three honest votes: %+v", got)
	}
	forged := c.ballot.Votes[2]
	c.ballot.Votes[2].Signature = "somebody else's"
	if got := c.count(c.now); got.Status != interlock.ActionPending || got.Approve != 2 {
		t.Errorf("with a forged one: %+v", got)
	}
	c.ballot.Votes[2] = forged
	c.ballot.Votes[2].Operator = "member-01"
	if got := c.count(c.now); got.Approve != 2 {
		t.Errorf("with one under another name: %+v", got)
	}
	c.ballot.Votes[2] = forged
	c.ballot.Roster = c.ballot.Roster[:3]
	if got := c.count(c.now); got.Status != interlock.ActionRejected {
		t.Errorf("with a roster that was cut: %+v", got)
	}
}

func TestEveryClass(t *testing.T) {
	spec.Covers(t, "MACE-GOV-1")
	want := map[int]string{1: interlock.ApprovalAdmin, 2: interlock.ApprovalNotify, 3: interlock.ApprovalCouncil, 4: interlock.ApprovalDual}
	seen := map[int]bool{}
	for _, c := range quorum.Classes() {
		if c.Approval != want[c.Class] || c.Says == "" {
			t.Errorf("%+v", c)
		}
		seen[c.Class] = true
	}
	if len(seen) != 4 {
		t.Errorf("classes %v", seen)
	}
	for _, high := range []string{"sem_write", "sem_delete", "episodic_promotion", quorum.ActQuarantine, quorum.ActUnquarantine,
		"self_modification", "code_upload", quorum.ActConstant, "trust_bulk_override", "external_service_enable", "what nobody knows"} {
		if got := quorum.ClassOf(high); got.Class != 3 || got.Approval != interlock.ApprovalCouncil {
			t.Errorf("%s is of class %d", high, got.Class)
		}
	}
	low, high := quorum.ClassOf("module_register"), quorum.ClassOf("sem_write")
	for _, c := range []struct {
		class      quorum.Class
		says, want string
	}{{low, "", "admin_single"}, {low, "single-admin", "admin_single"}, {low, "council-quorum", "council_quorum"},
		{high, "council-quorum", "council_quorum"}, {high, "council_quorum", "council_quorum"}, {high, "admin_single", ""},
		{high, "superadmin_dual", ""}, {quorum.ClassOf(quorum.ActOverride), "superadmin-dual", "superadmin_dual"}, {low, "everybody", ""}} {
		if got, err := quorum.ApprovalFor(c.class, c.says); got != c.want || err == nil != (c.want != "") {
			t.Errorf("%s as %q: %q, %v", c.class.Type, c.says, got, err)
		}
	}
}

func BenchmarkCouncilOf25(b *testing.B) {
	c := seated(b, 25)
	for n := range 25 {
		c.ballot.Votes = append(c.ballot.Votes, c.vote(fmt.Sprintf("member-%02d", n), quorum.VoteApprove))
	}
	for b.Loop() {
		if c.count(c.now).Status != interlock.ActionApproved {
			b.Fatal("not approved")
		}
	}
}
