package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// The bounds of plans.
const (
	maxPlanSteps = 64
	maxTakes     = 24 * 60 * 60 // seconds
	maxStepShown = 160          // bytes
)

// CheckPlan refuses what is no plan, and gives its steps with their arguments in canonical form.
func CheckPlan(by interlock.Requester, q interlock.PlanRequest) ([]interlock.PlannedStep, error) {
	if err := core.CheckAgent(by, "every plan has an agent"); err != nil {
		return nil, err
	}
	switch {
	case !ledger.Registered(q.Run):
		return nil, interlock.Errorf(interlock.CodeInvalid, "/run", "is no id of a registered run: run_ and 24 digits")
	case len(q.Steps) == 0 || len(q.Steps) > maxPlanSteps:
		return nil, interlock.Errorf(interlock.CodeInvalid, "/steps", "has 1 to %d steps", maxPlanSteps)
	}
	steps := slices.Clone(q.Steps)
	for n := range steps {
		at := fmt.Sprintf("/steps/%d", n)
		if steps[n].Takes < 0 || steps[n].Takes > maxTakes {
			return nil, interlock.Errorf(interlock.CodeInvalid, at+"/takes_seconds", "is from 1 to %d", maxTakes)
		}
		if err := checkStep(&steps[n].Action, at); err != nil {
			return nil, err
		}
		if c := steps[n].Compensation; c != nil {
			only := *c
			if err := checkStep(&only, at+"/compensation"); err != nil {
				return nil, err
			}
			steps[n].Compensation = &only
		}
	}
	return steps, nil
}

func checkStep(action *interlock.Action, at string) error {
	switch {
	case !action.Kind.Valid() || action.Kind == interlock.KindText || action.Kind == interlock.KindHint:
		return interlock.Errorf(interlock.CodeInvalid, at+"/kind",
			"is no kind of action that can be carried out, such as shell or tool")
	case action.Kind.TakesObject() != (len(action.Arguments) > 0):
		return interlock.Errorf(interlock.CodeInvalid, at+"/arguments", "are for kinds %s, %s and %s, and missing or too many here",
			interlock.KindFile, interlock.KindHTTP, interlock.KindTool)
	case action.Kind.TakesObject():
		canonical, err := strictjson.Canonical(action.Arguments)
		if err != nil || canonical[0] != '{' {
			return interlock.Errorf(interlock.CodeInvalid, at+"/arguments", "is no JSON object that can be read in one way only")
		}
		action.Arguments = canonical
	case strings.TrimSpace(action.Input) == "":
		return interlock.Errorf(interlock.CodeInvalid, at+"/input", "is missing for kind %s", action.Kind)
	}
	if _, err := strictjson.ActionDigest(*action); err != nil {
		return interlock.Errorf(interlock.CodeInvalid, at, "has no canonical form; send valid UTF-8 and valid JSON")
	}
	return nil
}

// A Planning is one plan while it is looked at.
type Planning struct {
	*Runs
	Ctx       context.Context
	Under     *core.ActiveRules
	Who       interlock.Requester
	Steps     []interlock.PlannedStep
	Standing  ledger.Standing
	Recent    []interlock.PastAction
	Now       time.Time
	Consulted *judging.Consultation
	admin     bool // a judge objects, so that only an admin may acknowledge it
}

// Denied reports whether a person has refused to acknowledge a plan. What can't be read was not refused: it is asked again.
func (p *Planning) Denied(was interlock.Plan) bool {
	asked, found, err := p.Request(p.Ctx, was.Request)
	return err == nil && found && asked.Status == interlock.RequestDenied
}

// Accepted spends a person's yes to a plan.
func (p *Planning) Accepted(plan interlock.Plan, request interlock.ApprovalRequest, change *ledger.Change) (interlock.Plan,
	error) {
	if request.Action != plan.Digest || request.Ruleset != plan.Ruleset || request.Requester.Agent != p.Who.Agent ||
		request.Requester.Principal != p.Who.Principal || request.Approval == nil || request.Approval.Verdict != interlock.Allow {
		return plan, interlock.Errorf(interlock.CodeConflict, "/steps", "what was answered is not about this plan; hand it over anew")
	}
	if err := p.Recheck(p.Ctx, request, p.Standing, p.Now); err != nil {
		return plan, err
	}
	plan.Status, plan.By, plan.Accepted = interlock.PlanAccepted, request.Approval.Operator, p.Now
	change.Spends = append(change.Spends, ledger.One(ledger.Request, request.ID)...)
	return plan, p.Write(change, plan)
}

// Write adds a plan to a change, with its event.
func (p *Planning) Write(change *ledger.Change, plan interlock.Plan) error {
	change.Writes = append(change.Writes, ledger.Rows(plan)...)
	return p.Append(change, interlock.EventPlan, p.Who, "agent", auditlog.PlanRecord{Plan: plan, Judgments: p.Consulted.Said})
}

// Digest names the plan by all that was handed over of it.
func (p *Planning) Digest() (interlock.Digest, error) {
	type step struct {
		Action       interlock.Digest `json:"action"`
		Compensation interlock.Digest `json:"compensation,omitempty"`
		Takes        int              `json:"takes,omitempty"`
	}
	whole := struct {
		Schema string `json:"schema"`
		Agent  string `json:"agent"`
		Run    string `json:"run"`
		Steps  []step `json:"steps"`
	}{"interlock.plan/v1", p.Who.Agent, p.Who.Run, nil}
	for _, s := range p.Steps {
		one := step{Takes: s.Takes}
		var err error
		if one.Action, err = strictjson.ActionDigest(s.Action); err == nil && s.Compensation != nil {
			one.Compensation, err = strictjson.ActionDigest(*s.Compensation)
		}
		if err != nil {
			return "", err
		}
		whole.Steps = append(whole.Steps, one)
	}
	text, err := strictjson.Marshal(whole)
	if err == nil {
		text, err = strictjson.Canonical(text)
	}
	return auditlog.BlobDigest(text), err
}

// Ask is the question whether somebody acknowledges a plan. What is signed is its digest, and every step of it is shown.
func (p *Planning) Ask(plan interlock.Plan) (interlock.ApprovalRequest, error) {
	id, err := p.Random(6)
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	nonce, err := p.Random(16)
	if err != nil {
		return interlock.ApprovalRequest{}, err
	}
	request := interlock.ApprovalRequest{ID: "apr_" + id, Action: plan.Digest, Ruleset: plan.Ruleset, Requester: p.Who, Nonce: nonce,
		Created: p.Now, Expires: p.Now.Add(p.Config.ApprovalTTL), Display: p.display(plan), Status: interlock.RequestPending,
		Judged: p.Consulted.Said}
	if p.admin {
		request.Obligations = []interlock.Obligation{{Type: interlock.ObligationAdmin}}
	}
	for _, o := range plan.Objections {
		if o.Verdict == interlock.Ask {
			request.Reason, request.Rule = o.Reason, o.Rule
			break
		}
	}
	return request, nil
}

// display is a plan as the person who acknowledges it is shown it: every step whole, and what was found of it.
func (p *Planning) display(plan interlock.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan: %d steps of the run %s\ndigest: %s\n", len(plan.Steps), plan.Run, plan.Digest)
	for _, o := range plan.Objections {
		b.WriteString("against it: " + core.Visible(o.Reason) + "\n")
	}
	for n, s := range plan.Steps {
		fmt.Fprintf(&b, "\nstep %d: %s, %s by itself", n+1, reversal(s), s.Verdict)
		if plan.Irreversible == n+1 {
			b.WriteString(": the first that can't be undone")
		}
		b.WriteString("\n" + core.Display(p.redactedAction(p.Steps[n].Action)))
		if c := p.Steps[n].Compensation; c != nil {
			b.WriteString("made good by:\n" + core.Display(p.redactedAction(*c)))
		} else if s.Final() {
			b.WriteString("made good by: nothing\n")
		}
	}
	return b.String()
}

func (a *Runs) redactedAction(action interlock.Action) interlock.Action {
	return a.Redacted(interlock.Proposal{Action: action}).Action
}

// reversal says whether a step can be undone, for people.
func reversal(s interlock.StepView) string {
	switch {
	case s.Lapses:
		return fmt.Sprintf("can be undone for %ds, which is over before the plan is", s.Undo)
	case s.Reversibility == interlock.Window:
		return fmt.Sprintf("can be undone for %ds", s.Undo)
	case s.Final():
		return "can't be undone"
	}
	return string(s.Reversibility)
}

// What an action is to the plan of its run.
const (
	StepOutside = iota // none of its steps
	StepNext
	stepAgain // the last one once more, or what makes good one that was taken
)

// NextStep says what an action is to a plan.
func NextStep(plan interlock.Plan, digest interlock.Digest) int {
	if plan.Done < len(plan.Steps) && plan.Steps[plan.Done].Action == digest {
		return StepNext
	}
	done := plan.Steps[:min(plan.Done, len(plan.Steps))]
	for n, s := range done {
		if s.Compensation == digest || n == len(done)-1 && s.Action == digest &&
			(s.Reversibility == interlock.Readonly || s.Reversibility == interlock.Reversible) {
			return stepAgain
		}
	}
	return StepOutside
}
