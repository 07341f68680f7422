package impact

import "strings"

// bind sorts a cmdlet's arguments into parameters and operands as PowerShell does: by the beginning of a parameter's
// name, by position for the rest, and through the pipeline where the first position stays empty.
func (p *psRun) bind(spec *command, args []psArg, in psValue) *use {
	u := &use{spec: spec, via: spec.name}
	slots := make([][]field, maxSlots)
	var loose [][]field
	note := func(name string, v psValue) { u.parameter(name, v, slots) }
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
			if o := spec.parameter(a.name); o != nil && o.value && i+1 < len(args) && args[i+1].name == "" {
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
				loose = append(loose, []field{{text: "$(" + a.value.class + ")", dynamic: true, lead: true, flow: a.value.flow}})
			}
		}
	}
	u.place(slots, loose, in)
	p.r.choose(u)
	return u
}

// parameter notes a parameter with its value: a flag for each, and the operand it stands for.
func (u *use) parameter(name string, v psValue, slots [][]field) {
	o := u.spec.parameter(name)
	if o == nil {
		return
	}
	values := v.fields()
	if v.block {
		values = []field{literal(v.code)}
	}
	if !o.value || len(values) == 0 {
		if len(values) == 0 || !strings.EqualFold(values[0].text, "false") {
			u.flags = append(u.flags, given{option: o, name: name})
		}
		return
	}
	if o.slot > 0 && o.slot <= len(slots) && !o.leaf {
		slots[o.slot-1] = values
	}
	for _, one := range values {
		u.flags = append(u.flags, given{option: o, name: name, value: one})
	}
}

// place puts what stands without a name into the positions that are still open, and behind them what is left.
func (u *use) place(slots, loose [][]field, in psValue) {
	spec := u.spec
	leaf := spec.leafAt()
	for i := range slots {
		if i > 0 && leaf != nil && leaf.slot == i+1 {
			if len(loose) > 0 && !u.given(leaf) {
				for _, one := range loose[0] {
					u.flags = append(u.flags, given{option: leaf, value: one})
				}
				loose = loose[1:]
			}
			continue
		}
		if slots[i] == nil && len(loose) > 0 {
			slots[i], loose = loose[0], loose[1:]
		}
		if i == 0 && slots[0] == nil && spec.piped {
			slots[0] = pipedFields(in)
		}
		u.operands = append(u.operands, slots[i]...)
	}
	for _, values := range loose {
		u.operands = append(u.operands, values...)
	}
}

// leafAt is the cmdlet's option that names something in the place its first operand names, if it has a position.
func (c *command) leafAt() *option {
	for _, name := range c.longs {
		if o := c.flags[name]; o.leaf && o.slot > 0 {
			return o
		}
	}
	return nil
}

func (u *use) given(o *option) bool {
	for _, g := range u.flags {
		if g.option == o {
			return true
		}
	}
	return false
}

// pipedFields are a pipeline's elements as operands: the names that come, or something not known.
func pipedFields(in psValue) []field {
	if in.empty() {
		return nil
	}
	if values := in.fields(); len(values) > 0 {
		return values
	}
	return []field{{text: "{stdin}", dynamic: true, lead: true, flow: in.taint()}}
}

// choose follows the subcommands that operands select.
func (r *winRun) choose(u *use) {
	for len(u.operands) > 0 {
		next := choose([]*command{u.spec}, u.operands[0].text)
		if len(next) == 0 {
			return
		}
		u.spec, u.via, u.operands = next[0], next[0].name, u.operands[1:]
	}
}

// parameter returns the option a cmdlet's parameter names; its name may be shortened as long as one fits.
func (c *command) parameter(name string) *option {
	if o := c.find(name); o != nil {
		return o
	}
	var found *option
	for n := c; n != nil; n = n.parent {
		for _, long := range n.longs {
			if strings.HasPrefix(long, name) {
				if found != nil && found != n.flags[long] {
					return found
				}
				found = n.flags[long]
			}
		}
	}
	if found != nil {
		return found
	}
	switch {
	case strings.HasPrefix("-whatif", name) && len(name) > 1 || name == "-wi":
		return &option{dry: true}
	case strings.HasPrefix("-erroraction", name) && len(name) > 3, name == "-ea", name == "-ev", name == "-ov", name == "-wa", name == "-infa",
		name == "-errorvariable", name == "-outvariable", name == "-warningaction", name == "-informationaction", name == "-outbuffer", name == "-pipelinevariable":
		return &option{value: true}
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
	if spec := p.r.s.know.lookup("[" + class + "]"); spec != nil {
		v.flow.taint(p.r.described(spec, append([]field{literal("[" + class + "]")}, args.fields()...), streams{args: args.taint()}))
	}
	if class == "net.sockets.tcpclient" {
		p.r.socket = true
	}
	return v
}
