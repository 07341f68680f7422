package upstream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"interlock/internal/rpc"
)

// MCP's header names, and the revision from which requests are stateless and described by headers.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerSession = "Mcp-Session-Id"
	headerEvent   = "Last-Event-ID"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerParam   = "Mcp-Param-"
	stateless     = "2026-07-28"
	versionKey    = "io.modelcontextprotocol/protocolVersion"
)

// An envelope is what HTTP needs to know of a message of ours.
type envelope struct {
	rpc.Envelope
	version string // the revision that its _meta names

	settle func() // called before the answer is handed over: from then on the caller's context ends nothing
}

// envelopeOf reads a message of ours, as strictly as what others send is read.
func envelopeOf(message []byte) (*envelope, error) {
	e, bad := rpc.Decode(message)
	if bad != nil {
		return nil, bad
	}
	return &envelope{Envelope: e, version: rpc.Unquoted(rpc.Member(rpc.Member(e.Params, "_meta"), versionKey))}, nil
}

// param is a text of the message's params.
func (e *envelope) param(name string) string { return rpc.Unquoted(rpc.Member(e.Params, name)) }

// named is the value of the Mcp-Name header (MCP 2026-07-28, standard request headers).
func (e *envelope) named() string {
	switch e.Method {
	case "tools/call", "prompts/get":
		return e.param("name")
	case "resources/read":
		return e.param("uri")
	case "tasks/get", "tasks/update", "tasks/cancel":
		return e.param("taskId")
	default:
		return ""
	}
}

// A refusedAnswer is what is read of the body of an HTTP answer that is not 2xx. It is read leniently, because it need not be
// MCP's, and an operator is told what it says.
type refusedAnswer struct {
	ID    json.RawMessage `json:"id"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// answers reports whether a message is the answer to the request of that id.
func answers(message []byte, id json.RawMessage) bool {
	answered, ok := rpc.AnswerTo(message)
	return ok && sameID(answered, id)
}

// sameID compares ids as they are written, but for blanks.
func sameID(a, b json.RawMessage) bool {
	return len(a) > 0 && bytes.Equal(bytes.TrimSpace(a), bytes.TrimSpace(b))
}

// A binding says that an argument of a tool is repeated in a header, so that what is in between can route by it.
type binding struct {
	path   []string
	header string
}

// bindings reads from a tool's input schema which arguments those are. A schema that declares them wrongly declares none: the
// server will refuse the call, and that is its answer to give.
func bindings(schema json.RawMessage) []binding {
	var found []binding
	seen := map[string]bool{}
	if !bind(schema, nil, seen, &found) {
		return nil
	}
	return found
}

// deepestBinding bounds how deep in the arguments they may be.
const deepestBinding = 16

func bind(schema json.RawMessage, path []string, seen map[string]bool, found *[]binding) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || len(path) > deepestBinding {
		return true // a schema of another shape names no header
	}
	for name, text := range s.Properties {
		var p struct {
			Header *string `json:"x-mcp-header"`
		}
		if json.Unmarshal(text, &p) != nil {
			continue
		}
		at := append(append([]string(nil), path...), name)
		if p.Header != nil {
			key := strings.ToLower(*p.Header)
			if !validHeader(*p.Header) || seen[key] {
				return false
			}
			seen[key] = true
			*found = append(*found, binding{at, *p.Header})
		}
		if !bind(text, at, seen, found) {
			return false
		}
	}
	return true
}

// headerOf is the value of one argument as a header, if it is there and is text, a whole number or a truth value.
func (b binding) headerOf(arguments json.RawMessage) (string, bool) {
	at := arguments
	for _, name := range b.path {
		var members map[string]json.RawMessage
		if json.Unmarshal(at, &members) != nil {
			return "", false
		}
		if at = members[name]; len(at) == 0 {
			return "", false
		}
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(at))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return "", false
	}
	switch v := value.(type) {
	case string:
		return headerText(v), true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		f, err := strconv.ParseFloat(v.String(), 64)
		const safest = 1<<53 - 1
		if err != nil || f != float64(int64(f)) || f > safest || f < -safest {
			return "", false
		}
		return strconv.FormatInt(int64(f), 10), true
	default:
		return "", false
	}
}

// The marks around a header value that is written in base64.
const (
	base64Open  = "=?base64?"
	base64Close = "?="
)

// headerText writes text so that a header can carry it: as it is if it is plain, else in base64 between marks. Text that looks
// like such base64 is written in it too.
func headerText(text string) string {
	plain := strings.Trim(text, " \t") == text && !(strings.HasPrefix(text, base64Open) && strings.HasSuffix(text, base64Close))
	for i := 0; plain && i < len(text); i++ {
		plain = text[i] >= 0x20 && text[i] <= 0x7e
	}
	if plain {
		return text
	}
	return base64Open + base64.StdEncoding.EncodeToString([]byte(text)) + base64Close
}
