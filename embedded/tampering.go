package embedded

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
)

// alarmTime bounds how long a reading waits for the record that something of what it read is not believed.
const alarmTime = 5 * time.Second

// A tampering records and tells that something which is kept beside the log is not as Interlock wrote it. A store is opened
// before there is anything to record with; what it notices until then waits.
type tampering struct {
	mu    sync.Mutex
	alarm func(ctx context.Context, kind, message string) error
	early []*ledger.Tampered
}

// notice records it: an ALERT in the log, and a word to the people in charge. That it can't be recorded changes nothing of what it
// is about: it is not believed.
func (t *tampering) notice(what *ledger.Tampered) {
	t.mu.Lock()
	alarm := t.alarm
	if alarm == nil {
		t.early = append(t.early, what)
	}
	t.mu.Unlock()
	if alarm == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), alarmTime)
	defer cancel()
	_ = alarm(ctx, "store-changed", what.Name()+"; it is not believed")
}

// use has everything recorded from now on, and what waits.
func (t *tampering) use(alarm func(ctx context.Context, kind, message string) error) {
	t.mu.Lock()
	early := t.early
	t.alarm, t.early = alarm, nil
	t.mu.Unlock()
	for _, what := range early {
		t.notice(what)
	}
}

// CheckStanding looks at everything that is kept beside the log, as [store.Port] does, and has what is wrong recorded and told,
// each once for as long as the process runs.
func (b *Backend) CheckStanding(ctx context.Context) (wrong int, err error) {
	err = b.Store.CheckStanding(ctx, func(what *ledger.Tampered) error {
		wrong++
		if _, known := b.noticed.LoadOrStore(what.Name(), true); !known {
			b.tampering.notice(what)
		}
		return nil
	})
	return wrong, err
}

// checkStandingEvery is how often a process that lasts looks at all that is kept beside the log.
const checkStandingEvery = 10 * time.Minute

// CheckStandingUntil looks at once and again and again, until ctx ends. What can't be read is for tell.
func (b *Backend) CheckStandingUntil(ctx context.Context, tell func(error)) {
	ticker := time.NewTicker(checkStandingEvery)
	defer ticker.Stop()
	for {
		if _, err := b.CheckStanding(ctx); err != nil && ctx.Err() == nil {
			tell(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// SaidOf is what the log says of the rows beside it, oldest first.
func SaidOf(ctx context.Context, log interface {
	Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error)
}) (rows []ledger.Row, err error) {
	var found []interlock.Entry
	for _, kind := range interlock.EventTypes() {
		if kind == interlock.EventDecision || kind == interlock.EventOutcome {
			continue // which there are many of, and which say nothing of it
		}
		entries, err := log.Entries(ctx, kind, ledger.Before(-1, maxSaid))
		if err != nil {
			return nil, err
		}
		found = append(found, entries...)
	}
	slices.SortFunc(found, func(a, b interlock.Entry) int { return cmp.Compare(a.Index, b.Index) })
	for _, e := range found {
		rows = append(rows, auditlog.Said(e)...)
	}
	return rows, nil
}

// maxSaid bounds how many events of a kind are looked through for what they say of rows, the newest.
const maxSaid = 20_000
