package ledger

import (
	"slices"
	"strings"
	"time"

	"interlock"
)

// Registered reports whether a run's name has the form of one that Interlock made. Names that harnesses make have another.
func Registered(run string) bool {
	digits, found := strings.CutPrefix(run, "run_")
	return found && len(digits) == 24 && strings.Trim(digits, "0123456789abcdef") == ""
}

// RunKey names a run of an agent. One who asks under another agent's name finds nothing.
func RunKey(agent, run string) string { return agent + "\x00" + run }

// The marks of runs besides [All]: those that an agent holds, one while nobody knows yet whose it is, those that one has
// delegated, those of one orchestration, and those that have ended.
func RunsOf(agent string) string { return "runs\x00" + agent }
func RunNamed(run string) string { return "named\x00" + run }
func RunUnder(run string) string { return "under\x00" + run }
func RunIn(root string) string   { return "in\x00" + root }

// RunsDue is the mark of runs whose time is over at a time, and which nobody has paused for that yet.
const RunsDue = "due"

// RunsEnded is the mark of runs that have ended.
const RunsEnded = "ended"

// RunsLate is the mark of open runs that may take so long, by when that is over.
const RunsLate = "late"

func runMarks(r interlock.Run) []Mark {
	at := nano(r.Created)
	marks := under(at, RunNamed(r.ID))
	if !runStands(r) {
		return appendMarks(marks, nano(r.Ended), RunsEnded)
	}
	marks = appendMarks(marks, at, All, RunsOf(r.Agent), RunIn(r.Orchestration))
	if !r.Until.IsZero() && r.Paused.IsZero() {
		marks = appendMarks(marks, nano(r.Until), RunsDue)
	}
	if r.Latency > 0 && r.Late.IsZero() {
		marks = appendMarks(marks, nano(r.Created.Add(r.Latency)), RunsLate)
	}
	if r.Parent != "" {
		marks = appendMarks(marks, at, RunUnder(r.Parent))
	}
	return marks
}

func runStands(r interlock.Run) bool { return r.Ended.IsZero() }

// runNext lets a run be registered once, be paused and given more time while it is open, and end once. In between it is written
// again where a call that it requires has ended, or a person is asked about its result.
func runNext(was, is interlock.Run, there bool, _ time.Time) error {
	switch {
	case there && !runStands(was):
		return moved(Run, "it has ended")
	case there && runStands(is) && was.Late.IsZero() && !is.Late.IsZero():
		return nil // people were told that it takes longer than it may
	case there && runStands(is) && was.Until.Equal(is.Until) && was.Paused.Equal(is.Paused) && len(is.Attested) == 0 &&
		slices.Equal(was.Reviews, is.Reviews):
		return moved(Run, "it is registered already")
	}
	return nil
}

// Run is an open run of an agent.
func (s *Standing) Run(agent, run string) (interlock.Run, bool) {
	r, ok := s.Others[Run][RunKey(agent, run)].(interlock.Run)
	return r, ok
}

// A RunCountBody counts what registering a run turns on: of an agent, of an orchestration, or of a task that an agent has taken up.
type RunCountBody struct {
	Name      string         `json:"name"`                // see [AgentTally] and its siblings
	Seq       int            `json:"seq"`                 // how often it has changed: of two changes at once one is made again
	Open      int            `json:"open,omitempty"`      // runs of the agent that are open
	Delegated int            `json:"delegated,omitempty"` // of these, those that another agent has delegated
	Spawned   Times          `json:"spawned,omitzero"`    // when runs were registered
	Attempts  int            `json:"attempts,omitempty"`  // of the task, since it was last completed
	Turns     map[string]int `json:"turns,omitempty"`     // of conversations in the orchestration, by their name
	// who of the orchestration drove whom how often, by delegation and by messages: see [RunCountBody.Drive]
	Drives map[string]map[string]int `json:"drives,omitempty"`
	// of the orchestration: the first violation in it, after which no message passes in it
	Halted *interlock.Violation `json:"halted,omitempty"`
	// the agent's runs by the names that its harness gives to its sessions
	Sessions map[string]string `json:"sessions,omitempty"`
}

// AgentTally, RunTally and TaskTally name what is counted of an agent, of an orchestration, and of a task that an agent takes up.
func AgentTally(agent string) string      { return "agent\x00" + agent }
func RunTally(root string) string         { return "run\x00" + root }
func TaskTally(agent, task string) string { return "task\x00" + agent + "\x00" + task }

func runCountNext(was, is RunCountBody, there bool, _ time.Time) error {
	if is.Seq != was.Seq+1 {
		return moved(RunCount, "another run was registered or ended meanwhile")
	}
	return nil
}

// Tally is what is counted under a name.
func (s *Standing) Tally(name string) RunCountBody {
	t, _ := s.Others[RunCount][name].(RunCountBody)
	t.Name = name
	return t
}

// RunOf is the registered run that an action of an agent is done in: the one it names, or the one that the session it names is bound
// to. Empty: none.
func (s *Standing) RunOf(r interlock.Requester) string {
	if Registered(r.Run) {
		return r.Run
	}
	return s.Tally(AgentTally(r.Agent)).Sessions[r.Run]
}

// AliveFor is how long it is remembered that an agent was heard.
const AliveFor = 24 * time.Hour

// An AliveBody is when an agent said last that it is there. It permits nothing by itself, so nobody proves it.
type AliveBody struct {
	Agent string    `json:"agent"`
	At    time.Time `json:"at"`
	Lost  bool      `json:"lost,omitempty"` // it was not heard in time since, and the log says so
}

// A plan is the row of a run: its key is the run's, so that to know the run is to know its plan, and both are proved together.

// PlanNamed is the mark of a plan while nobody knows yet whose it is, by its own id or its run's.
func PlanNamed(id string) string { return "plan\x00" + id }

// Plan is the plan of a run.
func (s *Standing) Plan(agent, run string) (interlock.Plan, bool) {
	p, there := s.Others[Plan][RunKey(agent, run)].(interlock.Plan)
	return p, there
}
