package ledger

import (
	"encoding/json"
	"time"

	"interlock"
	"interlock/internal/meter"
)

// What each kind holds, under which marks its rows are found, and what they do to a standing. One block a kind.

func agentMarks(a interlock.AgentRecord) []Mark {
	marks := withAll(nano(a.Created))
	if a.TokenHash != "" {
		marks = append(marks, Mark{Token(a.TokenHash), 0})
	}
	return marks
}

// Token is the mark of the agents that have a token.
func Token(hash string) string { return "token\x00" + hash }

func requestMarks(r interlock.ApprovalRequest) []Mark {
	who, waits := r.Requester, r.Status == interlock.RequestPending
	is := Is(r.Status)
	if r.Harness && waits { // it does not wait for an operator, and is not counted with those that do
		is = Harnessed
	}
	marks := under(nano(r.Created), By(who.Agent, who.Principal), Is(""), is)
	if r.Ballot != nil && waits {
		marks = appendMarks(marks, nano(r.Ballot.Closes), BallotDue)
	}
	if at, share := r.WarnAt(); share > 0 {
		marks = appendMarks(marks, nano(at), ReviewDue)
	}
	if requestStands(r) {
		marks = appendMarks(marks, nano(r.Expires), All, Of(who.Agent, who.Principal))
	}
	return marks
}

// requestBinds: a request that is opened, spent or has expired makes nobody decide again: a pending one approves nothing, and
// what is spent or expired is looked at where it is used. An answer does.
func requestBinds(r interlock.ApprovalRequest) bool {
	return r.Approval != nil && (r.Status == interlock.RequestApproved || r.Status == interlock.RequestDenied) ||
		r.Status == interlock.RequestPending && (r.First != nil || r.Ballot != nil && len(r.Ballot.Votes) > 0)
}

func requestLeft(r interlock.ApprovalRequest) int {
	if r.Status == interlock.RequestApproved {
		return 1
	}
	return 0
}

// ReviewDue is the mark of the requests that people are to be told of again, by when.
const ReviewDue = "review"

// Harnessed is the mark of the requests that a harness has put to its own user, who has not answered as far as anybody knows.
const Harnessed = "harnessed"

func requestStands(r interlock.ApprovalRequest) bool {
	return r.Status == interlock.RequestPending || r.Status == interlock.RequestApproved
}

// DecodeRequest reads a request and refuses one that says it is approved and holds nobody's approval. What an approval says
// is for its signature to prove; that there is one is looked at here.
func DecodeRequest(body []byte) (interlock.ApprovalRequest, error) {
	r, err := decode[interlock.ApprovalRequest](body)
	if err == nil {
		err = answeredBySomebody(r)
	}
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	return r, nil
}

func answeredBySomebody(r interlock.ApprovalRequest) error {
	approved := r.Approval != nil && r.Approval.Request == r.ID && r.Approval.Verdict == interlock.Allow
	if r.Status == interlock.RequestApproved && !approved {
		return interlock.Errorf(interlock.CodeUnavailable, "store",
			"a request is marked as approved and nobody approved it: the store was changed from outside; stop Interlock, keep "+
				"the file as evidence and run `interlock audit verify`")
	}
	return nil
}

func requestTake(body []byte, n int64, now time.Time) ([]byte, string, error) {
	r, err := DecodeRequest(body)
	switch {
	case err != nil:
		return nil, "", err
	case r.Status != interlock.RequestApproved:
		return nil, "it is " + string(r.Status), nil
	case !now.Before(r.Expires):
		return nil, "it has expired", nil
	case n > 1:
		return nil, "it is good for one", nil
	}
	r.Status = interlock.RequestSpent
	left, err := json.Marshal(r)
	return left, "", err
}

func challengeMarks(c interlock.Challenge) []Mark {
	if !challengeStands(c) {
		return nil
	}
	marks := withAll(nano(c.Created), Of(c.Requester.Agent))
	if c.Kind == interlock.ChallengeVerify {
		marks = append(marks, Mark{Pauses, nano(c.Expires)})
	}
	if c.Request != "" {
		marks = append(marks, Mark{Waits(c.Request), nano(c.Created)})
	}
	return marks
}

// Pauses is the mark of the challenges that pause an agent, by when their codes expire.
const Pauses = "pauses"

// Waits is the mark of the challenges that wait for the answer to a request.
func Waits(request string) string { return "waits\x00" + request }

func challengeStands(c interlock.Challenge) bool { return c.Ended.IsZero() }

func attemptsMarks(a AttemptsBody) []Mark {
	if attemptsStands(a) {
		return withAll(0)
	}
	return nil
}

func attemptsStands(a AttemptsBody) bool { return len(a.Failed) > 0 || !a.Until.IsZero() }

func pinMarks(p interlock.Pin) []Mark {
	marks := withAll(0, Server(p.Server))
	if p.Tool != "" && p.Status != interlock.PinApproved && p.Why != interlock.PinOrdered {
		marks = append(marks, Mark{Held, 0})
	}
	return marks
}

// Held is the mark of the tools that wait for an operator to look at them: not of those that one has put where they are.
const Held = "held"

// Server is the mark of all pins of one server, its own among them.
func Server(name string) string { return "server\x00" + name }

// settingBody is a setting as it is written: a value alone would not say whose it is.
type settingBody struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SettingOf is the value of a setting's row; empty for any other.
func SettingOf(r Row) string {
	s, _ := r.Value.(settingBody)
	return s.Value
}

// A CounterBody is how much of something is left.
type CounterBody struct {
	Name string `json:"name"`
	Left int    `json:"left"`
}

func counterTake(body []byte, n int64, _ time.Time) ([]byte, string, error) {
	c, err := decode[CounterBody](body)
	if err != nil {
		return nil, "", err
	}
	if int64(c.Left) < n {
		return nil, "it has less left", nil
	}
	c.Left -= int(n)
	left, err := json.Marshal(c)
	return left, "", err
}

// Attempts are an agent's failed answers to challenges, for limiting how often it may guess. They survive a restart.
type AttemptsBody struct {
	Agent     string `json:"agent"`
	Principal string `json:"principal"`
	meter.Attempts
}

// PinKey names a pin in a [Standing].
func PinKey(server, tool string) string { return server + "\x00" + tool }

// AttemptsKey names the agent that a [Standing]'s Attempts are about.
func AttemptsKey(agent, principal string) string { return agent + "\x00" + principal }
