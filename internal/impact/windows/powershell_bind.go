package windows

import (
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/impact/know"
)

// bind sorts a cmdlet's arguments into parameters and operands as PowerShell does: by the beginning of a parameter's
// name, by position for the rest, and through the pipeline where the first position stays empty.
func (p *psRun) bind(spec *know.Command, args []psArg, in psValue) *flow.Use {
	u := &flow.Use{Spec: spec, Via: spec.Name}
	slots := make([][]flow.Field, know.MaxSlots)
	var loose [][]flow.Field
	note := func(name string, v psValue) { parameter(u, name, v, slots) }
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.splat && a.value.pairs != nil:
			for _, pair := range a.value.pairs {
				note("-"+pair.name, pair.value)
			}
		case a.name != "" && a.attached:
			note(a.name, a.value)
		case a.name != "":
			if o := Parameter(spec, a.name); o != nil && o.Value && i+1 < len(args) && args[i+1].name == "" {
				i++
				note(a.name, args[i].value)
				continue
			}
			note(a.name, psValue{})
		case a.value.block:
		default:
			if values := a.value.fields(); len(values) > 0 {
				loose = append(loose, values)
			} else if a.value.class != "" {
				loose = append(loose, []flow.Field{{Text: "$(" + a.value.class + ")", Dynamic: true, Lead: true,
					Flow: a.value.flow}})
			}
		}
	}
	placeOperand(u, slots, loose, in)
	p.r.choose(u)
	return u
}

// parameter notes a parameter with its value: a flag for each, and the operand it is for.
func parameter(u *flow.Use, name string, v psValue, slots [][]flow.Field) {
	o := Parameter(u.Spec, name)
	if o == nil {
		return
	}
	values := v.fields()
	if v.block {
		values = []flow.Field{flow.Literal(v.code)}
	}
	if !o.Value || len(values) == 0 {
		if len(values) == 0 || !strings.EqualFold(values[0].Text, "false") {
			u.Flags = append(u.Flags, flow.Given{Option: o, Name: name})
		}
		return
	}
	if o.Slot > 0 && o.Slot <= len(slots) && !o.Leaf {
		slots[o.Slot-1] = values
	}
	for _, one := range values {
		u.Flags = append(u.Flags, flow.Given{Option: o, Name: name, Value: one})
	}
}

// placeOperand puts what is given without a name into the positions that are still open, and behind them what is left.
func placeOperand(u *flow.Use, slots, loose [][]flow.Field, in psValue) {
	spec := u.Spec
	leaf := leafAt(spec)
	for i := range slots {
		if i > 0 && leaf != nil && leaf.Slot == i+1 {
			if len(loose) > 0 && !given(u, leaf) {
				for _, one := range loose[0] {
					u.Flags = append(u.Flags, flow.Given{Option: leaf, Value: one})
				}
				loose = loose[1:]
			}
			continue
		}
		if slots[i] == nil && len(loose) > 0 {
			slots[i], loose = loose[0], loose[1:]
		}
		if i == 0 && slots[0] == nil && spec.Piped {
			slots[0] = pipedFields(in)
		}
		u.Operands = append(u.Operands, slots[i]...)
	}
	for _, values := range loose {
		u.Operands = append(u.Operands, values...)
	}
}

// leafAt is the cmdlet's option that names something in the place its first operand names, if it has a position.
func leafAt(c *know.Command) *know.Option {
	for _, name := range c.Longs {
		if o := c.Flags[name]; o.Leaf && o.Slot > 0 {
			return o
		}
	}
	return nil
}

func given(u *flow.Use, o *know.Option) bool {
	for _, g := range u.Flags {
		if g.Option == o {
			return true
		}
	}
	return false
}

// pipedFields are a pipeline's elements as operands: the names that come, or something not known.
func pipedFields(in psValue) []flow.Field {
	if in.empty() {
		return nil
	}
	if values := in.fields(); len(values) > 0 {
		return values
	}
	return []flow.Field{{Text: "{stdin}", Dynamic: true, Lead: true, Flow: in.taint()}}
}

// choose follows the subcommands that operands select.
func (r *Run) choose(u *flow.Use) {
	for len(u.Operands) > 0 {
		next := know.Choose([]*know.Command{u.Spec}, u.Operands[0].Text)
		if len(next) == 0 {
			return
		}
		u.Spec, u.Via, u.Operands = next[0], next[0].Name, u.Operands[1:]
	}
}

// Parameter returns the option a cmdlet's parameter names; its name may be shortened as long as one fits.
func Parameter(c *know.Command, name string) *know.Option {
	if o := c.Find(name); o != nil {
		return o
	}
	var found *know.Option
	for n := c; n != nil; n = n.Parent {
		for _, long := range n.Longs {
			if strings.HasPrefix(long, name) {
				if found != nil && found != n.Flags[long] {
					return found
				}
				found = n.Flags[long]
			}
		}
	}
	if found != nil {
		return found
	}
	switch {
	case strings.HasPrefix("-whatif", name) && len(name) > 1 || name == "-wi":
		return &know.Option{Dry: true}
	case strings.HasPrefix("-erroraction", name) && len(name) > 3, name == "-ea", name == "-ev", name == "-ov",
		name == "-wa", name == "-infa",
		name == "-errorvariable", name == "-outvariable", name == "-warningaction", name == "-informationaction",
		name == "-outbuffer", name == "-pipelinevariable":
		return &know.Option{Value: true}
	}
	return nil
}

// scriptBlocks are the blocks among arguments.
func scriptBlocks(args []psArg) []string {
	var out []string
	for _, a := range args {
		if a.value.block {
			out = append(out, a.value.code)
		}
	}
	return out
}

// positionalValues are a call's arguments without the parameters in names, which say nothing about them.
func positionalValues(args []psArg, valued ...string) []psValue {
	var out []psValue
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.name == "" {
			out = append(out, a.value)
			continue
		}
		for _, name := range valued {
			if strings.HasPrefix(name, a.name) && len(a.name) > 1 && !a.attached {
				i++
				break
			}
		}
	}
	return out
}

// parameterValue is the value of a parameter that may be shortened.
func parameterValue(args []psArg, name string, least int) (psValue, bool) {
	for i, a := range args {
		if a.splat {
			for _, pair := range a.value.pairs {
				if "-"+pair.name == name {
					return pair.value, true
				}
			}
		}
		if len(a.name) < least || !strings.HasPrefix(name, a.name) {
			continue
		}
		if a.attached {
			return a.value, true
		}
		if i+1 < len(args) && args[i+1].name == "" {
			return args[i+1].value, true
		}
		return psValue{}, true
	}
	return psValue{}, false
}

// object judges the making of an object of a type.
func (p *psRun) object(class string, args psValue) psValue {
	v := psValue{class: class, flow: args.taint()}
	if spec := p.r.S.Know.Lookup("[" + class + "]"); spec != nil {
		v.flow.Taint(p.r.Described(spec, append([]flow.Field{flow.Literal("[" + class + "]")}, args.fields()...),
			flow.Streams{Args: args.taint()}))
	}
	if class == "net.sockets.tcpclient" {
		p.r.Socket = true
	}
	return v
}
