package mcphttp

import (
	"bytes"
	"math"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"

	"interlock/internal/rpc"
)

// A tool of 2026-07-28 may have arguments repeated in headers, so that what is in between can route by them. The member
// x-mcp-header of an argument's schema names the header behind this prefix.
const (
	headerAnnotation = "x-mcp-header"
	paramPrefix      = "Mcp-Param-"
)

// checkParams holds headers that repeat arguments against the arguments, which alone count. What its server would take for the
// same call must not be routed as another. A tool that is not known yet is called by the message alone.
func (s *httpSession) checkParams(header http.Header, e rpc.Envelope) *httpFault {
	if e.Method != "tools/call" {
		return nil
	}
	return paramMismatch(header, s.talk.Tool(rpc.Unquoted(rpc.Member(e.Params, "name"))), rpc.Member(e.Params, "arguments"))
}

func paramMismatch(header http.Header, definition, arguments []byte) *httpFault {
	if !bytes.Contains(definition, []byte(headerAnnotation)) {
		return nil
	}
	var fault *httpFault
	annotated(rpc.Member(definition, "inputSchema"), func(path []string, name string) {
		name = textproto.CanonicalMIMEHeaderKey(paramPrefix + name)
		value := arguments
		for _, part := range path {
			value = rpc.Member(value, part)
		}
		values := header[name]
		switch absent := len(value) == 0 || string(value) == "null"; {
		case absent && len(values) == 0:
		case absent:
			fault = mismatch("the header " + name + " repeats an argument that is not there")
		case len(values) != 1 || !repeats(strings.TrimSpace(values[0]), value):
			fault = mismatch("the header " + name + " must repeat the argument " + strings.Join(path, ".") + ", once")
		}
	})
	return fault
}

// annotated finds the properties of a schema that are repeated in headers, however deep they stand.
func annotated(schema []byte, each func(path []string, header string)) {
	annotatedBelow(schema, nil, each)
}

func annotatedBelow(schema []byte, path []string, each func(path []string, header string)) {
	rpc.Members(rpc.Member(schema, "properties"), func(name, property []byte) {
		below := append(path[:len(path):len(path)], string(name))
		if header := rpc.Unquoted(rpc.Member(property, headerAnnotation)); header != "" {
			each(below, header)
		}
		annotatedBelow(property, below, each)
	})
}

// repeats reports whether a header's text says what an argument does. Only strings, booleans and whole numbers can be repeated.
func repeats(text string, value []byte) bool {
	if inner, ok := strings.CutPrefix(text, "=?base64?"); ok && strings.HasSuffix(inner, "?=") {
		decoded := headerText(text)
		if decoded == text {
			return false // it is no base64
		}
		text = decoded
	}
	switch value[0] {
	case '"':
		return text == rpc.Unquoted(value)
	case 't', 'f':
		return text == string(value)
	case '{', '[':
		return false
	}
	given, err := strconv.ParseFloat(text, 64)
	meant, wrong := strconv.ParseFloat(string(value), 64)
	return err == nil && wrong == nil && given == meant && meant == math.Trunc(meant) && math.Abs(meant) < 1<<53
}
