package shell

import (
	"strings"

	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
)

// toPeers runs what a command gives its connection to, where an operand says so: socat's EXEC:program and SYSTEM:line.
func (r *shellRun) toPeers(u *flow.Use) {
	for _, o := range conditionsOf(u) {
		if !o.Peer {
			continue
		}
		for _, f := range u.Operands {
			kind, command, _ := strings.Cut(f.Text, ":")
			switch strings.ToUpper(kind) {
			case "EXEC", "SYSTEM", "SHELL":
				command, _, _ = strings.Cut(command, ",")
				r.toPeer(u, flow.Field{Text: command, Dynamic: f.Dynamic, Lead: f.Dynamic})
			}
		}
		return
	}
}

// toPeer runs a program whose input and output are a connection. A shell, or whatever runs what it reads, is handed over
// with it; of any other program only what it prints goes out.
func (r *shellRun) toPeer(u *flow.Use, command flow.Field) {
	peer := ""
	if len(u.Operands) > 0 {
		peer = u.Operands[0].Text
	}
	if command.Dynamic && command.Lead || command.Text == "" {
		r.Reverse(u.Via, peer)
		return
	}
	socket, outer := r.Socket, r.peer
	r.Socket, r.peer = true, peer
	handed := false
	for _, i := range r.S.Capture(func() { r.subshell(func() flow.Flow { return r.script(command.Text, flow.Flow{}) }) }) {
		handed = handed || i.Kind == interlock.ImpactExecute &&
			(i.Has(fact.TraitDynamic) || i.Has(fact.TraitInline) || i.Has(fact.TraitHooked)) || i.Has(fact.TraitUnparsable)
		r.S.Add(i)
	}
	r.Socket, r.peer = socket, outer
	if handed {
		r.Reverse(u.Via, peer)
	}
}

// piped follows a value that is a file to write or, after a bar, a command to write to.
func (r *shellRun) piped(u *flow.Use, value flow.Field) {
	command, ok := strings.CutPrefix(strings.TrimLeft(value.Text, " "), "|")
	if !ok {
		if value.Text != "" {
			r.pathTarget(interlock.Impact{Kind: interlock.ImpactWrite, Via: u.Via, Traits: []string{fact.TraitOverwrite}}, value)
		}
		return
	}
	r.subshell(func() flow.Flow { return r.script(command, flow.Flow{Piped: true}) })
}

// library runs code that is the name of a command, whose arguments the operands are, where a flag says so.
func (r *shellRun) library(u *flow.Use, name flow.Field, io flow.Streams) (flow.Flow, bool) {
	for _, g := range u.Flags {
		if g.Option.Named == "" {
			continue
		}
		args := append([]flow.Field{name}, u.Operands...)
		if spec := r.S.Know.Lookup(g.Option.Named + name.Text); spec != nil {
			return r.Described(spec, args, io), true
		}
		return r.command(args, io), true
	}
	return flow.Flow{}, false
}

// module runs a part of a program that counts as a command of its own: python -m NAME. It reports whether there is one.
func (r *shellRun) module(u *flow.Use, g flow.Given, io flow.Streams) (flow.Flow, bool) {
	spec := r.S.Know.Lookup(g.Option.Module + g.Value.Text)
	if spec == nil {
		if line := strings.Fields(g.Option.Module); r.S.Know.Lookup(line[0]) != nil && line[0] != rootOf(u.Spec).Name {
			args := append(flow.Literals(line), append([]flow.Field{g.Value}, g.Argv...)...)
			return r.subshell(func() flow.Flow { return r.command(args, io) }), true // another program does that
		}
		return r.ownModule(u, g, io)
	}
	return r.Described(spec, append([]flow.Field{flow.Literal(spec.Name)}, g.Argv...), io), true
}

// guesses reports whether a command is tried with one password after another.
func (r *shellRun) guesses(u *flow.Use) bool {
	for _, g := range u.Flags {
		if g.Option.Tries && g.Value.Each && r.Rounds > 0 {
			return true
		}
	}
	return false
}

// empties reports whether what a command copies is nothing, or nothing worth keeping.
func (r *shellRun) empties(u *flow.Use, io flow.Streams) bool {
	if !u.Spec.Copies {
		return false
	}
	for _, g := range u.Flags {
		for _, e := range g.Option.Impacts {
			if e.Kind == interlock.ImpactRead && e.Target == "value" {
				return place.QuietDevice(r.S.Place(g.Value.Text).Path) || r.endless(g.Value)
			}
		}
	}
	if u.Spec.Style == "pairs" {
		return !io.In.Piped && !io.File
	}
	return len(u.Operands) == 2 && (place.QuietDevice(r.S.Place(u.Operands[0].Text).Path) || r.endless(u.Operands[0]))
}

// prints is what a use of a command prints: what a flag says, or the description.
func prints(u *flow.Use) string {
	for _, g := range u.Flags {
		if g.Option.Prints != "" {
			return g.Option.Prints
		}
	}
	return u.Spec.Prints
}

// Reverse records a shell whose streams are a network connection.
func (r *shellRun) Reverse(via, peer string) {
	reach := interlock.ReachExternal
	if peer != "" {
		reach, _ = r.S.Host(peer)
	}
	r.S.Add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: place.HostOf(peer), Reach: reach, Via: via,
		Reversibility: interlock.Irreversible, Traits: []string{fact.TraitReverseShell}})
}
