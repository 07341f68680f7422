package replay

import (
	"slices"
	"time"

	"interlock"
	"interlock/internal/gate"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// limited holds what a decision was refused by limits against the rows that it says it met: each that had no room is one that had
// none, by the limit of the rules it was decided under, and what the limit objects then is what was recorded.
func (r *Record) limited(rules *ruleset.Ruleset) error {
	for _, row := range r.Inputs.Limited {
		if !row.Met {
			continue
		}
		l, known := rules.LimitOf(row.Limit, &r.Snapshot.Agent)
		if !known || row.Room > l.Most {
			return failure(ResultMismatch, "the rules hold no limit %s that leaves so much room", row.Limit)
		}
		if row.Take <= row.Room-row.Used {
			return failure(ResultMismatch, "the limit %s had room for it: %d of %d were used", row.Limit, row.Used, row.Room)
		}
		wait := time.Duration(0)
		if !row.Back.IsZero() {
			wait = max(row.Back.Sub(r.At()), 0)
		}
		want := gate.NoRoom(l, row.Room < l.Most, wait)
		if !slices.ContainsFunc(r.Inputs.Limits, func(f interlock.Finding) bool { return same(f, want) }) {
			return failure(ResultMismatch, "what the limit %s objected is not what its row says", row.Limit)
		}
	}
	return nil
}

func same(a, b interlock.Finding) bool {
	one, err := strictjson.Marshal(a)
	other, wrong := strictjson.Marshal(b)
	return err == nil && wrong == nil && string(one) == string(other)
}
