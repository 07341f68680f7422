package core

import (
	"context"
	"math"
	"slices"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// The bounds of looking for a call.
const (
	callWindow = 10 * time.Minute // how long a call waits for its second event when the harness gives no ids
	maxLooked  = 64               // calls looked at, the newest
)

// FindCall finds how a call was decided. Where the harness gives ids, it is the newest call of this agent and run with
// that id, of whatever age and outcome; the caller judges both. Otherwise, or if the id was not seen, it is the newest
// call of this agent and run for the action within ten minutes that has no outcome yet. Where the caller names an action,
// only a call for that action is found: one id does not stand for two actions.
func (a *Core) FindCall(ctx context.Context, r interlock.Requester,
	action interlock.Digest) (call ledger.CallBody, found bool, err error) {
	if r.Call != "" {
		call, found, err = a.newestCall(ctx, ledger.Called(r.Agent, r.Run, r.Call), ledger.From(math.MinInt64, 1),
			func(call *ledger.CallBody) bool { return action == "" || call.Action == action })
		if found || err != nil {
			return call, found, err
		}
	}
	if action == "" {
		return call, false, nil
	}
	span := ledger.From(a.Config.Now().Add(-callWindow).UnixNano()+1, 1)
	span.Lone = r.Call != ""
	return a.newestCall(ctx, ledger.Acted(r.Agent, r.Run, action), span, func(call *ledger.CallBody) bool {
		return call.Outcome == "" && (r.Call == "" || call.Requester.Call == "")
	})
}

// newestCall is the newest call under a mark that fits. It is mostly the first one.
func (a *Core) newestCall(ctx context.Context, mark string, span ledger.Span,
	fits func(*ledger.CallBody) bool) (call ledger.CallBody, found bool, err error) {
	span.Newest = true
	for looked := 0; looked < maxLooked; looked += span.Limit {
		if looked > 0 {
			span.Limit = maxLooked - 1
		}
		rows, next, err := a.Config.Store.Scan(ctx, Under(ledger.Call, mark), span)
		if err != nil {
			return call, false, err
		}
		for _, row := range rows {
			if call, ok := row.Value.(ledger.CallBody); ok && fits(&call) {
				return call, true, nil
			}
		}
		if span.After = next; next == (ledger.Place{}) {
			break
		}
	}
	return call, false, nil
}

// SeeCall remembers that another harness event has seen a call. It is a note beside the log, not an event: losing it
// costs a repeated decision, never a lost one.
func (a *Core) SeeCall(ctx context.Context, eventID, event string) error {
	return a.Config.Store.Note(ctx, Key(ledger.Call, eventID), func(value any) (any, error) {
		call, ok := value.(ledger.CallBody)
		if !ok {
			return nil, interlock.Errorf(interlock.CodeNotFound, "event_id", "no call was decided by the event %.80q", eventID)
		}
		// since it was looked at: of two that come at once, one is that event
		if Seen(call.Events, event) || Spent(call) && len(call.Events) > 1 {
			return nil, interlock.Errorf(interlock.CodeConflict, "event", "the call was seen by this event a moment ago")
		}
		call.Events = append(slices.Clip(call.Events), event)
		return call, nil
	})
}

// HeardAgain notes that a call for which a yes was used up is answered a second time, or refuses where it was already: one yes is
// one allow, whatever the call's own row says.
func (a *Core) HeardAgain(ctx context.Context, eventID string) error {
	return a.Config.Store.Note(ctx, Key(ledger.Again, eventID), func(value any) (any, error) {
		if value != nil {
			return nil, interlock.Errorf(interlock.CodeConflict, "event", "this answer was heard twice already")
		}
		return ledger.AgainBody{Event: eventID, At: a.Config.Now().UTC()}, nil
	})
}

// Spent reports whether an operator's yes was used up for a call.
func Spent(call ledger.CallBody) bool {
	return call.Decision.Approval != "" || call.Decision.Grant != ""
}

func Seen(events []string, event string) bool {
	for _, e := range events {
		if e == event {
			return true
		}
	}
	return false
}

// MaxTellings bounds how often an outcome is committed again because what it ends has moved.
const MaxTellings = 5
