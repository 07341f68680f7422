package console

import (
	"net/http"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/ledger"
)

// A planned is a plan of a run as pages show it.
type planned struct {
	interlock.Plan
	Veiled bool // the actions' own words are not shown
}

func (c *Console) planned(r *http.Request, plan interlock.Plan) planned {
	return planned{plan, !c.may(r, reading)}
}

// Left is how many steps have not been let through.
func (p planned) Left() int { return len(p.Steps) - p.Done }

// plansPage lists the plans of runs.
func (c *Console) plansPage(w http.ResponseWriter, r *http.Request) {
	plans, err := admission.PlansUnder(r.Context(), c.config.Backend, ledger.All, maxListed)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	list := admission.List[planned]{All: plans.All}
	for _, plan := range plans.Rows {
		list.Rows = append(list.Rows, c.planned(r, plan))
	}
	c.render(w, r, http.StatusOK, "plans.html", "Plans", list)
}

// planPage shows one plan, by its id or its run's. Its acknowledgement is the answer to its request, as of any question.
func (c *Console) planPage(w http.ResponseWriter, r *http.Request) {
	plans, err := admission.PlansUnder(r.Context(), c.config.Backend, ledger.PlanNamed(r.PathValue("id")), 1)
	if err == nil && len(plans.Rows) == 0 {
		err = interlock.Errorf(interlock.CodeNotFound, "id", "no plan and no run with a plan has this name")
	}
	if err != nil {
		c.fail(w, r, err)
		return
	}
	plan := c.planned(r, plans.Rows[0])
	c.render(w, r, http.StatusOK, "plan.html", "Plan "+plan.ID, plan)
}
