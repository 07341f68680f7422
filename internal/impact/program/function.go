package program

import (
	"interlock"
	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// baseNameOf is the library's class that a class of the program is derived from.
func baseNameOf(class *codeClass, depth int) string {
	for _, base := range class.bases {
		if base.is != "" {
			return base.is
		}
		if base.class != nil && depth < 8 {
			return baseNameOf(base.class, depth+1)
		}
	}
	return ""
}

// invoke reads a function with what it is called with and returns what it returns. open says that other arguments may come.
func (r *codeRun) invoke(c *codeClosure, arguments []codeArg, open bool) codeValue {
	f := c.f
	unknown := codeValue{dynamic: true}
	for i := range arguments {
		unknown.marks |= arguments[i].value.marks
	}
	if f.active || len(r.frames) >= maxFrames {
		r.recursive(f)
		return unknown
	}
	if f.runs > 0 && r.steps > r.soft {
		if f.acts && tells(arguments) { // with these arguments it may do something else
			r.s.Unknown(string(r.kind), fact.TraitWork)
		}
		f.last.dynamic = true
		return f.last
	}
	f.runs++
	effects := r.effects
	f.active = true
	outer := r.scope
	r.scope = &codeScope{names: make(map[string]codeValue, len(f.params)), up: c.scope}
	r.bindParameters(c, append(c.given[:len(c.given):len(c.given)], arguments...))
	frame := &codeFrame{f: f, loops: len(r.loops)}
	r.frames = append(r.frames, frame)
	v := r.eval(f.body)
	if f.expression {
		frame.returned, frame.any = v, true
	}
	r.frames, r.scope = r.frames[:len(r.frames)-1], outer
	f.active = false
	f.acts = f.acts || r.effects > effects
	if len(frame.yielded) > 0 {
		frame.returned = r.generated(frame.yielded)
	} else if !frame.any {
		frame.returned = codeValue{dynamic: open}
	}
	f.last = frame.returned
	if f.name == "__reduce__" || f.name == "__reduce_ex__" {
		r.reduced(frame.returned)
	}
	return frame.returned
}

// tells reports whether something is known of arguments.
func tells(arguments []codeArg) bool {
	for i := range arguments {
		if v := &arguments[i].value; len(v.texts) > 0 && !v.number || v.closure != nil || v.items != nil {
			return true
		}
	}
	return false
}

// recursive notes a function that starts more of something and then itself, whatever happens.
func (r *codeRun) recursive(f *codeFunction) {
	if n := len(r.branches); n > 0 && r.branches[n-1].scope == r.scope {
		return
	}
	for _, frame := range r.frames {
		if frame.f == f && frame.grows != "" {
			r.s.Add(interlock.Impact{Kind: interlock.ImpactSpawn, Reach: interlock.ReachSystem, Via: frame.grows,
				Reversibility: interlock.Irreversible,
				Confidence:    interlock.Inferred, Traits: []string{fact.TraitBomb}})
		}
	}
}

// generated is the list of what a generator yields.
func (r *codeRun) generated(yielded []codeValue) codeValue {
	v := codeValue{list: true, items: yielded, dynamic: true}
	for _, one := range yielded {
		v.marks |= one.marks
		if text := one.text(); text != "" && len(v.texts) < maxTexts {
			v.texts = append(v.texts, text)
		}
	}
	return v
}

// bindParameters gives parameters their values.
func (r *codeRun) bindParameters(c *codeClosure, arguments []codeArg) {
	params := c.f.params
	names := r.scope.names
	if c.class != nil && !r.script && len(params) > 0 && !c.f.static {
		self := codeValue{object: c.self, is: baseNameOf(c.class, 0)}
		if c.self == nil { // called by way of the class
			self.object, self.class = c.class.instance, c.class
			if len(arguments) > 0 && arguments[0].value.object != nil && arguments[0].value.object.class != nil {
				self, arguments = arguments[0].value, arguments[1:]
			}
		}
		names[params[0].name] = self
		params = params[1:]
	} else if c.self != nil {
		names["this"] = codeValue{object: c.self, is: baseNameOf(c.class, 0)}
	}
	var positional []codeValue
	for i := range arguments {
		if arguments[i].name == "" {
			positional = append(positional, arguments[i].value)
		}
	}
	for at, param := range params {
		v, given := codeValue{dynamic: true}, false
		switch {
		case param.rest:
			v = codeValue{list: true, items: positional[min(at, len(positional)):], dynamic: at >= len(positional)}
			if len(v.items) == 0 {
				v.items = nil
			}
			for _, item := range v.items {
				v.marks |= item.marks
				if len(v.texts) < maxTexts && item.text() != "" {
					v.texts = append(v.texts, item.text())
				}
			}
			given = true
		case at < len(positional):
			v, given = positional[at], true
		}
		for i := range arguments {
			if arguments[i].name != "" && arguments[i].name == param.name {
				v, given = arguments[i].value, true
			}
		}
		if !given && param.fallback != nil {
			v = r.eval(param.fallback)
		}
		if param.pattern != nil {
			r.bindTo(param.pattern, v)
			continue
		}
		names[param.name] = v
	}
}

// functionValue makes a function; one with a name is bound to it.
func (r *codeRun) functionValue(n *codeNode) codeValue {
	f := n.function
	closure := &codeClosure{f: f, scope: r.scope}
	v := codeValue{closure: closure}
	if !f.noted {
		f.noted = true
		r.functions = append(r.functions, closure)
	}
	if f.name != "lambda" && f.name != "function" && f.name != "computed" {
		r.scope.names[f.name] = v
	}
	return v
}

// classValue makes a class from its body.
func (r *codeRun) classValue(n *codeNode) codeValue {
	f := n.function
	class := &codeClass{name: f.name, members: map[string]codeValue{}}
	for _, base := range n.of {
		v := r.eval(base)
		if base.kind != nodeKeyword {
			class.bases = append(class.bases, v)
		}
	}
	outer := r.scope
	r.scope = &codeScope{names: class.members, up: outer, class: true}
	own := r.scope
	r.eval(f.body)
	r.scope = outer
	for _, name := range lex.SortedNames(class.members) {
		if closure := class.members[name].closure; closure != nil && closure.scope == own {
			closure.class = class
		}
	}
	r.classes = append(r.classes, class)
	v := codeValue{class: class}
	if f.name != "class" {
		r.scope.names[f.name] = v
	}
	return v
}

// instance makes an object of a class.
func (r *codeRun) instance(class *codeClass, arguments []codeArg, open bool) *codeObject {
	self := &codeObject{fields: map[string]codeValue{}, class: class}
	if class.instance == nil {
		class.instance = self
	}
	if made, ok := r.inherited(class, self, "__init__", 0); ok && made.closure != nil {
		r.invoke(made.closure, arguments, open)
	}
	return self
}
