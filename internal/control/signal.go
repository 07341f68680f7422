package control

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"interlock"
)

// How many signals one observer may send: so many at once, and then so many a second. More are refused and not recorded, so that no
// observer fills the log; what stops everything is asked for by a request of its own.
const (
	signalBurst = 100
	signalRate  = 10
	maxRates    = 1000 // observers whose rate is remembered
)

// signal takes in what an observer tells.
func (d *door) signal(w http.ResponseWriter, r *http.Request) {
	observer, _ := r.Context().Value(whose{}).(string)
	if observer == "" {
		observer = interlock.ControlObserver
	}
	if !d.rates.take(observer, d.Now()) {
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusTooManyRequests, interlock.Errorf(interlock.CodeLimited, "", "an observer sends at most %d signals a second", signalRate))
		return
	}
	var s interlock.Signal
	if !decode(w, r, &s) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	done, err := d.Backend.Signal(ctx, observer, s)
	var known *interlock.Error
	switch {
	case errors.As(err, &known) && known.Code == interlock.CodeInvalid:
		fail(w, http.StatusBadRequest, err)
	case err != nil:
		d.Logger.ErrorContext(ctx, "taking in a signal", "error", err.Error())
		fail(w, http.StatusServiceUnavailable, err)
	default:
		answer(w, http.StatusOK, done)
	}
}

// rates are how many signals each observer may still send. It is safe for concurrent use.
type rates struct {
	guard sync.Mutex
	left  map[string]rate
}

type rate struct {
	tokens float64
	at     time.Time
}

func (r *rates) take(observer string, now time.Time) bool {
	r.guard.Lock()
	defer r.guard.Unlock()
	if r.left == nil || len(r.left) >= maxRates {
		r.left = map[string]rate{}
	}
	one, known := r.left[observer]
	if !known {
		one = rate{signalBurst, now}
	}
	if since := now.Sub(one.at).Seconds(); since > 0 { // a clock that was set back gives nothing, then or later
		one.tokens, one.at = min(signalBurst, one.tokens+signalRate*since), now
	}
	allowed := one.tokens >= 1
	if allowed {
		one.tokens--
	}
	r.left[observer] = one
	return allowed
}
