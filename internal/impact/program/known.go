package program

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// fold returns the value of a call whose outcome follows from its arguments.
func (r *codeRun) fold(c *codeCall) (codeValue, bool) {
	if v, ok := r.foldNamed(c); ok {
		return v, true
	}
	if c.receiver.texts != nil || c.receiver.list || c.receiver.is != "" || c.receiver.marks != 0 || c.receiver.object != nil {
		if v, ok := r.foldMethod(c); ok {
			return v, true
		}
	}
	return codeValue{}, false
}

// foldNamed knows functions by their qualified names.
func (r *codeRun) foldNamed(c *codeCall) (codeValue, bool) {
	first := c.argument(0)
	switch c.name {
	case "os.path.join", "path.join", "path.resolve", "posixpath.join", "path.posix.join":
		return r.joinPaths(c.positional()), true
	case "pathlib.Path", "Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.WindowsPath":
		v := r.joinPaths(c.positional())
		if len(c.arguments) == 0 {
			v = codeValue{texts: []string{"."}}
		}
		v.is = "pathlib.Path"
		return v, true
	case "pathlib.Path.home", "os.homedir", "Path.home":
		return codeValue{texts: []string{"~"}, is: "pathlib.Path"}, true
	case "os.getcwd", "process.cwd", "pathlib.Path.cwd":
		return codeValue{texts: []string{"."}, is: "pathlib.Path"}, true
	case "os.tmpdir", "tempfile.gettempdir":
		return codeValue{texts: []string{"/tmp"}}, true
	case "os.path.dirname", "path.dirname":
		if first.is == "__file__" || first.is == "__filename" || len(first.texts) == 0 {
			return codeValue{dynamic: true}, true
		}
		return codeValue{texts: parents(first.texts), dynamic: first.dynamic}, true
	case "os.path.expanduser", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expandvars", "os.fspath",
		"str", "String", "list", "tuple", "sorted",
		"set", "shlex.split", "glob.glob", "glob.iglob", "iter", "memoryview", "repr", "ascii", "copy.copy", "copy.deepcopy",
		"Object.freeze", "Promise.resolve", "asyncio.run", "dict",
		"vars", "ast.parse", "textwrap.dedent", "sqlalchemy.text", "sqlalchemy.sql.text", "psycopg2.sql.SQL", "psycopg.sql.SQL",
		"path.normalize", "Object.assign", "shlex.quote", "reversed", "json.dumps", "JSON.stringify":
		return r.foldSame(c, first)
	case "os.walk", "os.fwalk":
		return codeValue{texts: first.texts, is: "os.walk", dynamic: true}, true
	case "compile":
		return codeValue{texts: first.texts, dynamic: first.dynamic, marks: first.marks}, true
	}
	return r.foldBuiltin(c, first)
}

// foldBuiltin folds what makes modules, numbers, bytes and lists, and what decodes and encodes.
func (r *codeRun) foldBuiltin(c *codeCall, first codeValue) (codeValue, bool) {
	switch c.name {
	case "__import__", "importlib.import_module", "require", "import", "importlib.__import__":
		r.runsModule(first)
		return r.imported(first), true
	case "module.createRequire":
		return codeValue{is: "require", dynamic: true}, true
	case "os.environ.get", "os.getenv", "os.environ.pop", "os.environ.setdefault", "Deno.env.get":
		v := r.variable(first.text())
		v.merge(c.argument(1))
		v.dynamic = true
		return v, true
	case "chr", "String.fromCharCode", "String.fromCodePoint", "unichr":
		return r.characters(c.positional()), true
	case "ord":
		if text, ok := first.constant(); ok && utf8.RuneCountInString(text) == 1 {
			c, _ := utf8.DecodeRuneInString(text)
			return codeValue{texts: []string{strconv.Itoa(int(c))}, number: true}, true
		}
	case "int", "parseInt", "Number":
		return r.integer(c), true
	case "bytes", "bytearray", "Buffer.from", "array.array":
		return r.bytes(c)
	case "range", "itertools.repeat", "xrange":
		return r.rangeValue(c), true
	case "itertools.cycle", "itertools.count":
		return codeValue{endless: true, dynamic: true, is: c.name}, true
	case "len", "bool", "isinstance", "hash", "type", "id", "round", "float", "enumerate", "zip", "min", "max", "sum", "abs":
		v := codeValue{dynamic: true}
		if c.name == "enumerate" || c.name == "zip" || c.name == "max" || c.name == "min" {
			v.marks, v.texts = c.marks(), nil
		}
		return v, true
	}
	if r.script && c.last == "_load" {
		return r.imported(first), true
	}
	if scheme := decoderOf(c.name, first, c); scheme != "" {
		return r.decodedValue(scheme, c.argument(0, "data", "s", "string")), true
	}
	if scheme := encoderOf(c.name); scheme != "" {
		v := r.mapped(first, func(text string) (string, bool) { return encodeCode(scheme, text) })
		return v, true
	}
	return codeValue{}, false
}

// foldSame is for functions whose value is about what their argument is about.
func (r *codeRun) foldSame(c *codeCall, first codeValue) (codeValue, bool) {
	if len(c.arguments) == 0 {
		if c.name == "vars" {
			return codeValue{is: "vars", dynamic: true}, true
		}
		return codeValue{dynamic: c.name != "list" && c.name != "dict" && c.name != "set", list: c.name == "list",
			object: emptyObject(c.name)}, true
	}
	switch c.name {
	case "list", "tuple", "sorted", "set":
		if items := r.elements(first); items != nil && first.items == nil {
			return codeValue{items: items, list: true, marks: first.marks}, true
		}
		first.list = first.list || first.items != nil
	case "glob.glob", "glob.iglob":
		first.is = c.name
	case "reversed":
		return r.backwards(first), true
	case "json.dumps", "JSON.stringify", "repr":
		if first.object != nil || first.list {
			return codeValue{dynamic: true, marks: first.marks}, true
		}
	case "str", "String":
		first.number = false
		if len(first.texts) == 0 {
			return codeValue{dynamic: true, marks: first.marks}, true
		}
	case "shlex.split":
		return r.split(first, ""), true
	case "dict":
		if len(c.arguments) > 1 || c.arguments[0].name != "" {
			v := codeValue{object: &codeObject{fields: map[string]codeValue{}}, marks: c.marks(), dynamic: true}
			for i := range c.arguments {
				if name := c.arguments[i].name; name != "" {
					v.object.set(name, c.arguments[i].value)
				}
			}
			return v, true
		}
	}
	return first, true
}

func emptyObject(name string) *codeObject {
	if name != "dict" {
		return nil
	}
	return &codeObject{fields: map[string]codeValue{}}
}

// imported is the module of a name that is computed.
func (r *codeRun) imported(name codeValue) codeValue {
	text := name.text()
	if text == "" || strings.Contains(text, "\x00") || len(text) > 256 {
		return codeValue{dynamic: true, imported: true, marks: name.marks}
	}
	module := moduleOf(text)
	r.importModule(module)
	return codeValue{is: module, imported: true, dynamic: true}
}

// characters are the letters with the given numbers.
func (r *codeRun) characters(values []codeValue) codeValue {
	var text strings.Builder
	for _, v := range values {
		n, ok := v.whole()
		if !ok || n <= 0 || n > utf8.MaxRune {
			return codeValue{dynamic: true, marks: markDecoded}
		}
		text.WriteRune(rune(n))
	}
	return codeValue{texts: []string{text.String()}, marks: markDecoded}
}

func (r *codeRun) integer(c *codeCall) codeValue {
	base := 10
	if n, ok := c.argument(1, "base").whole(); ok {
		base = n
	}
	text, ok := c.argument(0).constant()
	if n, err := strconv.ParseInt(strings.TrimSpace(text), base, 64); ok && base >= 2 && base <= 36 && err == nil {
		return codeValue{texts: []string{strconv.FormatInt(n, 10)}, number: true}
	}
	return codeValue{dynamic: true, number: true}
}

// bytes are those of a list of numbers, or of an encoded text.
func (r *codeRun) bytes(c *codeCall) (codeValue, bool) {
	first := c.argument(0)
	r.allocated(c.name, sizeOf(first))
	if first.items != nil {
		out := make([]byte, 0, len(first.items))
		for _, item := range first.items {
			n, ok := item.whole()
			if !ok || n < 0 || n > 255 {
				return codeValue{dynamic: true, marks: markDecoded | first.marks}, true
			}
			out = append(out, byte(n))
		}
		return codeValue{texts: []string{string(out)}, marks: markDecoded | first.marks}, true
	}
	if encoding := c.argument(1).text(); encoding == "base64" || encoding == "hex" || encoding == "base64url" {
		return r.decodedValue(strings.TrimSuffix(encoding, "url"), first), true
	}
	first.number = false
	return first, true
}

// sizeOf is what a number would allocate as a length.
func sizeOf(v codeValue) float64 {
	if v.number {
		return v.amount()
	}
	return 0
}

func (r *codeRun) rangeValue(c *codeCall) codeValue {
	values := c.positional()
	if len(values) == 0 || c.name == "itertools.repeat" {
		return codeValue{dynamic: true, endless: len(values) == 1, is: c.name}
	}
	from, to, step := 0, 0, 1
	ok, ok2, ok3 := true, true, true
	if len(values) == 1 {
		to, ok = values[0].whole()
	} else {
		from, ok = values[0].whole()
		to, ok2 = values[1].whole()
		if len(values) > 2 {
			step, ok3 = values[2].whole()
		}
	}
	v := codeValue{list: true, dynamic: true}
	end := values[min(1, len(values)-1)].amount()
	v.many = end-float64(from) >= 1000
	if !ok || !ok2 || !ok3 || step == 0 || (to-from)/step > 64 {
		return v
	}
	v.dynamic, v.items = false, []codeValue{}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		v.items = append(v.items, codeValue{texts: []string{strconv.Itoa(i)}, number: true})
	}
	return v
}

// decoderOf returns the encoding that a function undoes.
func decoderOf(name string, first codeValue, c *codeCall) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case strings.HasSuffix(last, "b64decode") || last == "decodebytes" || last == "decodestring" || name == "atob" ||
		name == "binascii.a2b_base64":
		return "base64"
	case name == "bytes.fromhex" || name == "binascii.unhexlify" || name == "bytearray.fromhex" || name == "binascii.a2b_hex":
		return "hex"
	case last == "b32decode":
		return "base32"
	case name == "zlib.decompress", name == "zlib.inflateSync":
		return "zlib"
	case name == "zlib.inflateRawSync":
		return "deflate"
	case name == "gzip.decompress", name == "zlib.gunzipSync", name == "zlib.unzipSync":
		return "gzip"
	case name == "bz2.decompress":
		return "bz2"
	case name == "lzma.decompress", name == "marshal.loads", name == "base64.b85decode", name == "base64.a85decode",
		name == "zlib.brotliDecompressSync":
		return "unknown"
	case name == "urllib.parse.unquote" || name == "decodeURIComponent" || name == "decodeURI" || name == "unescape" ||
		name == "urllib.unquote":
		return "percent"
	case name == "codecs.decode":
		return codecOf(c.argument(1, "encoding").text())
	case name == "plistlib.loads" && first.decoded():
		return "unknown"
	}
	return ""
}

// codecOf names the encoding behind one of Python's codecs.
func codecOf(codec string) string {
	switch strings.ToLower(strings.ReplaceAll(codec, "-", "_")) {
	case "rot13", "rot_13":
		return "rot13"
	case "hex", "hex_codec":
		return "hex"
	case "base64", "base64_codec", "base_64":
		return "base64"
	case "zlib", "zip", "zlib_codec":
		return "zlib"
	case "bz2", "bz2_codec":
		return "bz2"
	}
	return ""
}

func encoderOf(name string) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case strings.HasSuffix(last, "b64encode") || name == "btoa" || last == "encodebytes":
		return "base64"
	case name == "binascii.hexlify":
		return "hex"
	case last == "b32encode":
		return "base32"
	}
	return ""
}
