package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

// A rulesFilter says which rules the page lists. Empty fields say nothing.
type rulesFilter struct {
	Q       string // part of the id, the reason or a tag
	Verdict string
	From    string // "yours", "shipped" or "silent": those that an operator keeps silent
	dated          // those that were the one that is named within these times
}

func rulesFilterOf(query url.Values) (f rulesFilter, err error) {
	f = rulesFilter{Q: query.Get("q"), Verdict: query.Get("verdict"), From: query.Get("from")}
	if len(f.Q) > maxFilter {
		return f, interlock.Errorf(interlock.CodeInvalid, "q", "is longer than %d bytes", maxFilter)
	}
	if f.Verdict != "" {
		var v interlock.Verdict
		if err := v.UnmarshalText([]byte(f.Verdict)); err != nil {
			return f, interlock.Errorf(interlock.CodeInvalid, "verdict", "%v", err)
		}
	}
	if f.From != "" && !slices.Contains([]string{"yours", "shipped", "silent"}, f.From) {
		return f, interlock.Errorf(interlock.CodeInvalid, "from", "%.40q is none of yours, shipped and silent", f.From)
	}
	f.dated, err = datedOf(query)
	return f, err
}

// Any reports whether the filter leaves anything out.
func (f rulesFilter) Any() bool { return f != rulesFilter{} }

// about reports whether a rule passes, but for the times.
func (f rulesFilter) about(r *ruleset.Rule, silent bool) bool {
	switch {
	case f.Verdict != "" && r.Verdict.String() != f.Verdict,
		f.From == "yours" && !r.User(), f.From == "shipped" && r.User(), f.From == "silent" && !silent:
		return false
	}
	text := strings.ToLower(r.ID + "\n" + r.Reason + "\n" + strings.Join(r.Tags, "\n"))
	return strings.Contains(text, strings.ToLower(f.Q))
}

// spoke reports how often a rule was the one that is named within the filter's times, and whether that is enough to be listed.
func (f rulesFilter) spoke(r *rollup, rule string, now time.Time) (times int, listed bool) {
	from, to := f.bounds(now)
	times, _ = r.between(r.rules[rule], from, to)
	return times, times > 0 || !f.Dated()
}
