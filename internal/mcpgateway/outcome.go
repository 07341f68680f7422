package mcpgateway

import (
	"context"
	"time"

	"interlock"
	"interlock/internal/admission"
)

// An outcome is how one forwarded action ended, on its way to the record.
type outcome struct {
	permit   permit
	outcome  interlock.Outcome
	measured interlock.Measured
}

const (
	// recordTimeout bounds how long outcomes may take to be recorded.
	recordTimeout = 30 * time.Second
	// gather is how long an outcome waits for others to be recorded with. Each commit is a sync, and a decision that comes
	// while one is under way has to wait for it. What a crash takes with it are outcomes of the last moment; their calls are
	// in the log, without an end.
	gather = 5 * time.Millisecond
	// gathered is how many are recorded at once.
	gathered = 256
)

// report hands an outcome to the recorders. Where they are behind it waits, so that a store that is slow slows the calls
// down and nothing is lost.
func (s *Session) report(p permit, status interlock.OutcomeStatus, detail string, took time.Duration) {
	s.reportMeasured(p, status, detail, took, interlock.Measured{})
}

// reportMeasured is report of what the gateway has seen of how much it was.
func (s *Session) reportMeasured(p permit, status interlock.OutcomeStatus, detail string, took time.Duration, m interlock.Measured) {
	s.ended(p, status)
	if p.weighed {
		return
	}
	o := outcome{permit: p, outcome: interlock.Outcome{Action: p.answer.Action, Event: p.answer.Event, Status: status,
		Detail: detail, Duration: took}, measured: m}
	select {
	case <-s.gateway.done: // it comes late, and perhaps nobody takes it any more
		s.gateway.recordAll([]outcome{o})
		return
	default:
	}
	select {
	case s.gateway.outcomes <- o:
	case <-s.gateway.done:
		s.gateway.recordAll([]outcome{o})
	}
}

// record records outcomes, those of a moment together, until the gateway closes and there are no more.
func (g *Gateway) record() {
	var some []outcome
	for {
		select {
		case o := <-g.outcomes:
			some = g.others(append(some[:0], o))
			g.recordAll(some)
			continue
		default:
		}
		select {
		case o := <-g.outcomes:
			some = g.others(append(some[:0], o))
			g.recordAll(some)
		case <-g.done:
			if len(g.outcomes) == 0 {
				return
			}
		}
	}
}

// others adds to an outcome those that come within a moment.
func (g *Gateway) others(some []outcome) []outcome {
	late := time.NewTimer(gather)
	defer late.Stop()
	for len(some) < gathered {
		select {
		case o := <-g.outcomes:
			some = append(some, o)
			continue
		default:
		}
		select {
		case o := <-g.outcomes:
			some = append(some, o)
		case <-late.C:
			return some
		case <-g.done:
			return some
		}
	}
	return some
}

func (g *Gateway) recordAll(some []outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	failed := func(o outcome, err error) {
		if err != nil {
			g.config.Logger.Error("an outcome was not recorded", "event", o.outcome.Event, "status", string(o.outcome.Status),
				"error", err.Error())
		}
	}
	ended := make([]admission.Concluded, len(some))
	for n, o := range some {
		ended[n] = admission.Concluded{Requester: o.permit.requester, Answer: o.permit.answer, Outcome: o.outcome,
			Measured: o.measured}
	}
	switch err := g.config.Backend.Conclude(ctx, ended...); {
	case err == nil:
	case len(some) == 1:
		failed(some[0], err)
	default: // which of them it was is found out one by one; one that was recorded is then recorded twice, and says the same
		for n, o := range some {
			failed(o, g.config.Backend.Conclude(ctx, ended[n]))
		}
	}
}

// ended is told how a forwarded action ended, before the client is.
func (s *Session) ended(p permit, status interlock.OutcomeStatus) {
	s.gateway.config.Backend.Ended(p.requester, p.answer.Decision, status)
}
