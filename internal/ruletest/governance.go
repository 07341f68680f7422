package ruletest

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
)

// governanceCases are the cases that ship: who may order and answer what, for each thing that a change might loosen.
//
//go:embed governance.yaml
var governanceCases []byte

// ShippedGovernance returns the cases that ship.
func ShippedGovernance() ([]ruleset.GovernanceCase, error) {
	return ruleset.GovernanceCases("governance.yaml", governanceCases)
}

// Govern runs cases through the checks that every order and answer takes, and returns what comes out otherwise than a case wants.
func Govern(cases []ruleset.GovernanceCase) (problems []Problem) {
	for n := range cases {
		c := &cases[n]
		got, err := governed(c)
		var refusal *interlock.Error
		switch {
		case err != nil && !errors.As(err, &refusal):
			problems = append(problems, Problem{Rule: "governance", Case: c.Case, Message: "can't be run: " + err.Error()})
		case got != c.Want:
			message := fmt.Sprintf("wants %s, is %s", c.Want, got)
			if refusal != nil {
				message += " (" + string(refusal.Code) + ": " + refusal.Message + ")"
			}
			problems = append(problems, Problem{Rule: "governance", Case: c.Case, Message: message})
		case refusal != nil && (c.Code != "" && string(refusal.Code) != c.Code || !strings.Contains(refusal.Error(), c.Says)):
			problems = append(problems, Problem{Rule: "governance", Case: c.Case,
				Message: fmt.Sprintf("is refused for another reason: %s: %s", refusal.Code, refusal.Message)})
		}
	}
	return problems
}

// caseTime is when every case happens.
var caseTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A stage is the people of a case. Who names no operators has one of each role, named after it; who names no agents has claude, whom pat
// owns.
type stage struct {
	operators map[string]interlock.OperatorRecord
	agents    map[string]interlock.AgentRecord
}

func staged(c *ruleset.GovernanceCase) stage {
	s := stage{operators: map[string]interlock.OperatorRecord{}, agents: map[string]interlock.AgentRecord{}}
	people, agents := c.Operators, c.Agents
	if len(people) == 0 {
		for _, role := range quorum.Roles() {
			people = append(people, ruleset.GovernanceOperator{Name: role, Role: role})
		}
	}
	if len(agents) == 0 {
		agents = []ruleset.GovernanceAgent{{ID: "claude", Principal: "pat"}}
	}
	for _, o := range people {
		record := interlock.OperatorRecord{Name: o.Name, Role: o.Role, Teams: o.Teams, SSHKey: o.Key, Created: caseTime.Add(-time.Hour)}
		if record.SSHKey == "" {
			record.SSHKey = "the key of " + o.Name
		}
		if o.Revoked {
			record.Revoked = caseTime.Add(-time.Minute)
		}
		s.operators[o.Name] = record
	}
	for _, a := range agents {
		s.agents[a.ID] = interlock.AgentRecord{ID: a.ID, Principal: a.Principal, Created: caseTime.Add(-time.Hour)}
	}
	return s
}

// sign is what somebody's key makes of a text: by is whose it should be, and signed who signs instead, or how.
func (s *stage) sign(text, by, signed string) (key, statement, signature string) {
	switch signed {
	case "nobody":
		return "", "", ""
	case "", "by", "passkey":
		signed = by
	case "otherwise":
		signed, text = by, text+"and more\n"
	}
	key = s.operators[signed].SSHKey
	return key, text, key + "\n" + text
}

// verify is the check of such a signature.
func verify(operator interlock.OperatorRecord, _, statement, signature string) (string, error) {
	if operator.SSHKey == "" || signature != operator.SSHKey+"\n"+statement {
		return "", errors.New("the signature is another's")
	}
	return operator.SSHKey, nil
}

// governed says what comes of a case, and the refusal where it is one.
func governed(c *ruleset.GovernanceCase) (string, error) {
	s := staged(c)
	switch {
	case c.Order != nil:
		return counted(s.order(c.Order))
	case c.Replay != nil:
		return counted(s.replay(c.Replay))
	}
	return s.request(c.Request)
}

func counted(err error) (string, error) {
	if err != nil {
		return "refused", err
	}
	return "counts", nil
}

// length reads a length of time that was checked when its document was read.
func length(text string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	return otherwise
}

func (s *stage) order(o *ruleset.GovernanceOrder) error {
	at := caseTime.Add(-length(o.Age, 0))
	about := interlock.Requester{Agent: o.About, Principal: s.agents[o.About].Principal}
	var given quorum.Given
	switch interlock.Verb(o.Verb) {
	case interlock.VerbGrant:
		given = quorum.OfGrant(interlock.Grant{ID: "grt_1", Operator: o.By, Agent: o.About, Principal: about.Principal,
			Ruleset: "sha256:01", Kind: interlock.KindShell, Tool: o.Command, Times: o.Times, Left: o.Times, Reason: "a case",
			Created: at, Expires: at.Add(length(o.For, time.Hour))})
	case interlock.VerbSuppress:
		given = quorum.OfSuppression(interlock.Suppression{ID: "sup_1", Rule: o.Subject, Agent: o.About, Command: o.Command,
			Denials: o.Denials, Reason: "a case", Operator: o.By, Created: at, Expires: at.Add(length(o.For, time.Hour))})
	default:
		given = quorum.OfOrder(interlock.Order{ID: "ord_1", Verb: interlock.Verb(o.Verb), Subject: o.Subject, Detail: o.Detail,
			Reason: "a case", Operator: o.By, At: at, Expires: at.Add(quorum.MaxOrder / 2)}, about)
	}
	if o.Signed != "nobody" {
		key, text, signature := s.sign(given.Text(), o.By, o.Signed)
		method := interlock.MethodSSH
		if o.Signed == "passkey" {
			method = interlock.MethodPasskey
		}
		given = given.Signed(method, key, signature)
		given.Statement = text
	}
	return given.Counts(s.operators, s.agents, verify, caseTime)
}

func (s *stage) replay(r *ruleset.GovernanceReplay) error {
	var orders []interlock.Order
	for verb, people := range [][]string{r.By, r.Force} {
		for _, by := range people {
			order := interlock.Order{ID: fmt.Sprintf("ord_%d_%d", verb, len(orders)), Verb: interlock.VerbReplay, Subject: "everything",
				Detail: r.Mode, Reason: "a case", Operator: by, At: caseTime, Expires: caseTime.Add(quorum.MaxOrder / 2),
				Method: interlock.MethodSSH}
			if verb == 1 {
				order.Verb = interlock.VerbForceContinue
			}
			order.Key, order.Statement, order.Signature = s.sign(quorum.OrderStatement(order), by, "by")
			orders = append(orders, order)
		}
	}
	force, err := quorum.CheckReplay(quorum.ReplayMode(r.Mode), "everything", orders, s.operators, s.agents, verify, caseTime)
	if err == nil && force != (len(r.Force) > 0) {
		err = fmt.Errorf("going on is %v, ordered by %d", force, len(r.Force))
	}
	return err
}

// request has a request answered by one after the other, until an answer is refused.
func (s *stage) request(r *ruleset.GovernanceRequest) (string, error) {
	created := caseTime.Add(-length(r.Age, 0))
	req := interlock.ApprovalRequest{ID: "apr_1", Action: "sha256:02", Ruleset: "sha256:01", Nonce: "03", Created: created,
		Expires: created.Add(time.Hour), Requester: interlock.Requester{Agent: r.Agent, Principal: r.Principal},
		Display: "a case", Status: interlock.RequestPending}
	for _, text := range r.Obligations {
		name, note, _ := strings.Cut(text, " ")
		req.Obligations = append(req.Obligations, interlock.Obligation{Type: name, Note: note})
	}
	for _, a := range r.Answers {
		verdict := interlock.Deny
		if a.Says == interlock.Allow.String() {
			verdict = interlock.Allow
		}
		approval := interlock.Approval{Request: req.ID, Verdict: verdict, Operator: a.By, Method: interlock.MethodSSH, At: caseTime}
		approval.Key, approval.Statement, approval.Signature = s.sign(quorum.Statement(req, verdict, a.By), a.By, a.Signed)
		if err := quorum.Check(req, approval, s.operators, s.agents, verify, caseTime); err != nil {
			return "refused", err
		}
		req = req.Answered(approval)
	}
	if req.Status == interlock.RequestPending {
		return "waits", nil
	}
	return string(req.Status), nil
}
