package runs

import (
	"context"
	"errors"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/messages"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// Heartbeat takes note that an agent is there.
func (a *Runs) Heartbeat(ctx context.Context, by interlock.Requester) error {
	if err := core.CheckAgent(by, ""); err != nil {
		return err
	}
	now := a.Config.Now().UTC().Truncate(time.Microsecond)
	return a.Config.Store.Note(ctx, core.Key(ledger.Alive, by.Agent), func(any) (any, error) {
		return ledger.AliveBody{Agent: by.Agent, At: now}, nil
	})
}

// Turn counts one more turn of a conversation between the agents of an orchestration. Past the ruleset's bound no more are taken, and
// the error says who decides instead.
func (a *Runs) Turn(ctx context.Context, by interlock.Requester, id, conversation string) (turn int, err error) {
	if err := core.PlainName("/conversation", conversation); err != nil || conversation == "" {
		return 0, a.RefuseRun(ctx, by, errors.Join(err, interlock.Errorf(interlock.CodeInvalid, "/conversation",
			"is missing; name the conversation")))
	}
	conversation = a.Redact(conversation)
	bounds := a.Active.Load().Rules.Runs()
	decides := messages.Decides(bounds)
	_, err = a.CommitOn(ctx, false, func(ctx context.Context, load core.LoadRows) (core.DecisionRows, error) {
		return a.groundOfTurn(ctx, load, by.Agent, id)
	}, func(standing ledger.Standing) (ledger.Change, error) {
		now := a.Config.Now().UTC()
		run, open := standing.Run(by.Agent, id)
		if !open {
			return ledger.Change{}, noSuchRun()
		}
		if wrong := core.BasisOf(interlock.Requester{Agent: by.Agent, Run: id}, standing, now).Wrong; wrong != "" {
			return ledger.Change{}, interlock.Errorf(interlock.CodeUnauthorized, "/id", "%s", wrong)
		}
		t := standing.Tally(ledger.RunTally(run.Orchestration))
		if turn = t.Turns[conversation] + 1; turn > bounds.Turns {
			return ledger.Change{}, interlock.Errorf(interlock.CodeLimited, "/conversation",
				"has had its %d turns and ends here; %s decides (runs.turns)", bounds.Turns, decides)
		}
		if len(t.Turns) >= core.MaxFields && t.Turns[conversation] == 0 {
			return ledger.Change{}, interlock.Errorf(interlock.CodeLimited, "/conversation", "is one too many: an orchestration has %d",
				core.MaxFields)
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
		return change, a.Append(&change, interlock.EventTurn, interlock.Requester{Agent: by.Agent, Principal: by.Principal, Run: id},
			"agent", record)
	})
	if err != nil {
		return 0, a.RefuseRun(ctx, by, err)
	}
	return turn, nil
}

func (a *Runs) groundOfTurn(ctx context.Context, load core.LoadRows, agent, id string) (core.DecisionRows, error) {
	g := core.DecisionRows{Reads: []ledger.Ref{core.Key(ledger.Run, ledger.RunKey(agent, id))}}
	if err := a.Extend(ctx, load, &g, new(core.Names), g.Reads); err != nil {
		return g, err
	}
	run, open := g.Run(agent, id)
	if !open {
		return g, nil
	}
	more := append(core.ChainRefs(run), core.Key(ledger.RunCount, ledger.RunTally(run.Orchestration)))
	g.Reads = append(g.Reads, more...)
	return g, a.Extend(ctx, load, &g, new(core.Names), more)
}

// maxSessions bounds how many sessions of one agent are bound to runs.
const maxSessions = 256

// BindRun has what a harness does in one of its sessions count as done in a run of the same agent, where types are in use. A session is
// bound to one run, until that has ended.
func (a *Runs) BindRun(ctx context.Context, by interlock.Requester, id, session string) error {
	if err := core.PlainName("/session", session); err != nil {
		return a.RefuseRun(ctx, by, err)
	}
	if session == "" || ledger.Registered(session) {
		return a.RefuseRun(ctx, by, interlock.Errorf(interlock.CodeInvalid, "/session",
			"is the name that a harness gives to a session"))
	}
	tally := ledger.AgentTally(by.Agent)
	_, err := a.CommitOn(ctx, false, a.Rows(core.Key(ledger.Run, ledger.RunKey(by.Agent, id)), core.Key(ledger.RunCount, tally)),
		func(standing ledger.Standing) (ledger.Change, error) {
			held := standing.Tally(tally)
			bound := held.Sessions[session]
			if _, open := standing.Run(by.Agent, id); !open {
				return ledger.Change{}, noSuchRun()
			}
			switch {
			case bound == id:
				return ledger.Change{}, core.ErrUnchanged
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
			return change, a.Append(&change, interlock.EventRunBound, interlock.Requester{Agent: by.Agent, Principal: by.Principal,
				Run: id},
				"agent", auditlog.BindingRecord{Run: id, Session: session})
		})
	if errors.Is(err, core.ErrUnchanged) {
		return nil
	}
	if err != nil {
		return a.RefuseRun(ctx, by, err)
	}
	return nil
}
