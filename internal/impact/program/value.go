package program

import (
	"strconv"
	"strings"

	"interlock/internal/impact/fact"
	"interlock/internal/lex"
)

// codeMarks say where a value comes from.
type codeMarks uint8

const (
	markNetwork  codeMarks = 1 << iota // it came over a network
	markSecret                         // it is a secret
	markEnviron                        // it is the whole environment
	markOutside                        // it is what a file outside the workspace holds
	markDecoded                        // it went through a decoder
	markPrivate                        // it is what a person does or sees: keys, screen, clipboard
	markVariable                       // it is a variable of the environment
	markNamed                          // and one that is named as what holds a secret
)

// A codeValue is what is known of a value without running the program: the texts it may be, its elements, the module or
// type it is, where it comes from. In a text a NUL means a part that is computed.
type codeValue struct {
	texts    []string    // possible values as text, at most maxTexts
	items    []codeValue // its elements, if it is a list and they are known
	object   *codeObject
	closure  *codeClosure
	class    *codeClass
	is       string // qualified name of the module, function or type it is
	list     bool
	number   bool // texts are numbers
	dynamic  bool // part of it, or another possible value, is computed
	imported bool // is names what was imported
	many     bool // it has a thousand elements or more
	endless  bool // it has no last element
	cut      bool // it may be more texts than are kept
	marks    codeMarks
}

// A codeObject is something with named members.
type codeObject struct {
	fields map[string]codeValue
	class  *codeClass
	opened []string // the files that it writes to
}

// set gives a member a value, while there is room.
func (o *codeObject) set(name string, v codeValue) {
	if o.fields != nil && len(o.fields) < maxFields {
		o.fields[name] = v
	}
}

// A codeClass is a class of the program.
type codeClass struct {
	name     string
	members  map[string]codeValue
	bases    []codeValue
	instance *codeObject // one that represents those nobody made
}

// A codeClosure is a function with the scope in which it was made.
type codeClosure struct {
	f     *codeFunction
	scope *codeScope
	self  *codeObject
	class *codeClass
	given []codeArg // arguments that are bound already
}

const (
	maxTexts    = 8
	maxElements = 1024
	maxFields   = 1024
	maxMade     = 8 << 20 // bytes of text that one program's reading may make
)

func (v codeValue) text() string {
	if len(v.texts) == 0 {
		return ""
	}
	return v.texts[0]
}

// constant returns the one text that a value is.
func (v codeValue) constant() (string, bool) {
	if len(v.texts) != 1 || v.dynamic || strings.IndexByte(v.texts[0], 0) >= 0 {
		return "", false
	}
	return v.texts[0], true
}

// whole returns the number that a value is.
func (v codeValue) whole() (int, bool) {
	text, ok := v.constant()
	if !ok || !v.number {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// opened returns the files that a value writes to.
func (v codeValue) opened() []string {
	if v.object == nil {
		return nil
	}
	return v.object.opened
}

func (v codeValue) decoded() bool { return v.marks&markDecoded != 0 }

func (v *codeValue) merge(o codeValue) {
	v.number = (v.number || len(v.texts) == 0) && (o.number || len(o.texts) == 0) && (v.number || o.number)
	if len(o.texts) > 0 && (len(v.texts) == 0 || &v.texts[0] != &o.texts[0]) {
		texts := v.texts[:len(v.texts):len(v.texts)]
		for _, t := range o.texts {
			switch {
			case fact.HasTrait(texts, t):
			case len(texts) < maxTexts:
				texts = append(texts, t)
			default:
				v.cut = true
			}
		}
		v.texts = texts
	}
	if v.items == nil {
		v.items, v.list = o.items, v.list || o.list
	}
	if v.is == "" {
		v.is, v.imported = o.is, o.imported
	}
	if v.object == nil {
		v.object = o.object
	}
	if v.closure == nil {
		v.closure = o.closure
	}
	if v.class == nil {
		v.class = o.class
	}
	v.dynamic = v.dynamic || o.dynamic
	v.cut = v.cut || o.cut
	v.many, v.endless = v.many || o.many, v.endless || o.endless
	v.marks |= o.marks
}

// numberText reads a number literal.
func numberText(text string) codeValue {
	plain := strings.TrimSuffix(strings.ReplaceAll(text, "_", ""), "n")
	if n, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return codeValue{texts: []string{strconv.FormatInt(n, 10)}, number: true}
	}
	if n, err := strconv.ParseInt(plain, 8, 64); err == nil && len(plain) > 1 { // 0777 of old
		return codeValue{texts: []string{strconv.FormatInt(n, 10)}, number: true}
	}
	if _, err := strconv.ParseFloat(plain, 64); err == nil {
		return codeValue{texts: []string{plain}, number: true}
	}
	return codeValue{dynamic: true}
}

// amount returns a number that may be large.
func (v codeValue) amount() float64 {
	if !v.number || len(v.texts) == 0 {
		return 0
	}
	n, err := strconv.ParseFloat(v.texts[0], 64)
	if err != nil {
		return 0
	}
	return n
}

// make counts text that is made; beyond the bound nothing more is.
func (r *codeRun) make(n int) bool {
	r.made += n
	return r.made <= maxMade
}

// joinTexts returns every text of left with every text of right behind it. What begins unknown leads anywhere.
func (r *codeRun) joinTexts(left, right codeValue, with string) (out []string) {
	rights := right.texts
	if len(rights) == 0 {
		rights = []string{"\x00"}
	}
	for _, l := range left.texts {
		for _, t := range rights {
			if len(out) < maxTexts && len(l)+len(t) <= 64<<10 && r.make(len(l)+len(t)) {
				out = append(out, l+with+t)
			}
		}
	}
	return out
}

// concat is a + b.
func (r *codeRun) concat(left, right codeValue) codeValue {
	v := codeValue{dynamic: left.dynamic || right.dynamic, marks: left.marks | right.marks}
	if left.is == isNamed || right.is == isNamed {
		v.is = isNamed
	}
	if left.list || right.list {
		v.list = true
		if n := len(left.items) + len(right.items); n <= maxElements && r.s.Spend(n/4) {
			v.items = append(append([]codeValue(nil), left.items...), right.items...)
		}
		v.texts = append(append([]string(nil), left.texts...), right.texts...)
		v.texts = v.texts[:min(len(v.texts), maxTexts)]
		return v
	}
	if left.number && right.number {
		return arithmetic("+", left, right)
	}
	if len(left.texts) == 0 && len(right.texts) > 0 {
		left.texts = []string{"\x00"}
	}
	if left.texts == nil {
		return v
	}
	v.texts = r.joinTexts(left, right, "")
	v.cut = left.cut || right.cut || len(left.texts)*len(right.texts) > maxTexts
	return v
}

// joined is a string with computed parts.
func (r *codeRun) joined(n *codeNode) codeValue {
	v := codeValue{texts: []string{""}}
	for _, piece := range n.of {
		part := r.eval(piece)
		if part.list {
			part.texts = nil
		}
		marks := v.marks | part.marks
		if part.is == isNamed {
			v.is = isNamed
		}
		if len(part.texts) == 0 || part.dynamic {
			v.dynamic = true
		}
		v.texts = r.joinTexts(v, part, "")
		v.marks = marks
	}
	return v
}

// listValue reads a list, tuple or set; its elements are also the texts it may stand for.
func (r *codeRun) listValue(n *codeNode) codeValue {
	v := codeValue{list: true}
	known := true
	for _, child := range n.of {
		item := r.eval(child)
		v.marks |= item.marks
		v.dynamic = v.dynamic || item.dynamic
		if child.kind == nodeSpread {
			if item.items == nil {
				known = false
			}
			v.items = append(v.items, item.items...)
		} else {
			v.items = append(v.items, item)
		}
		if len(v.items) > maxElements {
			known, v.items, v.cut = false, nil, true
		}
		if text := item.text(); text != "" && text != "\x00" && len(v.texts) < maxTexts {
			v.texts = append(v.texts, text)
		}
	}
	if !known {
		v.items = nil
	} else if v.items == nil {
		v.items = []codeValue{}
	}
	return v
}

// tableValue reads a dict or an object.
func (r *codeRun) tableValue(n *codeNode) codeValue {
	v := codeValue{object: &codeObject{fields: map[string]codeValue{}}}
	for _, child := range n.of {
		switch child.kind {
		case nodePair:
			key, value := r.eval(child.of[0]), r.eval(child.of[1])
			if child.of[0].kind == nodeName && r.script {
				key = codeValue{texts: []string{child.of[0].text}}
			}
			v.marks |= value.marks | key.marks
			if name, ok := key.constant(); ok {
				v.object.set(name, value)
			}
			v.dynamic = v.dynamic || value.dynamic
		case nodeSpread:
			spread := r.eval(child)
			v.marks |= spread.marks
			if spread.object != nil {
				for _, name := range r.names(spread.object.fields) {
					if r.make(len(name)) {
						v.object.set(name, spread.object.fields[name])
					}
				}
			}
		default:
			v.marks |= r.eval(child).marks
		}
	}
	return v
}

// elements returns the values that a loop over v takes, if they are known.
func (r *codeRun) elements(v codeValue) []codeValue {
	if v.items != nil {
		return v.items
	}
	if text, ok := v.constant(); ok && !v.number && !v.list && v.is == "" && len(text) <= maxElements && v.object == nil {
		items := make([]codeValue, 0, len(text))
		for _, c := range text {
			items = append(items, codeValue{texts: []string{string(c)}, marks: v.marks})
		}
		return items
	}
	return nil
}

// element returns what any element of v is.
func (r *codeRun) element(v codeValue) codeValue {
	one := codeValue{dynamic: true, marks: v.marks, is: elementOf(v.is)}
	if v.list || v.is != "" {
		one.texts = v.texts
		if v.is == "pathlib.Path" {
			one.is = v.is
		}
	}
	one.cut = v.cut
	for i, item := range v.items {
		if i >= maxTexts {
			one.cut = true
			break
		}
		one.merge(item)
	}
	if v.object != nil && v.object.class == nil {
		for i, name := range r.names(v.object.fields) {
			if i >= maxTexts {
				break
			}
			one.texts = append(one.texts[:len(one.texts):len(one.texts)], name)
		}
	}
	return one
}

// elementOf says what the elements are of what a call returns.
func elementOf(name string) string {
	switch name {
	case "os.walk":
		return name // a directory, and the names in it
	case "asyncio.open_connection", "socket.socket.accept":
		return name // what is read from and written to
	case "psutil.process_iter":
		return "psutil.Process"
	case "pathlib.Path.glob", "pathlib.Path.rglob", "pathlib.Path.iterdir":
		return "pathlib.Path"
	}
	return ""
}

// assign gives what is on the left the value on the right.
func (r *codeRun) assign(n *codeNode) codeValue {
	v := r.eval(n.of[1])
	target := n.of[0]
	if n.text != "" {
		have := codeValue{}
		if target.kind == nodeName {
			have = r.nameValue(target.text)
		} else {
			have = r.eval(target)
		}
		if n.text == "+" {
			if target.kind == nodeName && n.of[1].kind == nodeName && n.of[1].text == target.text {
				r.growing(target.text)
			}
			v = r.concat(have, v)
		} else {
			v = r.operate(n.text, have, v)
		}
	}
	r.bindTo(target, v)
	return v
}

// bindTo binds a name, an attribute, an element or the names of a pattern.
func (r *codeRun) bindTo(target *codeNode, v codeValue) {
	r.steps++
	switch target.kind {
	case nodeName:
		r.bind(target.text, v)
	case nodeAssign: // a default in a pattern, or a = b = c
		if r.script {
			if v.texts == nil && v.is == "" {
				v = r.eval(target.of[1])
			}
		}
		r.bindTo(target.of[0], v)
	case nodeAttr:
		r.setAttribute(target, v)
	case nodeIndex:
		r.setIndex(target, v)
	case nodeList:
		for i, child := range target.of {
			one := r.element(v)
			if i < len(v.items) {
				one = v.items[i]
			}
			if child.kind == nodeSpread {
				child = child.of[0]
			}
			if v.is == "os.walk" {
				one = codeValue{dynamic: true}
				if i == 0 {
					one.texts = r.joinTexts(v, codeValue{}, "/")
				}
			}
			r.bindTo(child, one)
		}
	case nodeTable:
		for _, child := range target.of {
			if child.kind != nodePair {
				r.bindTo(child, codeValue{dynamic: true, marks: v.marks})
				continue
			}
			key, _ := r.eval(child.of[0]).constant()
			to := child.of[1]
			one := r.member(v, key, "")
			if to.kind == nodeChoice && len(to.of) > 1 { // with a default
				if otherwise := r.eval(to.of[1]); len(one.texts) == 0 && one.closure == nil &&
					one.object == nil && !one.imported {
					otherwise.dynamic = true
					one = otherwise
				}
				to = to.of[0]
			}
			r.bindTo(to, one)
		}
	case nodeSpread, nodeChoice, nodeSequence:
		if len(target.of) > 0 {
			r.bindTo(target.of[0], v)
		}
	}
}

// names are the names of fields, in order.
func (r *codeRun) names(fields map[string]codeValue) []string {
	r.s.Spend(len(fields) / 4)
	return lex.SortedNames(fields)
}
