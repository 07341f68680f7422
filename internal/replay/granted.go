package replay

import (
	"cmp"
	"slices"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

// maxAnswered is how many different actions a trial of a grant names.
const maxAnswered = 20

// A GrantTrial finds out what a standing yes would have answered of what has happened. Nothing of it is a decision.
type GrantTrial struct {
	grant  interlock.Grant
	rules  *ruleset.Ruleset
	report GrantReport
	like   map[string]*GrantLike
}

// A GrantReport is what a standing yes would have answered.
type GrantReport struct {
	Since     time.Time    `json:"since"`
	Questions int          `json:"questions"`          // that the agent asked
	Answered  int          `json:"answered"`           // of them, by this yes
	Besides   int          `json:"besides"`            // what was no question then, and would be one now that it answers
	Others    int          `json:"others,omitempty"`   // different actions beyond those that are named
	Skipped   map[Code]int `json:"skipped,omitempty"`  // decisions that can't be made again, by why
	Archived  int          `json:"archived,omitempty"` // and those in an archive
	Actions   []GrantLike  `json:"actions"`            // what would have been answered, most often first
}

// A GrantLike is one action that would have been answered.
type GrantLike struct {
	Action string    `json:"action"` // redacted
	Dir    string    `json:"dir,omitempty"`
	Times  int       `json:"times"`
	Last   time.Time `json:"last"`
	Event  string    `json:"event"` // the last of them
}

// NewGrantTrial tries a grant that nobody has signed yet under some rules.
func NewGrantTrial(g interlock.Grant, rules *ruleset.Ruleset, since time.Time) *GrantTrial {
	g.Left, g.Expires = max(g.Times, 1), time.Time{} // how often and how long is no matter for what it is like
	return &GrantTrial{grant: g, rules: rules, report: GrantReport{Since: since, Skipped: map[Code]int{}, Actions: []GrantLike{}},
		like: map[string]*GrantLike{}}
}

// Skip counts a decision that can't be tried.
func (t *GrantTrial) Skip(why error) {
	code := IntegrityFailure
	if f, ok := why.(*Failure); ok { //nolint:errorlint // failures are never wrapped
		code = f.Code
	}
	t.report.Skipped[code]++
}

// Concerns reports whether a decision is about the agent that the grant is for.
func (t *GrantTrial) Concerns(r *Record) bool {
	return r.Requester.Agent == t.grant.Agent && r.Requester.Principal == t.grant.Principal
}

// Try decides one recorded action with the grant and no other yes.
func (t *GrantTrial) Try(r *Record, was interlock.Decision, redact func(string) (string, []string)) {
	asked := was.Verdict == interlock.Ask
	if asked {
		t.report.Questions++
	}
	g := t.grant
	if !g.Holds(t.rules.Digest(), r.Requester.Run) {
		return
	}
	g.Created = r.At()
	again := *r
	again.Snapshot.Grants, again.Snapshot.Mode, again.Inputs.Approval = []interlock.Grant{g}, interlock.Enforcing, nil
	if again.decide(t.rules, nil).Grant != g.ID {
		return
	}
	if asked {
		t.report.Answered++
	} else {
		t.report.Besides++
	}
	a := r.Inputs.Action
	text, _ := redact(cmp.Or(a.Input, a.Tool+" "+string(a.Arguments)))
	one := t.like[text]
	switch {
	case one == nil && len(t.like) >= maxAnswered:
		t.report.Others++
		return
	case one == nil:
		one = &GrantLike{Action: text}
		t.like[text] = one
	}
	one.Times++
	one.Dir, one.Last, one.Event = a.Dir, r.At(), r.Event.ID
}

// Report says what came out so far.
func (t *GrantTrial) Report() GrantReport {
	out := t.report
	for _, one := range t.like { // any order: sorted below
		out.Actions = append(out.Actions, *one)
	}
	slices.SortFunc(out.Actions, func(a, b GrantLike) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Action, b.Action))
	})
	if len(out.Skipped) == 0 {
		out.Skipped = nil
	}
	return out
}
