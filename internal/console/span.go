package console

import (
	"net/url"
	"time"
)

// A dated is from when to when a list looks, as typed, in UTC. Empty fields say nothing.
type dated struct {
	Since, Until string
	from, to     time.Time
}

func datedOf(query url.Values) (d dated, err error) {
	d = dated{Since: query.Get("since"), Until: query.Get("until")}
	if err = instant("since", d.Since, &d.from); err == nil {
		err = instant("until", d.Until, &d.to)
	}
	return d, err
}

// Begin is where it begins, as a field for times takes it.
func (d dated) Begin() string { return fieldTime(d.from) }

// End is where it ends; see [dated.Begin].
func (d dated) End() string { return fieldTime(d.to) }

// Dated reports whether there is a bound.
func (d dated) Dated() bool { return !d.from.IsZero() || !d.to.IsZero() }

// bounds are the times that are meant, where nothing else is said the last month's.
func (d dated) bounds(now time.Time) (from, to time.Time) {
	from, to = d.from, d.to
	if to.IsZero() {
		to = now
	}
	if from.IsZero() {
		from = to.AddDate(0, 0, -monthSteps)
	}
	return from, to
}

func fieldTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}
