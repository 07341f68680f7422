package admission

import (
	"context"

	"interlock"
	"interlock/internal/ledger"
)

// Endings is how many actions have ended whose outcomes are not recorded.
func Endings(a *Admission) int {
	a.endings.mu.Lock()
	defer a.endings.mu.Unlock()
	return len(a.endings.some)
}

// FindCall finds how a call was decided.
func FindCall(a *Admission, r interlock.Requester, action interlock.Digest) (ledger.CallBody, bool, error) {
	return a.findCall(context.Background(), r, action)
}

// SeeCall remembers that another event has seen a call.
func SeeCall(a *Admission, eventID, event string) error {
	return a.seeCall(context.Background(), eventID, event)
}
