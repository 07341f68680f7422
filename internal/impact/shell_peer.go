package impact

import (
	"strings"

	"interlock"
)

// toPeers runs what a command gives its connection to, where an operand says so: socat's EXEC:program and SYSTEM:line.
func (r *shellRun) toPeers(u *use) {
	for _, o := range u.spec.conditions(u.words()) {
		if !o.peer {
			continue
		}
		for _, f := range u.operands {
			kind, command, _ := strings.Cut(f.text, ":")
			switch strings.ToUpper(kind) {
			case "EXEC", "SYSTEM", "SHELL":
				command, _, _ = strings.Cut(command, ",")
				r.toPeer(u, field{text: command, dynamic: f.dynamic, lead: f.dynamic})
			}
		}
		return
	}
}

// toPeer runs a program whose input and output are a connection. A shell, or whatever runs what it reads, is handed over
// with it; of any other program only what it prints goes out.
func (r *shellRun) toPeer(u *use, command field) {
	peer := ""
	if len(u.operands) > 0 {
		peer = u.operands[0].text
	}
	if command.dynamic && command.lead || command.text == "" {
		r.reverse(u.via, peer)
		return
	}
	socket, outer := r.socket, r.peer
	r.socket, r.peer = true, peer
	handed := false
	for _, i := range r.s.capture(func() { r.subshell(func() flow { return r.script(command.text, flow{}) }) }) {
		handed = handed || i.Kind == interlock.ImpactExecute && (i.Has(TraitDynamic) || i.Has(TraitInline) || i.Has(TraitHooked)) || i.Has(TraitUnparsable)
		r.s.add(i)
	}
	r.socket, r.peer = socket, outer
	if handed {
		r.reverse(u.via, peer)
	}
}

// piped follows a value that is a file to write or, after a bar, a command to write to.
func (r *shellRun) piped(u *use, value field) {
	command, ok := strings.CutPrefix(strings.TrimLeft(value.text, " "), "|")
	if !ok {
		if value.text != "" {
			r.pathTarget(interlock.Impact{Kind: interlock.ImpactWrite, Via: u.via, Traits: []string{TraitOverwrite}}, value)
		}
		return
	}
	r.subshell(func() flow { return r.script(command, flow{piped: true}) })
}

// library runs code that is the name of a command, whose arguments the operands are, where a flag says so.
func (r *shellRun) library(u *use, name field, io streams) (flow, bool) {
	for _, g := range u.flags {
		if g.option.named == "" {
			continue
		}
		args := append([]field{name}, u.operands...)
		if spec := r.s.know.lookup(g.option.named + name.text); spec != nil {
			return r.described(spec, args, io), true
		}
		return r.command(args, io), true
	}
	return flow{}, false
}

// module runs a part of a program that stands for a command of its own: python -m NAME. It reports whether there is one.
func (r *shellRun) module(u *use, g given, io streams) (flow, bool) {
	spec := r.s.know.lookup(g.option.module + g.value.text)
	if spec == nil {
		return r.ownModule(u, g, io)
	}
	return r.described(spec, append([]field{literal(spec.name)}, g.argv...), io), true
}

// guesses reports whether a command is tried with one password after another.
func (r *shellRun) guesses(u *use) bool {
	for _, g := range u.flags {
		if g.option.tries && g.value.each && r.rounds > 0 {
			return true
		}
	}
	return false
}

// empties reports whether what a command copies is nothing, or nothing worth keeping.
func (r *shellRun) empties(u *use, io streams) bool {
	if !u.spec.copies {
		return false
	}
	for _, g := range u.flags {
		for _, e := range g.option.impacts {
			if e.kind == interlock.ImpactRead && e.target == "value" {
				return quietDevice(r.s.place(g.value.text).Path) || r.endless(g.value)
			}
		}
	}
	if u.spec.style == "pairs" {
		return !io.in.piped && !io.file
	}
	return len(u.operands) == 2 && (quietDevice(r.s.place(u.operands[0].text).Path) || r.endless(u.operands[0]))
}

// prints is what a use of a command prints: what a flag says, or the description.
func (u *use) prints() string {
	for _, g := range u.flags {
		if g.option.prints != "" {
			return g.option.prints
		}
	}
	return u.spec.prints
}

// reverse records a shell whose streams are a network connection.
func (r *shellRun) reverse(via, peer string) {
	reach := interlock.ReachExternal
	if peer != "" {
		reach, _ = r.s.host(peer)
	}
	r.s.add(interlock.Impact{Kind: interlock.ImpactNetwork, Target: hostOf(peer), Reach: reach, Via: via,
		Reversibility: interlock.Irreversible, Traits: []string{TraitReverseShell}})
}
