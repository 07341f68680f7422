package quorum

import (
	"fmt"
	"strings"
	"time"

	"interlock"
)

// MaxOverride bounds how long a safety rule may be set aside for one job: it is for what is urgent (MACE safety boundaries 11).
const MaxOverride = 24 * time.Hour

// OverrideID is the id of the order by which an approved request keeps a rule silent.
func OverrideID(request string) string { return "sup_" + strings.TrimPrefix(request, "act_") }

// Takes says what a ballot takes, as everybody is shown who votes on it. It is among what they sign, so that no ballot counts by a
// smaller quorum than they were shown.
func Takes(b interlock.Ballot) string {
	return fmt.Sprintf("%s, quorum %d of %d", b.Approval, b.Quorum, len(b.Roster))
}

// Ends says until when a request may be carried out, as they are shown and sign as well.
func Ends(r interlock.ActionRequest) string { return r.Expires.UTC().Format(time.RFC3339) }

// OverrideOf is the order that a request for a safety_override comes to where it is carried out: one rule, silent for one agent in one
// run. Its target is agent:NAME, its params are rule=ID run=ID for=TIME. It says nothing of whether people have approved it.
func OverrideOf(r interlock.ActionRequest, operator string, now time.Time) (interlock.Suppression, error) {
	s := interlock.Suppression{ID: OverrideID(r.ID), Denials: true, Reason: r.Justification, Operator: operator, Created: now,
		Override: &r}
	agent, is := strings.CutPrefix(r.Action.Target, "agent:")
	if s.Agent = agent; !is || agent == "" || strings.ContainsAny(agent, `*?[]{}\`) {
		return s, refuse(interlock.CodeInvalid, "target", "an override is for one agent: agent:NAME")
	}
	length := ""
	for _, word := range strings.Fields(r.Action.Params) {
		name, value, _ := strings.Cut(word, "=")
		into := map[string]*string{"rule": &s.Rule, "run": &s.Run, "for": &length}[name]
		if into == nil || *into != "" || value == "" || len(value) > maxScope {
			return s, badOverride()
		}
		*into = value
	}
	lasts, err := time.ParseDuration(length)
	if err != nil || s.Rule == "" || s.Run == "" {
		return s, badOverride()
	}
	if lasts < time.Minute || lasts > MaxOverride {
		return s, refuse(interlock.CodeInvalid, "params", "an override lasts from 1m to "+MaxOverride.String())
	}
	s.Expires = now.Add(lasts)
	return s, nil
}

func badOverride() error {
	return refuse(interlock.CodeInvalid, "params", "say each once: rule=ID run=ID for=TIME, such as rule=net.upload run=s1 for=1h")
}

// countsTogether reports whether an order counts that several people have given by their votes on a request. All of it is held again to
// what they have signed, each time it is used: the votes, the rule, whom and how long it is for, and that none of them owns the agent.
func countsTogether(s interlock.Suppression, operators map[string]interlock.OperatorRecord, agents map[string]interlock.AgentRecord,
	verify Verifier, now time.Time) error {
	r := *s.Override
	want, err := OverrideOf(r, s.Operator, s.Created)
	if err != nil {
		return err
	}
	if s.Expires.After(s.Created) && s.Expires.Before(want.Expires) {
		want.Expires = s.Expires // it may end sooner
	}
	digest, err := ActionDigest(r.Action)
	together := r.Ballot.Approval == interlock.ApprovalCouncil || r.Ballot.Approval == interlock.ApprovalDual
	switch {
	case err != nil:
		return err
	case r.Action.Type != ActOverride || digest != r.Digest || !together || r.Ballot.Quorum < 2 ||
		!strings.Contains(r.Display, "\ntakes: "+Takes(r.Ballot)+"\n") || !strings.HasSuffix(r.Display, "\nends: "+Ends(r)+"\n") ||
		!s.Created.Before(r.Expires):
		return refuse(interlock.CodeUnauthorized, "override", "it rests on no request that people were shown and approved")
	case s.ID != want.ID || s.Rule != want.Rule || s.Agent != want.Agent || s.Run != want.Run || s.Path != "" || s.Command != "" ||
		s.Reason != want.Reason || !s.Expires.Equal(want.Expires):
		return refuse(interlock.CodeUnauthorized, "override", "it says something else than was approved")
	case !s.InForce(now):
		return refuse(interlock.CodeExpired, "expires", "the override is not in force now")
	case CountBallot(OfAction(r), r.Ballot, operators, agents, verify, now).Status != interlock.ActionApproved:
		return refuse(interlock.CodeUnauthorized, "override", "the votes that it rests on do not count, or not any more")
	}
	for _, name := range append(voters(r.Ballot), s.Operator) {
		if by := s; name != "" {
			if by.Operator = name; !Concerns(by, s.Agent, agents) {
				return refuse(interlock.CodeUnauthorized, "operator", "nobody sets a rule aside for an agent they own")
			}
		}
	}
	return nil
}

// voters names who has voted to approve.
func voters(b interlock.Ballot) (names []string) {
	for _, o := range b.Votes {
		if v, err := VoteOf(o); err == nil && v.Vote == VoteApprove {
			names = append(names, o.Operator)
		}
	}
	return names
}
