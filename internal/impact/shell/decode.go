package shell

import (
	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// decoded is the output of a decoder: what is known is decoded, what is not is marked as having been.
func (r *shellRun) decoded(scheme string, u *flow.Use, carried flow.Flow, io flow.Streams) flow.Flow {
	in := io.In
	if len(u.Operands) > 0 {
		in = r.passed(u, carried, io)
	}
	out := flow.TaintOnly(carried)
	out.Decoded = true
	if !in.Known {
		return out
	}
	text, ok := lex.Decode(scheme, in.Text)
	out.Text, out.Known = text, ok
	return out
}
