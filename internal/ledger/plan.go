package ledger

import "interlock"

// A plan is the row of a run: its key is the run's, so that whoever knows the run knows its plan, and both are proved together.

func planAbout(p interlock.Plan) About {
	return About{Key: RunKey(p.Agent, p.Run), Marks: withAll(nano(p.Created), PlanNamed(p.ID), PlanNamed(p.Run)), Binds: true}
}

// PlanNamed is the mark of a plan of which nobody knows yet whose it is, by its own id or its run's.
func PlanNamed(id string) string { return "plan\x00" + id }

func planInto(p interlock.Plan, to *Standing) { to.other(Plan, RunKey(p.Agent, p.Run), p) }

func planOwner(value any) string {
	p := value.(interlock.Plan)
	return ownerRun + RunKey(p.Agent, p.Run)
}

// Plan is the plan of a run.
func (s *Standing) Plan(agent, run string) (interlock.Plan, bool) {
	p, there := s.Others[Plan][RunKey(agent, run)].(interlock.Plan)
	return p, there
}
