package impact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// A codeValue is what is known of an expression without running it: the texts it may be, the list it may be, the module
// or type it is.
type codeValue struct {
	texts   []string // possible values as text, at most maxTexts
	list    []string // its elements, if it is a list of constants
	dynamic bool     // part of it, or another possible value, is computed
	is      string   // qualified name of the module, function or type it is
	decoded bool     // it went through a decoder
}

const maxTexts = 8

func (v codeValue) text() string {
	if len(v.texts) == 0 {
		return ""
	}
	return v.texts[0]
}

func (v *codeValue) merge(o codeValue) {
	for _, t := range o.texts {
		if len(v.texts) < maxTexts && !hasTrait(v.texts, t) {
			v.texts = append(v.texts, t)
		}
	}
	if v.list == nil {
		v.list = o.list
	}
	if v.is == "" {
		v.is = o.is
	}
	v.dynamic = v.dynamic || o.dynamic
	v.decoded = v.decoded || o.decoded
}

// value evaluates the expression in tokens one step deep: literals, names bound to them, concatenation, joining of paths,
// decoding, and the types of constructors.
func (r *codeRun) value(tokens []codeToken, depth int) codeValue {
	if len(tokens) == 0 || depth > 6 || !r.s.spend(1) {
		return codeValue{dynamic: true}
	}
	if i := topMark(tokens, "+", "/", "%"); i > 0 {
		left, right := r.value(tokens[:i], depth+1), r.value(tokens[i+1:], depth+1)
		switch {
		case tokens[i].is("/") && (left.is == "pathlib.Path" || right.is == "pathlib.Path"):
			return codeValue{texts: joinTexts(left, right, "/"), dynamic: left.dynamic || right.dynamic, is: "pathlib.Path"}
		case tokens[i].is("+"):
			return codeValue{texts: joinTexts(left, right, ""), list: append(append([]string(nil), left.list...), right.list...), dynamic: left.dynamic || right.dynamic, decoded: left.decoded || right.decoded}
		}
		return codeValue{texts: left.texts, dynamic: true}
	}
	first := tokens[0]
	switch {
	case first.is("("):
		if end := matching(tokens, 0); end == len(tokens)-1 {
			return r.value(tokens[1:end], depth+1)
		}
	case first.is("[") || first.is("{"):
		return r.listValue(tokens, depth)
	case first.kind == codeString:
		return r.stringValue(tokens)
	case first.kind == codeName && (first.text == "await" || first.text == "new"):
		return r.value(tokens[1:], depth+1)
	case first.kind == codeName:
		return r.nameValue(tokens, depth)
	}
	return codeValue{dynamic: true}
}

func joinTexts(left, right codeValue, with string) (out []string) {
	lefts, rights := left.texts, right.texts
	if len(lefts) == 0 {
		return nil // what begins unknown leads anywhere
	}
	if len(rights) == 0 {
		rights = []string{"\x00"}
	}
	for _, l := range lefts {
		for _, r := range rights {
			if len(out) < maxTexts && len(l)+len(r) <= 64<<10 {
				out = append(out, l+with+r)
			}
		}
	}
	return out
}

// listValue reads a list, tuple or set of constants; its elements are also the texts it may stand for in a loop.
func (r *codeRun) listValue(tokens []codeToken, depth int) codeValue {
	end := matching(tokens, 0)
	if end < 0 {
		return codeValue{dynamic: true}
	}
	var v codeValue
	for _, part := range splitArguments(tokens[1:end]) {
		item := r.value(part, depth+1)
		v.dynamic = v.dynamic || item.dynamic
		text := "\x00"
		if len(item.texts) > 0 {
			text = item.texts[0]
		}
		if len(v.list) < 64 {
			v.list = append(v.list, text)
		}
		if len(v.texts) < maxTexts && text != "\x00" {
			v.texts = append(v.texts, text)
		}
	}
	return v
}

// stringValue reads adjacent literals, and methods that do not change what a literal names.
func (r *codeRun) stringValue(tokens []codeToken) codeValue {
	var text strings.Builder
	var v codeValue
	i := 0
	for ; i < len(tokens) && tokens[i].kind == codeString; i++ {
		text.WriteString(tokens[i].text)
		v.dynamic = v.dynamic || tokens[i].dynamic
	}
	v.texts = []string{text.String()}
	if i+1 < len(tokens) && tokens[i].is(".") && tokens[i+1].text == "join" && i+2 < len(tokens) {
		if end := matching(tokens, i+2); end > 0 {
			if list := r.value(tokens[i+3:end], 1).list; list != nil {
				v.texts = []string{strings.Join(list, text.String())}
			}
		}
	} else if i < len(tokens) && tokens[i].is(".") {
		v.dynamic = v.dynamic || i+1 < len(tokens) && tokens[i+1].text == "format"
	}
	return v
}

// nameValue reads a name, an attribute or a call.
func (r *codeRun) nameValue(tokens []codeToken, depth int) codeValue {
	name, next := r.qualified(tokens, 0)
	if next >= len(tokens) {
		if v, ok := r.vars[name]; ok {
			return v
		}
		return codeValue{dynamic: true, is: name}
	}
	if !tokens[next].is("(") {
		if tokens[next].is("[") {
			if v, ok := r.vars[name]; ok {
				return v
			}
		}
		return codeValue{dynamic: true}
	}
	end := matching(tokens, next)
	if end < 0 {
		return codeValue{dynamic: true}
	}
	arguments := splitArguments(tokens[next+1 : end])
	arg := func(i int) codeValue {
		if i < len(arguments) {
			return r.value(arguments[i], depth+1)
		}
		return codeValue{dynamic: true}
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case name == "os.path.join" || name == "path.join" || name == "path.resolve" || name == "pathlib.Path" || name == "Path" || name == "pathlib.PurePath":
		v := arg(0)
		if len(arguments) == 0 {
			v = codeValue{texts: []string{"."}}
		}
		for i := 1; i < len(arguments); i++ {
			more := arg(i)
			joined := joinTexts(v, more, "/")
			if strings.HasPrefix(more.text(), "/") {
				joined = more.texts
			}
			v = codeValue{texts: joined, dynamic: v.dynamic || more.dynamic}
		}
		if strings.HasSuffix(name, "Path") {
			v.is = "pathlib.Path"
		}
		return v
	case name == "pathlib.Path.home" || name == "os.homedir" || name == "Path.home":
		return codeValue{texts: []string{"~"}, is: "pathlib.Path"}
	case name == "os.getcwd" || name == "process.cwd" || name == "pathlib.Path.cwd":
		return codeValue{texts: []string{"."}, is: "pathlib.Path"}
	case name == "os.path.expanduser" || name == "os.path.abspath" || name == "os.path.realpath" || name == "os.path.normpath" || name == "str" ||
		name == "os.path.expandvars" || name == "os.fspath" || name == "String" || name == "list" || name == "shlex.split" || name == "bytes" || name == "glob.glob" || name == "glob.iglob":
		return arg(0)
	case name == "__import__" || name == "importlib.import_module" || name == "require" || name == "import":
		return codeValue{is: strings.TrimPrefix(arg(0).text(), "node:")}
	case name == "getattr":
		if module := arg(0).is; module != "" && arg(1).text() != "" {
			return codeValue{is: module + "." + arg(1).text()}
		}
	case strings.HasSuffix(last, "b64decode") || last == "decodebytes" || name == "atob" || name == "bytes.fromhex" || name == "binascii.unhexlify" ||
		name == "codecs.decode" || name == "Buffer.from" || name == "zlib.decompress" || name == "bytearray.fromhex" || name == "marshal.loads":
		return decodedValue(name, arg(0))
	}
	if returned, ok := r.vars[name+"()"]; ok && r.params[name] != nil {
		returned.dynamic = true // for other arguments it may be something else
		return returned
	}
	v := codeValue{dynamic: true, is: name}
	if base, ok := r.vars[strings.TrimSuffix(name, "."+last)]; ok && base.is != "" {
		v.is = base.is + "." + last
		switch last { // methods that keep what a value is about
		case "expanduser", "resolve", "absolute", "decode", "encode", "strip", "joinpath", "as_posix", "toString", "trim":
			v = base
		}
	}
	return v
}

// decodedValue undoes an encoding of a constant.
func decodedValue(name string, v codeValue) codeValue {
	out := codeValue{decoded: true, dynamic: v.dynamic || len(v.texts) == 0}
	for _, t := range v.texts {
		t = strings.TrimSpace(t)
		var plain []byte
		var err error
		switch {
		case strings.Contains(name, "hex"):
			plain, err = hex.DecodeString(t)
		default:
			if plain, err = base64.StdEncoding.DecodeString(t); err != nil {
				plain, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(t, "="))
			}
		}
		if err != nil {
			out.dynamic = true
			continue
		}
		out.texts = append(out.texts, string(plain))
	}
	return out
}

// topMark returns the last of the marks that stands outside of brackets, or -1.
func topMark(tokens []codeToken, marks ...string) int {
	depth, found := 0, -1
	for i := range tokens {
		t := &tokens[i]
		if t.kind != codeMark {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		default:
			if depth == 0 && i > 0 {
				for _, m := range marks {
					if t.text == m {
						found = i
					}
				}
			}
		}
	}
	return found
}

// matching returns where the bracket at i is closed, or -1.
func matching(tokens []codeToken, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		if tokens[i].kind != codeMark {
			continue
		}
		switch tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// splitArguments splits at commas outside of brackets and drops keyword names' separators: k=v stays in one part.
func splitArguments(tokens []codeToken) (parts [][]codeToken) {
	depth, start := 0, 0
	for i := range tokens {
		if tokens[i].kind != codeMark {
			continue
		}
		switch tokens[i].text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case ",":
			if depth == 0 {
				parts = append(parts, trimLines(tokens[start:i]))
				start = i + 1
			}
		}
	}
	if rest := trimLines(tokens[start:]); len(rest) > 0 {
		parts = append(parts, rest)
	}
	return parts
}

func trimLines(tokens []codeToken) []codeToken {
	for len(tokens) > 0 && tokens[0].kind == codeLine {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == codeLine {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}
