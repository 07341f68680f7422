package runs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
)

// A registering is one request to register a run, while it is carried out.
type registering struct {
	by     interlock.Requester // who asks
	to     string              // the agent that is to hold it
	q      interlock.RunRequest
	id     string
	rules  *ruleset.Ruleset
	ground core.DecisionRows
	now    time.Time
	silent bool // the agent that is to hold it does not answer
}

// RegisterRun registers a run of the requester's, or one that the requester delegates to another agent within a run of its own. The
// same request again is the same run. Who asks is the door's to have found out: a run can be used and ended by its agent, and ended
// by those it was delegated by.
func (a *Runs) RegisterRun(ctx context.Context, by interlock.Requester, q interlock.RunRequest) (run interlock.Run, err error) {
	if err := checkRun(by, q); err != nil {
		return run, a.RefuseRun(ctx, by, err)
	}
	q.Task = a.Redact(q.Task)
	r := registering{by: by, to: by.Agent, q: q, rules: a.Active.Load().Rules}
	if q.Agent != "" {
		r.to = q.Agent
	}
	if r.id, err = a.runID(by, q); err != nil {
		return run, err
	}
	_, err = a.CommitOn(ctx, false, func(ctx context.Context, load core.LoadRows) (core.DecisionRows, error) {
		err := a.groundOfRun(ctx, load, &r)
		return r.ground, err
	}, func(standing ledger.Standing) (ledger.Change, error) {
		r.now = a.Config.Now().UTC().Truncate(time.Microsecond)
		known, found := r.again()
		if found {
			run = known
			return ledger.Change{}, errors.Join(core.ErrUnchanged, r.same(known))
		}
		if run, err = r.run(standing); err != nil {
			return ledger.Change{}, err
		}
		return a.registration(&r, run, standing)
	})
	if errors.Is(err, core.ErrUnchanged) {
		refused := (*interlock.Error)(nil)
		if !errors.As(err, &refused) {
			return run, nil
		}
		err = refused
	}
	if r.silent && err != nil {
		err = a.failOver(ctx, &r, err)
	}
	if err != nil {
		return interlock.Run{}, a.RefuseRun(ctx, by, err)
	}
	return run, nil
}

// failOver does what is to be done when an agent does not answer that work was to be given to, and says who stands in, if anybody does.
func (a *Runs) failOver(ctx context.Context, r *registering, cause error) error {
	parent, _ := r.ground.Run(r.by.Agent, r.q.Parent)
	if _, err := a.Containment.Lose(ctx, r.to, "does not answer, and work was to be given to it", parent.Orchestration); err != nil {
		return err
	}
	standing, err := a.Ground(ctx, core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, r.to)))
	if err == nil {
		err = containment.Isolated(r.to, standing, r.now)
	}
	if err == nil {
		return cause
	}
	return err
}

// RefuseRun records that a run was not registered, was not ended or took no turn, where that is the request's own fault. What
// bounds how many there may be is an alert as well.
func (a *Runs) RefuseRun(ctx context.Context, by interlock.Requester, cause error) error {
	refused := (*interlock.Error)(nil)
	if !errors.As(cause, &refused) || by.Agent == "" {
		return cause
	}
	change, record := ledger.Change{}, auditlog.RefusalRecord{Door: "runs", Code: string(refused.Code), Reason: core.Reason(refused)}
	if result := (*unfit)(nil); errors.As(cause, &result) {
		change.Writes, record.Judgments = result.rows, result.said
	}
	err := a.Append(&change, interlock.EventRefusal, by, "agent", record)
	if err == nil && refused.Code == interlock.CodeLimited {
		err = a.Raise(&change, by, "run-limited", core.Reason(refused))
	}
	if err == nil {
		_, err = a.Config.Store.Commit(ctx, change)
	}
	if err != nil {
		return err
	}
	return cause
}

// checkRun refuses a request that says too much, or what nobody could read.
func checkRun(by interlock.Requester, q interlock.RunRequest) error {
	if err := core.CheckAgent(by, "every run has an agent"); err != nil {
		return err
	}
	for _, one := range []struct{ field, text string }{{"/key", q.Key}, {"/agent", q.Agent}, {"/task", q.Task}} {
		if err := core.PlainName(one.field, one.text); err != nil {
			return err
		}
	}
	if q.Parent != "" && !ledger.Registered(q.Parent) {
		return interlock.Errorf(interlock.CodeInvalid, "/parent", "is no id of a registered run: run_ and 24 digits")
	}
	if len(q.Tools) > core.MaxRunTools {
		return interlock.Errorf(interlock.CodeInvalid, "/tools", "has more than %d entries", core.MaxRunTools)
	}
	for _, tool := range q.Tools {
		if err := core.PlainName("/tools", tool); err != nil || tool == "" {
			return errors.Join(err, interlock.Errorf(interlock.CodeInvalid, "/tools", "has an entry that names nothing"))
		}
	}
	if q.Box < 0 || q.Box > int(core.MaxBox/time.Second) {
		return interlock.Errorf(interlock.CodeInvalid, "/time_box_seconds", "is from 1 to %d", int(core.MaxBox/time.Second))
	}
	return checkOutput(q.Output)
}

func checkOutput(o *interlock.RunOutput) error {
	if o == nil {
		return nil
	}
	if !slices.Contains([]string{"object", "array", "string", "number", "boolean"}, o.Kind) {
		return interlock.Errorf(interlock.CodeInvalid, "/output/kind", "is one of object, array, string, number and boolean")
	}
	if len(o.Fields) > core.MaxFields || o.Kind != "object" && len(o.Fields) > 0 {
		return interlock.Errorf(interlock.CodeInvalid, "/output/fields", "are of an object, %d at most", core.MaxFields)
	}
	for _, field := range o.Fields {
		if err := core.PlainName("/output/fields", field); err != nil || field == "" {
			return errors.Join(err, interlock.Errorf(interlock.CodeInvalid, "/output/fields", "has an entry that names nothing"))
		}
	}
	if o.Bytes < 0 || o.Bytes > core.MaxRunResult {
		return interlock.Errorf(interlock.CodeInvalid, "/output/bytes", "is from 1 to %d", core.MaxRunResult)
	}
	return nil
}

// runID makes a run's id: out of the caller's key, so that the same one is the same run, or out of nothing.
func (a *Runs) runID(by interlock.Requester, q interlock.RunRequest) (string, error) {
	if q.Key == "" {
		id, err := a.Random(12)
		return "run_" + id, err
	}
	sum := sha256.Sum256([]byte("interlock/run/v1\x00" + by.Agent + "\x00" + q.Key))
	return "run_" + hex.EncodeToString(sum[:12]), nil
}

// groundOfRun loads what registering a run turns on.
func (a *Runs) groundOfRun(ctx context.Context, load core.LoadRows, r *registering) error {
	refs := []ledger.Ref{core.Key(ledger.Agent, r.by.Agent), core.Under(ledger.Run, ledger.RunNamed(r.id)),
		core.Key(ledger.RunCount, ledger.AgentTally(r.to))}
	refs = append(refs, a.Holdable()...)
	if r.to != r.by.Agent {
		refs = append(refs, core.Key(ledger.Agent, r.to), core.Key(ledger.Alive, r.to),
			core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, r.to)))
	}
	if r.q.Task != "" {
		refs = append(refs, core.Key(ledger.RunCount, ledger.TaskTally(r.to, r.q.Task)))
	}
	if r.q.Parent != "" {
		refs = append(refs, core.Key(ledger.Run, ledger.RunKey(r.by.Agent, r.q.Parent)))
	}
	r.ground = core.DecisionRows{Reads: refs}
	if err := a.Extend(ctx, load, &r.ground, new(core.Names), refs); err != nil {
		return err
	}
	parent, open := r.ground.Run(r.by.Agent, r.q.Parent)
	if !open {
		return nil
	}
	more := append(core.ChainRefs(parent), core.Key(ledger.RunCount, ledger.RunTally(parent.Orchestration)))
	r.ground.Reads = append(r.ground.Reads, more...)
	return a.Extend(ctx, load, &r.ground, new(core.Names), more)
}

// again is the run that the same key has registered before, whether or not it has ended.
func (r *registering) again() (interlock.Run, bool) {
	for _, known := range core.All[interlock.Run](&r.ground) {
		if known.ID == r.id {
			return known, true
		}
	}
	return interlock.Run{}, false
}

// same refuses another request under a key that is taken.
func (r *registering) same(known interlock.Run) error {
	if known.Agent != r.to || known.Parent != r.q.Parent || known.Task != r.q.Task || !slices.Equal(known.Tools, r.q.Tools) {
		return interlock.Errorf(interlock.CodeConflict, "/key", "names another run already; choose another")
	}
	return nil
}

// run is the run that is to be registered, or why it can't be.
func (r *registering) run(standing ledger.Standing) (interlock.Run, error) {
	for _, who := range []string{r.by.Agent, r.to} {
		if err := core.InOffice(interlock.Requester{Agent: who}, standing, r.now); err != nil {
			return interlock.Run{}, err
		}
	}
	if err := core.Halted(standing); err != nil {
		return interlock.Run{}, err
	}
	run := interlock.Run{ID: r.id, Agent: r.to, Principal: core.Owned(r.by, standing).Principal, Orchestration: r.id, Task: r.q.Task,
		Tools: r.q.Tools, Output: r.q.Output, Key: r.q.Key, Created: r.now, Status: interlock.RunOpen}
	if box := r.boxed(standing); box > 0 {
		run.Until = r.now.Add(box)
	}
	var err error
	if r.q.Parent == "" {
		run.Latency = r.rules.LatencyOf(ruleset.TypeName(core.AgentOf(r.by, standing)))
		err = r.begins(standing)
	} else {
		err = r.delegates(&run, standing)
	}
	if err == nil {
		err = r.bounded(run, standing)
	}
	return run, err
}

// begins looks at a run that nobody has delegated.
func (r *registering) begins(standing ledger.Standing) error {
	own := r.rules.TypeOf(core.AgentOf(r.by, standing))
	switch {
	case r.to != r.by.Agent:
		return interlock.Errorf(interlock.CodeInvalid, "/parent", "is missing; work is delegated within a run of one's own")
	case r.rules.Typed() && own.Runs == ruleset.RunsDelegated:
		return interlock.Errorf(interlock.CodeUnauthorized, "/parent",
			"is missing; agents of the type %s begin nothing by themselves (runs)", own.Name)
	case standing.Tally(ledger.AgentTally(r.to)).Delegated > 0:
		return interlock.Errorf(interlock.CodeUnauthorized, "/parent",
			"is missing; an agent that holds a delegated run begins no other by itself until that has ended")
	}
	return nil
}

// delegates looks at a run that is delegated, and fills in by whom.
func (r *registering) delegates(run *interlock.Run, standing ledger.Standing) error {
	parent, open := standing.Run(r.by.Agent, r.q.Parent)
	if !open || core.Over(parent, r.now) {
		return interlock.Errorf(interlock.CodeUnauthorized, "/parent", "is no open run of this agent")
	}
	if wrong := core.BasisOf(interlock.Requester{Agent: r.by.Agent, Run: parent.ID}, standing, r.now).Wrong; wrong != "" {
		return interlock.Errorf(interlock.CodeUnauthorized, "/parent", "%s", wrong)
	}
	if _, known := standing.Agents[r.to]; !known {
		return interlock.Errorf(interlock.CodeNotFound, "/agent", "no agent of this name is registered; `interlock agent add` does it")
	}
	run.Parent, run.Orchestration = parent.ID, parent.Orchestration
	run.Principal = standing.Agents[r.to].Principal
	run.Chain = append([]interlock.RunLink{{Run: parent.ID, Agent: parent.Agent, Principal: parent.Principal}}, parent.Chain...)
	if !parent.Until.IsZero() && (run.Until.IsZero() || parent.Until.Before(run.Until)) {
		run.Until = parent.Until // nobody gives more time than there is
	}
	for n, by := range run.Chain {
		if by.Agent == r.to {
			return interlock.Errorf(interlock.CodeConflict, "/agent", "has delegated this itself; work goes round in no circle")
		}
		if deep := r.rules.Deep(r.typeOf(by.Agent, standing)); deep < n+1 {
			return interlock.Errorf(interlock.CodeLimited, "/parent",
				"what the agent %.80s has begun may be delegated on %d times (tier, runs.depth)", by.Agent, deep)
		}
	}
	t := standing.Tally(ledger.RunTally(run.Orchestration))
	if _, turns, fits := t.Drive(run.Chain[0].Agent, r.to); turns > r.rules.Runs().Turns || !fits {
		return interlock.Errorf(interlock.CodeLimited, "/agent",
			"these agents have driven each other round for %d turns, and it ends here; %s decides (runs.turns)",
			r.rules.Runs().Turns, messages.Decides(r.rules.Runs()))
	}
	if err := containment.Isolated(r.to, standing, r.now); err != nil {
		return err
	}
	return r.responsive(standing)
}

func (r *registering) typeOf(agent string, standing ledger.Standing) *ruleset.Type {
	return r.rules.TypeOf(core.AgentOf(interlock.Requester{Agent: agent}, standing))
}

// responsive refuses to give work to an agent that has not been heard lately, where its type says that it is to be.
func (r *registering) responsive(standing ledger.Standing) error {
	within := time.Duration(r.typeOf(r.to, standing).Alive)
	alive := core.Found[ledger.AliveBody](&r.ground, core.Key(ledger.Alive, r.to))
	if within <= 0 || !alive.At.IsZero() && r.now.Sub(alive.At) <= within {
		return nil
	}
	r.silent = true
	return interlock.Errorf(interlock.CodeUnavailable, "/agent",
		"has not been heard for %s (alive); give the work to another, or send this again once it is there", within)
}

// bounded looks at how many runs there are already, how often the task was tried, and whether everybody has the tools it needs.
func (r *registering) bounded(run interlock.Run, standing ledger.Standing) error {
	own := r.typeOf(r.to, standing)
	if open := own.Spawns().Open; standing.Tally(ledger.AgentTally(r.to)).Open >= open {
		return interlock.Errorf(interlock.CodeLimited, "/agent", "holds %d open runs already, which is as many as its type lets (spawn.open)", open)
	}
	spawned := standing.Tally(r.spawner(run)).Spawned
	holders := []string{r.to}
	for _, by := range run.Chain {
		holders = append(holders, by.Agent)
	}
	for _, agent := range holders {
		t := r.typeOf(agent, standing)
		bound := t.Spawns()
		if within := time.Duration(bound.Within); spawned.Since(r.now, within).Number >= bound.Most {
			return interlock.Errorf(interlock.CodeLimited, "/parent",
				"%d runs were registered here within %s, which is as many as the type of the agent %.80s lets (spawn.most)",
				bound.Most, within, agent)
		}
		for _, tool := range run.Tools {
			if r.rules.Typed() && !t.Gives(tool) {
				return interlock.Errorf(interlock.CodeUnauthorized, "/tools",
					"names %.80q, which the type of the agent %.80s does not give", tool, agent)
			}
		}
	}
	if most := r.rules.Runs().Retries; run.Task != "" && standing.Tally(ledger.TaskTally(r.to, run.Task)).Attempts > most {
		return interlock.Errorf(interlock.CodeLimited, "/task",
			"was tried %d times by this agent and has not been completed; it is not tried again (runs.retries)", most+1)
	}
	return nil
}

// spawner names where it is counted how many runs are registered: in the orchestration, or of the agent that begins one.
func (r *registering) spawner(run interlock.Run) string {
	if run.Parent == "" {
		return ledger.AgentTally(run.Agent)
	}
	return ledger.RunTally(run.Orchestration)
}

// maxSpawned bounds how many times of registering are remembered in one place, over the longest window a type may name.
const maxSpawned = 10_000

// registration is the change that registers a run: the run, what is counted of it, and its event.
func (a *Runs) registration(r *registering, run interlock.Run, standing ledger.Standing) (ledger.Change, error) {
	change := ledger.Change{Version: standing.Version}
	count := func(name string, edit func(*ledger.RunCountBody)) {
		t := standing.Tally(name)
		for _, row := range change.Writes {
			if was, ok := row.Value.(ledger.RunCountBody); ok && was.Name == name {
				t = was
				t.Seq--
				change.Writes = slices.DeleteFunc(change.Writes, func(o ledger.Row) bool { return o.Kind == ledger.RunCount && o.Key == name })
			}
		}
		t.Seq++
		edit(&t)
		change.Writes = append(change.Writes, ledger.Rows(t)...)
	}
	count(ledger.AgentTally(run.Agent), func(t *ledger.RunCountBody) {
		if t.Open++; run.Parent != "" {
			t.Delegated++
		}
	})
	count(r.spawner(run), func(t *ledger.RunCountBody) {
		t.Spawned = t.Spawned.Since(r.now, core.MaxBox).With(r.now, core.MaxBox, maxSpawned)
		if run.Parent != "" { // the one who delegates drives the one it is delegated to
			*t, _, _ = t.Drive(run.Chain[0].Agent, run.Agent)
		}
	})
	if run.Task != "" {
		count(ledger.TaskTally(run.Agent, run.Task), func(t *ledger.RunCountBody) { t.Attempts++ })
	}
	change.Writes = append(change.Writes, ledger.Rows(run)...)
	err := a.Append(&change, interlock.EventRunRegistered, interlock.Requester{Agent: r.by.Agent, Principal: r.by.Principal,
		Run: run.ID},
		"agent", auditlog.RunRecord{Run: run, Accountable: r.typeOf(run.Agent, standing).Accountable})
	return change, err
}
