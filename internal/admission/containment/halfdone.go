package containment

import (
	"context"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/rollback"
	"interlock/internal/ruleset"
)

// How far back what is half done is looked for, and how much of it an event names.
const (
	halfDoneWithin = time.Hour
	maxHalfDone    = 16
	maxHalfText    = 160 // bytes
)

// unfinished is what is half done when a phase changes, read once for all the holds that change together.
type unfinished struct {
	list []auditlog.Unfinished
	err  error
}

// halfDone names in the record of a stricter phase what those it holds may have left half done. That it can't be read keeps
// nobody from being held.
func (m *HoldTransition) halfDone(h *ledger.HoldBody, record *auditlog.PhaseRecord) {
	if m.A.Config.Unfinished == nil {
		return
	}
	if m.open == nil {
		list, err := m.A.Config.Unfinished(m.ctx, m.Now.Add(-halfDoneWithin))
		m.open = &unfinished{list, err}
	}
	if m.open.err != nil {
		record.Unread = true
		return
	}
	held, err := heldOf(m.ctx, m.A.Config.Store, h, m.open.list)
	if err != nil {
		record.Unread = true
		return
	}
	record.Half = Resolved(held, m.A.Active.Load().Rules)
	if len(record.Half) > maxHalfDone {
		record.Half, record.More = record.Half[:maxHalfDone], len(record.Half)-maxHalfDone
	}
	for n := range record.Half {
		record.Half[n].Did = core.Bounded(record.Half[n].Did, maxHalfText)
	}
}

// heldOf are those of the unfinished actions that a hold is over.
func heldOf(ctx context.Context, log rowReader, h *ledger.HoldBody, list []auditlog.Unfinished) (held []auditlog.Unfinished, err error) {
	types := map[string]bool{} // agents by name: whether they are of the type that is held
	for _, u := range list {
		switch h.Scope {
		case ledger.HoldAgent:
			if u.Agent != h.Key {
				continue
			}
		case ledger.HoldRun:
			if !slices.Contains(u.Runs, h.Key) {
				continue
			}
		case ledger.HoldType:
			of, known := types[u.Agent]
			if !known {
				if of, err = isOfType(ctx, log, u.Agent, h.Key); err != nil {
					return nil, err
				}
				types[u.Agent] = of
			}
			if !of {
				continue
			}
		}
		held = append(held, u)
	}
	return held, nil
}

// A rowReader reads rows by their keys.
type rowReader interface {
	Load(ctx context.Context, refs ...ledger.Ref) (rows []ledger.Row, version int64, err error)
}

// HalfDoneUnder are the actions that a hold is over which may still be half done, and how their tools resolve them.
func HalfDoneUnder(ctx context.Context, log interface {
	auditlog.ByKind
	rowReader
}, h *ledger.HoldBody, rules *ruleset.Ruleset) ([]auditlog.HalfDone, error) {
	open, err := auditlog.UnfinishedSince(ctx, log, h.Since.Add(-halfDoneWithin))
	if err != nil {
		return nil, err
	}
	held, err := heldOf(ctx, log, h, open)
	return Resolved(held, rules), err
}

func isOfType(ctx context.Context, log rowReader, agent, name string) (bool, error) {
	rows, _, err := log.Load(ctx, core.Key(ledger.Agent, agent))
	record := interlock.AgentRecord{ID: agent}
	for _, row := range rows {
		if r, ok := row.Value.(interlock.AgentRecord); ok {
			record = r
		}
	}
	return ruleset.TypeName(record) == name, err
}

// Resolved says of unfinished actions how their tools resolve them.
func Resolved(list []auditlog.Unfinished, rules *ruleset.Ruleset) (half []auditlog.HalfDone) {
	for _, u := range list {
		declared := rules.Resolve(u.Tool, u.Text)
		half = append(half, auditlog.HalfDone{Event: u.Event, Agent: u.Agent, Did: u.Text, Resolution: rollback.Half(declared),
			Dangerous: declared.Dangerous()})
	}
	return half
}
