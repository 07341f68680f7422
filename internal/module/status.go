package module

import (
	"crypto/sha256"
)

// A Status is how a module may be used. What is none counts as the strictest.
type Status string

// The statuses.
const (
	Healthy     Status = "healthy"
	Degraded    Status = "degraded"
	Offline     Status = "offline"
	Quarantined Status = "quarantined"
)

// FailsOffline is how many failures in a row take a module offline.
const FailsOffline = 3

// Status is the status that a module's health puts it in. Where the companions of MACE contradict each other it is the stricter
// reading: either cause is enough. No health quarantines: that is people's to order, and held says that they have.
func (h Health) Status(held bool) Status {
	trusted := h.Events >= MinEvents
	switch {
	case held:
		return Quarantined
	case h.Failures >= FailsOffline, trusted && h.Trust < Block:
		return Offline
	case h.Failures > 0, !trusted, h.Trust < Low:
		return Degraded
	}
	return Healthy
}

// Why says in a few words what has brought a status.
func (h Health) Why(s Status) string {
	switch {
	case s == Healthy:
		return ""
	case s == Quarantined:
		return "people have quarantined it"
	case h.Failures >= FailsOffline:
		return "three failures in a row"
	case s == Offline:
		return "its trust value is below " + Block.String()
	case h.Failures > 0:
		return "what it did last has failed"
	case h.Events < MinEvents:
		return "too little is known of it"
	}
	return "its trust value is below " + Low.String()
}

// Available is how available a module is, given its status and whether something that it can't do without is unhealthy.
func (h Health) Available(s Status, lacks bool) Value {
	v := h.Trust
	switch s {
	case Healthy:
	case Degraded:
		v = v.parts(6, 10)
	default:
		return 0
	}
	if lacks {
		v = v.parts(1, 2)
	}
	return v
}

// Retries is how often what failed in a job is tried again: once where its seed's SHA-256, read as a number, is even, and otherwise
// never. No clock and no chance is in it, so that a replay retries as the job did.
func Retries(seed string) int {
	sum := sha256.Sum256([]byte(seed))
	return 1 - int(sum[len(sum)-1]&1)
}
