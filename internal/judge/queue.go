package judge

import (
	"context"
	"sync/atomic"

	"interlock"
)

// A queue lets so many questions through at once, has so many wait, and turns the rest away: what can't be judged soon is denied now
// and holds nobody's memory.
type queue struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64
}

func newQueue(inFlight, waiting int) *queue {
	return &queue{slots: make(chan struct{}, inFlight), most: int64(waiting)}
}

// enter waits for a place, which the caller that got one gives back by leave.
func (q *queue) enter(ctx context.Context) interlock.JudgeFailure {
	select {
	case q.slots <- struct{}{}:
		return ""
	default:
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		return interlock.JudgeShed
	}
	defer q.waiting.Add(-1)
	select {
	case q.slots <- struct{}{}:
		return ""
	case <-ctx.Done():
		return interlock.JudgeTimeout
	}
}

func (q *queue) leave() { <-q.slots }
