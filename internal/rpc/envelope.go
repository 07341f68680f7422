package rpc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// The error codes of JSON-RPC and of MCP, and the one for having too much to do.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeBusy           = -32005
	CodeNoResource     = -32002 // MCP: resource not found

	CodeHeaderMismatch    = -32020 // MCP 2026-07-28: a header says something else than the body
	CodeMissingCapability = -32021 // MCP 2026-07-28: what a client would have to be able to do
	CodeVersion           = -32022 // MCP 2026-07-28: unsupported protocol version
)

// Space is what may stand around a JSON text (RFC 8259, 2). Other blanks make it none.
const Space = " \t\r\n"

// A Malformed says why a message is none, as its sender is told.
type Malformed struct {
	Code    int
	Message string
	ID      json.RawMessage // of the message, where it could be read
}

func (m *Malformed) Error() string { return m.Message }

// An Envelope is one JSON-RPC message. Its parts are pieces of the message as it was sent.
type Envelope struct {
	ID     json.RawMessage // nil: there is none
	Method string          // empty: it is a response
	Params json.RawMessage
	Result json.RawMessage
	Fault  json.RawMessage // the member "error"
}

// IsRequest reports whether an answer is to come.
func (e Envelope) IsRequest() bool { return e.Method != "" && e.ID != nil }

// IsResponse reports whether a message is an answer.
func (e Envelope) IsResponse() bool { return e.Method == "" }

// maxNames is how many names of open objects a message has as a rule; what has more takes room of its own.
const maxNames = 16

// nameRoom lends out room for names while a message is read.
var nameRoom = sync.Pool{New: func() any { return new([maxNames][]byte) }}

// Decode reads one message strictly: valid JSON in valid UTF-8, no name twice in any object, no batch, version 2.0,
// an id that is a string or a whole number, params that are an object. Members JSON-RPC doesn't know are dropped, because a
// message is always written again; what could be taken for one it knows, in another case, is refused.
func Decode(message []byte) (Envelope, *Malformed) {
	var e Envelope
	message = bytes.Trim(message, Space)
	switch {
	case len(message) == 0:
		return e, &Malformed{Code: CodeInvalidRequest, Message: "the message is empty"}
	case !utf8.Valid(message):
		return e, &Malformed{Code: CodeParse, Message: "the message is not valid UTF-8"}
	}
	names := nameRoom.Get().(*[maxNames][]byte)
	defer func() {
		clear(names[:])
		nameRoom.Put(names)
	}()
	s := scanner{data: message, names: names[:0]}
	if message[0] != '{' {
		if s.value(); s.bad != "" || s.at != len(message) {
			return e, &Malformed{Code: CodeParse, Message: "the message is not valid JSON"}
		}
		if message[0] == '[' {
			return e, &Malformed{Code: CodeInvalidRequest,
				Message: "batches of messages are not part of the protocol; send one message at a time"}
		}
		return e, &Malformed{Code: CodeInvalidRequest, Message: "a message is a JSON object"}
	}
	var version []byte
	odd := ""
	s.object(func(name, value []byte) {
		switch string(name) {
		case "jsonrpc":
			version = value
		case "id":
			e.ID = value
		case "method":
			e.Method = Unquoted(value)
			if e.Method == "" {
				odd = "the method is not a name"
			}
		case "params":
			e.Params = value
		case "result":
			e.Result = value
		case "error":
			e.Fault = value
		default:
			if known(name) {
				odd = "the names of a message's members are written in lower case"
			}
		}
	})
	switch {
	case s.bad == "" && s.at != len(message):
		return Envelope{}, &Malformed{Code: CodeParse, Message: "there is text after the message"}
	case s.bad != "":
		return Envelope{}, &Malformed{Code: s.code(), Message: s.bad, ID: Answerable(e.ID)}
	case odd == "":
		odd = e.flaw(version)
	}
	if odd != "" {
		return Envelope{}, &Malformed{Code: CodeInvalidRequest, Message: odd, ID: Answerable(e.ID)}
	}
	return e, nil
}

// AnswerTo is the id of the request that a message is meant to answer. A message that can't be trusted is looked at as well,
// leniently: what it says counts for nothing, but its request is over.
func AnswerTo(message []byte) (id json.RawMessage, ok bool) {
	e, bad := Decode(message)
	if bad == nil {
		return e.ID, e.IsResponse()
	}
	var named struct {
		ID     json.RawMessage `json:"id"`
		Method *string         `json:"method"`
	}
	if json.Unmarshal(message, &named) != nil {
		var f idFinder
		f.write(message)
		id = f.meant()
		return id, id != nil
	}
	if named.Method != nil {
		return nil, false
	}
	return named.ID, true
}

// flaw says what is wrong with a message whose JSON is right.
func (e *Envelope) flaw(version []byte) string {
	switch {
	case string(version) != `"2.0"`:
		return `the member "jsonrpc" must be "2.0"`
	case string(e.ID) == "null" && e.Fault != nil && e.Method == "":
		e.ID = nil // JSON-RPC's form of an error about a message whose id could not be read
	case e.ID != nil && Answerable(e.ID) == nil:
		return "the id must be a string of at most 256 bytes or a whole number"
	case e.Method != "" && (e.Result != nil || e.Fault != nil):
		return "a message is a request or a response, not both"
	case e.Method != "" && e.Params != nil && string(e.Params) == "null":
		e.Params = nil
	case e.Method != "" && e.Params != nil && e.Params[0] != '{':
		return "params must be an object"
	case e.Method == "" && (e.Result == nil) == (e.Fault == nil):
		return "a message has a method, or either a result or an error"
	case e.Method == "" && e.ID == nil && e.Fault == nil:
		return "a response has an id"
	case e.Fault != nil && e.Fault[0] != '{':
		return "the error must be an object"
	}
	return ""
}

// Answerable returns an id that an answer can carry, or nil.
func Answerable(id json.RawMessage) json.RawMessage {
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

// Unquoted is the text of a JSON string, or "" for anything else.
func Unquoted(value []byte) string {
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

// AppendString writes a JSON string. It is not the canonical escaper, because it must write any text: what is no UTF-8 is mended,
// and where something has to be escaped, what HTML would read is too, as encoding/json does.
func AppendString(to []byte, text string) []byte {
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

// AppendRequest writes a request of ours; params may be nil.
func AppendRequest(to []byte, id int64, method string, params []byte) []byte {
	to = append(to, `{"jsonrpc":"2.0","id":`...)
	to = strconv.AppendInt(to, id, 10)
	return tail(to, method, params)
}

// AppendNotification writes a notification; params may be nil.
func AppendNotification(to []byte, method string, params []byte) []byte {
	return tail(append(to, `{"jsonrpc":"2.0"`...), method, params)
}

func tail(to []byte, method string, params []byte) []byte {
	to = AppendString(append(to, `,"method":`...), method)
	if params != nil {
		to = append(append(to, `,"params":`...), params...)
	}
	return append(to, '}')
}

// AppendResult writes an answer.
func AppendResult(to []byte, id, result []byte) []byte {
	to = append(append(to, `{"jsonrpc":"2.0","id":`...), id...)
	return append(append(append(to, `,"result":`...), result...), '}')
}

// AppendFault writes an error; fault is the whole error object.
func AppendFault(to []byte, id, fault []byte) []byte {
	if len(id) == 0 {
		id = []byte("null")
	}
	to = append(append(to, `{"jsonrpc":"2.0","id":`...), id...)
	return append(append(append(to, `,"error":`...), fault...), '}')
}

// FaultObject writes an error object; data may be nil.
func FaultObject(code int, message string, data []byte) []byte {
	to := strconv.AppendInt([]byte(`{"code":`), int64(code), 10)
	to = AppendString(append(to, `,"message":`...), message)
	if data != nil {
		to = append(append(to, `,"data":`...), data...)
	}
	return append(to, '}')
}

// A Kind is what a message that was written here has in it.
type Kind int

const (
	KindOther Kind = iota // a request or a notification
	KindResult
	KindFault
)

// KindOf tells an answer from what comes before it. An answer is written with its id first and its content next, so that the
// content need not be read to find out.
func KindOf(message []byte) Kind {
	rest, ok := bytes.CutPrefix(message, []byte(`{"jsonrpc":"2.0","id":`))
	if !ok {
		return KindOther
	}
	s := scanner{data: rest}
	s.value()
	switch rest = rest[s.at:]; {
	case bytes.HasPrefix(rest, []byte(`,"result":`)):
		return KindResult
	case bytes.HasPrefix(rest, []byte(`,"error":`)):
		return KindFault
	}
	return KindOther
}
