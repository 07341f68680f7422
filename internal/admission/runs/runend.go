package runs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/judging"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/strictjson"
)

// maxUncertain bounds how much a run may say is not certain.
const maxUncertain = 16

// maxWithdrawn bounds how many questions of a run are withdrawn with it at once; what else there is is withdrawn in further steps.
const maxWithdrawn = 50

// EndRun ends a run of the requester's, or one that the requester, or an agent that delegated to the requester, has delegated.
// What the run has asked is withdrawn, and every run it has delegated ends as well. A result is held against the format that was
// declared, and one that does not have it leaves the run open. The same end again changes nothing.
func (a *Runs) EndRun(ctx context.Context, by interlock.Requester, id string, end interlock.RunEnd) (interlock.Run, error) {
	run, waits, err := a.endRun(ctx, by, id, end)
	switch {
	case err != nil:
		return interlock.Run{}, a.RefuseRun(ctx, by, err)
	case waits != nil: // which is in the log already
		return interlock.Run{}, waits
	}
	return run, a.endBelow(ctx, run)
}

// endRun ends one run, or says that its result waits for a person.
func (a *Runs) endRun(ctx context.Context, by interlock.Requester, id string, end interlock.RunEnd) (run interlock.Run,
	waits *interlock.Error, err error) {
	if !ledger.Registered(id) {
		return run, nil, noSuchRun()
	}
	if err := checkEnd(end); err != nil {
		return run, nil, err
	}
	end.Why = a.Redact(end.Why)
	for n, one := range end.Uncertain {
		if n == 0 {
			end.Uncertain = slices.Clone(end.Uncertain)
		}
		end.Uncertain[n] = a.Redact(one)
	}
	e := closing{Runs: a, ctx: ctx, by: by, id: id, end: end}
	_, err = a.CommitOn(ctx, false, e.read, e.build)
	for a.Judging.Consult(ctx, by, &e.heard, err) {
		_, err = a.CommitOn(ctx, false, e.read, e.build)
	}
	if errors.Is(err, core.ErrUnchanged) {
		err = nil
	}
	return e.run, e.waits, err
}

// A closing is one run while it is ended.
type closing struct {
	*Runs
	ctx   context.Context
	by    interlock.Requester
	id    string
	end   interlock.RunEnd
	g     core.DecisionRows
	heard judging.Consultation
	run   interlock.Run    // as it is when it has ended
	waits *interlock.Error // its result waits for a person, so that it has not
}

func (e *closing) read(ctx context.Context, load core.LoadRows) (_ core.DecisionRows, err error) {
	e.g, err = e.groundOfEnd(ctx, load, e.id)
	return e.g, err
}

func (e *closing) build(standing ledger.Standing) (ledger.Change, error) {
	e.waits = nil
	named := core.All[interlock.Run](&e.g)
	at := slices.IndexFunc(named, func(r interlock.Run) bool { return r.ID == e.id })
	if at < 0 || !mayEnd(e.by.Agent, named[at]) {
		return ledger.Change{}, noSuchRun()
	}
	e.run = named[at]
	if !e.run.Ended.IsZero() {
		if e.run.Status == e.end.Status || e.run.Status == interlock.RunIncomplete && e.end.Status == interlock.RunCompleted {
			return ledger.Change{}, core.ErrUnchanged
		}
		return ledger.Change{}, interlock.Errorf(interlock.CodeConflict, "/status", "the run has ended already: it is %s", e.run.Status)
	}
	end, now, seen := e.end, e.Config.Now().UTC().Truncate(time.Microsecond), review{}
	if end.Status == interlock.RunCompleted {
		if e.by.Agent != e.run.Agent {
			return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "/status",
				"only its own agent completes a run; whoever delegated it cancels it")
		}
		var err error
		if e.run.Missing, e.run.Why = missing(e.run); len(e.run.Missing) > 0 {
			e.run.Status, end.Result = interlock.RunIncomplete, nil // whatever it says
		} else if err = fitsOutput(e.run.Output, end.Result); err == nil {
			seen, err = e.reviewed(standing, now)
		}
		if err != nil {
			return ledger.Change{}, err
		}
		if seen.asks {
			return e.asks(seen, standing, now)
		}
	}
	if e.run.Status != interlock.RunIncomplete {
		e.run.Status, e.run.Why = end.Status, end.Why
	}
	e.run.Ended, e.run.By = now, e.by.Agent
	change, err := e.ended(end, standing, seen)
	change.Writes = append(change.Writes, e.Judging.JudgedRows(&e.heard, now)...)
	return change, err
}

func noSuchRun() error {
	return interlock.Errorf(interlock.CodeNotFound, "/id", "no run of this name is this agent's, or was delegated by it")
}

// mayEnd reports whether a run is an agent's, or was delegated by it.
func mayEnd(agent string, run interlock.Run) bool {
	return agent == run.Agent || slices.ContainsFunc(run.Chain, func(l interlock.RunLink) bool { return l.Agent == agent })
}

func checkEnd(end interlock.RunEnd) error {
	switch end.Status {
	case interlock.RunCompleted, interlock.RunFailed, interlock.RunCancelled:
	default:
		return interlock.Errorf(interlock.CodeInvalid, "/status", "is one of completed, failed and cancelled")
	}
	if len(end.Why) > core.MaxRunWhy {
		return interlock.Errorf(interlock.CodeInvalid, "/why", "is longer than %d bytes", core.MaxRunWhy)
	}
	if len(end.Uncertain) > maxUncertain {
		return interlock.Errorf(interlock.CodeInvalid, "/uncertain", "has more than %d entries", maxUncertain)
	}
	for _, one := range end.Uncertain {
		if strings.TrimSpace(one) == "" || len(one) > core.MaxRunWhy {
			return interlock.Errorf(interlock.CodeInvalid, "/uncertain", "has an entry that says nothing, or is longer than %d bytes",
				core.MaxRunWhy)
		}
	}
	if len(end.Result) > core.MaxRunResult {
		return interlock.Errorf(interlock.CodeLimited, "/result", "is larger than %d bytes", core.MaxRunResult)
	}
	return nil
}

// fitsOutput holds a result against the format that was declared for it: it is JSON of that kind, has every member that was named and
// none of them null, and is not empty.
func fitsOutput(o *interlock.RunOutput, result json.RawMessage) error {
	if o == nil {
		return nil
	}
	if len(result) == 0 {
		return interlock.Errorf(interlock.CodeInvalid, "/result", "is missing; the run declares one (output)")
	}
	if o.Bytes > 0 && len(result) > o.Bytes {
		return interlock.Errorf(interlock.CodeInvalid, "/result", "is larger than the %d bytes that the run declares (output.bytes)", o.Bytes)
	}
	canonical, err := strictjson.Canonical(result)
	if err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "/result", "is no JSON that can be read in one way only (output)")
	}
	kind := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}[canonical[0]]
	if kind == "" {
		kind = "number"
	}
	if kind != o.Kind {
		return interlock.Errorf(interlock.CodeInvalid, "/result", "is of kind %s, and the run declares %s (output.kind)", kind, o.Kind)
	}
	if text := string(canonical); text == "{}" || text == "[]" || text == `""` {
		return interlock.Errorf(interlock.CodeInvalid, "/result", "is empty (output)")
	}
	if kind != "object" {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &members); err != nil {
		return interlock.Errorf(interlock.CodeInvalid, "/result", "can't be read (output)")
	}
	for _, field := range o.Fields {
		if value, has := members[field]; !has || string(value) == "null" {
			return interlock.Errorf(interlock.CodeInvalid, "/result", "has no member %q, which the run declares (output.fields)", field)
		}
	}
	return nil
}

// groundOfEnd loads what ending a run turns on.
func (a *Runs) groundOfEnd(ctx context.Context, load core.LoadRows, id string) (core.DecisionRows, error) {
	g := core.DecisionRows{Reads: []ledger.Ref{core.Under(ledger.Run, ledger.RunNamed(id))}}
	var operators core.Names
	err := a.Extend(ctx, load, &g, &operators, g.Reads)
	named := core.All[interlock.Run](&g)
	if err != nil || len(named) == 0 {
		return g, err
	}
	run := named[0]
	more := []ledger.Ref{core.Under(ledger.Hold, ledger.Over(ledger.HoldRun, id)),
		core.Key(ledger.Run, ledger.RunKey(run.Agent, id)), core.Key(ledger.Agent, run.Agent),
		core.Key(ledger.RunCount, ledger.AgentTally(run.Agent)), core.Under(ledger.Request, ledger.Of(run.Agent, run.Principal))}
	if run.Task != "" {
		more = append(more, core.Key(ledger.RunCount, ledger.TaskTally(run.Agent, run.Task)))
	}
	if run.Parent == "" {
		more = append(more, core.Key(ledger.RunCount, ledger.RunTally(run.Orchestration)))
	}
	g.Reads = append(g.Reads, more...)
	if err := a.Extend(ctx, load, &g, &operators, more); err != nil || len(operators) == 0 {
		return g, err
	}
	read := len(g.Reads)
	for _, name := range append(operators, run.Agent, run.Principal) { // on whose word its result may leave
		if name != "" {
			g.Reads = append(g.Reads, core.Key(ledger.Operator, name))
		}
	}
	return g, a.Extend(ctx, load, &g, &operators, g.Reads[read:])
}

// ended is the change that ends a run: the run, what is counted, the questions it has put, and its event.
func (e *closing) ended(end interlock.RunEnd, standing ledger.Standing, seen review) (ledger.Change, error) {
	change, run := ledger.Change{Version: standing.Version}, e.run
	record := auditlog.RunRecord{Run: run, Uncertain: end.Uncertain, Judgments: e.heard.Said, Approval: seen.yes,
		Accountable: e.Active.Load().Rules.TypeOf(core.AgentOf(interlock.Requester{Agent: run.Agent},
			standing)).Accountable}
	if seen.yes != "" { // it counts once
		change.Spends = ledger.One(ledger.Request, seen.yes)
	}
	if len(end.Result) > 0 {
		record.Result = auditlog.BlobDigest(end.Result)
	}
	held := standing.Tally(ledger.AgentTally(run.Agent))
	sessions := map[string]string{}
	names := map[string]bool{run.ID: true}
	for session, of := range held.Sessions { // order-independent: fills two maps
		if of == run.ID {
			names[session] = true
		} else {
			sessions[session] = of
		}
	}
	held.Seq, held.Open, held.Sessions = held.Seq+1, max(held.Open-1, 0), sessions
	if run.Parent != "" {
		held.Delegated = max(held.Delegated-1, 0)
	}
	change.Writes = append(ledger.Rows(run), ledger.Rows(held)...)
	if run.Task != "" {
		name := ledger.TaskTally(run.Agent, run.Task)
		if tried := standing.Tally(name); run.Status == interlock.RunCompleted {
			change.Writes = append(change.Writes, ledger.Ended(ledger.RunCount, name))
		} else if tried.Attempts > e.Active.Load().Rules.Runs().Retries {
			record.Last = true
			if err := e.Raise(&change, interlock.Requester{Agent: run.Agent, Run: run.ID}, "task-failed",
				"a task was tried as often as it may be and has failed; it is not tried again by this agent"); err != nil {
				return change, err
			}
		}
	}
	name := ledger.HoldName(ledger.HoldRun, run.ID)
	if h, held := standing.Others[ledger.Hold][name].(ledger.HoldBody); held && h.Trigger == phase.TriggerBox { // there is nothing left to pause
		change.Writes = append(change.Writes, ledger.Ended(ledger.Hold, name))
	}
	if name := ledger.RunTally(run.Orchestration); run.Parent == "" && standing.Tally(name).Seq > 0 {
		change.Writes = append(change.Writes, ledger.Ended(ledger.RunCount, name))
	}
	for _, request := range asked(run, names, standing) {
		if request.ID == seen.yes {
			continue
		}
		if err := e.ExpireRequest(&change, request, run.Ended); err != nil {
			return change, err
		}
		record.Requests = append(record.Requests, request.ID)
	}
	return change, e.Append(&change, interlock.EventRunEnded, interlock.Requester{Agent: e.by.Agent, Principal: e.by.Principal,
		Run: run.ID}, "agent", record)
}

// asked are the questions that stand of a run, and of the sessions that are bound to it; as many as are withdrawn at once.
func asked(run interlock.Run, names map[string]bool, standing ledger.Standing) (list []interlock.ApprovalRequest) {
	for _, request := range standing.Requests {
		if request.Requester.Agent == run.Agent && names[request.Requester.Run] {
			list = append(list, request)
		}
	}
	core.SortRequests(list)
	return list[:min(len(list), maxWithdrawn)]
}

// endBelow ends what a run has delegated. Nothing is done in those runs any more from the moment it has ended itself.
func (a *Runs) endBelow(ctx context.Context, run interlock.Run) error {
	for {
		rows, _, err := a.Config.Store.Scan(ctx, core.Under(ledger.Run, ledger.RunUnder(run.ID)), ledger.Every(maxWithdrawn))
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			below, ok := row.Value.(interlock.Run)
			if !ok {
				continue
			}
			_, _, err := a.endRun(ctx, interlock.Requester{Agent: run.Agent, Principal: run.Principal}, below.ID,
				interlock.RunEnd{Status: interlock.RunCancelled, Why: "the run that delegated it has ended"})
			if err != nil && !isConflict(err) {
				return err
			}
			if err := a.endBelow(ctx, below); err != nil {
				return err
			}
		}
	}
}

// isConflict reports whether a run had been ended otherwise meanwhile.
func isConflict(err error) bool {
	refused := (*interlock.Error)(nil)
	return errors.As(err, &refused) && refused.Code == interlock.CodeConflict
}
