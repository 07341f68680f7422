package render

import (
	"context"
	"math"
	"slices"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/personal"
	"interlock/internal/privacy"
	"interlock/internal/strictjson"
)

// The page about what is kept of people names them by the ids that operators gave them, and what is theirs by its kind, its digest
// and its event: nothing on it is personal data itself (MACE 4).

// A Consented is a consent as its page shows it.
type Consented struct {
	privacy.Consent
	State string
	Open  bool // it can be revoked
}

// A DataAsked is what a person has asked for, and how far that is.
type DataAsked struct {
	Event string
	At    time.Time
	auditlog.DataRequestRecord
	Status interlock.ActionStatus // of the request for a deletion
}

// An Erased is a deletion by its manifest.
type Erased struct {
	Event string
	At    time.Time
	auditlog.DeletionRecord
}

// A Privacy is who permitted what to be kept, what people asked for, and what was deleted.
type Privacy struct {
	Consents []Consented
	More     int
	Asked    []DataAsked
	Erased   []Erased
	Terms    [][2]string
}

// A Grounded reads rows of the ledger, and the standing that they make.
type Grounded interface {
	core.Ledger
	Ground(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error)
}

// An EventLog finds events by their type.
type EventLog interface {
	Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error)
}

// The bounds of what these pages list.
const (
	maxKept  = 200 // consents and facts
	maxAsked = 50  // events of a type
)

// PrivacyOf reads what the page shows.
func PrivacyOf(ctx context.Context, from Grounded, log EventLog, now time.Time) (page Privacy, err error) {
	page.Terms = [][2]string{
		{"A consent for one run", "counts for at most " + inDays(privacy.MaxRun)},
		{"A persistent consent", "counts for at most " + inDays(privacy.MaxPersistent) + ", then the person is asked again"},
		{"What is kept", "stays sealed for its person until the council has it deleted"},
		{"The log", "holds kinds, digests and ids, and is kept: a deletion leaves a manifest in it"}}
	every := ledger.Ref{Kind: ledger.Consent, Mark: ledger.All}
	rows, next, err := from.Scan(ctx, every, newestFirst())
	if err == nil && next != (ledger.Place{}) {
		page.More, err = from.Count(ctx, every, ledger.Every(maxKept+core.MostMore))
		page.More = max(page.More-maxKept, 0)
	}
	for _, row := range rows {
		if one, is := row.Value.(privacy.Consent); is {
			page.Consents = append(page.Consents, consentAt(one, now))
		}
	}
	if err == nil {
		page.Asked, err = askedOf(ctx, from, log)
	}
	if err == nil {
		page.Erased, err = eventsOf(ctx, log, interlock.EventDeletedPersonal, func(e *auditlog.Event, d auditlog.DeletionRecord) Erased {
			return Erased{e.ID, e.Recorded, d}
		})
	}
	return page, err
}

func inDays(d time.Duration) string { return Comma(int64(d/(24*time.Hour))) + " days" }

func newestFirst() ledger.Span {
	span := ledger.From(math.MinInt64, maxKept)
	span.Newest = true
	return span
}

// consentAt says in which state a consent is.
func consentAt(one privacy.Consent, now time.Time) Consented {
	out := Consented{Consent: one, State: "in force", Open: one.Revoked.IsZero() && now.Before(one.Until)}
	switch {
	case !one.Revoked.IsZero():
		out.State = "revoked"
	case !now.Before(one.Until):
		out.State = "over"
	case one.Tier == personal.High && one.Council == "":
		out.State = "for medium, until the council approves"
	}
	return out
}

// askedOf are what people asked for lately, those for a deletion with how far the council is.
func askedOf(ctx context.Context, from Grounded, log EventLog) (list []DataAsked, err error) {
	var refs []ledger.Ref
	for _, kind := range []interlock.EventType{interlock.EventDataRequest, interlock.EventDataDelete} {
		some, err := eventsOf(ctx, log, kind, func(e *auditlog.Event, d auditlog.DataRequestRecord) DataAsked {
			return DataAsked{Event: e.ID, At: e.Recorded, DataRequestRecord: d}
		})
		if err != nil {
			return nil, err
		}
		for _, one := range some {
			if one.Request != "" {
				refs = append(refs, ledger.Ref{Kind: ledger.ActionRequest, Key: one.Request})
			}
			// a deletion is told by its second event, which names its request
			if kind == interlock.EventDataDelete || one.Wants == governance.DataExport {
				list = append(list, one)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b DataAsked) int { return b.At.Compare(a.At) })
	list = list[:min(len(list), maxAsked)]
	if len(refs) == 0 {
		return list, nil
	}
	standing, err := from.Ground(ctx, refs...)
	for n := range list {
		if a, known := standing.Action(list[n].Request); known {
			list[n].Status = a.Status
		}
	}
	return list, err
}

// eventsOf reads the newest events of a type, as their page shows them. One that can't be read is left out: the page of the log names
// it.
func eventsOf[T, S any](ctx context.Context, log EventLog, kind interlock.EventType, as func(*auditlog.Event, T) S) (list []S, err error) {
	entries, err := log.Entries(ctx, kind, ledger.Before(-1, maxAsked))
	for _, e := range entries {
		var record T
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil || strictjson.DecodeSome(event.Payload, &record) != nil {
			continue
		}
		list = append(list, as(&event, record))
	}
	return list, err
}
