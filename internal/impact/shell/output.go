package shell

import (
	"cmp"
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/impact/place"
	"interlock/internal/lex"
)

// output is what a command's standard output carries on: known text for the few whose output follows from their input.
func (r *shellRun) output(u *flow.Use, out, ran, carried flow.Flow, io flow.Streams) flow.Flow {
	if carried.Everyone && selects(u) {
		carried.Everyone, carried.Ours = false, carried.Ours || selectsOurs(u)
	}
	if len(u.Rest) > 0 || hasNested(u) {
		carried.Composed = carried.Composed || composes(u)
		ran.Taint(carried)
		return ran
	}
	carried.Shell = carried.Shell || ran.Shell
	for _, g := range u.Flags {
		if g.Option.Decode != "" {
			return r.decoded(g.Option.Decode, u, carried, io)
		}
	}
	for _, o := range conditions(u.Spec, u.Operands) {
		if o.Decode != "" {
			return r.decoded(o.Decode, u, carried, io)
		}
	}
	if prints(u) == "" {
		if ran.Known {
			carried.Text, carried.Known = ran.Text, true
		}
		return carried
	}
	return r.printed(u, carried, io)
}

// printed follows a description's "prints": the input passed on, the names found, or a constant.
func (r *shellRun) printed(u *flow.Use, carried flow.Flow, io flow.Streams) flow.Flow {
	switch p := prints(u); {
	case p == "workspace":
		carried.Text, carried.Known = cmp.Or(r.S.View.Workspace, r.S.Dir, "."), true
	case p == "input":
		carried = r.passed(u, carried, io)
	case p == "stored":
		carried = r.teed(u, carried, io)
	case p == "translated":
		carried.Endless = io.In.Endless
		return r.translated(u, carried, io)
	case p == "names" || p == "found":
		for _, t := range searched(u) {
			if !strings.Contains(t.Text, "*") && !findsName(u) {
				t.Text = strings.TrimSuffix(t.Text, "/") + "/*"
				t.Glob = true
				if t.Depth == 0 && (p == "found" || u.Spec.Seeks) {
					t.Depth = place.WholeTree
				}
			}
			t.Flow = flow.Flow{}
			carried.Items = append(carried.Items, t)
		}
	case p == "encoded":
		carried.Named = io.In.Named
		carried.Encoded, carried.Endless = true, io.In.Endless || len(u.Operands) == 1 && r.endless(u.Operands[0])
	case p == "endless":
		carried.Endless = true
	case p == "filtered":
		carried.Endless = (io.In.Endless || r.anyEndless(u.Operands)) && !bounded(u)
	case p == "gathered":
		if io.In.Endless || r.anyEndless(u.Operands) {
			r.gathers(u.Via)
		}
	case strings.HasPrefix(p, "login "):
		if !io.Quiet && len(io.Out) == 0 {
			carried.Token = &flow.Token{Via: u.Via, Hosts: p[len("login "):]}
		}
	case strings.HasPrefix(p, "decode "):
		return r.decoded(p[len("decode "):], u, carried, io)
	default:
		r.printedWord(u, p, &carried)
	}
	return carried
}

// passed is the output of cat and its kind: the input, or the files named, where this action wrote them.
func (r *shellRun) passed(u *flow.Use, carried flow.Flow, io flow.Streams) flow.Flow {
	carried.Own = io.In.Own
	if len(u.Operands) == 0 || len(u.Operands) == 1 && u.Operands[0].Text == "-" {
		carried.Text, carried.Known, carried.Items, carried.Endless = io.In.Text, io.In.Known, io.In.Items, io.In.Endless
		carried.Taint(io.In)
		return carried
	}
	carried.Known = true
	for _, f := range u.Operands {
		carried.Endless = carried.Endless || r.endless(f)
		if name := r.S.Place(f.Text).Path; place.OwnProgram(name) {
			carried.Own = name
		}
		if f.Flow.Known && strings.HasPrefix(f.Text, "/dev/fd/") {
			carried.Text += f.Flow.Text
			continue
		}
		held := r.holds(r.S.Place(f.Text))
		if !held.Known {
			carried.Known, carried.Filed = false, true
		}
		if len(carried.Text)+len(held.Text) > lex.MaxText {
			carried.Known = false
			break
		}
		carried.Text += held.Text
		carried.Taint(held)
		carried.Decoded = carried.Decoded || held.Decoded
	}
	if !carried.Known {
		carried.Text = ""
	}
	return carried
}
