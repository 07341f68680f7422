package mcpgateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"interlock"
	"interlock/internal/rpc"
)

// The bounds of a wrapped handler, in bytes.
const (
	inlineMessage = 4 << 20 // of a client's message
	inlinePeek    = 1 << 20 // of an answer that is looked at in order to tell how a call ended
)

// Handler wraps the handler of an MCP server over streamable HTTP: what a client posts is decided before the handler sees it,
// and reaches it in the form that was judged. caller says who sends a request; what it refuses is answered with 401.
func (i *Inline) Handler(next http.Handler, caller func(*http.Request) (Caller, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r) // a stream to listen on, or the end of a session: nothing is asked for
			return
		}
		c, err := caller(r)
		if err != nil {
			http.Error(w, "who sends this request is not known", http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, inlineMessage))
		if err != nil {
			inlineFault(w, http.StatusRequestEntityTooLarge, nil,
				rpc.FaultObject(rpc.CodeInvalidRequest, "the message is longer than this server reads, or was cut off", nil))
			return
		}
		e, bad := rpc.Decode(body)
		if bad != nil {
			i.config.Backend.Refuse(r.Context(),
				interlock.Requester{Principal: c.Principal, Agent: c.Agent, Run: i.config.Run}, door,
				interlock.Errorf(interlock.CodeInvalid, "message", "%s", bad.Message))
			inlineFault(w, http.StatusBadRequest, bad.ID, rpc.FaultObject(bad.Code, bad.Message, nil))
			return
		}
		i.serve(w, r, next, c, e, body)
	})
}

// serve decides one message and has it carried out.
func (i *Inline) serve(w http.ResponseWriter, r *http.Request, next http.Handler, c Caller, e rpc.Envelope, body []byte) {
	if !e.IsRequest() {
		pass(next, w, r, body)
		return
	}
	m := metaOf(e.Params)
	client := abilitiesOf(m.capabilities)
	q := Question{Method: e.Method, Client: Abilities{Revision: RevisionSessions, URL: client.url}}
	if m.version != "" {
		q.Client.Revision = m.version
	}
	if q.Client.Revision < RevisionStateless {
		q.Client.URL = false // there is nowhere to ask it
	}
	q.brought(e.Params)
	leave, settled := i.Decide(r.Context(), c, q, e.Params)
	if settled != nil {
		if a := settled.answer(); a.fault != nil {
			inlineFault(w, http.StatusOK, e.ID, a.fault)
		} else {
			reply(w, http.StatusOK, rpc.AppendResult(nil, e.ID, a.result))
		}
		return
	}
	if leave.Params != nil && !bytes.Equal(leave.Params, e.Params) {
		body = requestText(e, leave.Params)
	}
	seen := &peeking{ResponseWriter: w}
	ended := false
	defer func() {
		if !ended { // the handler panicked: the code that serves it sees that as well
			leave.Ended(interlock.OutcomeUnknown, "the server failed on a defect")
		}
	}()
	pass(next, seen, r, body)
	ended = true
	leave.Ended(seen.outcome(e.ID))
	if e.Method == "tools/list" {
		i.Listed(seen.tools(e.ID))
	}
}

// requestText writes a request again, with the params that were judged.
func requestText(e rpc.Envelope, params []byte) []byte {
	text := append([]byte(`{"jsonrpc":"2.0","id":`), e.ID...)
	text = rpc.AppendString(append(text, `,"method":`...), e.Method)
	return append(append(append(text, `,"params":`...), params...), '}')
}

func pass(next http.Handler, w http.ResponseWriter, r *http.Request, body []byte) {
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	next.ServeHTTP(w, r)
}

func inlineFault(w http.ResponseWriter, status int, id, fault []byte) {
	reply(w, status, rpc.AppendFault(nil, id, fault))
}

func reply(w http.ResponseWriter, status int, message []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(message) // a client that is gone has nothing to miss
}

// peeking passes an answer on and keeps its beginning.
type peeking struct {
	http.ResponseWriter
	status int
	begun  []byte
	more   bool
}

func (p *peeking) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *peeking) Write(text []byte) (int, error) {
	if p.status == 0 {
		p.status = http.StatusOK
	}
	room := min(len(text), inlinePeek-len(p.begun))
	p.begun = append(p.begun, text[:room]...)
	p.more = p.more || room < len(text)
	return p.ResponseWriter.Write(text)
}

// Flush passes on what is written, for streams.
func (p *peeking) Flush() { _ = http.NewResponseController(p.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (p *peeking) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// outcome says how a request ended by what was answered: in one message, or in one of a stream's.
func (p *peeking) outcome(id []byte) (interlock.OutcomeStatus, string) {
	if p.status >= http.StatusBadRequest {
		return interlock.OutcomeFailure, "HTTP status " + strconv.Itoa(p.status)
	}
	if e, found := p.answer(id); found {
		return outcomeOf(e)
	}
	if p.more {
		return interlock.OutcomeUnknown, "the answer was too long to tell"
	}
	return interlock.OutcomeUnknown, "no answer was seen"
}

// answer is the message that answers a request, if it was seen.
func (p *peeking) answer(id []byte) (rpc.Envelope, bool) {
	messages := [][]byte{p.begun}
	if strings.HasPrefix(p.Header().Get("Content-Type"), "text/event-stream") {
		messages = eventData(p.begun)
	}
	for _, text := range messages {
		if e, bad := rpc.Decode(text); bad == nil && e.IsResponse() && bytes.Equal(e.ID, id) {
			return e, true
		}
	}
	return rpc.Envelope{}, false
}

// tools is what the answer to a tools/list says of the server's tools.
func (p *peeking) tools(id []byte) []json.RawMessage {
	var listed []json.RawMessage
	if e, found := p.answer(id); found && e.Fault == nil {
		rpc.Elements(rpc.Member(e.Result, "tools"), func(value []byte) { listed = append(listed, value) })
	}
	return listed
}

// eventData is the data of each event of a stream.
func eventData(stream []byte) [][]byte {
	var all [][]byte
	var data []byte
	for line := range bytes.Lines(stream) {
		line = bytes.TrimRight(line, "\r\n")
		if more, isData := bytes.CutPrefix(line, []byte("data:")); isData {
			data = append(append(data, bytes.TrimPrefix(more, []byte(" "))...), '\n')
		} else if len(line) == 0 && data != nil {
			all, data = append(all, data), nil
		}
	}
	if data != nil {
		all = append(all, data)
	}
	return all
}
