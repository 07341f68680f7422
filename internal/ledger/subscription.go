package ledger

import "time"

// The bounds of the browsers that are told.
const (
	MaxSubscriptions = 64                  // in all; those that were told longest ago go first
	subscriptionLife = 90 * 24 * time.Hour // after a message was taken, or it was switched on
)

// A SubscriptionBody is a browser in which an operator has switched notifications on: where its push service listens, and the keys with
// which only it can read. It permits nothing. Once it has ended it holds neither.
type SubscriptionBody struct {
	ID       string    `json:"id"`
	Operator string    `json:"operator"`
	Since    time.Time `json:"since"`   // when the operator was made: a successor of the same name is another person
	Browser  string    `json:"browser"` // as it calls itself
	Made     time.Time `json:"made"`
	Endpoint string    `json:"endpoint,omitempty"`
	Key      string    `json:"p256dh,omitempty"`
	Auth     string    `json:"auth,omitempty"`
	Told     time.Time `json:"told,omitzero"`      // when a message was last taken
	Failed   int       `json:"failed,omitempty"`   // messages since then that were not
	FailedAt time.Time `json:"failed_at,omitzero"` // the last of them
	Why      string    `json:"why,omitempty"`      // it was not
	Ended    time.Time `json:"ended,omitzero"`
}

// Stands reports whether the browser is told.
func (s SubscriptionBody) Stands(now time.Time) bool {
	return s.ID != "" && s.Ended.IsZero() && now.Before(s.until())
}

// End is the subscription once it is over.
func (s SubscriptionBody) End(now time.Time) SubscriptionBody {
	return SubscriptionBody{ID: s.ID, Operator: s.Operator, Since: s.Since, Browser: s.Browser, Made: s.Made, Ended: now}
}

func (s SubscriptionBody) until() time.Time {
	if !s.Ended.IsZero() {
		return s.Ended
	}
	if s.Told.After(s.Made) {
		return s.Told.Add(subscriptionLife)
	}
	return s.Made.Add(subscriptionLife)
}
