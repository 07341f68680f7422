package core

import (
	"sort"
	"strings"
	"time"
	"unicode"

	"interlock"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// AgentOf is what is known of a requester's agent. One that nobody registered, such as a local hook's, is known by the names
// it came with and has no Created time, so that it gets the profile's trust and an approval can still be bound to it.
func AgentOf(r interlock.Requester, standing ledger.Standing) interlock.AgentRecord {
	agent := standing.Agents[r.Agent]
	if agent.ID == "" {
		agent.ID = r.Agent
	}
	if agent.Principal == "" {
		agent.Principal = r.Principal
	}
	return agent
}

// TrustedAt is an agent with the trust it has at a time.
func TrustedAt(agent interlock.AgentRecord, now time.Time) interlock.AgentRecord {
	agent.Trust = agent.TrustAt(now)
	return agent
}

// TrustOf is the trust that an agent's actions are held against: of one that nobody registered, the profile's.
func (e *Evaluator) TrustOf(r interlock.Requester, standing ledger.Standing, now time.Time) interlock.Trust {
	agent := AgentOf(r, standing)
	if profile, known := e.Rules.Profile(e.Profile); known && agent.Created.IsZero() {
		return profile.Trust
	}
	return agent.TrustAt(now)
}

// InOffice refuses a revoked agent. Doors refuse its token already; this holds for agents without one, and for a door that
// read the standing a moment too early.
func InOffice(r interlock.Requester, standing ledger.Standing, now time.Time) error {
	if revoked := standing.Agents[r.Agent].Revoked; !revoked.IsZero() && !now.Before(revoked) {
		return interlock.Errorf(interlock.CodeUnauthorized, "/requester/agent", "this agent is revoked")
	}
	if standing.Agents[r.Agent].Observer {
		return interlock.Errorf(interlock.CodeUnauthorized, "/requester/agent", "this is an observer, which proposes nothing")
	}
	return nil
}

// Owned gives a requester the owner configured for its agent: what a caller says of itself does not replace that.
func Owned(r interlock.Requester, standing ledger.Standing) interlock.Requester {
	if owner := standing.Agents[r.Agent].Principal; owner != "" {
		r.Principal = owner
	}
	return r
}

// SuppressionsOf picks the orders in force that may touch a requester's actions, by id, without what proves them: that is
// for the caller to have seen to.
func SuppressionsOf(standing ledger.Standing, r interlock.Requester, now time.Time) []interlock.Suppression {
	if len(standing.Suppressions) == 0 {
		return nil
	}
	var own []interlock.Suppression
	for _, s := range standing.Suppressions {
		if s.InForce(now) && quorum.Concerns(s, r.Agent, standing.Agents) && (s.Run == "" || s.Run == r.Run || s.Run == standing.RunOf(r)) {
			s.Key, s.Statement, s.Signature, s.Weak, s.Override = "", "", "", "", nil
			own = append(own, s)
		}
	}
	sort.Slice(own, func(i, j int) bool { return own[i].ID < own[j].ID })
	return own
}

// Approved picks the approved requests of one requester, ordered by id, so that Decide sees a value and not a map. All others
// approve nothing, and there may be many.
func Approved(standing ledger.Standing, r interlock.Requester) []interlock.ApprovalRequest {
	var own []interlock.ApprovalRequest
	for _, request := range standing.Requests {
		if request.Requester.Agent == r.Agent && request.Requester.Principal == r.Principal &&
			request.Status == interlock.RequestApproved {
			own = append(own, request)
		}
	}
	SortRequests(own)
	return own
}

// RunOf names a requester's run as the store knows it.
func RunOf(r interlock.Requester) string { return r.Agent + "\x00" + r.Run }

// CheckAgent refuses a requester without an agent, saying why there has to be one, and one that calls itself what Interlock does.
func CheckAgent(r interlock.Requester, why string) error {
	if r.Agent != "" {
		return interlock.CheckNotOwn("/requester/agent", r.Agent)
	}
	message := "is missing"
	if why != "" {
		message += "; " + why
	}
	return interlock.Errorf(interlock.CodeInvalid, "/requester/agent", "%s", message)
}

// The bounds of what a run is registered with.
const (
	maxRunName   = 128 // bytes of a key, a task, a tool, a conversation
	MaxRunTools  = 64
	MaxRunWhy    = 500
	MaxFields    = 64
	MaxRunResult = 1 << 20 // bytes
	MaxBox       = 31 * 24 * time.Hour
)

// PlainName refuses names that are too long or hold what nobody sees.
func PlainName(field, text string) error {
	if len(text) > maxRunName {
		return interlock.Errorf(interlock.CodeInvalid, field, "is longer than %d bytes", maxRunName)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return interlock.Errorf(interlock.CodeInvalid, field, "holds a character that can't be seen")
	}
	return nil
}
