package embedded

import (
	"context"
	"fmt"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/meter"
	"interlock/internal/notice"
)

// The bounds of telling people of alerts: an agent that causes them again and again must not become a flood of mail. All of
// them are in the log.
const (
	maxAlerts     = 64               // that wait to be sent
	alertPause    = time.Minute      // between two of one kind
	alertTime     = 20 * time.Second // for all channels together
	alertFarewell = 5 * time.Second  // for what still waits when the process ends
)

type alert struct{ kind, message string }

// alerts tell people, over the channels that codes go to, that something needs their eyes: an agent that tries to confirm
// itself, a wrong code, a signature that does not hold. Nothing depends on it.
type alerts struct {
	channels admission.Notifier
	now      func() time.Time
	queue    chan alert
	stop     chan struct{}
	ended    chan struct{}
	once     sync.Once

	sending context.Context // ends a moment after stop
	cancel  context.CancelFunc
}

func newAlerts(channels admission.Notifier, now func() time.Time) *alerts {
	a := &alerts{channels: channels, now: now, queue: make(chan alert, maxAlerts), stop: make(chan struct{}),
		ended: make(chan struct{})}
	a.sending, a.cancel = context.WithCancel(context.Background())
	go a.run()
	return a
}

// raise takes an alert without waiting for anybody. What there is no room for stays in the log alone.
func (a *alerts) raise(kind, message string) {
	select {
	case a.queue <- alert{kind, message}:
	default:
	}
}

// close sends what waits, for a moment, and ends.
func (a *alerts) close() {
	a.once.Do(func() {
		close(a.stop)
		time.AfterFunc(alertFarewell, a.cancel)
	})
	<-a.ended
	a.cancel()
}

func (a *alerts) run() {
	defer close(a.ended)
	told := map[string]*meter.Allowance{} // by kind, and there are few kinds
	for {
		select {
		case one := <-a.queue:
			a.tell(one, told)
		case <-a.stop:
			for a.sending.Err() == nil {
				select {
				case one := <-a.queue:
					a.tell(one, told)
				default:
					return
				}
			}
			return
		}
	}
}

// tell sends one alert, or counts it if one of its kind was sent a moment ago.
func (a *alerts) tell(one alert, told map[string]*meter.Allowance) {
	if told[one.kind] == nil {
		told[one.kind] = &meter.Allowance{Most: 1, Per: alertPause}
	}
	may, n := told[one.kind].Take(a.now())
	if !may {
		return
	}
	if n > 0 {
		one.message += fmt.Sprintf(" (and %d more of this kind since the last notice; the log has all of them)", n)
	}
	ctx, cancel := context.WithTimeout(a.sending, alertTime)
	defer cancel()
	// A channel that fails is not reported by another alert: that would have no end. `interlock channels --test` says
	// what is wrong.
	_ = a.channels.Notify(ctx, notice.Notice{Severity: interlock.TierVerify, Kind: "alert", Rule: one.kind,
		Reason: one.message})
}
