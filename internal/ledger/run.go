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

// RunKey names a run of an agent. Whoever asks under another agent's name finds nothing.
func RunKey(agent, run string) string { return agent + "\x00" + run }

// The marks of runs besides [All]: those that an agent holds, one of which nobody knows yet whose it is, those that one has delegated, those of one
// orchestration, and those that have ended.
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

func runAbout(r interlock.Run) About {
	about := About{Key: RunKey(r.Agent, r.ID), Marks: under(nano(r.Created), RunNamed(r.ID)), Binds: true}
	if !runStands(r) {
		about.Marks = appendMarks(about.Marks, nano(r.Ended), RunsEnded)
		return about
	}
	about.Marks = appendMarks(about.Marks, nano(r.Created), All, RunsOf(r.Agent), RunIn(r.Orchestration))
	if !r.Until.IsZero() && r.Paused.IsZero() {
		about.Marks = appendMarks(about.Marks, nano(r.Until), RunsDue)
	}
	if r.Latency > 0 && r.Late.IsZero() {
		about.Marks = appendMarks(about.Marks, nano(r.Created.Add(r.Latency)), RunsLate)
	}
	if r.Parent != "" {
		about.Marks = appendMarks(about.Marks, nano(r.Created), RunUnder(r.Parent))
	}
	return about
}

func runStands(r interlock.Run) bool { return r.Ended.IsZero() }

func runInto(r interlock.Run, to *Standing) { to.other(Run, RunKey(r.Agent, r.ID), r) }

// runNext lets a run be registered once, be paused and given more time while it is open, and end once. In between it is written
// anew where a call that it requires has ended, or a person is asked about its result.
func runNext(before, after any, _ time.Time) error {
	was, there := before.(interlock.Run)
	is, _ := after.(interlock.Run)
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

// What is delegated to an agent that held nothing delegated before is noticed by its decisions: until then it acted freely.
func runCountAbout(t RunCountBody) About {
	return About{Key: t.Name, Marks: withAll(0), Binds: t.Delegated == 1}
}

func runCountInto(t RunCountBody, to *Standing) { to.other(RunCount, t.Name, t) }

func runCountNext(before, after any, _ time.Time) error {
	was, _ := before.(RunCountBody)
	is, _ := after.(RunCountBody)
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

func aliveAbout(a AliveBody) About {
	return About{Key: a.Agent, Marks: under(nano(a.At.Add(AliveFor)), Until)}
}

func runOwner(value any) string {
	r := value.(interlock.Run)
	return ownerRun + RunKey(r.Agent, r.ID)
}

func runCountOwner(value any) string { return ownerTally + value.(RunCountBody).Name }
