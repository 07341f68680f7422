package mcpgateway

import "time"

// What a server may have of what others share: lines of the log, and of the client's patience.
const (
	mostGarbage = 20  // lines a minute about what is no message
	mostChatter = 100 // log messages a second to the client
)

// The pause between two readings of a list that keeps changing, which grows while it does.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
)

// An allowance bounds how often something is done for a server. It belongs to one goroutine.
type allowance struct {
	since time.Time
	spent int
}

// take reports whether it may be done once more in this stretch of time, and whether that was the last time.
func (a *allowance) take(most int, per time.Duration) (ok, last bool) {
	if now := time.Now(); now.Sub(a.since) >= per {
		a.since, a.spent = now, 0
	}
	a.spent++
	return a.spent <= most, a.spent == most
}
