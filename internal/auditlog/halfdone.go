package auditlog

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// An Unfinished action was let through, is about more than reading, and nobody has told how it ended.
type Unfinished struct {
	Event   string
	At      time.Time
	Agent   string
	Runs    []string // as its door named it, and the registered one
	Tool    string
	Text    string // redacted, as the log has it
	Impacts []interlock.Impact
}

// maxUnfinished is how many events of a kind are looked at for what is unfinished.
const maxUnfinished = 2000

// ByKind reads a page of the events of one type.
type ByKind interface {
	Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error)
}

// UnfinishedSince are the actions let through since a time that nobody has told the end of, newest first.
func UnfinishedSince(ctx context.Context, log ByKind, since time.Time) (open []Unfinished, err error) {
	ended := map[string]bool{}
	for _, kind := range []interlock.EventType{interlock.EventOutcome, interlock.EventAlert} {
		err = newestOf(ctx, log, kind, since, func(e interlock.Entry) error {
			event, err := ParseEvent(e.Body)
			if err != nil {
				return err
			}
			var o interlock.Outcome
			if json.Unmarshal(event.Payload, &o) == nil && o.Status != interlock.OutcomeUnknown {
				ended[o.Event] = true
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, kind := range []interlock.EventType{interlock.EventDecision, interlock.EventReviewRequest} {
		err = newestOf(ctx, log, kind, since, func(e interlock.Entry) error {
			if OfText(&e) {
				return nil
			}
			d, err := ReadDecision(e)
			if err != nil || ended[d.Event.ID] || !d.Decision.Answer.Allowed() || d.Execution != "awaited" || d.Canary ||
				readsAlone(d.Decision.Impacts) {
				return err
			}
			u := Unfinished{Event: d.Event.ID, At: d.Event.Recorded, Agent: d.Proposal.Requester.Agent, Runs: []string{d.Proposal.Requester.Run},
				Tool: d.Proposal.Action.Tool, Text: ActionLine(d.Proposal.Action), Impacts: d.Decision.Impacts}
			if d.Basis != nil && d.Basis.Run != "" {
				u.Runs = append(u.Runs, d.Basis.Run)
			}
			open = append(open, u)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(open, func(a, b Unfinished) int { return b.At.Compare(a.At) })
	return open, nil
}

func readsAlone(impacts []interlock.Impact) bool {
	return !slices.ContainsFunc(impacts, func(i interlock.Impact) bool { return i.Reversibility != interlock.Readonly })
}

// newestOf visits the newest events of a type since a time.
func newestOf(ctx context.Context, log ByKind, kind interlock.EventType, since time.Time, visit func(interlock.Entry) error) error {
	const page = 500
	before := int64(-1)
	for seen := 0; seen < maxUnfinished; seen += page {
		entries, err := log.Entries(ctx, kind, ledger.Before(before, page))
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, e := range entries {
			if before = e.Index; Released(&e) {
				return nil
			}
			event, err := ParseEvent(e.Body)
			if err != nil {
				return err
			}
			if event.Recorded.Before(since) {
				return nil
			}
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// A HalfDone action is one that an agent that is held may have left half done, and how its tool says that is resolved.
type HalfDone struct {
	Event      string `json:"event"`
	Agent      string `json:"agent"`
	Did        string `json:"did"`
	Resolution string `json:"resolution"`
	Dangerous  bool   `json:"dangerous,omitempty"` // half of it is worse than all or nothing, or nobody has said
}
