package ledger

import "interlock"

// A plan is the row of a run: its key is the run's, so that to know the run is to know its plan, and both are proved together.

// PlanNamed is the mark of a plan while nobody knows yet whose it is, by its own id or its run's.
func PlanNamed(id string) string { return "plan\x00" + id }

// Plan is the plan of a run.
func (s *Standing) Plan(agent, run string) (interlock.Plan, bool) {
	p, there := s.Others[Plan][RunKey(agent, run)].(interlock.Plan)
	return p, there
}
