package mcpgateway

import (
	"context"
	"time"

	"interlock"
)

// An outcome is how one forwarded action ended, on its way to the record.
type outcome struct {
	permit  permit
	outcome interlock.Outcome
}

// A concluder records outcomes without looking the decision up, because the gateway has it at hand. Admission is one.
type concluder interface {
	Conclude(ctx context.Context, r interlock.Requester, a interlock.Answer, o interlock.Outcome) error
}

// recordTimeout bounds how long one outcome may take to be recorded.
const recordTimeout = 30 * time.Second

// report hands an outcome to the recorders. Where they are behind it waits, so that a store that is slow slows the calls
// down and nothing is lost.
func (s *Session) report(p permit, status interlock.OutcomeStatus, detail string, took time.Duration) {
	s.ended(p, status)
	if p.weighed {
		return
	}
	o := outcome{permit: p, outcome: interlock.Outcome{Action: p.answer.Action, Event: p.answer.Event, Status: status, Detail: detail, Duration: took}}
	select {
	case <-s.gateway.done: // it comes late, and perhaps nobody takes it any more
		s.gateway.recordOne(o)
		return
	default:
	}
	select {
	case s.gateway.outcomes <- o:
	case <-s.gateway.done:
		s.gateway.recordOne(o)
	}
}

// record records outcomes until the gateway closes and there are no more.
func (g *Gateway) record() {
	for {
		select {
		case o := <-g.outcomes:
			g.recordOne(o)
			continue
		default:
		}
		select {
		case o := <-g.outcomes:
			g.recordOne(o)
		case <-g.done:
			select {
			case o := <-g.outcomes:
				g.recordOne(o)
			default:
				return
			}
		}
	}
}

func (g *Gateway) recordOne(o outcome) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	var err error
	if c, ok := g.config.Backend.(concluder); ok {
		err = c.Conclude(ctx, o.permit.requester, o.permit.answer, o.outcome)
	} else {
		err = g.config.Backend.Report(ctx, o.permit.requester, o.outcome)
	}
	if err != nil {
		g.config.Logger.Error("an outcome was not recorded", "event", o.outcome.Event, "status", string(o.outcome.Status), "error", err.Error())
	}
}
