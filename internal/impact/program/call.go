package program

import (
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/impact/know"
	"interlock/internal/lex"
)

// A codeArg is one argument of a call.
type codeArg struct {
	name  string // of a keyword argument
	value codeValue
	node  *codeNode
}

// A codeCall is one call as it is looked at.
type codeCall struct {
	name      string // qualified
	last      string // its last part
	callee    codeValue
	receiver  codeValue // what a method is called on
	arguments []codeArg
	target    *codeNode // what the receiver is called
	marked    codeMarks // where what it returns comes from
	opened    []string  // the files that it opens for writing
	decoded   bool      // what it runs was decoded
	script    bool      // JavaScript
	effect    know.CallEffect
	value     codeValue // what code that it runs comes to
}

// argument returns the argument at a position, not counting keyword arguments, or under one of the keywords.
func (c *codeCall) argument(at int, keywords ...string) codeValue {
	position := 0
	for i := range c.arguments {
		a := &c.arguments[i]
		if a.name != "" {
			if fact.HasTrait(keywords, a.name) {
				return a.value
			}
			continue
		}
		if position == at {
			return a.value
		}
		position++
	}
	return codeValue{dynamic: true}
}

// option returns a keyword argument, or the member of an object that is handed over, under one of the names.
func (c *codeCall) option(names ...string) (codeValue, bool) {
	for i := range c.arguments {
		a := &c.arguments[i]
		if a.name != "" && fact.HasTrait(names, a.name) {
			return a.value, true
		}
		if c.script && a.value.object != nil && a.value.object.class == nil {
			for _, name := range names {
				if v, ok := a.value.object.fields[name]; ok {
					return v, true
				}
			}
		}
	}
	return codeValue{}, false
}

// marks are those of all arguments.
func (c *codeCall) marks() (marks codeMarks) {
	for i := range c.arguments {
		marks |= c.arguments[i].value.marks
	}
	return marks
}

// positional returns the values of the arguments that have no keyword.
func (c *codeCall) positional() (values []codeValue) {
	for i := range c.arguments {
		if c.arguments[i].name == "" {
			values = append(values, c.arguments[i].value)
		}
	}
	return values
}

// call reads a call: what is called, with what, and what that does.
func (r *codeRun) call(n *codeNode) codeValue {
	c := &codeCall{}
	callee := n.of[0]
	if callee.kind == nodeAttr {
		c.receiver = r.eval(callee.of[0])
		c.callee = r.attribute(c.receiver, callee)
		if of := callee.of[0]; of.kind == nodeName || of.kind == nodeAttr {
			c.target = of
		}
	} else {
		c.callee = r.eval(callee)
	}
	for _, child := range n.of[1:] {
		a := codeArg{node: child}
		switch child.kind {
		case nodeKeyword:
			a.name = child.text
			a.value = r.eval(child)
		case nodeSpread:
			a.value = r.eval(child)
			if spread := a.value; spread.items != nil || spread.object != nil && spread.object.class == nil {
				c.spread(child, spread)
				continue
			}
		default:
			a.value = r.eval(child)
		}
		c.arguments = append(c.arguments, a)
	}
	if r.level++; r.level > 100 {
		r.level--
		return codeValue{dynamic: true, marks: c.marks()}
	}
	defer func() { r.level-- }()
	return r.apply(c)
}

// spread adds the elements of a list, or the members of a dict as keywords.
func (c *codeCall) spread(n *codeNode, v codeValue) {
	for _, item := range v.items {
		if len(c.arguments) < 256 {
			c.arguments = append(c.arguments, codeArg{value: item, node: n})
		}
	}
	if v.object == nil {
		return
	}
	for i, name := range lex.SortedNames(v.object.fields) {
		if i < 64 {
			c.arguments = append(c.arguments, codeArg{name: name, value: v.object.fields[name], node: n})
		}
	}
}

// apply says what a call does and returns its value.
func (r *codeRun) apply(c *codeCall) codeValue {
	switch {
	case c.callee.closure != nil:
		return r.invoke(c.callee.closure, c.arguments, false)
	case c.callee.class != nil:
		self := r.instance(c.callee.class, c.arguments, false)
		return codeValue{object: self, is: baseNameOf(c.callee.class, 0), marks: c.marks()}
	}
	c.script = r.script
	c.name = strings.TrimPrefix(c.callee.is, "node:")
	c.last = c.name[strings.LastIndexByte(c.name, '.')+1:]
	if v, ok := r.indirect(c); ok {
		return v
	}
	known := r.perform(c)
	v, folded := r.fold(c)
	if !folded {
		v = codeValue{dynamic: true, is: c.name, imported: false, marks: c.receiver.marks}
		if !known {
			v.marks |= c.marks()
		}
		v.marks |= r.origin(c)
		if c.last == "eval" && (c.value.is != "" || c.value.texts != nil || c.value.closure != nil) {
			c.value.marks |= v.marks
			v = c.value
		}
		if c.value.texts != nil && c.last != "eval" && c.last != "exec" { // a file that the program has written
			v.texts, v.marks = c.value.texts, v.marks|c.value.marks
		}
		if c.value.is == "open" { // where a file came from is where what it holds came from
			v.marks |= c.value.marks & markNetwork
		}
		if c.opened != nil {
			v.is, v.object = "open", &codeObject{opened: c.opened}
		}
	}
	r.callbacks(c, v)
	return v
}

// indirect reads calls by way of something else: f.call(…), partial(f, …), getattr, a thread's target.
func (r *codeRun) indirect(c *codeCall) (codeValue, bool) {
	switch c.last {
	case "call", "apply", "bind":
		if r.script && c.receiver.is != "Reflect" && (c.receiver.closure != nil || c.receiver.is != "") &&
			strings.HasSuffix(c.name, "."+c.last) {
			inner := &codeCall{callee: c.receiver}
			if len(c.arguments) > 0 {
				inner.arguments = c.arguments[1:]
			}
			if c.last == "apply" && len(inner.arguments) > 0 && inner.arguments[0].value.items != nil {
				list := inner.arguments[0]
				inner.arguments = nil
				inner.spread(list.node, list.value)
			}
			if c.last == "bind" && len(inner.arguments) == 0 {
				return c.receiver, true
			}
			return r.again(inner), true
		}
	case "promisify", "partial", "Thread", "Process", "Timer", "submit", "map", "starmap", "imap", "map_async", "apply_async",
		"run_in_executor", "to_thread",
		"start_new_thread", "register", "call_later", "call_soon", "filter", "wraps", "enter":
		return r.handedOn(c)
	case "attrgetter", "methodcaller":
		if name := c.argument(0).text(); name != "" && strings.HasPrefix(c.name, "operator.") {
			return codeValue{is: "operator." + c.last + "()", texts: []string{name}}, true
		}
	}
	switch c.name {
	case "operator.attrgetter()":
		return r.member(c.argument(0), c.callee.text(), ""), true
	case "getattr", "Reflect.get", "inspect.getattr_static":
		if name := c.argument(1).text(); name != "" && !strings.Contains(name, "\x00") {
			return r.member(c.argument(0), name, ""), true
		}
		return codeValue{dynamic: true, marks: c.marks()}, true
	case "Reflect.apply":
		inner := &codeCall{callee: c.argument(0)}
		list := c.argument(2)
		inner.spread(nil, list)
		return r.again(inner), true
	case "setattr":
		if name, ok := c.argument(1).constant(); ok {
			base := c.argument(0)
			if base.imported {
				r.patched(canonicalName(base.is+"."+name), c.argument(2))
			}
			if base.object != nil {
				base.object.set(name, c.argument(2))
			}
		}
		return codeValue{}, true
	}
	return codeValue{}, false
}

// again looks at a call that another one makes.
func (r *codeRun) again(c *codeCall) codeValue {
	if r.level++; r.level > 100 {
		r.level--
		return codeValue{dynamic: true}
	}
	defer func() { r.level-- }()
	return r.apply(c)
}

// handedOn reads a function that is handed over to be called with other arguments of the same call.
func (r *codeRun) handedOn(c *codeCall) (codeValue, bool) {
	r.grown(c)
	inner := &codeCall{}
	if target, ok := c.option("target", "func", "fn"); ok {
		inner.callee = target
		if list, ok := c.option("args"); ok {
			inner.spread(nil, list)
		}
		if table, ok := c.option("kwargs"); ok {
			inner.spread(nil, table)
		}
	} else {
		values := c.positional()
		switch c.last {
		case "Timer", "run_in_executor", "call_later":
			values = values[min(1, len(values)):]
		}
		if len(values) == 0 {
			return codeValue{}, false
		}
		inner.callee = values[0]
		rest := values[1:]
		switch c.last {
		case "map", "starmap", "imap", "map_async", "filter":
			if r.script && c.receiver.items != nil { // [..].map(f)
				return codeValue{}, false
			}
			return r.mappedCalls(c, inner.callee, rest)
		case "Timer", "apply_async", "start_new_thread", "enter":
			if len(rest) > 0 && rest[0].list {
				inner.spread(nil, rest[0])
				rest = nil
			}
		}
		for _, v := range rest {
			inner.arguments = append(inner.arguments, codeArg{value: v})
		}
	}
	if inner.callee.closure == nil && (inner.callee.is == "" || !r.actsOn(inner.callee)) {
		return codeValue{}, false
	}
	if c.last == "promisify" || len(inner.arguments) == 0 && c.last == "partial" {
		return inner.callee, true
	}
	result := r.again(inner)
	if c.last == "partial" {
		callee := inner.callee
		if callee.closure != nil {
			bound := *callee.closure
			bound.given = inner.arguments
			callee.closure = &bound
		}
		return callee, true
	}
	result.is = c.name
	return result, true
}

// actsOn reports whether calling something that is not the program's own matters.
func (r *codeRun) actsOn(v codeValue) bool {
	_, known := r.calls[v.is]
	return known || v.is == "chr" || v.is == "str"
}

// mappedCalls is map(f, xs).
func (r *codeRun) mappedCalls(c *codeCall, f codeValue, rest []codeValue) (codeValue, bool) {
	if len(rest) == 0 || f.closure == nil && f.class == nil && !r.actsOn(f) {
		return codeValue{}, false
	}
	out := codeValue{list: true, marks: rest[0].marks}
	values := r.elements(rest[0])
	if len(values) == 0 || len(values) > maxTurns || r.steps > r.soft {
		values = []codeValue{r.element(rest[0])}
		out.dynamic = true
	}
	for _, v := range values {
		one := r.again(&codeCall{callee: f, arguments: []codeArg{{value: v}}})
		out.marks |= one.marks
		out.items = append(out.items, one)
		if len(out.texts) < maxTexts && one.text() != "" {
			out.texts = append(out.texts, one.text())
		}
	}
	if out.dynamic {
		out.items = nil
	}
	return out, true
}

// callbacks reads functions that are handed over, with what is known of what they will be given.
func (r *codeRun) callbacks(c *codeCall, v codeValue) {
	for i := range c.arguments {
		closure := c.arguments[i].value.closure
		if closure == nil {
			continue
		}
		given := []codeArg{}
		switch c.last {
		case "then", "finally":
			given = []codeArg{{value: c.receiver}}
		case "forEach", "map", "filter", "flatMap", "some", "every", "find", "reduce":
			if values := r.elements(c.receiver); len(values) > 0 && len(values) <= 64 && r.steps < r.soft && c.last != "reduce" {
				for _, value := range values {
					r.invoke(closure, []codeArg{{value: value}}, true)
				}
				continue
			}
			given = []codeArg{{value: r.element(c.receiver)}}
		}
		if c.receiver.is == "express" || c.receiver.is == "express.Router" || c.name == "http.createServer" {
			given = []codeArg{{value: codeValue{dynamic: true, marks: markNetwork}}}
		}
		given = given[:len(given):len(given)]
		if v.marks&markNetwork != 0 || c.receiver.marks != 0 {
			for len(given) < 3 {
				given = append(given, codeArg{value: codeValue{dynamic: true,
					marks: (v.marks | c.receiver.marks) & markNetwork, is: v.is}})
			}
		}
		r.invoke(closure, given, true)
	}
}

const maxFrames = 12 // functions in functions
