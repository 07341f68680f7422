package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"

	"interlock"
	"interlock/internal/strictjson"
)

// A DryRunRecord is what an action did in a throw-away copy.
type DryRunRecord struct {
	Run interlock.DryRun // Diffs redacted
}

type dryRunWire struct {
	interlock.DryRun
	truncated
}

// Payload renders the record. Differences are left out first, and then whole effects, until the rest fits; the record says
// how many there were.
func (r DryRunRecord) Payload() (json.RawMessage, error) {
	all := len(r.Run.Effects)
	for _, room := range [...]struct{ effects, diff int }{{500, 4 << 10}, {500, 512}, {500, 0}, {100, 0}, {20, 0}} {
		run, c := r.Run, cutter{room: 1 << 10}
		run.ID = ""
		run.Effects = make([]interlock.Effect, 0, min(all, room.effects))
		for _, e := range r.Run.Effects[:min(all, room.effects)] {
			if e.Path = c.text("path", e.Path); len(e.Diff) > room.diff {
				e.Diff = ""
			}
			run.Effects = append(run.Effects, e)
		}
		cut := c.cut
		if len(run.Effects) < all {
			run.Partial = true
			cut = append(cut, cutWire{Field: "effects", Items: all})
		}
		encoded, err := strictjson.Marshal(&dryRunWire{run, truncated{cut}})
		if err != nil {
			return nil, fmt.Errorf("auditlog: encode a dry run: %w", err)
		}
		if len(encoded) <= MaxPayload {
			return encoded, nil
		}
	}
	return nil, errors.New("auditlog: the dry run does not fit into an event")
}

// DryRunOf reads what a DRY_RUN event records.
func DryRunOf(e interlock.Entry) (interlock.DryRun, error) {
	r, _, err := readOf[interlock.DryRun](e, "holds no dry run", interlock.EventDryRun)
	r.ID = e.ID
	return r, err
}

// effects are as many of the files that a run wrote as an outcome has room for, without how they differ.
func (c *cutter) effects(list []interlock.Effect, partial bool) (kept []interlock.Effect, more bool) {
	const most, room = 200, 16 << 10 // effects, and bytes of their paths
	small, bytes := cutter{room: 512}, 0
	for i, e := range list {
		e.Path, e.Diff = small.text("path", e.Path), ""
		if bytes += len(e.Path); i == most || bytes > room {
			c.cut = append(c.cut, cutWire{Field: "effects", Items: len(list)})
			return kept, true
		}
		kept = append(kept, e)
	}
	c.cut = append(c.cut, short(small.cut)...)
	return kept, partial
}
