package interlock

import (
	"context"
	"encoding/json"
	"time"
)

// A Run is one piece of work of one agent that was registered before it began: for which task, on whose behalf, how long. Actions
// that name it are held against the types of every agent it was delegated by.
type Run struct {
	ID            string     `json:"id"` // made by Interlock: "run_" and 24 hexadecimal digits
	Agent         string     `json:"agent"`
	Principal     string     `json:"principal,omitempty"`
	Orchestration string     `json:"orchestration"`    // the run in which all of it began: this one, where it has no parent
	Parent        string     `json:"parent,omitempty"` // the run that delegated it
	Chain         []RunLink  `json:"chain,omitempty"`  // the runs it was delegated by, the parent first
	Task          string     `json:"task,omitempty"`
	Tools         []string   `json:"tools,omitempty"`  // that the task requires
	Output        *RunOutput `json:"output,omitempty"` // what its result has to look like
	Key           string     `json:"key,omitempty"`    // by which its agent, or its delegator, registers it no second time
	Created       time.Time  `json:"created"`
	Until         time.Time  `json:"until,omitzero"`  // its time box: past it nothing is done in it
	Paused        time.Time  `json:"paused,omitzero"` // when that was recorded, and what it was at was kept

	// how long it may take with all that it delegates before people are told, and when they were
	Latency time.Duration `json:"latency_ns,omitempty"`
	Late    time.Time     `json:"late_at,omitzero"`

	Ended  time.Time `json:"ended,omitzero"`
	Status RunStatus `json:"status"`
	By     string    `json:"by,omitempty"` // whose word ended it
	Why    string    `json:"why,omitempty"`

	Attested []Attestation `json:"attested,omitempty"` // the calls that its task requires and that were carried out, by tool
	Missing  []string      `json:"missing,omitempty"`  // of a run that ended incomplete: the tools that were not, or failed last

	Reviews []RunReview `json:"reviews,omitempty"` // the results that judges object to and people were asked about
}

// A RunReview is a result that judges object to, with the request by which a person says whether it leaves.
type RunReview struct {
	Result  Digest `json:"result"`
	Request string `json:"request"`
}

// An Attestation says how a call ended that a run's task requires. It is made of the recorded outcome, never of what an agent says
// when it ends its run.
type Attestation struct {
	Tool   string        `json:"tool"` // as the run requires it
	Status OutcomeStatus `json:"outcome"`
	By     string        `json:"by"`       // which door carried it out, such as exec or gateway
	Event  string        `json:"event_id"` // of the decision that let it through
	Action Digest        `json:"action_digest"`
	At     time.Time     `json:"at"`
}

// A RunLink is one run that another was delegated by.
type RunLink struct {
	Run       string `json:"run"`
	Agent     string `json:"agent"`
	Principal string `json:"principal,omitempty"`
}

// A RunOutput is the format that a run's result is declared to have. A result is JSON.
type RunOutput struct {
	Kind   string   `json:"kind"`             // object, array, string, number or boolean
	Fields []string `json:"fields,omitempty"` // of an object: members that it has, none of them null
	Bytes  int      `json:"bytes,omitempty"`  // that it has at most; the door's own bound, if none is given
}

// A RunStatus says what has become of a run.
type RunStatus string

// The statuses of runs.
const (
	RunOpen      RunStatus = "open"
	RunCompleted RunStatus = "completed"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	// its agent took it for completed, and a call that its task requires was not made or failed: its result counts for nothing
	RunIncomplete RunStatus = "incomplete"
)

// A RunRequest asks to register a run.
type RunRequest struct {
	Key    string     `json:"key,omitempty"`    // chosen by the caller: the same one again is the same run
	Agent  string     `json:"agent,omitempty"`  // to whom it is delegated; the caller, if nobody is named
	Parent string     `json:"parent,omitempty"` // the caller's run that it is part of
	Task   string     `json:"task,omitempty"`
	Tools  []string   `json:"tools,omitempty"`
	Output *RunOutput `json:"output,omitempty"`
	Box    int        `json:"time_box_seconds,omitempty"`
}

// A RunEnd ends a run.
type RunEnd struct {
	Status RunStatus       `json:"status"` // completed, failed or cancelled
	Why    string          `json:"why,omitempty"`
	Result json.RawMessage `json:"result,omitempty"` // held against the declared output and not kept
	// what is not certain of what was done, in a few words each. Work that never names anything counts as of lower quality
	Uncertain []string `json:"uncertain,omitempty"`
}

// A RunBasis is what an action's registered run rests on, as a decision reads it.
type RunBasis struct {
	Run   string      `json:"run,omitempty"`   // empty: the action names no registered run
	Wrong string      `json:"wrong,omitempty"` // why nothing may be done in it, in words an agent may read
	Links []RunHolder `json:"links,omitempty"` // who it was delegated by, the nearest first
	User  string      `json:"user,omitempty"`  // the person who answers for the agent that began it all
	// it was delegated; an action that names no registered run and is true here is of an agent that holds some that were
	Delegated bool `json:"delegated,omitempty"`
}

// A RunHolder is an agent that delegated a run, with the type it is bound to.
type RunHolder struct {
	Agent string `json:"agent"`
	Type  string `json:"type"`
}

// Runs is a [Backend] that registers runs, as that of package interlock/embedded does. A program that speaks for several agents names
// in each call which one it speaks for; nobody else can have found that out.
type Runs interface {
	// RegisterRun registers a run of the requester's, or one that it delegates to another agent within a run of its own.
	RegisterRun(ctx context.Context, by Requester, q RunRequest) (Run, error)
	// EndRun ends a run, withdraws what it has asked, and ends all that it has delegated.
	EndRun(ctx context.Context, by Requester, id string, end RunEnd) (Run, error)
	// BindRun has what is done in a harness's session count as done in a run.
	BindRun(ctx context.Context, by Requester, id, session string) error
	// Turn counts one more turn of a conversation; past the bound it is an error, which says who decides.
	Turn(ctx context.Context, by Requester, id, conversation string) (turn int, err error)
	// Heartbeat says that the requester's agent is there.
	Heartbeat(ctx context.Context, by Requester) error
}

// RegisterRun registers a run of the guard's requester. Proposals that name it in Requester.Run are decided as part of it.
func (g *Guard) RegisterRun(ctx context.Context, q RunRequest) (Run, error) {
	runs, err := g.runs()
	if err != nil {
		return Run{}, err
	}
	return runs.RegisterRun(ctx, g.config.Requester, q)
}

// EndRun ends a run of the guard's requester, or one that it has delegated.
func (g *Guard) EndRun(ctx context.Context, id string, end RunEnd) (Run, error) {
	runs, err := g.runs()
	if err != nil {
		return Run{}, err
	}
	return runs.EndRun(ctx, g.config.Requester, id, end)
}

// Checkpoint keeps what the guard's requester is at in a run of its own, before its context is rotated.
func (g *Guard) Checkpoint(ctx context.Context, run string, c RunCheckpoint) (RunKept, error) {
	keeper, ok := g.config.Backend.(Checkpoints)
	if !ok {
		return RunKept{}, Errorf(CodeUnavailable, "Backend", "keeps no checkpoints; interlock/embedded.Open makes one that does")
	}
	return keeper.Checkpoint(ctx, g.config.Requester, run, c)
}

// Resume is the newest checkpoint of a run, to go on from there.
func (g *Guard) Resume(ctx context.Context, run string) (RunKept, error) {
	keeper, ok := g.config.Backend.(Checkpoints)
	if !ok {
		return RunKept{}, Errorf(CodeUnavailable, "Backend", "keeps no checkpoints; interlock/embedded.Open makes one that does")
	}
	return keeper.Resume(ctx, g.config.Requester, run)
}

func (g *Guard) runs() (Runs, error) {
	runs, ok := g.config.Backend.(Runs)
	if !ok {
		return nil, Errorf(CodeUnavailable, "Backend", "registers no runs; interlock/embedded.Open makes one that does")
	}
	return runs, nil
}
