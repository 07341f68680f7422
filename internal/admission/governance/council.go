package governance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/privacy"
	"interlock/internal/quorum"
	"interlock/internal/strictjson"
)

// Council are the constants of governance that are in force.
func (a *Governance) Council() interlock.CouncilTerms { return a.Config.Council.Filled() }

// RequestTerms are what somebody asks for beside its type and why.
type RequestTerms struct {
	Target   string   `json:"target"`
	Params   string   `json:"params,omitempty"`
	Evidence []string `json:"evidence,omitempty"`
	Approval string   `json:"required_approval_type,omitempty"`
}

// The bounds of a request, in bytes and numbers.
const (
	maxActionType   = 64
	maxActionTarget = 300
	maxActionParams = 2000
	maxNamed        = 16
	maxPending      = 100 // requests of one requester that wait
)

// every is what a request is made and voted on from.
func everybody() []ledger.Ref {
	return []ledger.Ref{core.Under(ledger.Operator, ledger.All), core.Key(ledger.Setting, core.SettingManifest)}
}

// silent names that and the rules that are kept silent, one of which a request may set aside or take back.
func silent() []ledger.Ref {
	return append(everybody(), core.Under(ledger.Order, ledger.Ordered(interlock.VerbSuppress)))
}

// module names the state that a target is in. Nothing where it is no agent.
func module(standing *ledger.Standing, target string) (interlock.Digest, error) {
	name, is := strings.CutPrefix(target, string(ledger.HoldAgent)+":")
	if !is || name == "" {
		return "", nil
	}
	agent := standing.Agents[name]
	var holds []string
	for _, h := range standing.Holds() {
		if h.Scope == ledger.HoldAgent && h.Key == name || h.Scope == ledger.HoldBreaker && h.Key == target {
			holds = append(holds, h.Name()+" "+string(h.Phase))
		}
	}
	return strictjson.Digest("interlock/module-status/v1", struct {
		ID      string   `json:"id"`
		Trust   string   `json:"trust"`
		Revoked bool     `json:"revoked"`
		Holds   []string `json:"holds"`

		Module *interlock.Module `json:"module,omitempty"`
	}{agent.ID, agent.Trust.String(), !agent.Revoked.IsZero(), append([]string{}, holds...), agent.Module})
}

// ask makes a request, and holds it to what it takes.
func (a *Governance) ask(standing *ledger.Standing, kind string, terms RequestTerms, why string, by interlock.Requester,
	origin string,
	now time.Time) (interlock.ActionRequest, error) {
	r := interlock.ActionRequest{Action: interlock.GovernedAction{Type: kind, Target: a.Redact(terms.Target), Params: terms.Params},
		Origin: origin, Requester: by, Justification: a.Redact(strings.TrimSpace(why)), Evidence: terms.Evidence,
		Ruleset: a.Active.Load().Rules.Digest(), Policy: standing.Settings[core.SettingManifest],
		Created: now.Truncate(time.Microsecond), Status: interlock.ActionPending}
	if kind == quorum.ActKeepPersonal { // those who vote are shown whose it is, for which run and until when
		consent, err := approvable(standing, terms.Target, now)
		if err != nil {
			return r, err
		}
		shown, err := strictjson.Marshal(consent)
		if err != nil {
			return r, err
		}
		r.Action.Params = string(shown)
	}
	if err := boundAction(r); err != nil {
		return r, err
	}
	if a.Redact(terms.Params) != terms.Params {
		return r, interlock.Errorf(interlock.CodeInvalid, "params", "holds a secret; name what is meant by its digest")
	}
	if slices.ContainsFunc(terms.Evidence, func(id string) bool { return a.Redact(id) != id }) {
		return r, interlock.Errorf(interlock.CodeInvalid, "evidence", "holds a secret; name events by their ids")
	}
	if registers(r.Action) {
		if _, err := enrolled(standing, r.Action, by.Agent, r.Created); err != nil {
			return r, err
		}
	}
	if err := a.settable(r, now); err != nil {
		return r, err
	}
	class := quorum.ClassOf(kind)
	approval, err := quorum.ApprovalFor(class, terms.Approval)
	if err != nil {
		return r, err
	}
	id, err := a.Random(16)
	if err != nil {
		return r, err
	}
	r.ID, r.Class = "act_"+id, class.Class
	if r.Digest, err = quorum.ActionDigest(r.Action); err != nil {
		return r, err
	}
	if r.Module, err = module(standing, r.Action.Target); err != nil {
		return r, err
	}
	return r, a.seat(standing, &r, approval)
}

// seat gives a request its ballot, and says what those who vote are shown.
func (a *Governance) seat(standing *ledger.Standing, r *interlock.ActionRequest, approval string) (err error) {
	council := a.Council()
	r.Expires = r.Created.Add(council.Timeout)
	r.Ballot.Approval = approval
	r.Ballot, err = quorum.NewBallot(approval, quorum.OfAction(*r), council, standing.Operators, standing.Agents)
	r.Display = DisplayAction(*r)
	return err
}

func boundAction(r interlock.ActionRequest) error {
	word := func(text string) bool {
		return text != "" && len(text) <= maxActionType && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	}
	switch {
	case !word(r.Action.Type):
		return interlock.Errorf(interlock.CodeInvalid, "type", "name the action in at most %d of a to z, 0 to 9 and _", maxActionType)
	case r.Action.Target == "" || len(r.Action.Target) > maxActionTarget:
		return interlock.Errorf(interlock.CodeInvalid, "target", "say what it is done to, in at most %d bytes", maxActionTarget)
	case len(r.Action.Params) > maxActionParams:
		return interlock.Errorf(interlock.CodeInvalid, "params", "is longer than %d bytes; name what is meant by its digest", maxActionParams)
	case r.Justification == "" || len(r.Justification) > core.MaxDetail:
		return interlock.Errorf(interlock.CodeInvalid, "justification", "say why, in at most %d bytes", core.MaxDetail)
	case len(r.Evidence) > maxNamed || slices.ContainsFunc(r.Evidence, func(id string) bool { return id == "" || len(id) > 100 }):
		return interlock.Errorf(interlock.CodeInvalid, "evidence", "name at most %d events by their ids", maxNamed)
	}
	return nil
}

// DisplayAction is what those who vote on a request are shown, byte for byte.
func DisplayAction(r interlock.ActionRequest) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, safe(value))
		}
	}
	line("request", r.ID)
	line("action", r.Action.Type)
	line("what", quorum.ClassOf(r.Action.Type).Says)
	line("target", r.Action.Target)
	line("params", r.Action.Params)
	line("class", fmt.Sprint(r.Class))
	line("takes", quorum.Takes(r.Ballot))
	line("asked by", r.Origin+" "+r.Requester.Agent)
	line("because", r.Justification)
	line("evidence", strings.Join(r.Evidence, " "))
	line("ruleset", string(r.Ruleset))
	line("votes until", r.Ballot.Closes.UTC().Format(time.RFC3339))
	line("ends", quorum.Ends(r))
	return b.String()
}

// safe is a value on one line, so that no value can imitate another.
func safe(value string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r <= 0x9f || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' ||
			r >= '\u2066' && r <= '\u2069' || r >= '\u200b' && r <= '\u200f' {
			return '\ufffd'
		}
		return r
	}, value)
}

// asked adds a request to a change, with the event that says so.
func (a *Governance) asked(change *ledger.Change, r interlock.ActionRequest, role string, order *interlock.Order) error {
	change.Writes = append(change.Writes, ledger.Rows(r)...)
	record := actionRecord(r)
	record.To, record.Why, record.Origin, record.Asks = r.Status, r.Justification, r.Origin, &r.Requester
	record.Evidence, record.Roster, record.Hash, record.Quorum = r.Evidence, r.Ballot.Roster, r.Ballot.Hash, r.Ballot.Quorum
	record.Display, record.Order = quorum.DisplayDigest(r.Display), order
	if err := a.Append(change, interlock.EventActionRequest, inRequest(r, r.Requester.Agent), role, record); err != nil {
		return err
	}
	return a.Raise(change, interlock.Requester{Agent: "interlock"}, "action-request",
		fmt.Sprintf("%s asks for %s on %s, which takes %s; `interlock request show %s` says more", r.Requester.Agent, r.Action.Type,
			r.Action.Target, r.Ballot.Approval, r.ID))
}

func actionRecord(r interlock.ActionRequest) auditlog.ActionRecord {
	return auditlog.ActionRecord{Request: r.ID, Action: r.Action, Digest: r.Digest, Class: r.Class, Approval: r.Ballot.Approval}
}

// inRequest puts events about one request into a run of their own, in whose order they are replayed.
func inRequest(r interlock.ActionRequest, actor string) interlock.Requester {
	return interlock.Requester{Agent: cmp.Or(actor, interlock.NoName), Run: "request:" + r.ID}
}

// requestAction makes a request on an operator's signed word.
func (a *Governance) requestAction(_ context.Context, c *core.PendingOrder) error {
	terms, err := TermsOf[RequestTerms](c.Detail)
	if err != nil {
		return err
	}
	if err := byItsPerson(c.Subject); err != nil {
		return err
	}
	r, err := a.ask(&c.Standing, c.Subject, terms, c.Reason, interlock.Requester{Agent: c.Operator, Principal: c.Operator},
		"operator", c.Now)
	if err != nil {
		return err
	}
	r.Role = c.Standing.Operators[c.Operator].Role
	c.Done.Request = r
	kept := a.OrderKept(c.Order)
	return a.asked(&c.Change, r, "operator", &kept)
}

func readAsked(o interlock.Order) []ledger.Ref {
	terms, err := TermsOf[RequestTerms](o.Detail)
	if err != nil {
		return everybody() // and it is refused
	}
	return slices.Concat(everybody(), aboutRefs(terms.Target))
}

// aboutRefs name what a request is about: a module, or a consent.
func aboutRefs(target string) []ledger.Ref {
	if id, is := strings.CutPrefix(target, privacy.TargetConsent); is && id != "" {
		return []ledger.Ref{core.Key(ledger.Consent, id)}
	}
	return core.ModuleRefs(target)
}

// byItsPerson refuses a request to delete a person's data that nobody of that name has made: such a one says how they were identified.
func byItsPerson(kind string) error {
	if kind == quorum.ActDeletePerson {
		return interlock.Errorf(interlock.CodeInvalid, "type", "a person asks for that, and it is recorded how they were identified: "+
			"interlock privacy delete --subject ID --reason TEXT")
	}
	return nil
}

// AskAction makes a request of an agent, whose word needs no signature: a request permits nothing, and who asks never votes.
func (a *Governance) AskAction(ctx context.Context, by interlock.Requester, kind, why string,
	terms RequestTerms) (r interlock.ActionRequest, receipt ledger.Receipt, err error) {
	if err := byItsPerson(kind); err != nil {
		return r, receipt, err
	}
	return a.askWith(ctx, by, kind, why, terms, nil, func(*ledger.Standing, *ledger.Change, interlock.ActionRequest) error { return nil })
}

// askWith makes a request of an agent with what else is to be written with it, which is made from more of the ledger.
func (a *Governance) askWith(ctx context.Context, by interlock.Requester, kind, why string, terms RequestTerms, more []ledger.Ref,
	with func(*ledger.Standing, *ledger.Change, interlock.ActionRequest) error) (r interlock.ActionRequest, receipt ledger.Receipt, err error) {
	mine, err := a.waitingOf(ctx, by.Agent)
	if err != nil {
		return r, receipt, err
	}
	if mine >= maxPending {
		return r, receipt, tooMany(mine)
	}
	refs := slices.Concat(everybody(), aboutRefs(terms.Target), []ledger.Ref{core.Key(ledger.Agent, by.Agent)}, more)
	receipt, err = a.CommitOn(ctx, false, a.Rows(refs...), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		if err := core.InOffice(by, standing, a.Config.Now()); err != nil {
			return change, err
		}
		by = core.Owned(by, standing)
		if r, err = a.ask(&standing, kind, terms, why, by, "agent", a.Config.Now().UTC()); err != nil {
			return change, err
		}
		if err := with(&standing, &change, r); err != nil {
			return change, err
		}
		return change, a.asked(&change, r, "agent", nil)
	})
	var refusal *interlock.Error
	if errors.As(err, &refusal) {
		a.Refuse(ctx, by, "actionrequest", refusal)
	}
	return r, receipt, err
}

// Actions lists requests, the newest first, those that have ended too.
func (a *Governance) Actions(ctx context.Context, limit int) (list []interlock.ActionRequest, err error) {
	ref, span := ledger.EveryAction(limit)
	rows, _, err := a.Config.Store.Scan(ctx, ref, span)
	for _, row := range rows {
		if r, ok := row.Value.(interlock.ActionRequest); ok {
			list = append(list, r)
		}
	}
	return list, err
}

// Action is one request, whatever has become of it, with how its votes count now.
func (a *Governance) Action(ctx context.Context, id string) (r interlock.ActionRequest, count quorum.Count, err error) {
	g, err := a.Ground(ctx, core.Key(ledger.ActionRequest, id), core.Under(ledger.Operator, ledger.All))
	if err != nil {
		return r, count, err
	}
	r, known := g.Action(id)
	if !known {
		return r, count, interlock.Errorf(interlock.CodeNotFound, "id", "no request has this id; `interlock request list` shows them")
	}
	return r, quorum.CountBallot(quorum.OfAction(r), r.Ballot, g.Operators, g.Agents, a.Config.Verify, a.Config.Now()), nil
}
