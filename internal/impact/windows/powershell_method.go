package windows

import (
	"encoding/hex"
	"strings"

	"interlock/internal/impact/flow"
	"interlock/internal/lex"
)

// method calls a member of a value: constants are folded, the rest is looked up in the knowledge by the type and the
// method's name, or by the name alone.
func (p *psRun) method(v psValue, name string, args psValue, static bool) psValue {
	if static {
		if name == "new" {
			return p.object(v.class, args)
		}
		if out, ok := p.staticFold(v.class, name, args); ok {
			return out
		}
		return p.describedCall("["+v.class+"]::"+name, "::"+name, v, args)
	}
	switch {
	case v.block && (name == "invoke" || name == "invokereturnasis" || name == "invokewithcontext" || name == "getnewclosure"):
		return p.invoke(v.code, nil, args)
	case name == "invokescript" || name == "newscriptblock":
		return p.runText("InvokeScript", args)
	case name == "invoke" && len(v.items) > 0: // of a method, or of a command
		return p.runText("Invoke", args)
	case name == "foreach" || name == "where":
		if args.block {
			return p.each1(v, args.code)
		}
	case name == "getstring" && len(v.items) > 0:
		return p.decodedBytes(v.one().Text, args)
	case name == "frombase64string":
		out, _ := p.staticFold("convert", name, args)
		return out
	}
	if v.class == "" || p.r.S.Know.Lookup("["+v.class+"]."+name) == nil {
		if out, ok := p.stringMethod(v, name, args); ok {
			return out
		}
	}
	return p.describedCall("["+v.class+"]."+name, "."+name, v, args)
}

// describedCall judges a call the knowledge describes.
func (p *psRun) describedCall(full, short string, v, args psValue) psValue {
	know := p.r.S.Know
	name := full
	spec := know.Lookup(full)
	if spec == nil {
		name, spec = short, know.Lookup(short)
	}
	from := v.taint()
	from.Taint(args.taint())
	p.r.S.Spend(1)
	if spec == nil {
		if args.block {
			p.invoke(args.code, nil, psValue{})
		}
		return psUnknown("$("+short+")", from)
	}
	operands := args.fields()
	if len(operands) == 0 && len(v.items) > 0 && !v.named {
		operands = v.fields()
	}
	if spec.Code == "cmd" && len(operands) > 1 { // a program and its arguments
		operands = []flow.Field{args.one()}
	}
	all := append([]flow.Field{flow.Literal(name)}, operands...)
	if p.r.S.Trace != nil {
		p.r.S.Trace.Enter("call", flow.SpelledOut(all))
		defer p.r.S.Trace.Leave()
	}
	p.r.Text(all)
	u := &flow.Use{Spec: spec, Via: spec.Name, Operands: operands}
	p.r.choose(u)
	out := p.r.Use(u, all, flow.Streams{Args: from})
	if holder := p.vars[p.holder]; out.Network && holder.class != "" && holder.class == v.class {
		holder.flow.Taint(out) // what the object holds now came over the network
		p.vars[p.holder] = holder
	}
	return p.output(out)
}

// staticFold knows the few static methods that compute constants.
func (p *psRun) staticFold(class, name string, args psValue) (psValue, bool) {
	from := args.taint()
	switch class + "::" + name {
	case "convert::frombase64string", "convert::fromhexstring":
		out := psUnknown("$bytes", from)
		out.items[0].Flow.Decoded = true
		if text := args.one(); !text.Dynamic {
			raw, err := lex.DecodeBase64(text.Text)
			if name == "fromhexstring" {
				raw, err = hex.DecodeString(text.Text)
			}
			if err == nil && len(raw) <= lex.MaxText && p.r.S.Spend(len(raw)/64) {
				out.class, out.code = "bytes", string(raw)
			}
		}
		return out, true
	case "convert::tochar", "char::convertfromutf32":
		return p.cast("char", args), true
	case "convert::toint32", "convert::toint16", "convert::tobyte":
		return args, true
	case "string::join":
		if len(args.items) > 1 {
			return psField(p.joined(psValue{items: args.items[1:]}, args.items[0].Text)), true
		}
	case "string::concat":
		return psField(p.joined(args, "")), true
	case "string::format":
		if len(args.items) > 1 {
			return p.formatted(args.items[0].Text, psValue{items: args.items[1:]}, from), true
		}
	case "scriptblock::create":
		if f := args.one(); !f.Dynamic && !f.Flow.Network && f.Text != "" {
			return psValue{block: true, code: f.Text}, true
		}
		p.runs("[scriptblock]::Create", args)
		return psUnknown("$block", from), true
	}
	return p.staticPath(class, name, args)
}

// staticPath folds what names places, variables and classes.
func (p *psRun) staticPath(class, name string, args psValue) (psValue, bool) {
	from := args.taint()
	switch class + "::" + name {
	case "environment::getfolderpath":
		return psText(folderPath(p.r.S, strings.ToLower(args.one().Text))), true
	case "environment::getenvironmentvariable":
		if len(args.items) > 0 {
			return p.variable("env:" + strings.ToLower(args.items[0].Text)), true
		}
	case "io.path::gettemppath":
		return psText("/tmp/"), true
	case "io.path::combine":
		return psField(p.joined(args, "/")), true
	case "type::gettypefromprogid", "type::gettypefromclsid":
		if len(args.items) > 0 {
			return psValue{class: "com:" + comName(args.items[0].Text), named: true}, true
		}
	case "activator::createinstance":
		return p.object(args.class, psValue{}), true
	case "regex::replace":
		if len(args.items) > 2 {
			return p.replaced(psField(args.items[0]), psValue{items: args.items[1:]}, from), true
		}
	case "text.encoding::getencoding":
		return psValue{class: "text.encoding", items: []flow.Field{{Text: strings.ToLower(args.one().Text)}}}, true
	}
	return psValue{}, false
}

// folderPath is where Windows keeps what a name of Environment.SpecialFolder means.
func folderPath(s *flow.Scan, name string) string {
	home := s.Home()
	switch name {
	case "startup":
		return home + "/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup"
	case "applicationdata":
		return home + "/AppData/Roaming"
	case "localapplicationdata":
		return home + "/AppData/Local"
	case "desktop", "desktopdirectory":
		return home + "/Desktop"
	case "mydocuments", "personal":
		return home + "/Documents"
	case "system":
		return "C:/Windows/System32"
	case "windows":
		return "C:/Windows"
	case "commonstartup":
		return "C:/ProgramData/Microsoft/Windows/Start Menu/Programs/Startup"
	case "commonapplicationdata":
		return "C:/ProgramData"
	}
	return home
}

// decodedBytes is text out of bytes that were decoded.
func (p *psRun) decodedBytes(encoding string, args psValue) psValue {
	if args.class != "bytes" {
		return psUnknown("$text", args.taint())
	}
	text := args.code
	if encoding == "unicode" || encoding == "utf-16" || encoding == "utf-16le" {
		text = lex.DecodeUTF16([]byte(text))
	}
	out := psText(strings.ToValidUTF8(text, "?"))
	out.items[0].Flow.Decoded = true
	return out
}

// stringMethod folds the methods of strings.
func (p *psRun) stringMethod(v psValue, name string, args psValue) (psValue, bool) {
	if v.block || v.named || len(v.items) == 0 {
		return psValue{}, false
	}
	arg := func(i int) string {
		if i < len(args.items) {
			return args.items[i].Text
		}
		return ""
	}
	p.r.S.Spend(len(v.items[0].Text) / 64)
	known := v.constant() && (len(args.items) == 0 || args.constant())
	switch name {
	case "tostring", "trim", "trimend", "trimstart", "tolower", "toupper", "tolowerinvariant", "toupperinvariant", "normalize",
		"clone", "gettype":
		if strings.HasPrefix(name, "trim") && known {
			return p.eachText(v, func(text string) string { return strings.Trim(text, " \t\r\n"+arg(0)) }), true
		}
		return v, true
	case "replace":
		if known && len(args.items) == 2 {
			return p.substituted(v, arg(0), arg(1), true), true
		}
		if known && len(args.items) == 1 {
			return p.substituted(v, arg(0), "", true), true
		}
	case "split":
		if known && arg(0) != "" {
			return p.pieces(v, func(text string) []string {
				return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(arg(0), c) })
			}), true
		}
	case "tochararray":
		if known {
			return p.cast("char[]", v), true
		}
	case "insert":
		n, ok := psNumber(arg(0))
		if text := v.one().Text; known && ok && n >= 0 && n <= len(text) {
			return psField(flow.Field{Text: text[:n] + arg(1) + text[n:], Odd: true}), true
		}
	case "substring", "remove":
		return p.sliced(v, name, arg(0), arg(1), known)
	case "contains", "startswith", "endswith", "indexof", "equals", "lastindexof", "padleft", "padright", "getenumerator",
		"add", "compareto":
		return psUnknown("$("+name+")", v.taint()), true
	}
	return psValue{}, false
}

func (p *psRun) eachText(v psValue, change func(string) string) psValue {
	out := v
	out.items = append([]flow.Field(nil), v.items...)
	for i := range out.items {
		out.items[i].Text = change(out.items[i].Text)
	}
	return out
}

func (p *psRun) sliced(v psValue, name, from, count string, known bool) (psValue, bool) {
	text := v.one().Text
	n, ok := psNumber(from)
	if !known || !ok || n < 0 || n > len(text) {
		return psUnknown("$("+name+")", v.taint()), true
	}
	m, ok := psNumber(count)
	if count == "" || !ok || m < 0 || n+m > len(text) {
		m = len(text) - n
	}
	if name == "remove" {
		return psField(flow.Field{Text: text[:n] + text[n+m:], Odd: true}), true
	}
	return psField(flow.Field{Text: text[n : n+m], Odd: true}), true
}

// read is a property of a value.
func (p *psRun) read(v psValue, name string, static bool) psValue {
	if static {
		switch v.class {
		case "text.encoding":
			return psValue{class: "text.encoding", items: []flow.Field{{Text: name}}}
		case "environment":
			switch name {
			case "newline":
				return psText("\n")
			case "currentdirectory":
				return psText(".")
			case "systemdirectory":
				return psText("C:/Windows/System32")
			}
		}
		out := psUnknown("["+v.class+"]::"+name, flow.Flow{})
		out.class = v.class
		return out
	}
	for _, pair := range v.pairs {
		if pair.name == name {
			return pair.value
		}
	}
	switch name {
	case "fullname", "name", "path", "pspath", "basename", "value", "content", "directory", "providerpath", "definition",
		"extension", "directoryname", "resolvedcommandname":
		if len(v.items) > 0 || v.flow.Network {
			return v
		}
	case "length", "count":
		return psUnknown("$count", flow.Flow{})
	}
	text := "$." + name
	if len(v.items) > 0 && v.items[0].Dynamic {
		text = v.items[0].Text + "." + name
	}
	out := psUnknown(text, v.taint())
	out.class = v.class
	if v.class != "" {
		out.class = v.class + "." + name
	}
	return out
}
