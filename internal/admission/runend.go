package admission

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
	"interlock/internal/strictjson"
)

// maxUncertain bounds how much a run may say is not certain.
const maxUncertain = 16

// maxWithdrawn bounds how many questions of a run are withdrawn with it at once; what else there is is withdrawn in further steps.
const maxWithdrawn = 50

// EndRun ends a run of the requester's, or one that the requester, or whoever delegated to the requester, has delegated. What the run
// has asked is withdrawn, and every run it has delegated ends as well. A result is held against the format that was declared, and one
// that does not have it leaves the run open. The same end again changes nothing.
func (a *Admission) EndRun(ctx context.Context, by interlock.Requester, id string, end interlock.RunEnd) (interlock.Run, error) {
	run, err := a.endRun(ctx, by, id, end)
	if err != nil {
		return interlock.Run{}, a.refuseRun(ctx, by, err)
	}
	return run, a.endBelow(ctx, run)
}

func (a *Admission) endRun(ctx context.Context, by interlock.Requester, id string, end interlock.RunEnd) (run interlock.Run, err error) {
	if !ledger.Registered(id) {
		return run, noSuchRun()
	}
	if err := checkEnd(end); err != nil {
		return run, err
	}
	end.Why = a.redact(end.Why)
	for n, one := range end.Uncertain {
		if n == 0 {
			end.Uncertain = slices.Clone(end.Uncertain)
		}
		end.Uncertain[n] = a.redact(one)
	}
	on := func(ctx context.Context, load loader) (ground, error) { return a.groundOfEnd(ctx, load, id) }
	var g ground
	var heard judging
	read := func(ctx context.Context, load loader) (_ ground, err error) {
		g, err = on(ctx, load)
		return g, err
	}
	build := func(standing ledger.Standing) (ledger.Change, error) {
		at := slices.IndexFunc(g.named, func(r interlock.Run) bool { return r.ID == id })
		if at < 0 || !mayEnd(by.Agent, g.named[at]) {
			return ledger.Change{}, noSuchRun()
		}
		run = g.named[at]
		if !run.Ended.IsZero() {
			if run.Status == end.Status || run.Status == interlock.RunIncomplete && end.Status == interlock.RunCompleted {
				return ledger.Change{}, errUnchanged
			}
			return ledger.Change{}, interlock.Errorf(interlock.CodeConflict, "/status", "the run has ended already: it is %s", run.Status)
		}
		if end.Status == interlock.RunCompleted {
			if by.Agent != run.Agent {
				return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "/status",
					"only its own agent completes a run; whoever delegated it cancels it")
			}
			if run.Missing, run.Why = missing(run); len(run.Missing) > 0 {
				run.Status, end.Result = interlock.RunIncomplete, nil // whatever it says
			} else if err := fitsOutput(run.Output, end.Result); err != nil {
				return ledger.Change{}, err
			} else if err := a.reviewed(run, end.Result, standing, &heard); err != nil {
				return ledger.Change{}, err
			}
		}
		if run.Status != interlock.RunIncomplete {
			run.Status, run.Why = end.Status, end.Why
		}
		run.Ended, run.By = a.config.Now().UTC().Truncate(time.Microsecond), by.Agent
		change, err := a.ended(run, end, by, standing, heard.said)
		change.Writes = append(change.Writes, a.judged(&heard, run.Ended)...)
		return change, err
	}
	_, err = a.commitOn(ctx, false, read, build)
	for a.consult(ctx, by, &heard, err) {
		_, err = a.commitOn(ctx, false, read, build)
	}
	if errors.Is(err, errUnchanged) {
		err = nil
	}
	return run, err
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
	if len(end.Why) > maxRunWhy {
		return interlock.Errorf(interlock.CodeInvalid, "/why", "is longer than %d bytes", maxRunWhy)
	}
	if len(end.Uncertain) > maxUncertain {
		return interlock.Errorf(interlock.CodeInvalid, "/uncertain", "has more than %d entries", maxUncertain)
	}
	for _, one := range end.Uncertain {
		if strings.TrimSpace(one) == "" || len(one) > maxRunWhy {
			return interlock.Errorf(interlock.CodeInvalid, "/uncertain", "has an entry that says nothing, or is longer than %d bytes", maxRunWhy)
		}
	}
	if len(end.Result) > maxRunResult {
		return interlock.Errorf(interlock.CodeLimited, "/result", "is larger than %d bytes", maxRunResult)
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
func (a *Admission) groundOfEnd(ctx context.Context, load loader, id string) (ground, error) {
	g := ground{reads: []ledger.Ref{under(ledger.Run, ledger.RunNamed(id))}}
	if err := a.extend(ctx, load, &g, new(names), g.reads); err != nil || len(g.named) == 0 {
		return g, err
	}
	run := g.named[0]
	more := []ledger.Ref{under(ledger.Hold, ledger.Over(ledger.HoldRun, id)), key(ledger.Run, ledger.RunKey(run.Agent, id)),
		key(ledger.Agent, run.Agent),
		key(ledger.RunCount, ledger.AgentTally(run.Agent)), under(ledger.Request, ledger.Of(run.Agent, run.Principal))}
	if run.Task != "" {
		more = append(more, key(ledger.RunCount, ledger.TaskTally(run.Agent, run.Task)))
	}
	if run.Parent == "" {
		more = append(more, key(ledger.RunCount, ledger.RunTally(run.Orchestration)))
	}
	g.reads = append(g.reads, more...)
	return g, a.extend(ctx, load, &g, new(names), more)
}

// ended is the change that ends a run: the run, what is counted, the questions it has put, and its event.
func (a *Admission) ended(run interlock.Run, end interlock.RunEnd, by interlock.Requester, standing ledger.Standing,
	said []interlock.Judgment) (ledger.Change, error) {
	change := ledger.Change{Version: standing.Version}
	record := auditlog.RunRecord{Run: run, Uncertain: end.Uncertain, Judgments: said,
		Accountable: a.force.Load().Rules.TypeOf(agentOf(interlock.Requester{Agent: run.Agent},
			standing)).Accountable}
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
		} else if tried.Attempts > a.force.Load().Rules.Runs().Retries {
			record.Last = true
			if err := a.alarm(&change, interlock.Requester{Agent: run.Agent, Run: run.ID}, "task-failed",
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
		if err := a.expire(&change, request, run.Ended); err != nil {
			return change, err
		}
		record.Requests = append(record.Requests, request.ID)
	}
	return change, a.append(&change, interlock.EventRunEnded, interlock.Requester{Agent: by.Agent, Principal: by.Principal,
		Run: run.ID}, "agent", record)
}

// asked are the questions that stand of a run, and of the sessions that are bound to it; as many as are withdrawn at once.
func asked(run interlock.Run, names map[string]bool, standing ledger.Standing) (list []interlock.ApprovalRequest) {
	for _, request := range standing.Requests {
		if request.Requester.Agent == run.Agent && names[request.Requester.Run] {
			list = append(list, request)
		}
	}
	sortRequests(list)
	return list[:min(len(list), maxWithdrawn)]
}

// endBelow ends what a run has delegated. Nothing is done in those runs any more from the moment it has ended itself.
func (a *Admission) endBelow(ctx context.Context, run interlock.Run) error {
	for {
		rows, _, err := a.config.Store.Scan(ctx, under(ledger.Run, ledger.RunUnder(run.ID)), ledger.Every(maxWithdrawn))
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			below, ok := row.Value.(interlock.Run)
			if !ok {
				continue
			}
			_, err := a.endRun(ctx, interlock.Requester{Agent: run.Agent, Principal: run.Principal}, below.ID,
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
