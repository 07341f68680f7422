package shell

import (
	"slices"
	"strings"

	"interlock"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"

	"mvdan.cc/sh/v3/syntax"
)

// handedOver walks the command that is given a cloud's own token through a pipe. Where it does no more with it than sign in to
// a registry of that cloud, nobody sees the token, and what was noted of it since a place in the impacts is taken back.
func (r *shellRun) handedOver(next *syntax.Stmt, in flow.Flow, from int) flow.Flow {
	to := len(r.S.Impacts)
	r.signed = false
	out := r.subshell(func() flow.Flow { return r.stmt(next, in) })
	if r.signed && from <= to && to <= len(r.S.Impacts) {
		kept := slices.DeleteFunc(slices.Clone(r.S.Impacts[from:to]), func(i interlock.Impact) bool {
			return i.Kind == interlock.ImpactCredential && i.Via == in.Token.Via
		})
		r.S.Impacts = append(append(slices.Clone(r.S.Impacts[:from]), kept...), r.S.Impacts[to:]...)
	}
	r.signed = false
	return out
}

// signsIn notes whether a command takes a token from its standard input as the password for a host that the token is for.
func (r *shellRun) signsIn(u *flow.Use, token *flow.Token) {
	if token == nil || len(u.Operands) != 1 {
		return
	}
	if !slices.ContainsFunc(u.Flags, func(g flow.Given) bool { return g.Option.SignsIn }) {
		return
	}
	host := strings.TrimPrefix(u.Operands[0].Text, "https://")
	if at := strings.IndexByte(host, '/'); at >= 0 && !u.Operands[0].Dynamic {
		host = host[:at]
	}
	if strings.ContainsAny(host, "/@?#\\") || strings.HasPrefix(host, "http:") {
		return
	}
	for pattern := range strings.SplitSeq(token.Hosts, "|") {
		r.signed = r.signed || know.MatchGlob(pattern, host)
	}
}

// listsOnly reports whether a command is given so little that it only prints what it can do: no word at all or, where that
// names a group of commands, one.
func listsOnly(u *flow.Use, args []flow.Field) bool {
	switch u.Spec.Bare {
	case "alone":
		return len(args) == 1
	case "word":
		return len(args) == 1 || len(args) == 2 && !args[1].Dynamic && !args[1].Glob && !strings.HasPrefix(args[1].Text, "-")
	}
	return false
}
