package main

import (
	"encoding/json"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// An openAction was let through and has no outcome.
type openAction struct {
	at          time.Time
	agent, what string
}

// maxOpen is how many events of a kind are looked at for what is open.
const maxOpen = 2000

// openActions are the actions let through since a time that nobody has reported the end of, newest first. Reads are left out.
func openActions(p *program, log *store.Store, since time.Time) ([]openAction, error) {
	ended := map[string]bool{}
	err := newest(p, log, interlock.EventOutcome, since, func(e interlock.Entry, _ auditlog.Event, payload []byte) error {
		var outcome interlock.Outcome
		if json.Unmarshal(payload, &outcome) == nil {
			ended[outcome.Event] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var open []openAction
	err = newest(p, log, interlock.EventDecision, since, func(e interlock.Entry, event auditlog.Event, _ []byte) error {
		d, err := auditlog.ReadDecision(e)
		if err != nil || ended[event.ID] || !d.Decision.Answer.Allowed() || d.Handed || !changes(&d.Decision) {
			return err
		}
		open = append(open, openAction{event.Recorded, event.Actor, oneLine(auditlog.ActionLine(d.Proposal.Action), maxRow)})
		return nil
	})
	return open, err
}

// changes reports whether a decision is about more than reading.
func changes(d *interlock.Decision) bool {
	for n := range d.Impacts {
		if d.Impacts[n].Reversibility != interlock.Readonly {
			return true
		}
	}
	return false
}

// newest visits the newest events of a type since a time, newest first.
func newest(p *program, log *store.Store, kind interlock.EventType, since time.Time,
	visit func(interlock.Entry, auditlog.Event, []byte) error) error {
	const page = 500
	before := int64(-1)
	for seen := 0; seen < maxOpen; seen += page {
		entries, err := log.Entries(p.ctx, kind, ledger.Before(before, page))
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, entry := range entries {
			if before = entry.Index; auditlog.Released(&entry) {
				return nil
			}
			event, err := auditlog.ParseEvent(entry.Body)
			if err != nil {
				return err
			}
			if event.Recorded.Before(since) {
				return nil
			}
			if err := visit(entry, event, event.Payload); err != nil {
				return err
			}
		}
	}
	return nil
}
