package ruleset

import (
	"strings"
	"time"

	"interlock"
)

// An After is a condition on what the same run did before: an impact of an earlier action meets the predicate, and one of
// the action's own impacts that meet the rule's match is in the relation named.
type After struct {
	Predicate
	Same   string `json:"same,omitempty"`   // "target": the action acts on what the earlier one acted on, or on something in it
	Times  int    `json:"times,omitempty"`  // so many earlier actions did; one, if none is given
	Within Span   `json:"within,omitempty"` // so long ago at most; as long as anything is remembered, if none is given

	match predicate
}

// sameTarget is the one relation there is.
const sameTarget = "target"

// maxTimes bounds how many earlier actions a rule may ask for: no more are remembered.
const maxTimes = interlock.RecentActions

// A Span is a length of time, written as 90s or 5m.
type Span time.Duration

// MarshalText writes the span.
func (s Span) MarshalText() ([]byte, error) {
	return []byte(time.Duration(s).String()), nil
}

// UnmarshalText reads a span.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d < 0 {
		return interlock.Errorf(interlock.CodeInvalid, "", "is no length of time; write one as 90s or 5m")
	}
	*s = Span(d)
	return nil
}

func (a *After) compile() { a.match = a.Predicate.compile() }

// Follows reports whether the rule's condition on earlier actions holds: there is none, or enough of what the snapshot
// remembers meets it. The impacts are the action's own that meet the rule's match, by index.
func (r *Rule) Follows(snapshot *interlock.Snapshot, impacts []interlock.Impact, met []int) bool {
	a := r.After
	if a == nil {
		return true
	}
	want, within := max(a.Times, 1), time.Duration(a.Within)
	for n := len(snapshot.Recent) - 1; n >= 0 && want > 0; n-- {
		past := &snapshot.Recent[n]
		if age := snapshot.Taken.Sub(past.At); within > 0 && age > within {
			continue
		}
		if a.met(past, impacts, met) {
			want--
		}
	}
	return want == 0
}

// met reports whether one earlier action meets the condition.
func (a *After) met(past *interlock.PastAction, impacts []interlock.Impact, met []int) bool {
	for i := range past.Impacts {
		earlier := &past.Impacts[i]
		if !a.match.matches(earlier) {
			continue
		}
		if a.Same != sameTarget {
			return true
		}
		for _, n := range met {
			if within(impacts[n].Target, earlier.Target) {
				return true
			}
		}
	}
	return false
}

// within reports whether a target is another one or lies in it.
func within(target, whole string) bool {
	if whole == "" || whole == "." || whole == "/" {
		return false // everything lies in these, which says nothing
	}
	rest, found := strings.CutPrefix(target, whole)
	return found && (rest == "" || rest[0] == '/' || strings.HasSuffix(whole, "/"))
}

// maxRemembered bounds a remembered target, in bytes. A longer one is forgotten, the impact is not.
const maxRemembered = 256

// Remember returns what rules may ask of an action later: nothing of one that was refused, and of the impacts of any other
// those that meet a rule's condition on earlier actions. ok is false if there are none.
func (r *Ruleset) Remember(kind interlock.Kind, d interlock.Decision, at time.Time) (past interlock.PastAction, ok bool) {
	if len(r.after) == 0 || d.Answer.Compare(interlock.Deny) >= 0 {
		return past, false
	}
	for n := range d.Impacts {
		if len(past.Impacts) == interlock.RecentImpacts {
			break
		}
		for _, a := range r.after {
			if a.match.matches(&d.Impacts[n]) {
				impact := d.Impacts[n]
				if len(impact.Target) > maxRemembered {
					impact.Target = ""
				}
				if len(impact.Via) > maxRemembered {
					impact.Via = ""
				}
				past.Impacts = append(past.Impacts, impact)
				break
			}
		}
	}
	past.At, past.Kind = at, kind
	return past, len(past.Impacts) > 0
}

// Recalls reports whether any rule asks what a run did before.
func (r *Ruleset) Recalls() bool { return len(r.after) > 0 }

// Recent returns what is worth putting into a snapshot taken at a time: nothing that is older than any rule asks for, or
// younger than the snapshot is.
func (r *Ruleset) Recent(recent []interlock.PastAction, at time.Time) []interlock.PastAction {
	var longest time.Duration
	for _, a := range r.after {
		if a.Within == 0 {
			longest = interlock.RecentWindow
		}
		longest = max(longest, time.Duration(a.Within))
	}
	for len(recent) > 0 && at.Sub(recent[0].At) > min(longest, interlock.RecentWindow) {
		recent = recent[1:]
	}
	return recent
}
