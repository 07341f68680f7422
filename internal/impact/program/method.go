package program

import (
	"strings"

	"interlock/internal/lex"
)

// foldMethod knows methods of texts and lists.
func (r *codeRun) foldMethod(c *codeCall) (codeValue, bool) {
	v := c.receiver
	switch c.last {
	case "decode", "toString":
		if scheme := codecOf(c.argument(0).text()); scheme != "" && c.last == "decode" {
			return r.decodedValue(scheme, v), true
		}
		if len(v.texts) > 0 || v.marks != 0 {
			return v, true
		}
	case "encode":
		if codecOf(c.argument(0).text()) == "rot13" {
			return r.mapped(v, func(text string) (string, bool) { return lex.Decode("rot13", text) }), true
		}
		if len(v.texts) > 0 {
			return v, true
		}
	case "expanduser", "resolve", "absolute", "as_posix", "strip", "trim", "rstrip", "lstrip", "trimEnd", "trimStart",
		"valueOf", "tobytes":
		if len(v.texts) > 0 {
			return r.stripped(c, v), true
		}
	case "joinpath":
		out := r.joinPaths(append([]codeValue{v}, c.positional()...))
		out.is = v.is
		return out, true
	case "with_suffix", "with_name":
		if v.is == "pathlib.Path" {
			return codeValue{texts: r.joinTexts(codeValue{texts: parents(v.texts)}, c.argument(0), "/"), is: v.is,
				dynamic: true}, true
		}
	case "glob", "rglob", "iterdir":
		if v.is == "pathlib.Path" && len(v.texts) > 0 {
			return codeValue{texts: r.joinTexts(v, codeValue{texts: []string{"*"}}, "/"), is: "pathlib.Path", dynamic: true}, true
		}
	case "join":
		return r.joinedList(c, v), true
	case "split", "splitlines":
		if len(v.texts) > 0 {
			separator := c.argument(0).text()
			if c.last == "splitlines" {
				separator = "\n"
			}
			return r.split(v, separator), true
		}
	case "format":
		if len(v.texts) > 0 {
			return r.formatted(v, c.arguments), true
		}
	}
	return r.foldContents(c)
}

// foldContents folds the methods that change a text or reach into what a value holds.
func (r *codeRun) foldContents(c *codeCall) (codeValue, bool) {
	v := c.receiver
	switch c.last {
	case "replace", "replaceAll", "removeprefix", "removesuffix":
		return r.replaced(c, v)
	case "lower", "toLowerCase", "upper", "toUpperCase", "casefold":
		if len(v.texts) > 0 {
			return r.mapped(v, func(text string) (string, bool) {
				if strings.Contains(strings.ToLower(c.last), "upper") {
					return strings.ToUpper(text), true
				}
				return strings.ToLower(text), true
			}), true
		}
	case "reverse":
		if r.script {
			return r.backwards(v), true
		}
	case "concat":
		for _, more := range c.positional() {
			v = r.concat(v, more)
		}
		return v, true
	case "slice", "substring", "substr", "charAt", "at":
		if v.items == nil && len(v.texts) == 0 {
			return codeValue{}, false
		}
		return codeValue{texts: v.texts, list: v.list, dynamic: true, marks: v.marks}, true
	case "repeat":
		return r.multiplied(v, c.argument(0)), true
	case "read":
		if v.is == "open" && len(v.texts) > 0 {
			return codeValue{texts: v.texts, dynamic: v.dynamic, marks: v.marks}, true
		}
	case "append", "push", "extend", "insert", "add", "update", "set":
		r.append(c)
	case "get", "pop":
		if v.object != nil {
			if key, ok := c.argument(0).constant(); ok {
				if field, ok := v.object.fields[key]; ok {
					return field, true
				}
			}
		}
	case "map":
		if r.script && v.items != nil && len(c.arguments) > 0 && c.arguments[0].value.closure != nil {
			out, ok := r.mappedCalls(c, c.arguments[0].value, []codeValue{v})
			c.arguments = nil
			return out, ok
		}
	}
	return codeValue{}, false
}

// stripped takes blanks or the given letters from both ends.
func (r *codeRun) stripped(c *codeCall, v codeValue) codeValue {
	if !strings.Contains(c.last, "strip") && !strings.HasPrefix(c.last, "trim") {
		return v
	}
	is := v.is
	set := " \t\r\n"
	if given, ok := c.argument(0).constant(); ok {
		set = given
	}
	number := v.number
	v = r.mapped(v, func(text string) (string, bool) { return strings.Trim(text, set), true })
	v.is, v.number = is, number
	return v
}

// joinedList is separator.join(list), or list.join(separator).
func (r *codeRun) joinedList(c *codeCall, v codeValue) codeValue {
	separator, list := v, c.argument(0)
	if r.script {
		separator, list = list, v
		if len(c.arguments) == 0 {
			separator = codeValue{texts: []string{","}}
		}
	}
	out := codeValue{marks: separator.marks | list.marks}
	if !list.list && list.items == nil && len(list.texts) > 0 {
		list.items = r.elements(list)
	}
	if list.items == nil {
		out.dynamic, out.texts = true, nil
		if list.list && len(list.texts) > 0 && !list.dynamic {
			out.texts = list.texts
		}
		return out
	}
	var text strings.Builder
	for i, item := range list.items {
		if i > 0 {
			text.WriteString(separator.text())
		}
		if len(item.texts) == 0 {
			text.WriteByte(0)
			out.dynamic = true
			continue
		}
		out.dynamic = out.dynamic || item.dynamic
		text.WriteString(item.texts[0])
		if text.Len() > 64<<10 {
			return codeValue{dynamic: true, marks: out.marks}
		}
	}
	if !r.make(text.Len()) {
		return codeValue{dynamic: true, marks: out.marks}
	}
	out.texts = []string{text.String()}
	return out
}

// split is text.split(separator); no separator means blanks in Python.
func (r *codeRun) split(v codeValue, separator string) codeValue {
	out := codeValue{list: true, marks: v.marks, dynamic: v.dynamic}
	text := v.text()
	if strings.IndexByte(text, 0) >= 0 && len(v.texts) != 1 || !r.make(len(text)) {
		out.dynamic = true
		return out
	}
	var parts []string
	switch {
	case separator != "":
		parts = strings.Split(text, separator)
	case r.script:
		parts = strings.Split(text, "")
	default:
		parts = strings.Fields(text)
	}
	if len(parts) > maxElements {
		out.dynamic = true
		return out
	}
	out.items = []codeValue{}
	for _, part := range parts {
		out.items = append(out.items, codeValue{texts: []string{part}, marks: v.marks, dynamic: strings.IndexByte(part, 0) >= 0})
		if len(out.texts) < maxTexts {
			out.texts = append(out.texts, part)
		}
	}
	return out
}

func (r *codeRun) replaced(c *codeCall, v codeValue) (codeValue, bool) {
	if v.is == "pathlib.Path" || len(v.texts) == 0 || v.is != "" && !v.dynamic {
		return codeValue{}, false
	}
	from, ok := c.argument(0).constant()
	to := c.argument(1).text()
	if !ok {
		return codeValue{dynamic: true, texts: v.texts, marks: v.marks}, true
	}
	return r.mapped(v, func(text string) (string, bool) {
		switch c.last {
		case "removeprefix":
			return strings.TrimPrefix(text, from), true
		case "removesuffix":
			return strings.TrimSuffix(text, from), true
		}
		if from == "" || len(text)*max(1, len(to)) > 64<<10 {
			return text, true
		}
		if c.last == "replace" && r.script {
			return strings.Replace(text, from, to, 1), true
		}
		return strings.ReplaceAll(text, from, to), true
	}), true
}

// backwards is a text or list the other way round.
func (r *codeRun) backwards(v codeValue) codeValue {
	if v.items != nil {
		items := make([]codeValue, 0, len(v.items))
		for i := len(v.items) - 1; i >= 0; i-- {
			items = append(items, v.items[i])
		}
		v.items, v.list = items, true
		return v
	}
	if v.list {
		return v
	}
	return r.mapped(v, func(text string) (string, bool) { return reversed(text), true })
}

// append puts a value into a list or table that is known.
func (r *codeRun) append(c *codeCall) {
	v := c.argument(0)
	if c.last == "insert" {
		v = c.argument(1)
	}
	if c.last == "update" && c.receiver.object != nil && v.object != nil {
		for _, name := range r.names(v.object.fields) {
			if r.make(len(name)) {
				c.receiver.object.set(name, v.object.fields[name])
			}
		}
	}
	if (c.last == "update") && (c.receiver.is == "os.environ") {
		if v.object != nil {
			for _, name := range r.names(v.object.fields) {
				r.setVariable(name, v.object.fields[name])
			}
		}
	}
	if c.target == nil || !c.receiver.list {
		return
	}
	have := c.receiver
	turning := false
	for _, loop := range r.loops {
		turning = turning || !loop.known
	}
	if turning || c.last == "insert" {
		have.items, have.dynamic = nil, true
		if text := v.text(); text != "" && len(have.texts) < maxTexts {
			have.texts = append(have.texts[:len(have.texts):len(have.texts)], text)
		}
		have.marks |= v.marks
	} else {
		more := codeValue{list: true, items: []codeValue{v}, marks: v.marks, texts: v.texts, dynamic: v.dynamic}
		if c.last == "extend" {
			more = v
			more.list = true
		}
		have = r.concat(have, more)
	}
	r.bindTo(c.target, have)
}
