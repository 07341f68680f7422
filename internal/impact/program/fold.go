package program

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/zlib"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"interlock/internal/lex"
)

// binary is operands joined by one operator.
func (r *codeRun) binary(n *codeNode) codeValue {
	v := r.eval(n.of[0])
	for _, child := range n.of[1:] {
		right := r.eval(child)
		if n.text == "+" {
			v = r.concat(v, right)
		} else {
			v = r.operate(n.text, v, right)
		}
	}
	return v
}

// operate is left op right for what is no addition.
func (r *codeRun) operate(op string, left, right codeValue) codeValue {
	marks := left.marks | right.marks
	switch {
	case op == "/" && (left.is == "pathlib.Path" || right.is == "pathlib.Path"):
		v := r.joinPaths([]codeValue{left, right})
		v.is = "pathlib.Path"
		return v
	case op == "%" && !left.number && len(left.texts) > 0:
		return r.percent(left, right)
	case op == "*" && (repeatable(left) && !repeatable(right) || repeatable(right) && !repeatable(left)):
		return r.multiplied(left, right)
	case op == "|" && (left.object != nil || right.object != nil):
		left.merge(right)
		return left
	case left.number && right.number:
		v := arithmetic(op, left, right)
		v.marks = marks
		return v
	}
	if op == "*" && (left.amount() >= 1000 || right.amount() >= 1000) {
		r.repeats = true
	}
	return codeValue{dynamic: true, marks: marks, texts: left.texts}
}

// repeatable reports whether a value is a text or a list.
func repeatable(v codeValue) bool { return v.list || len(v.texts) > 0 && !v.number }

// multiplied is a text or list times a number.
func (r *codeRun) multiplied(left, right codeValue) codeValue {
	if repeatable(right) {
		left, right = right, left
	}
	n := right.amount()
	size := float64(max(len(left.text()), len(left.items), 1))
	r.repeats = r.repeats || n >= 1000
	r.allocated("*", n*size)
	v := codeValue{marks: left.marks, list: left.list, dynamic: true, texts: left.texts, many: n >= 1000}
	if count, ok := right.whole(); ok && left.items == nil && count >= 0 && count <= 256 && n*size <= 4096 {
		v.dynamic, v.texts = left.dynamic, nil
		for _, text := range left.texts {
			if r.make(len(text) * count) {
				v.texts = append(v.texts, strings.Repeat(text, count))
			}
		}
	}
	return v
}

// arithmetic is left op right of numbers.
func arithmetic(op string, left, right codeValue) codeValue {
	unknown := codeValue{dynamic: true, number: true}
	a, okA := left.whole()
	b, okB := right.whole()
	if !okA || !okB || op == "**" || op == "*" && (a > 1<<31 || b > 1<<31) {
		x, y := left.amount(), right.amount()
		switch op {
		case "*":
			return floating(x * y)
		case "**":
			power := 1.0
			for i := 0.0; i < y && power < 1e18 && i < 64; i++ {
				power *= x
			}
			return floating(power)
		}
		return unknown
	}
	switch op {
	case "+":
		a += b
	case "-":
		a -= b
	case "*":
		a *= b
	case "^":
		a ^= b
	case "&":
		a &= b
	case "|":
		a |= b
	case "<<", ">>":
		if b < 0 || b > 40 || a < 0 || a > 1<<20 {
			return unknown
		}
		if op == "<<" {
			a <<= b
		} else {
			a >>= b
		}
	case "%", "//", "/":
		if b == 0 || op == "/" && a%b != 0 {
			return unknown
		}
		if op == "%" {
			a = (a%b + b) % b
		} else {
			a /= b
		}
	default:
		return unknown
	}
	return codeValue{texts: []string{strconv.Itoa(a)}, number: true}
}

func floating(n float64) codeValue {
	return codeValue{texts: []string{strconv.FormatFloat(n, 'f', 0, 64)}, number: true}
}

// percent is "…%s…" % values.
func (r *codeRun) percent(format, values codeValue) codeValue {
	items := values.items
	if items == nil {
		items = []codeValue{values}
	}
	v := codeValue{texts: []string{""}, marks: format.marks | values.marks}
	text, next := format.text(), 0
	for text != "" {
		i := strings.IndexByte(text, '%')
		if i < 0 || i+1 >= len(text) {
			v.texts = r.joinTexts(v, codeValue{texts: []string{text}}, "")
			break
		}
		v.texts = r.joinTexts(v, codeValue{texts: []string{text[:i]}}, "")
		end := i + 1
		for end < len(text)-1 && strings.IndexByte("-+ #0123456789.(", text[end]) >= 0 {
			if text[end] == '(' {
				if close := strings.IndexByte(text[end:], ')'); close > 0 {
					end += close
				}
			}
			end++
		}
		if end >= len(text) {
			v.dynamic = true
			break
		}
		part := codeValue{texts: []string{"%"}}
		if text[end] != '%' {
			part = codeValue{}
			if next < len(items) {
				part = items[next]
			}
			if values.object != nil {
				part = r.element(values)
			}
			next++
		}
		v.dynamic = v.dynamic || part.dynamic || len(part.texts) == 0
		v.texts = r.joinTexts(v, part, "")
		text = text[end+1:]
	}
	return v
}

// formatted is "…{}…".format(values).
func (r *codeRun) formatted(format codeValue, arguments []codeArg) codeValue {
	v := codeValue{texts: []string{""}, marks: format.marks}
	for _, a := range arguments {
		v.marks |= a.value.marks
	}
	text, next := format.text(), 0
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			v.texts = r.joinTexts(v, codeValue{texts: []string{text}}, "")
			break
		}
		v.texts = r.joinTexts(v, codeValue{texts: []string{text[:i]}}, "")
		if i+1 < len(text) && text[i+1] == text[i] {
			v.texts = r.joinTexts(v, codeValue{texts: []string{text[i : i+1]}}, "")
			text = text[i+2:]
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 || text[i] == '}' {
			text = text[i+1:]
			continue
		}
		field := text[i+1 : i+end]
		if at := strings.IndexAny(field, ":!.["); at >= 0 {
			field = field[:at]
		}
		if field == "" {
			field = strconv.Itoa(next)
			next++
		}
		part := argumentOf(arguments, field)
		v.dynamic = v.dynamic || part.dynamic || len(part.texts) == 0
		v.texts = r.joinTexts(v, part, "")
		text = text[i+end+1:]
	}
	return v
}

// argumentOf returns an argument by its position or its name.
func argumentOf(arguments []codeArg, field string) codeValue {
	at, err := strconv.Atoi(field)
	position := 0
	for _, a := range arguments {
		switch {
		case a.name != "":
			if a.name == field {
				return a.value
			}
		default:
			if err == nil && position == at {
				return a.value
			}
			position++
		}
	}
	return codeValue{dynamic: true}
}

// joinPaths joins paths; one that begins at the root starts over.
func (r *codeRun) joinPaths(parts []codeValue) codeValue {
	var v codeValue
	for i, part := range parts {
		if len(part.texts) == 0 && i == 0 {
			v = codeValue{dynamic: true, marks: part.marks}
			continue
		}
		if i == 0 || strings.HasPrefix(part.text(), "/") {
			v = codeValue{texts: part.texts, dynamic: part.dynamic, marks: v.marks | part.marks}
			continue
		}
		if v.text() == "" || strings.HasSuffix(v.text(), "/") { // nothing before it, or a separator that is there already
			v = codeValue{texts: r.joinTexts(v, part, ""), dynamic: v.dynamic || part.dynamic || len(part.texts) == 0,
				marks: v.marks | part.marks}
			continue
		}
		v = codeValue{texts: r.joinTexts(v, part, "/"), dynamic: v.dynamic || part.dynamic || len(part.texts) == 0,
			marks: v.marks | part.marks}
	}
	return v
}

// mapped is each text of a value through a function that may fail.
func (r *codeRun) mapped(v codeValue, change func(string) (string, bool)) codeValue {
	out := codeValue{marks: v.marks, dynamic: v.dynamic || len(v.texts) == 0}
	for _, text := range v.texts {
		if strings.IndexByte(text, 0) >= 0 {
			out.dynamic = true
		}
		if !r.make(len(text)) {
			out.dynamic = true
			continue
		}
		changed, ok := change(text)
		if !ok || len(changed) > 64<<10 {
			out.dynamic = true
			continue
		}
		out.texts = append(out.texts, changed)
	}
	return out
}

// decodedValue undoes an encoding of a constant.
func (r *codeRun) decodedValue(scheme string, v codeValue) codeValue {
	out := r.mapped(v, func(text string) (string, bool) { return decodeCode(scheme, text) })
	if scheme != "percent" || len(v.texts) > 0 { // undoing a URL's escapes hides nothing in what is not known
		out.marks |= markDecoded
	}
	return out
}

const maxUnpacked = 64 << 10

// decodeCode undoes one encoding that programs use.
func decodeCode(scheme, text string) (string, bool) {
	var plain []byte
	var err error
	switch scheme {
	case "base64":
		clean := lex.StripBlanks(text)
		if plain, err = base64.StdEncoding.DecodeString(clean); err != nil {
			plain, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(clean, "="))
		}
	case "hex":
		plain, err = hex.DecodeString(lex.StripBlanks(text))
	case "base32":
		plain, err = base32.StdEncoding.DecodeString(lex.StripBlanks(text))
	case "rot13":
		return lex.Decode("rot13", text)
	case "percent":
		return lex.PercentDecode(text), true
	case "zlib", "deflate", "bz2":
		var unpacked io.Reader
		switch scheme {
		case "zlib":
			unpacked, err = zlib.NewReader(strings.NewReader(text))
		case "deflate":
			unpacked = flate.NewReader(strings.NewReader(text))
		default:
			unpacked = bzip2.NewReader(strings.NewReader(text))
		}
		if err == nil {
			var b bytes.Buffer
			_, err = io.Copy(&b, io.LimitReader(unpacked, maxUnpacked+1))
			plain = b.Bytes()
		}
	case "gzip":
		return lex.Decode("gzip", text)
	default:
		return "", false
	}
	if err != nil || len(plain) > maxUnpacked {
		return "", false
	}
	return string(plain), true
}

// encodeCode encodes, for what is encoded and decoded again in one program.
func encodeCode(scheme, text string) (string, bool) {
	switch scheme {
	case "base64":
		return base64.StdEncoding.EncodeToString([]byte(text)), true
	case "hex":
		return hex.EncodeToString([]byte(text)), true
	case "base32":
		return base32.StdEncoding.EncodeToString([]byte(text)), true
	case "rot13":
		return lex.Decode("rot13", text)
	}
	return "", false
}

func reversed(text string) string {
	out := make([]byte, 0, len(text))
	for i := len(text); i > 0; {
		c, n := utf8.DecodeLastRuneInString(text[:i])
		out = utf8.AppendRune(out, c)
		i -= n
	}
	return string(out)
}
