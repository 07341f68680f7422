package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"interlock"
	"interlock/internal/admission/containment"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/strictjson"
)

// The bounds of a checkpoint.
const (
	maxGoal        = 4 << 10 // bytes
	maxConstraints = 64
	maxConstraint  = 2 << 10 // bytes of one
	maxKeptList    = 100
	maxKeptText    = 1 << 10 // bytes of a decision, and of something that is still to be done
	maxCheckpoint  = 64 << 10
)

const (
	checkpointDomain  = "interlock/checkpoint/v1"
	constraintsDomain = "interlock/constraints/v1"
)

// Checkpoint keeps what an agent says of an open run of its own. What the task asks for is fixed by the first one: a later one that
// has other constraints, or fewer, or another system prompt, is refused until a person accepts exactly those constraints.
func (a *Runs) Checkpoint(ctx context.Context, by interlock.Requester, id string,
	c interlock.RunCheckpoint) (kept interlock.RunKept, err error) {
	if err := a.checkCheckpoint(&c); err != nil {
		return kept, a.RefuseRun(ctx, by, err)
	}
	if kept.Digest, err = strictjson.Digest(checkpointDomain, c); err != nil {
		return kept, err
	}
	if kept.Bound, err = strictjson.Digest(constraintsDomain, c.Constraints); err != nil {
		return kept, err
	}
	kept.RunCheckpoint, kept.Run = c, id
	_, err = a.CommitOn(ctx, false, func(ctx context.Context, load core.LoadRows) (core.DecisionRows, error) {
		return a.groundOfCheckpoint(ctx, load, by.Agent, id)
	}, func(standing ledger.Standing) (ledger.Change, error) {
		now := a.Config.Now().UTC().Truncate(time.Microsecond)
		before, again := standing.Checkpoint(by.Agent, id)
		if err := a.mayKeep(by, id, standing, now); err != nil {
			return ledger.Change{}, err
		}
		if again && before.Digest == kept.Digest { // the same again
			kept = before.RunKept
			return ledger.Change{}, core.ErrUnchanged
		}
		order := ""
		if again {
			if err := keeps(before, kept); err != nil {
				return ledger.Change{}, err
			}
			if before.Bound != kept.Bound {
				order = string(before.Accepted)
			}
		}
		kept.Number, kept.At = before.Number+1, now
		body := ledger.CheckpointBody{RunKept: kept, Agent: by.Agent}
		change := ledger.Change{Version: standing.Version, Writes: ledger.Rows(body)}
		return change, a.Append(&change, interlock.EventCheckpoint, interlock.Requester{Agent: by.Agent, Principal: by.Principal,
			Run: id},
			"agent", auditlog.CheckpointRecord{Run: id, Agent: by.Agent, Number: kept.Number, Digest: kept.Digest, Constraints: kept.Bound,
				System: c.System, Bound: len(c.Constraints), Pending: len(c.Pending), Order: order})
	})
	if errors.Is(err, core.ErrUnchanged) {
		return kept, nil
	}
	if err != nil {
		return interlock.RunKept{}, a.RefuseRun(ctx, by, err)
	}
	return kept, nil
}

// groundOfCheckpoint loads what keeping a checkpoint turns on.
func (a *Runs) groundOfCheckpoint(ctx context.Context, load core.LoadRows, agent, id string) (core.DecisionRows, error) {
	g := core.DecisionRows{Reads: []ledger.Ref{core.Key(ledger.Agent, agent), core.Key(ledger.Run, ledger.RunKey(agent, id)),
		core.Key(ledger.Checkpoint, ledger.RunKey(agent, id)), core.Under(ledger.Hold, ledger.Over(ledger.HoldAgent, agent))}}
	if err := a.Extend(ctx, load, &g, new(core.Names), g.Reads); err != nil {
		return g, err
	}
	run, open := g.Run(agent, id)
	if !open {
		return g, nil
	}
	more := core.ChainRefs(run)
	g.Reads = append(g.Reads, more...)
	return g, a.Extend(ctx, load, &g, new(core.Names), more)
}

// mayKeep refuses checkpoints of what is no open run of its agent, and of an agent that is isolated: what it says now must not take the
// place of what it said while nothing was wrong with it.
func (a *Runs) mayKeep(by interlock.Requester, id string, standing ledger.Standing, now time.Time) error {
	if err := core.InOffice(interlock.Requester{Agent: by.Agent}, standing, now); err != nil {
		return err
	}
	if _, open := standing.Run(by.Agent, id); !open {
		return noSuchRun()
	}
	if wrong := core.BasisOf(interlock.Requester{Agent: by.Agent, Run: id}, standing, now).Wrong; wrong != "" {
		return interlock.Errorf(interlock.CodeUnauthorized, "/id", "%s", wrong)
	}
	if containment.Isolated(by.Agent, standing, now) != nil {
		return interlock.Errorf(interlock.CodeUnauthorized, "/id", "nothing is kept of an agent that is isolated; its newest checkpoint stays")
	}
	return nil
}

// keeps holds a later checkpoint against the one before.
func keeps(before ledger.CheckpointBody, after interlock.RunKept) error {
	switch {
	case before.System != after.System:
		return interlock.Errorf(interlock.CodeConflict, "/system_prompt", "is another than that of the first checkpoint, %s; go on with "+
			"the prompt that the run began with", before.System)
	case before.Bound == after.Bound || before.Accepted != "" && before.Accepted == after.Bound:
		return nil
	}
	what := "has other constraints"
	for n, c := range before.Constraints {
		if n >= len(after.Constraints) {
			what = fmt.Sprintf("has lost %d of the constraints", len(before.Constraints)-len(after.Constraints))
			break
		}
		if after.Constraints[n] != c {
			return interlock.Errorf(interlock.CodeConflict, fmt.Sprintf("/constraints/%d", n), "is not what the first checkpoint said, byte "+
				"for byte; a person may accept %s: interlock runs accept", after.Bound)
		}
	}
	if len(after.Constraints) > len(before.Constraints) {
		what = "has more constraints"
	}
	return interlock.Errorf(interlock.CodeConflict, "/constraints", "%s than the first checkpoint; a person may accept %s: interlock runs accept",
		what, after.Bound)
}

// Resume is the newest checkpoint of a run, for its agent and for those it was delegated by: who goes on in a new context, and who gives
// the work to somebody else.
func (a *Runs) Resume(ctx context.Context, by interlock.Requester, id string) (kept interlock.RunKept, err error) {
	if !ledger.Registered(id) {
		return kept, noSuchRun()
	}
	rows, _, err := a.Config.Store.Load(ctx, core.Under(ledger.Run, ledger.RunNamed(id)),
		core.Under(ledger.Checkpoint, ledger.RunNamed(id)), core.Key(ledger.Agent, by.Agent))
	if err != nil {
		return kept, err
	}
	found, mine := false, false
	for _, row := range rows {
		switch v := row.Value.(type) {
		case interlock.Run:
			mine = mayEnd(by.Agent, v)
		case ledger.CheckpointBody:
			kept, found = v.RunKept, true
		case interlock.AgentRecord:
			if err := core.InOffice(interlock.Requester{Agent: v.ID}, ledger.Standing{Agents: map[string]interlock.AgentRecord{v.ID: v}},
				a.Config.Now()); err != nil {
				return interlock.RunKept{}, err
			}
		}
	}
	switch {
	case !mine:
		return interlock.RunKept{}, noSuchRun()
	case !found:
		return kept, interlock.Errorf(interlock.CodeNotFound, "/id", "no checkpoint of this run was kept")
	}
	return kept, nil
}

// checkCheckpoint refuses one that says too little, too much, what nobody could read, or what must not be kept: it is kept byte for byte,
// so that a secret could not be taken out of it.
func (a *Runs) checkCheckpoint(c *interlock.RunCheckpoint) error {
	switch {
	case !validDigest(c.System):
		return interlock.Errorf(interlock.CodeInvalid, "/system_prompt", "is the prompt's digest: sha256: and 64 digits")
	case strings.TrimSpace(c.Goal) == "":
		return interlock.Errorf(interlock.CodeInvalid, "/goal", "is missing; say what the run is to come to")
	case len(c.Constraints) > maxConstraints:
		return interlock.Errorf(interlock.CodeInvalid, "/constraints", "has more than %d entries", maxConstraints)
	}
	if c.Constraints == nil {
		return interlock.Errorf(interlock.CodeInvalid, "/constraints", "is missing; a task without any has an empty list, which then is fixed")
	}
	total := 0
	text := func(field, text string, most int) error {
		total += len(text)
		switch {
		case len(text) > most:
			return interlock.Errorf(interlock.CodeInvalid, field, "is longer than %d bytes", most)
		case strings.TrimSpace(text) == "":
			return interlock.Errorf(interlock.CodeInvalid, field, "is empty")
		case strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || r == unicode.ReplacementChar
		}):
			return interlock.Errorf(interlock.CodeInvalid, field, "holds a character that can't be seen")
		case a.Redact(text) != text:
			return interlock.Errorf(interlock.CodeInvalid, field, "holds what looks like a secret; name where it is found instead")
		}
		return nil
	}
	if err := text("/goal", c.Goal, maxGoal); err != nil {
		return err
	}
	for n, one := range c.Constraints {
		at := fmt.Sprintf("/constraints/%d", n)
		if one.Kind != interlock.ConstraintMust && one.Kind != interlock.ConstraintNever && one.Kind != interlock.ConstraintExactly {
			return interlock.Errorf(interlock.CodeInvalid, at+"/kind", "is one of must, never and exactly")
		}
		if err := text(at+"/text", one.Text, maxConstraint); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		name  string
		texts []string
	}{{"/decisions", c.Decisions}, {"/pending", c.Pending}} {
		if len(list.texts) > maxKeptList {
			return interlock.Errorf(interlock.CodeInvalid, list.name, "has more than %d entries", maxKeptList)
		}
		for n, one := range list.texts {
			if err := text(fmt.Sprintf("%s/%d", list.name, n), one, maxKeptText); err != nil {
				return err
			}
		}
	}
	if total > maxCheckpoint {
		return interlock.Errorf(interlock.CodeLimited, "", "a checkpoint has at most %d bytes of text", maxCheckpoint)
	}
	return nil
}

func validDigest(d interlock.Digest) bool {
	digits, is := strings.CutPrefix(string(d), "sha256:")
	return is && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// NewestCheckpoint is the newest checkpoint of a run, for those who look at the store; nil where none was kept.
func NewestCheckpoint(ctx context.Context, from core.Ledger, id string) (*interlock.RunKept, error) {
	rows, _, err := from.Scan(ctx, core.Under(ledger.Checkpoint, ledger.RunNamed(id)), ledger.Every(1))
	for _, row := range rows {
		if c, ok := row.Value.(ledger.CheckpointBody); ok {
			return &c.RunKept, err
		}
	}
	return nil, err
}
