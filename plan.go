package interlock

import (
	"context"
	"time"
)

// A PlanRequest hands over what a run is to do, whole, before its first step.
type PlanRequest struct {
	Run   string        `json:"run"` // a registered run of the requester's
	Steps []PlannedStep `json:"steps"`
}

// A PlannedStep is one action of a plan, with what makes it good if the plan has to be given up after it.
type PlannedStep struct {
	Action
	Compensation *Action `json:"compensation,omitempty"`
	Takes        int     `json:"takes_seconds,omitempty"` // until the next one; it counts where it is longer than the rules assume
}

// A Plan is what a run is to do, as it was looked at before its first step. While it is in force, a step that it does not have
// next is asked about.
type Plan struct {
	ID        string     `json:"id"` // "pln_" and the beginning of its digest
	Digest    Digest     `json:"digest"`
	Run       string     `json:"run"`
	Agent     string     `json:"agent"`
	Principal string     `json:"principal,omitempty"`
	Ruleset   Digest     `json:"ruleset"`
	Status    PlanStatus `json:"status"`
	Steps     []StepView `json:"steps"`

	Irreversible  int          `json:"first_irreversible,omitempty"` // the first step that can't be undone by the plan's end; from 1, 0 is none
	Uncompensated []int        `json:"uncompensated,omitempty"`      // the steps that can't be undone and name nothing that makes them good
	Objections    []PlanRemark `json:"objections,omitempty"`         // what speaks against it as a whole

	Request  string    `json:"request,omitempty"` // that waits for a person to acknowledge it
	By       string    `json:"accepted_by,omitempty"`
	Created  time.Time `json:"created"`
	Accepted time.Time `json:"accepted,omitzero"`
	Done     int       `json:"done"` // how many of its steps have been let through
}

// A PlanStatus says whether a plan's steps may be taken.
type PlanStatus string

// The statuses of plans. The zero value is none of them and lets nothing through.
const (
	PlanWaiting  PlanStatus = "waiting" // for a person to acknowledge what can't be undone, or what the limits ask about
	PlanAccepted PlanStatus = "accepted"
	PlanRefused  PlanStatus = "refused"
)

// A StepView is what was found of one step.
type StepView struct {
	Action        Digest        `json:"action_digest"`
	Says          string        `json:"says"` // the action in short, redacted
	Verdict       Verdict       `json:"verdict"`
	Rule          string        `json:"rule,omitempty"` // of what objects most
	Reason        string        `json:"reason,omitempty"`
	Reversibility Reversibility `json:"reversibility"`
	Lapses        bool          `json:"lapses,omitempty"` // the time in which it can be undone is over before the plan is
	Undo          int           `json:"undo_seconds,omitempty"`
	Takes         int           `json:"takes_seconds"`
	Compensation  Digest        `json:"compensation_digest,omitempty"`
	MadeGood      string        `json:"compensation,omitempty"` // what makes it good, in short, redacted
}

// Final reports whether the step can't be undone by the time the plan has ended.
func (s StepView) Final() bool {
	return s.Lapses || s.Reversibility != Readonly && s.Reversibility != Reversible && s.Reversibility != Window
}

// A PlanRemark is one thing that speaks against a plan as a whole.
type PlanRemark struct {
	Rule    string  `json:"rule"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
	Steps   []int   `json:"steps,omitempty"` // that it is about; from 1
}

// Plans is a [Backend] that looks at plans, as that of package interlock/embedded does.
type Plans interface {
	// SubmitPlan hands over the plan of a run. The same plan again is the same plan, as far as it has come.
	SubmitPlan(ctx context.Context, by Requester, q PlanRequest) (Plan, error)
}

// SubmitPlan hands over what a run of the guard's requester is to do.
func (g *Guard) SubmitPlan(ctx context.Context, q PlanRequest) (Plan, error) {
	plans, ok := g.config.Backend.(Plans)
	if !ok {
		return Plan{}, Errorf(CodeUnavailable, "Backend", "takes no plans; interlock/embedded.Open makes one that does")
	}
	return plans.SubmitPlan(ctx, g.config.Requester, q)
}
