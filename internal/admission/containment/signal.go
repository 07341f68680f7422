package containment

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/phase"
)

// maxSignal bounds what a signal says, in bytes.
const (
	maxSignalName   = 200
	maxSignalReason = 500
)

// A SignalAnswer says what a signal did.
type SignalAnswer struct {
	Event    string         `json:"event_id"`
	Severity phase.Severity `json:"severity,omitempty"` // of the highest level it has reached
	Told     bool           `json:"told"`               // people are told, as of each level once
	Stopped  bool           `json:"stopped"`            // it stopped everything
	// what is in a stricter phase, or has an open breaker, because of it, if anything is
	Tightened string `json:"tightened,omitempty"`
}

// checkSignal refuses a signal that says nothing, naming the member.
func checkSignal(s interlock.Signal) error {
	switch {
	case !slices.Contains(interlock.SignalKinds(), s.Kind):
		return interlock.Errorf(interlock.CodeInvalid, "/kind", "is not known; send one of %v", interlock.SignalKinds())
	case strings.TrimSpace(s.Agent) == "":
		return interlock.Errorf(interlock.CodeInvalid, "/agent", "is missing; a signal is about an agent")
	case len(s.Agent) > maxSignalName || len(s.Run) > maxSignalName:
		return interlock.Errorf(interlock.CodeInvalid, "/agent", "and /run are at most %d bytes", maxSignalName)
	case s.Value < 0 || s.Value > 100:
		return interlock.Errorf(interlock.CodeInvalid, "/value", "is from 0 to 100")
	case len(s.Reason) > maxSignalReason:
		return interlock.Errorf(interlock.CodeInvalid, "/reason", "is longer than %d bytes", maxSignalReason)
	}
	return nil
}

// signals is held while a signal is taken in: of a level people are told once, and what was told is no row that binds.
type signals struct{ sync.Mutex }

// Signal takes in what an observer tells of an agent. It is recorded, tells people of each level once, and stops everything where the
// settings say so; nothing that it says lets anything happen (EC-ENV-16). What stops everything does so before it is recorded.
func (a *Containment) Signal(ctx context.Context, observer string, s interlock.Signal) (answer SignalAnswer, err error) {
	if err := checkSignal(s); err != nil {
		return answer, err
	}
	s.Reason = a.Redact(s.Reason)
	level, _ := a.bands().Reached(s)
	answer.Severity = level.Severity
	if level.Severity == phase.Critical && slices.Contains(a.Config.KillOn, s.Kind) {
		why := "the observer " + observer + " tells of " + string(s.Kind) + " by " + s.Agent
		if s.Reason != "" {
			why += ": " + s.Reason
		}
		if _, err := a.Kill(ctx, ledger.KillHard, why, observer); err != nil {
			return answer, err
		}
		answer.Stopped = true
	}
	tier, err := a.TierOf(ctx, s.Agent)
	if err != nil {
		return answer, err
	}
	if t, tightens := signalTightens(s, level, tier); tightens {
		if err := a.Tighten(ctx, t); err != nil {
			return answer, err
		}
		answer.Tightened = ledger.HoldName(t.Scope, t.Key)
		if err := a.contextsTogether(ctx); err != nil {
			return answer, err
		}
	}
	if s.Kind == interlock.SignalHealth && level.Severity == phase.Critical {
		on, err := a.Lose(ctx, s.Agent, "does not answer, as an observer tells")
		if err != nil {
			return answer, err
		}
		if on != "" {
			answer.Tightened = on
		}
	}
	a.signals.Lock()
	defer a.signals.Unlock()
	ref := core.Key(ledger.Signal, ledger.SignalRowKey(observer, s))
	receipt, err := a.CommitOn(ctx, false, a.Rows(ref), func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		before, err := a.signalBefore(ctx, ref)
		if err != nil {
			return change, err
		}
		now := a.Config.Now().UTC().Truncate(time.Microsecond)
		body := ledger.SignalBody{Signal: s, Observer: observer, At: now}
		body.Told, answer.Told = a.bands().Told(before.Told, s)
		body.Rotate = core.Rotates(before.Rotate, s, now)
		change.Writes = []ledger.Row{body.Row()}
		record := auditlog.SignalRecord{Signal: s, Observer: observer, Severity: string(level.Severity), Told: answer.Told, Stopped: answer.Stopped}
		if err := a.Append(&change, interlock.EventSignal, interlock.Requester{Agent: observer}, "observer", record); err != nil {
			return change, err
		}
		if !body.Rotate.IsZero() && before.Rotate.IsZero() && a.Tier() >= 2 {
			if err := a.Raise(&change, interlock.Requester{Agent: s.Agent, Run: s.Run}, "context-rotate",
				"it should keep a checkpoint and begin a new context; so much of its context is used, in percent: "+strconv.Itoa(s.Value)); err != nil {
				return change, err
			}
		}
		if !answer.Told {
			return change, nil
		}
		return change, a.Raise(&change, interlock.Requester{Agent: s.Agent, Run: s.Run}, "signal-"+string(s.Kind), signalSays(s, level))
	})
	if err != nil {
		return answer, err
	}
	answer.Event = receipt.Events[0]
	return answer, nil
}

// signalTightens is what a signal does to its agent where an autonomy tier is in force: what is unusual isolates it, and suspends it
// when it is critical; what puts out little worth has its breaker opened; an alarm of a defence stops it. How full its context
// is and how it drifts move it from tier 2 on; at tier 1, which has no phase but the first and the last, people are told
// (EC-2.4, and the triggers of MASO's phases).
func signalTightens(s interlock.Signal, level phase.Level, tier int) (t Tightening, tightens bool) {
	t = Tightening{Scope: ledger.HoldAgent, Key: s.Agent, To: phase.Alternate, Trigger: phase.TriggerSignal,
		Why: "an observer tells of " + string(s.Kind)}
	grave := level.Severity == phase.Warning || level.Severity == phase.Critical
	if tier < 1 || !grave {
		return t, false
	}
	switch s.Kind {
	case interlock.SignalContext:
		t.Trigger = phase.TriggerContext
		return t, tier >= 2
	case interlock.SignalQuality:
		t.Scope, t.Key, t.Trigger = ledger.HoldBreaker, ledger.HoldName(ledger.HoldAgent, s.Agent), phase.TriggerQuality
	case interlock.SignalAnomaly, interlock.SignalDrift:
		if level.Severity == phase.Critical {
			t.To = phase.Contingency
		}
		return t, tier >= 2
	case interlock.SignalDLP, interlock.SignalFraud:
		t.To = phase.Emergency
	default: // that it does not answer is no fault of what it does
		return t, false
	}
	return t, true
}

// signalBefore is what was told of the same agent and run before.
func (a *Containment) signalBefore(ctx context.Context, ref ledger.Ref) (b ledger.SignalBody, err error) {
	rows, _, err := a.Config.Store.Load(ctx, ref)
	for _, row := range rows {
		if body, ok := row.Value.(ledger.SignalBody); ok {
			b = body
		}
	}
	return b, err
}

// signalSays is what people are told.
func signalSays(s interlock.Signal, level phase.Level) string {
	says := map[interlock.SignalKind]string{
		interlock.SignalContext: "so much of its context window is used, in percent:",
		interlock.SignalQuality: "what it puts out is of the quality",
		interlock.SignalAnomaly: "it behaves unusually, by a score of",
		interlock.SignalDrift:   "it has moved from its baseline, by a score of",
		interlock.SignalDLP:     "a data-loss defence objects to its traffic, sure to a percentage of",
		interlock.SignalFraud:   "a fraud defence objects to its traffic, sure to a percentage of",
		interlock.SignalHealth:  "it does not answer well; its health is",
	}[s.Kind]
	text := string(level.Severity) + ": " + says + " " + strconv.Itoa(s.Value)
	if s.Reason != "" {
		text += " (" + s.Reason + ")"
	}
	return text
}
