package admission

import (
	"context"
	"slices"
	"strings"

	"interlock/internal/ledger"
)

// Subscriptions are the browsers that are told of requests, by id.
func (a *Admission) Subscriptions(ctx context.Context) ([]ledger.SubscriptionBody, error) {
	now := a.config.Now()
	rows, _, err := a.config.Store.Scan(ctx, under(ledger.Subscription, ledger.Until), ledger.From(now.UnixNano(), ledger.MaxSubscriptions))
	var list []ledger.SubscriptionBody
	for _, row := range rows {
		if body, ok := row.Value.(ledger.SubscriptionBody); ok && body.Stands(now) {
			list = append(list, body)
		}
	}
	slices.SortFunc(list, func(x, y ledger.SubscriptionBody) int { return strings.Compare(x.ID, y.ID) })
	return list, err
}

// NoteSubscription changes what is noted of one browser. It is no event: what the operator did to have it is recorded by the door
// where it was done.
func (a *Admission) NoteSubscription(ctx context.Context, id string, change func(ledger.SubscriptionBody) ledger.SubscriptionBody) error {
	return a.config.Store.Note(ctx, key(ledger.Subscription, id), func(value any) (any, error) {
		was, _ := value.(ledger.SubscriptionBody) // the zero value where there is none
		now := change(was)
		if now.ID == "" {
			return nil, nil // what is gone stays gone
		}
		return now, nil
	})
}
