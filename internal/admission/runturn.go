package admission

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Heartbeat takes note that an agent is there.
func (a *Admission) Heartbeat(ctx context.Context, by interlock.Requester) error {
	if err := checkAgent(by, ""); err != nil {
		return err
	}
	now := a.config.Now().UTC().Truncate(time.Microsecond)
	return a.config.Store.Note(ctx, key(ledger.Alive, by.Agent), func(any) (any, error) {
		return ledger.AliveBody{Agent: by.Agent, At: now}, nil
	})
}

// Turn counts one more turn of a conversation between the agents of an orchestration. Past the ruleset's bound no more are taken, and
// the error says who decides instead.
func (a *Admission) Turn(ctx context.Context, by interlock.Requester, id, conversation string) (turn int, err error) {
	if err := plainName("/conversation", conversation); err != nil || conversation == "" {
		return 0, a.refuseRun(ctx, by, errors.Join(err, interlock.Errorf(interlock.CodeInvalid, "/conversation", "is missing; name the conversation")))
	}
	conversation = a.redact(conversation)
	bounds := a.force.Load().Rules.Runs()
	decides := decides(bounds)
	_, err = a.commitOn(ctx, false, func(ctx context.Context, load loader) (ground, error) {
		return a.groundOfTurn(ctx, load, by.Agent, id)
	}, func(standing ledger.Standing) (ledger.Change, error) {
		now := a.config.Now().UTC()
		run, open := standing.Run(by.Agent, id)
		if !open {
			return ledger.Change{}, noSuchRun()
		}
		if wrong := basisOf(interlock.Requester{Agent: by.Agent, Run: id}, standing, now).Wrong; wrong != "" {
			return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "/id", "%s", wrong)
		}
		t := standing.Tally(ledger.RunTally(run.Orchestration))
		if turn = t.Turns[conversation] + 1; turn > bounds.Turns {
			return ledger.Change{}, interlock.Errorf(interlock.CodeLimited, "/conversation",
				"has had its %d turns and ends here; %s decides (runs.turns)", bounds.Turns, decides)
		}
		if len(t.Turns) >= maxFields && t.Turns[conversation] == 0 {
			return ledger.Change{}, interlock.Errorf(interlock.CodeLimited, "/conversation", "is one too many: an orchestration has %d", maxFields)
		}
		next := map[string]int{conversation: turn}
		for name, n := range t.Turns { // order-independent: fills a map
			if name != conversation {
				next[name] = n
			}
		}
		t.Seq, t.Turns = t.Seq+1, next
		change := ledger.Change{Version: standing.Version, Writes: ledger.Rows(t)}
		record := auditlog.TurnRecord{Run: id, Conversation: conversation, Turn: turn, Most: bounds.Turns}
		if turn == bounds.Turns {
			record.Decides = decides
		}
		return change, a.append(&change, interlock.EventTurn, interlock.Requester{Agent: by.Agent, Principal: by.Principal, Run: id}, "agent", record)
	})
	if err != nil {
		return 0, a.refuseRun(ctx, by, err)
	}
	return turn, nil
}

func (a *Admission) groundOfTurn(ctx context.Context, load loader, agent, id string) (ground, error) {
	g := ground{reads: []ledger.Ref{key(ledger.Run, ledger.RunKey(agent, id))}}
	if err := a.extend(ctx, load, &g, new(names), g.reads); err != nil {
		return g, err
	}
	run, open := g.Run(agent, id)
	if !open {
		return g, nil
	}
	more := append(chainRefs(run), key(ledger.RunCount, ledger.RunTally(run.Orchestration)))
	g.reads = append(g.reads, more...)
	return g, a.extend(ctx, load, &g, new(names), more)
}

// maxSessions bounds how many sessions of one agent are bound to runs.
const maxSessions = 256

// BindRun has what a harness does in one of its sessions count as done in a run of the same agent, where types are in use. A session is
// bound to one run, until that has ended.
func (a *Admission) BindRun(ctx context.Context, by interlock.Requester, id, session string) error {
	if err := plainName("/session", session); err != nil {
		return a.refuseRun(ctx, by, err)
	}
	if session == "" || ledger.Registered(session) {
		return a.refuseRun(ctx, by, interlock.Errorf(interlock.CodeInvalid, "/session", "is the name that a harness gives to a session"))
	}
	tally := ledger.AgentTally(by.Agent)
	_, err := a.commitOn(ctx, false, a.rows(key(ledger.Run, ledger.RunKey(by.Agent, id)), key(ledger.RunCount, tally)),
		func(standing ledger.Standing) (ledger.Change, error) {
			held := standing.Tally(tally)
			bound := held.Sessions[session]
			if _, open := standing.Run(by.Agent, id); !open {
				return ledger.Change{}, noSuchRun()
			}
			switch {
			case bound == id:
				return ledger.Change{}, errUnchanged
			case bound != "":
				return ledger.Change{}, interlock.Errorf(interlock.CodeConflict, "/session", "is bound to the run %s; end that first", bound)
			case len(held.Sessions) >= maxSessions:
				return ledger.Change{}, interlock.Errorf(interlock.CodeLimited, "/session", "is one too many: %d are bound", maxSessions)
			}
			sessions := map[string]string{session: id}
			for name, of := range held.Sessions { // order-independent: fills a map
				sessions[name] = of
			}
			held.Seq, held.Sessions = held.Seq+1, sessions
			change := ledger.Change{Version: standing.Version, Writes: ledger.Rows(held)}
			return change, a.append(&change, interlock.EventRunBound, interlock.Requester{Agent: by.Agent, Principal: by.Principal, Run: id},
				"agent", auditlog.BindingRecord{Run: id, Session: session})
		})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	if err != nil {
		return a.refuseRun(ctx, by, err)
	}
	return nil
}
