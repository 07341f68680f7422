package mcpgateway

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The JSON-RPC error codes this door sends itself.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeRefused        = -32001 // a decision said no; data says which
	codeBusy           = -32005
	codeNoResource     = -32002 // MCP: resource not found
	codeVersion        = -32022 // MCP 2026-07-28: unsupported protocol version
)

// jsonSpace is what may stand around a JSON text (RFC 8259, 2). Other blanks make it none.
const jsonSpace = " \t\r\n"

// A malformed says why a message is none, as its sender is told.
type malformed struct {
	code    int
	message string
	id      json.RawMessage // of the message, where it could be read
}

func (m *malformed) Error() string { return m.message }

// An envelope is one JSON-RPC message. Its parts are pieces of the message as it was sent.
type envelope struct {
	id     json.RawMessage // nil: there is none
	method string          // empty: it is a response
	params json.RawMessage
	result json.RawMessage
	fault  json.RawMessage // the member "error"
}

func (e envelope) isRequest() bool  { return e.method != "" && e.id != nil }
func (e envelope) isResponse() bool { return e.method == "" }

// decodeEnvelope reads one message strictly: valid JSON in valid UTF-8, no name twice in any object, no batch, version 2.0,
// an id that is a string or a whole number, params that are an object. Members JSON-RPC doesn't know are dropped, because a
// message is always written anew; what could be taken for one it knows, in another case, is refused.
func decodeEnvelope(message []byte) (envelope, *malformed) {
	var e envelope
	message = bytes.Trim(message, jsonSpace)
	switch {
	case len(message) == 0:
		return e, &malformed{code: codeInvalidRequest, message: "the message is empty"}
	case !utf8.Valid(message):
		return e, &malformed{code: codeParse, message: "the message is not valid UTF-8"}
	}
	var names [16][]byte
	s := scanner{data: message, names: names[:0]}
	if message[0] != '{' {
		if s.value(); s.bad != "" || s.at != len(message) {
			return e, &malformed{code: codeParse, message: "the message is not valid JSON"}
		}
		if message[0] == '[' {
			return e, &malformed{code: codeInvalidRequest,
				message: "batches of messages are not part of the protocol; send one message at a time"}
		}
		return e, &malformed{code: codeInvalidRequest, message: "a message is a JSON object"}
	}
	var version []byte
	odd := ""
	s.object(func(name, value []byte) {
		switch string(name) {
		case "jsonrpc":
			version = value
		case "id":
			e.id = value
		case "method":
			e.method = unquoted(value)
			if e.method == "" {
				odd = "the method is not a name"
			}
		case "params":
			e.params = value
		case "result":
			e.result = value
		case "error":
			e.fault = value
		default:
			if known(name) {
				odd = "the names of a message's members are written in lower case"
			}
		}
	})
	switch {
	case s.bad == "" && s.at != len(message):
		return envelope{}, &malformed{code: codeParse, message: "there is text after the message"}
	case s.bad != "":
		return envelope{}, &malformed{code: s.code(), message: s.bad, id: answerable(e.id)}
	case odd == "":
		odd = e.flaw(version)
	}
	if odd != "" {
		return envelope{}, &malformed{code: codeInvalidRequest, message: odd, id: answerable(e.id)}
	}
	return e, nil
}

// flaw says what is wrong with a message whose JSON is right.
func (e *envelope) flaw(version []byte) string {
	switch {
	case string(version) != `"2.0"`:
		return `the member "jsonrpc" must be "2.0"`
	case string(e.id) == "null" && e.fault != nil && e.method == "":
		e.id = nil // JSON-RPC's form of an error about a message whose id could not be read
	case e.id != nil && answerable(e.id) == nil:
		return "the id must be a string of at most 256 bytes or a whole number"
	case e.method != "" && (e.result != nil || e.fault != nil):
		return "a message is a request or a response, not both"
	case e.method != "" && e.params != nil && string(e.params) == "null":
		e.params = nil
	case e.method != "" && e.params != nil && e.params[0] != '{':
		return "params must be an object"
	case e.method == "" && (e.result == nil) == (e.fault == nil):
		return "a message has a method, or either a result or an error"
	case e.method == "" && e.id == nil && e.fault == nil:
		return "a response has an id"
	case e.fault != nil && e.fault[0] != '{':
		return "the error must be an object"
	}
	return ""
}

// answerable returns an id that an answer can carry, or nil.
func answerable(id json.RawMessage) json.RawMessage {
	if len(id) == 0 || len(id) > 258 {
		return nil
	}
	if id[0] == '"' {
		return id
	}
	if id[0] == '-' || id[0] >= '0' && id[0] <= '9' {
		if bytes.ContainsAny(id, ".eE") {
			return nil
		}
		return id
	}
	return nil
}

// known reports whether a name is one of an envelope's in another case.
func known(name []byte) bool {
	for _, k := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if strings.EqualFold(string(name), k) {
			return true
		}
	}
	return false
}

// unquoted is the text of a JSON string, or "" for anything else.
func unquoted(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// appendString writes a JSON string.
func appendString(to []byte, text string) []byte {
	plain := true
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			plain = false
			break
		}
	}
	if plain {
		return append(append(append(to, '"'), text...), '"')
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return append(to, `""`...)
	}
	return append(to, quoted...)
}

// requestMessage writes a request of ours; params may be nil.
func requestMessage(to []byte, id int64, method string, params []byte) []byte {
	to = append(to, `{"jsonrpc":"2.0","id":`...)
	to = strconv.AppendInt(to, id, 10)
	return tail(to, method, params)
}

// notificationMessage writes a notification; params may be nil.
func notificationMessage(to []byte, method string, params []byte) []byte {
	return tail(append(to, `{"jsonrpc":"2.0"`...), method, params)
}

func tail(to []byte, method string, params []byte) []byte {
	to = appendString(append(to, `,"method":`...), method)
	if params != nil {
		to = append(append(to, `,"params":`...), params...)
	}
	return append(to, '}')
}

// resultMessage writes an answer.
func resultMessage(to []byte, id, result []byte) []byte {
	to = append(append(to, `{"jsonrpc":"2.0","id":`...), id...)
	return append(append(append(to, `,"result":`...), result...), '}')
}

// faultMessage writes an error; fault is the whole error object.
func faultMessage(to []byte, id, fault []byte) []byte {
	if len(id) == 0 {
		id = []byte("null")
	}
	to = append(append(to, `{"jsonrpc":"2.0","id":`...), id...)
	return append(append(append(to, `,"error":`...), fault...), '}')
}

// faultObject writes an error object; data may be nil.
func faultObject(code int, message string, data []byte) []byte {
	to := strconv.AppendInt([]byte(`{"code":`), int64(code), 10)
	to = appendString(append(to, `,"message":`...), message)
	if data != nil {
		to = append(append(to, `,"data":`...), data...)
	}
	return append(to, '}')
}
