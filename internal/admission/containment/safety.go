package containment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// What is grave raises its own alert in the change that records it. What is blocked, taken out or flagged is so all day long: under the
// profile of MACE people are told of it as well (MACE 10), of the first at once and of what follows once an hour, by agent.

// maceProfile is the profile whose homes tell of every safety event.
const maceProfile = "mace-stage1"

// MACE reports whether the profile in force is that one.
func (a *Containment) MACE() bool { return a.Active.Load().Profile == maceProfile }

const (
	tellSafetyEach = time.Hour
	safetyPage     = 500 // events of one kind that one alert counts; the rest is counted by the next
	safetyAgents   = 20  // agents that are told of at once
	// settingSafety is when people were told last, and of which entries on they are to be told next.
	settingSafety = "safety_told"
)

// safetyEvents are the kinds that are told of so.
func safetyEvents() []interlock.EventType {
	return []interlock.EventType{interlock.EventBlock, interlock.EventReviewRequest, interlock.EventRedaction, interlock.EventPersonal}
}

// TellSafety raises an alert for each agent of which safety events were recorded since people were told last.
func (a *Containment) TellSafety(ctx context.Context, now time.Time) (told int, err error) {
	if a.Config.Log == nil || !a.MACE() {
		return 0, nil
	}
	on := a.Rows(core.Key(ledger.Setting, settingSafety))
	known, err := a.Known(ctx, core.Key(ledger.Setting, settingSafety))
	if err != nil {
		return 0, err
	}
	last := known.Settings[settingSafety]
	at, from := safetyTold(last)
	if now.Before(at.Add(tellSafetyEach)) {
		return 0, nil
	}
	agents, next, err := a.safetySince(ctx, from)
	if err != nil || len(agents) == 0 {
		return 0, err
	}
	_, err = a.CommitOn(ctx, false, on, func(standing ledger.Standing) (ledger.Change, error) {
		change := ledger.Change{Version: standing.Version}
		if standing.Settings[settingSafety] != last {
			return change, core.ErrUnchanged // another process has told of them
		}
		change.Writes = ledger.Settings(map[string]string{settingSafety: now.UTC().Format(time.RFC3339) + " " + strconv.FormatInt(next, 10)})
		names := slices.Sorted(maps.Keys(agents))
		for _, name := range names[:min(len(names), safetyAgents)] {
			if err := a.Raise(&change, interlock.Requester{Agent: name}, "safety", agents[name].says()); err != nil {
				return change, err
			}
		}
		if more := len(names) - safetyAgents; more > 0 {
			return change, a.Raise(&change, interlock.Requester{Agent: "interlock"}, "safety", fmt.Sprintf("and of %d agents more", more))
		}
		return change, nil
	})
	if errors.Is(err, core.ErrUnchanged) {
		return 0, nil
	}
	return len(agents), err
}

// safetyTold reads when people were told, and from where on they are to be told next.
func safetyTold(text string) (at time.Time, from int64) {
	when, next, _ := strings.Cut(text, " ")
	at, err := time.Parse(time.RFC3339, when)
	if from, _ = strconv.ParseInt(next, 10, 64); err != nil {
		return time.Time{}, 0
	}
	return at, from
}

// safetyOf is what was recorded of one agent.
type safetyOf struct {
	counts map[interlock.EventType]int
	last   string // the newest event's id
}

func (s safetyOf) says() string {
	var parts []string
	for _, kind := range safetyEvents() {
		if n := s.counts[kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	return "recorded since people were told last: " + strings.Join(parts, ", ") + "; the newest is the event " + s.last +
		" (`interlock audit show` has it)"
}

// safetySince is what was recorded from an entry on, by agent, and the entry after it. Of a kind of which there is more than one page holds
// the rest is left, and what came after that of the others with it, so that each is told of once.
func (a *Containment) safetySince(ctx context.Context, from int64) (agents map[string]safetyOf, next int64, err error) {
	var all []interlock.Entry
	upTo := int64(math.MaxInt64)
	for _, kind := range safetyEvents() {
		entries, err := a.Config.Log.Entries(ctx, kind, ledger.From(from, safetyPage))
		if err != nil {
			return nil, 0, err
		}
		if len(entries) == safetyPage {
			upTo = min(upTo, entries[safetyPage-1].Index)
		}
		all = append(all, entries...)
	}
	slices.SortFunc(all, func(a, b interlock.Entry) int { return int(a.Index - b.Index) })
	agents = map[string]safetyOf{}
	for n := range all {
		e := &all[n]
		if e.Index > upTo || auditlog.Released(e) {
			continue
		}
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			continue // which verifying the log tells of
		}
		one := agents[event.Actor]
		if one.counts == nil {
			one.counts = map[interlock.EventType]int{}
		}
		one.counts[e.Type]++
		one.last = e.ID
		agents[event.Actor], next = one, e.Index+1
	}
	return agents, next, nil
}
