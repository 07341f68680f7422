package governance

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	health "interlock/internal/module"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// A module is a registered agent with a policy: its row is the agent's. It is registered, and given more, by requests that people approve,
// whose params are the whole registration, so that what they are shown is what is so afterwards.

// registers reports whether a request is one whose params are the registration of a module. Others of its types, such as of a service that
// is no module's, are for who carries them out.
func registers(a interlock.GovernedAction) bool {
	switch a.Type {
	case quorum.ActRegister, interlock.ActModuleAction, interlock.ActModuleBudget, interlock.ActModuleCode, interlock.ActService:
		return strings.HasPrefix(a.Target, string(ledger.HoldAgent)+":") && strings.HasPrefix(strings.TrimSpace(a.Params), "{")
	}
	return false
}

// enrolled is an agent as a request would have it registered, or why it can't be. by is who asks.
func enrolled(standing *ledger.Standing, act interlock.GovernedAction, by string, at time.Time) (interlock.AgentRecord, error) {
	name, _ := strings.CutPrefix(act.Target, string(ledger.HoldAgent)+":")
	agent, known := standing.Agents[name]
	if !known || !agent.Revoked.IsZero() {
		return agent, interlock.Errorf(interlock.CodeNotFound, "target", "no agent of this name is registered; `interlock agent add` registers one")
	}
	var m interlock.Module
	if err := strictjson.Decode([]byte(act.Params), &m); err != nil {
		return agent, interlock.Errorf(interlock.CodeInvalid, "params", "is no registration of a module: %v", err)
	}
	given := m.Registration.By != "" || !m.Registration.At.IsZero()
	was := agent.Module
	switch {
	case was == nil && act.Type != quorum.ActRegister:
		return agent, interlock.Errorf(interlock.CodeNotFound, "target", "this agent is no module yet; ask for %s first", quorum.ActRegister)
	case was == nil && given:
		return agent, interlock.Errorf(interlock.CodeInvalid, "registration", "leave it out: it will say who asked, and when")
	case was == nil:
		m.Registration = interlock.Registration{By: by, At: at.Truncate(time.Microsecond)}
	case !given:
		m.Registration = was.Registration
	}
	m.Timeout, m.Attempts = cmp.Or(m.Timeout, interlock.ModuleTimeout), cmp.Or(m.Attempts, interlock.ModuleAttempts)
	if was != nil {
		if err := was.Fixed(&m); err != nil {
			return agent, err
		}
	}
	if err := m.Check(ruleset.ModuleMeasures()); err != nil {
		return agent, err
	}
	for _, w := range was.Widens(&m) {
		if w.By != act.Type {
			return agent, interlock.Errorf(interlock.CodeUnauthorized, w.Field, "this gives the module more, which is asked for by %s", w.By)
		}
	}
	m.Updated = at.Truncate(time.Microsecond)
	agent.Module = &m
	return agent, nil
}

// enrol registers a module as people have approved it. Registered, it begins with the trust of one that nothing is known of.
func (a *Governance) enrol(_ context.Context, c *core.PendingOrder, r *interlock.ActionRequest) error {
	agent, err := enrolled(&c.Standing, r.Action, r.Requester.Agent, c.Now)
	if err != nil {
		return err
	}
	order := a.OrderKept(c.Order)
	payload, err := auditlog.IdentityRecord{Agent: &agent, Order: &order}.Payload()
	if err != nil {
		return fmt.Errorf("encoding the module: %w", err)
	}
	draft, err := a.Draft(interlock.EventIdentity, interlock.Requester{Agent: agent.ID}, "operator", payload)
	if err != nil {
		return err
	}
	draft.Actor = c.Operator
	c.Change.Writes = append(c.Change.Writes, ledger.Rows(agent)...)
	if r.Action.Type == quorum.ActRegister {
		name := ledger.HoldName(ledger.HoldAgent, agent.ID)
		body, _ := c.Standing.Others[ledger.Breaker][name].(ledger.BreakerBody)
		fresh := health.New()
		body.Name, body.Health = name, &fresh
		c.Change.Writes = append(c.Change.Writes, ledger.Rows(body)...)
	}
	if err := a.registered(&c.Change, c.Standing, &draft); err != nil {
		return err
	}
	c.Change.Events = append(c.Change.Events, draft)
	return nil
}

// learns tells the trust of a module what the council has decided of what it asked for. What one admin says yes to is not the council's
// word, and moves nothing.
func (a *Governance) learns(change *ledger.Change, standing *ledger.Standing, r *interlock.ActionRequest) error {
	if r.Origin != "agent" || r.Ballot.Approval != interlock.ApprovalCouncil ||
		r.Status != interlock.ActionApproved && r.Status != interlock.ActionRejected {
		return nil
	}
	_, err := a.Containment.Did(change, standing, r.Requester,
		health.Event{Kind: health.CouncilApproval, Right: r.Status == interlock.ActionApproved})
	return err
}
