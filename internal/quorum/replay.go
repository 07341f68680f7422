package quorum

import (
	"strings"
	"time"

	"interlock"
)

// A ReplayMode says what a replay is for, and with it who may have one.
type ReplayMode string

// The modes of MACE.
const (
	ReplayAudit      ReplayMode = "audit"      // reads and compares
	ReplayTest       ReplayMode = "test"       // tries, and counts for nothing
	ReplayProduction ReplayMode = "production" // strict: nothing that was not kept, nothing from outside
)

// CouncilQuorum is how many members of the council count as the council.
const CouncilQuorum = 3

// CheckReplay reports whether orders are enough for a replay in a mode: one of an operator, an admin or an auditor for audit and
// test; for production those of an admin and an auditor who are two people, or of a quorum of the council. Going on after a
// divergence takes, beside that, orders of an admin and of a member of the council. It returns whether it may go on.
func CheckReplay(mode ReplayMode, subject string, orders []interlock.Order, operators map[string]interlock.OperatorRecord,
	agents map[string]interlock.AgentRecord, verify Verifier, now time.Time) (force bool, err error) {
	if len(orders) == 0 || len(orders) > 8 {
		return false, refuse(interlock.CodeInvalid, "order", "a replay takes one to eight signed orders")
	}
	by := map[interlock.Verb]*signers{interlock.VerbReplay: {}, interlock.VerbForceContinue: {}}
	for _, o := range orders {
		who := by[o.Verb]
		if who == nil {
			return false, refuse(interlock.CodeInvalid, "verb", "a replay is ordered by replay and force-continue")
		}
		if o.Subject != subject || o.Detail != string(mode) {
			return false, refuse(interlock.CodeInvalid, "subject", "the order is about another replay")
		}
		if err := OfOrder(o, interlock.Requester{}).Counts(operators, agents, verify, now); err != nil {
			return false, err
		}
		who.add(operators[o.Operator], o.Key)
	}
	replay, goOn := by[interlock.VerbReplay], by[interlock.VerbForceContinue]
	switch mode {
	case ReplayAudit, ReplayTest:
		if len(replay.people) == replay.of(RoleCouncil) {
			return false, refuse(interlock.CodeUnauthorized, "operator",
				"replay in the mode "+string(mode)+" is ordered by an operator, an admin or an auditor")
		}
	case ReplayProduction:
		if !replay.pair(RoleAuditor) && replay.of(RoleCouncil) < CouncilQuorum {
			return false, refuse(interlock.CodeUnauthorized, "operator",
				"replay in production takes the orders of an admin and an auditor, or of a quorum of the council")
		}
	default:
		return false, refuse(interlock.CodeInvalid, "mode", "is not known; name audit, test or production")
	}
	if len(goOn.people) == 0 {
		return false, nil
	}
	if !goOn.pair(RoleCouncil) {
		return false, refuse(interlock.CodeUnauthorized, "operator",
			"FORCE_CONTINUE_REQUIRED: going on after a divergence takes the orders of an admin and of a member of the council")
	}
	return true, nil
}

// signers are the people who gave one kind of order: each once, whatever names or keys somebody has.
type signers struct {
	people []interlock.OperatorRecord
	keys   []string
}

func (s *signers) add(o interlock.OperatorRecord, key string) {
	for i, have := range s.people {
		if strings.EqualFold(have.Name, o.Name) || s.keys[i] == key || shared(have, o) {
			return
		}
	}
	s.people, s.keys = append(s.people, o), append(s.keys, key)
}

// of counts those with a role.
func (s *signers) of(role string) int {
	n := 0
	for _, o := range s.people {
		if o.Role == role {
			n++
		}
	}
	return n
}

// pair reports whether an admin and somebody with another role are among them.
func (s *signers) pair(role string) bool {
	return s.of(RoleAdmin)+s.of(RoleSuperadmin) > 0 && s.of(role) > 0
}
