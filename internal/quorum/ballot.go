package quorum

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// The votes there are.
const (
	VoteApprove = "approve"
	VoteReject  = "reject"
	VoteAbstain = "abstain"
)

// MaxRoster bounds who votes on one thing.
const MaxRoster = 25

// A Vote is what a vote says beside who gives it: the detail of an order with the verb vote. It names everything that the vote is about
// by digest, so that it counts for nothing else.
type Vote struct {
	Action  interlock.Digest `json:"action_digest"`
	Display interlock.Digest `json:"display_digest"`
	Request string           `json:"request_id"`
	Roster  interlock.Digest `json:"roster_hash"`
	Vote    string           `json:"vote"`
}

// VoteDetail writes a vote as the detail of its order.
func VoteDetail(v Vote) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // which counts for nothing
	}
	return string(text)
}

// A Question is what a ballot is about, as a vote must name it.
type Question struct {
	ID        string
	Action    interlock.Digest
	Display   string
	Requester interlock.Requester // whose own vote does not count; zero where it may
	Opened    time.Time
}

// OfAction is the question that a request for a governed action puts. Of a superadmin and an admin one may be who asks for it; for an
// agent that asks for more freedom its owner does not sign.
func OfAction(r interlock.ActionRequest) Question {
	q := Question{ID: r.ID, Action: r.Digest, Display: r.Display, Requester: r.Requester, Opened: r.Created}
	if r.Ballot.Approval == interlock.ApprovalDual && (r.Class == 4 || r.Origin == "operator") {
		q.Requester = interlock.Requester{}
	}
	return q
}

// OfRequest is the question that an approval request puts to the council.
func OfRequest(r interlock.ApprovalRequest) Question {
	return Question{ID: r.ID, Action: r.Action, Display: r.Display, Requester: r.Requester, Opened: r.Created}
}

// ActionDigest names a governed action.
func ActionDigest(a interlock.GovernedAction) (interlock.Digest, error) {
	return strictjson.Digest("interlock/governed-action/v1", a)
}

// keysDigest names the credentials that somebody has.
func keysDigest(o interlock.OperatorRecord) interlock.Digest {
	keys := []string{"ssh " + strconv.QuoteToASCII(o.SSHKey)}
	for _, p := range o.Passkeys {
		keys = append(keys, "passkey "+strconv.QuoteToASCII(p.ID)+" "+strconv.QuoteToASCII(string(p.PublicKey)))
	}
	slices.Sort(keys)
	return DisplayDigest(strings.Join(keys, "\n"))
}

// RosterHash names a roster.
func RosterHash(roster []interlock.Elector) interlock.Digest {
	var b strings.Builder
	for _, e := range roster {
		b.WriteString(strconv.QuoteToASCII(e.Name) + " " + e.Role + " " + string(e.Keys) + "\n")
	}
	return DisplayDigest(b.String())
}

// NewBallot is a ballot for a question as of now. Who asks, anyone who has one of their keys, and a person who is known under two
// names with one key are not on its roster: of two of the roles admin, council and auditor, one person has one.
func NewBallot(approval string, q Question, terms interlock.CouncilTerms, operators map[string]interlock.OperatorRecord,
	agents map[string]interlock.AgentRecord) (interlock.Ballot, error) {
	b := interlock.Ballot{Approval: approval, Closes: q.Opened.Add(terms.Window)}
	everybody := electorateOf(operators, agents, q.Opened)
	for _, name := range sortedNames(operators) {
		o := operators[name]
		if o.Name == name && electing(approval, o.Role) && everybody.eligible(q, o) == nil {
			b.Roster = append(b.Roster, interlock.Elector{Name: o.Name, Role: o.Role, Keys: keysDigest(o)})
		}
	}
	switch approval {
	case interlock.ApprovalCouncil:
		b.Quorum = terms.Quorum
	case interlock.ApprovalDual:
		b.Quorum = 2
	default:
		b.Quorum = 1
	}
	b.Hash = RosterHash(b.Roster)
	switch {
	case len(b.Roster) > MaxRoster:
		return b, refuse(interlock.CodeInvalid, "roster", "more people may vote than one request can hold ("+strconv.Itoa(MaxRoster)+")")
	case len(b.Roster) < b.Quorum || b.Quorum < 1:
		return b, refuse(interlock.CodeConflict, "roster", "this takes "+strconv.Itoa(b.Quorum)+" who may vote ("+approval+
			"), and there are "+strconv.Itoa(len(b.Roster))+" beside who asks; `interlock operator add NAME --role ROLE` registers people")
	case approval == interlock.ApprovalDual && !mixed(b.Roster):
		return b, refuse(interlock.CodeConflict, "roster", "this takes a superadmin and an admin, and one of them is not in office")
	}
	return b, nil
}

func mixed(roster []interlock.Elector) bool {
	super := func(e interlock.Elector) bool { return e.Role == RoleSuperadmin }
	admin := func(e interlock.Elector) bool { return e.Role == RoleAdmin }
	return slices.ContainsFunc(roster, super) && slices.ContainsFunc(roster, admin)
}

func sortedNames(operators map[string]interlock.OperatorRecord) []string {
	names := make([]string, 0, len(operators))
	for name := range operators { // order-independent: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// eligible says why somebody may not vote, whatever their role.
func (e *electorate) eligible(q Question, o interlock.OperatorRecord) error {
	if now := e.now; !o.Revoked.IsZero() && !now.Before(o.Revoked) {
		return refuse(interlock.CodeUnauthorized, "operator", "this operator is revoked")
	}
	if e.doubles[o.Name] {
		return refuse(interlock.CodeUnauthorized, "operator",
			"this operator shares a key with another one; one person has one vote, and one of the roles admin, council and auditor")
	}
	if q.Requester.Agent == "" && q.Requester.Principal == "" {
		return nil
	}
	if err := checkIndependence(q.Requester, o.Name, e.agents); err != nil {
		return err
	}
	return checkCredentials(q.Requester, o, e.operators, e.agents)
}

// An electorate is everybody who may be on a roster, at one time.
type electorate struct {
	operators map[string]interlock.OperatorRecord
	agents    map[string]interlock.AgentRecord
	now       time.Time
	doubles   map[string]bool // who shares a credential with somebody else in office
}

func electorateOf(operators map[string]interlock.OperatorRecord, agents map[string]interlock.AgentRecord, now time.Time) *electorate {
	e := &electorate{operators, agents, now, map[string]bool{}}
	holders := make(map[string]string, len(operators))
	hold := func(credential, name string) {
		if other, held := holders[credential]; held && other != name {
			e.doubles[other], e.doubles[name] = true, true
		}
		holders[credential] = name
	}
	for _, name := range sortedNames(operators) {
		o := operators[name]
		if !o.Revoked.IsZero() && !now.Before(o.Revoked) {
			continue
		}
		if o.SSHKey != "" {
			hold("ssh "+keyOf(o.SSHKey), name)
		}
		for _, p := range o.Passkeys {
			hold("id "+p.ID, name)
			hold("key "+p.PublicKey, name)
		}
	}
	return e
}

// VoteOf reads what an order with the verb vote says.
func VoteOf(o interlock.Order) (Vote, error) {
	var v Vote
	if err := strictjson.Decode([]byte(o.Detail), &v); err != nil {
		return v, refuse(interlock.CodeInvalid, "detail", "the order does not say what is voted")
	}
	if v.Vote != VoteApprove && v.Vote != VoteReject && v.Vote != VoteAbstain {
		return v, refuse(interlock.CodeInvalid, "vote", "vote approve, reject or abstain")
	}
	return v, nil
}

// CheckVote reports whether a vote may be put on a ballot: by one of its roster as they were when it was made, for this question as it
// was shown, once, and in time. That the order itself counts is for [Given.Counts] to say.
func CheckVote(q Question, b interlock.Ballot, o interlock.Order, operators map[string]interlock.OperatorRecord,
	agents map[string]interlock.AgentRecord, now time.Time) error {
	if !now.Before(b.Closes) {
		return refuse(interlock.CodeExpired, "vote", "the time to vote is over")
	}
	if RosterHash(b.Roster) != b.Hash {
		return refuse(interlock.CodeUnauthorized, "roster_hash", "the roster is another one than the request was made with")
	}
	v, err := VoteOf(o)
	if err != nil {
		return err
	}
	if err := electorateOf(operators, agents, now).checkVote(q, b, o, v); err != nil {
		return err
	}
	for _, before := range b.Votes {
		if strings.EqualFold(before.Operator, o.Operator) || before.Key == o.Key {
			return refuse(interlock.CodeConflict, "operator", "this member has voted; a vote stands as it was given")
		}
	}
	return nil
}

// checkVote is [CheckVote] of a vote that came in time, no matter who else has voted.
func (e *electorate) checkVote(q Question, b interlock.Ballot, o interlock.Order, v Vote) error {
	switch {
	case o.Subject != q.ID || v.Request != q.ID:
		return refuse(interlock.CodeUnauthorized, "request_id", "the vote is about another request")
	case v.Action != q.Action:
		return refuse(interlock.CodeUnauthorized, "action_digest", "the vote is about another action")
	case v.Display != DisplayDigest(q.Display):
		return refuse(interlock.CodeUnauthorized, "display_digest", "the voter was shown something else than this request")
	case v.Roster != b.Hash:
		return refuse(interlock.CodeUnauthorized, "roster_hash", "the vote is by another roster")
	case v.Vote == VoteReject && strings.TrimSpace(o.Reason) == "":
		return refuse(interlock.CodeInvalid, "reason", "a vote to reject says why")
	}
	return e.onRoster(q, b, o.Operator)
}

// onRoster says why somebody's vote does not count on a ballot now.
func (e *electorate) onRoster(q Question, b interlock.Ballot, name string) error {
	at := slices.IndexFunc(b.Roster, func(member interlock.Elector) bool { return member.Name == name })
	if at < 0 {
		return refuse(interlock.CodeUnauthorized, "operator", "this operator was not on the roster when the request was made")
	}
	o := e.operators[name]
	if o.Name != name || o.Role != b.Roster[at].Role || keysDigest(o) != b.Roster[at].Keys {
		return refuse(interlock.CodeUnauthorized, "operator",
			"this operator's role or keys are others than when the request was made")
	}
	return e.eligible(q, o)
}

// cast reports whether a vote is its operator's own word: their key or passkey has signed exactly this.
func cast(operator interlock.OperatorRecord, o interlock.Order, verify Verifier) bool {
	return o.Verb == interlock.VerbVote && (o.Method == interlock.MethodSSH || o.Method == interlock.MethodPasskey) &&
		o.Statement == OrderStatement(o) && signed(operator, o.Method, o.Key, o.Statement, o.Signature, verify) == nil
}

// A Count is what a ballot comes to, and the votes it was counted from.
type Count struct {
	Votes
	Status      interlock.ActionStatus
	Superadmins int // that approve
}

// CountBallot counts a ballot again from its signed votes: a vote whose signature does not verify, or whose member may not vote
// now, counts for nothing, and who has left office is not waited for.
func CountBallot(q Question, b interlock.Ballot, operators map[string]interlock.OperatorRecord, agents map[string]interlock.AgentRecord,
	verify Verifier, now time.Time) Count {
	c := Count{Votes: Votes{Quorum: b.Quorum}}
	if RosterHash(b.Roster) != b.Hash || len(b.Roster) > MaxRoster {
		c.Status = interlock.ActionRejected
		return c
	}
	voted, everybody := map[string]bool{}, electorateOf(operators, agents, now)
	for _, member := range b.Roster {
		if everybody.onRoster(q, b, member.Name) == nil {
			c.Roster++
		}
	}
	for _, o := range b.Votes {
		v, err := VoteOf(o)
		if err != nil || voted[o.Operator] || everybody.checkVote(q, b, o, v) != nil || !cast(operators[o.Operator], o, verify) {
			continue
		}
		voted[o.Operator] = true
		switch v.Vote {
		case VoteApprove:
			c.Approve++
			if operators[o.Operator].Role == RoleSuperadmin {
				c.Superadmins++
			}
		case VoteReject:
			c.Reject++
		default:
			c.Abstain++
		}
	}
	c.Status = c.comes(b.Approval, !now.Before(b.Closes))
	return c
}

// comes is what the votes come to by the rule of an approval.
func (c Count) comes(approval string, closed bool) interlock.ActionStatus {
	switch {
	case approval == interlock.ApprovalCouncil:
		return Tally(c.Votes, closed)
	case approval == interlock.ApprovalDual:
		return tallyPair(c.Superadmins, c.Approve-c.Superadmins, c.Reject, closed)
	case c.Reject > 0: // the first admin who says something decides
		return interlock.ActionRejected
	case c.Approve > 0:
		return interlock.ActionApproved
	case closed || c.Outstanding() == 0:
		return interlock.ActionExpired
	}
	return interlock.ActionPending
}
