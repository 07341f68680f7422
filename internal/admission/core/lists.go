package core

import (
	"context"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/ledger"
)

// A Watcher tells of what is written; see [Store].
type Watcher interface {
	Watch(ctx context.Context, what ledger.Watch) (changed <-chan struct{}, err error)
}

// Watch makes an Admission a [Watcher].
func (a *Core) Watch(ctx context.Context, what ledger.Watch) (<-chan struct{}, error) {
	return a.Config.Store.Watch(ctx, what)
}

// Follow calls look now, and again whenever what is watched may have changed, until look fails, ctx ends or the store is closed.
// It looks no more often than what.Within: of what comes faster it sees several changes at once, and of what comes after a while
// it hears at once. Its error is look's, or why nothing can be watched; that ctx has ended is none.
func Follow(ctx context.Context, from Watcher, what ledger.Watch, look func(context.Context) error) error {
	changed, err := from.Watch(ctx, what) // before the first look, so that nothing comes in between
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rest.C:
		}
		if err := look(ctx); err != nil {
			return err
		}
		rest.Reset(what.Within)
		more := false
		select {
		case _, more = <-changed:
		case <-ctx.Done():
		}
		if !more {
			return nil
		}
	}
}

// A Ledger is what pages and lists read: so many rows of a kind at a time, however many there are.
type Ledger interface {
	Scanner
	// Count is how many rows Scan would return; without a limit, all of them.
	Count(ctx context.Context, mark ledger.Ref, span ledger.Span) (int, error)
}

// A Scanner reads rows a page at a time.
type Scanner interface {
	// Scan returns a page of the rows under a mark, and where the next one begins: the zero place where nothing follows.
	Scan(ctx context.Context, mark ledger.Ref, span ledger.Span) (rows []ledger.Row, next ledger.Place, err error)
}

// Scan and Count make an Admission a [Ledger].
func (a *Core) Scan(ctx context.Context, mark ledger.Ref, span ledger.Span) ([]ledger.Row, ledger.Place, error) {
	return a.Config.Store.Scan(ctx, mark, span)
}

func (a *Core) Count(ctx context.Context, mark ledger.Ref, span ledger.Span) (int, error) {
	return a.Config.Store.Count(ctx, mark, span)
}

// A List is as much of something as is shown at once, and how much there is: counted no further than [MostMore] beyond what is shown,
// because counting a million rows takes half a second.
type List[T any] struct {
	Rows []T
	All  int
}

// MostMore is how much is counted of what is not shown. There may be any number besides.
const MostMore = 1000

// More is how much of it is not shown, [MostMore] at most.
func (l List[T]) More() int { return max(l.All-len(l.Rows), 0) }

// Listed is a span of what there is of a kind, by its mark [ledger.All], in the mark's order. Without a limit it is walked whole.
func Listed[T any](ctx context.Context, from Ledger, kind string, span ledger.Span) (list List[T], err error) {
	return ListedUnder[T](ctx, from, Under(kind, ledger.All), span)
}

// Ordered is a span of the orders with one verb that stand, by when they end.
func Ordered[T any](ctx context.Context, from Ledger, verb interlock.Verb, span ledger.Span) (list List[T], err error) {
	return ListedUnder[T](ctx, from, Under(ledger.Order, ledger.Ordered(verb)), span)
}

// RequestsWith returns up to limit requests, newest first, whatever has become of them: of one status, or of all if it is empty.
func RequestsWith(ctx context.Context, from Ledger, status interlock.RequestStatus, limit int) ([]interlock.ApprovalRequest, error) {
	rows, _, err := from.Scan(ctx, Under(ledger.Request, ledger.Is(status)), ledger.Before(-1, limit))
	var requests []interlock.ApprovalRequest
	for _, row := range rows {
		if r, ok := row.Value.(interlock.ApprovalRequest); ok {
			requests = append(requests, r)
		}
	}
	return requests, err
}

func ListedUnder[T any](ctx context.Context, from Ledger, mark ledger.Ref, span ledger.Span) (list List[T], err error) {
	whole := span.Limit <= 0
	if whole {
		span.Limit = PageRows
	}
	for {
		rows, next, err := from.Scan(ctx, mark, span)
		for _, row := range rows {
			if v, ok := row.Value.(T); ok {
				list.Rows = append(list.Rows, v)
			}
		}
		if list.All = len(list.Rows); err != nil || next == (ledger.Place{}) {
			return list, err
		}
		if !whole {
			span.Limit += MostMore
			list.All, err = from.Count(ctx, mark, span)
			return list, err
		}
		span.After = next
	}
}

// PageRows is how many rows are read at once by what is whole by its meaning.
const PageRows = 1000

// Walk visits everything there is of a kind, a page at a time, until visit has enough. It is for what is whole by its
// meaning.
func Walk[T any](ctx context.Context, from Ledger, kind string, visit func(T) (more bool)) error {
	for span := ledger.Every(PageRows); ; {
		rows, next, err := from.Scan(ctx, Under(kind, ledger.All), span)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if v, ok := row.Value.(T); ok && !visit(v) {
				return nil
			}
		}
		if next == (ledger.Place{}) {
			return nil
		}
		span.After = next
	}
}

// Operators returns every operator, in office or not. Whose key something is signed with can only be told by looking at all of
// them, and they are people.
func Operators(ctx context.Context, from Ledger) (map[string]interlock.OperatorRecord, error) {
	operators := map[string]interlock.OperatorRecord{}
	err := Walk(ctx, from, ledger.Operator, func(o interlock.OperatorRecord) bool {
		operators[o.Name] = o
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("reading the operators: %w", err)
	}
	return operators, nil
}

// Pending counts the requests that wait for an operator, no further than a limit if there is one.
func (a *Core) Pending(ctx context.Context, limit int) (int, error) {
	late, err := a.Overdue(ctx, a.Config.Now(), MaxAtOnce) // those whose end is not recorded yet
	if err != nil {
		return 0, err
	}
	over := 0
	for _, r := range late {
		if r.Status == interlock.RequestPending && !r.Harness {
			over++
		}
	}
	span := ledger.Every(0)
	if limit > 0 {
		span.Limit = limit + over
	}
	n, err := a.Config.Store.Count(ctx, Under(ledger.Request, ledger.Is(interlock.RequestPending)), span)
	return max(n-over, 0), err
}

// RunsUnder returns runs under one of their marks, newest first. Without a limit it is all of them.
func RunsUnder(ctx context.Context, from Ledger, mark string, limit int) (List[interlock.Run], error) {
	return ListedUnder[interlock.Run](ctx, from, Under(ledger.Run, mark), ledger.Before(-1, limit))
}

// LettersUnder returns messages under one of their marks with their contents, newest first. Without a limit it is all of them.
func LettersUnder(ctx context.Context, from Ledger, mark string, limit int) (List[ledger.MessageBody], error) {
	return ListedUnder[ledger.MessageBody](ctx, from, Under(ledger.Message, mark), ledger.Before(-1, limit))
}

// PlansUnder returns plans of runs under one of their marks, newest first.
func PlansUnder(ctx context.Context, from Ledger, mark string, limit int) (List[interlock.Plan], error) {
	return ListedUnder[interlock.Plan](ctx, from, Under(ledger.Plan, mark), ledger.Before(-1, limit))
}

// CommitmentsUnder returns what was decided, newest first.
func CommitmentsUnder(ctx context.Context, from Ledger, mark string, limit int) (List[ledger.CommitmentBody], error) {
	return ListedUnder[ledger.CommitmentBody](ctx, from, Under(ledger.Commitment, mark), ledger.Before(-1, limit))
}
