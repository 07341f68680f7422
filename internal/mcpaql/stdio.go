package mcpaql

import (
	"context"
	"io"
	"time"
)

// sweepEvery is how often a serving process looks for what nobody has touched.
const sweepEvery = time.Minute

// RunStdio serves one client on a pair of streams, one JSON-RPC message per line, until the input ends.
func (s *Server) RunStdio(ctx context.Context, c Caller, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer s.workers.dismiss()
	go s.SweepEvery(ctx, sweepEvery)
	// A request's arguments may grow when they are written as JSON in JSON; what is longer than this is no call at all.
	frame := 4*s.config.Limits.Request + 64<<10
	return s.Run(ctx, c, lines{in: in, out: out, frame: frame, wait: s.config.Timeout})
}
