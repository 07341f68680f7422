package mcphttp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"interlock"
	"interlock/internal/mcpgateway"
	"interlock/internal/rpc"
)

// An httpFault is a JSON-RPC error with the HTTP status it goes out under.
type httpFault struct {
	status, code int
	message      string
	data         []byte
}

// post takes one message of a client and answers it.
func (h *Front) post(w http.ResponseWriter, r *http.Request, c who) {
	if !isJSON(r.Header["Content-Type"]) {
		say(w, http.StatusUnsupportedMediaType, "Content-Type: send application/json in UTF-8")
		return
	}
	if !accepts(r.Header["Accept"], "application/json") || !accepts(r.Header["Accept"], "text/event-stream") {
		say(w, http.StatusNotAcceptable, "Accept: name both application/json and text/event-stream")
		return
	}
	body, ok := h.read(w, r)
	if !ok {
		return
	}
	e, bad := rpc.Decode(body)
	if bad != nil {
		fail(w, bad.ID, &httpFault{status: http.StatusBadRequest, code: bad.Code, message: bad.Message})
		return
	}
	stateless, fault := revisionOf(r.Header, e)
	if fault == nil && stateless {
		fault = checkHeaders(r.Header, e)
	}
	if fault != nil {
		fail(w, e.ID, fault)
		return
	}
	var s *httpSession
	if stateless {
		s = h.sharedOf(w, e, c)
	} else {
		s = h.sessionOf(w, r, e, c)
	}
	if s == nil {
		return
	}
	defer s.release()
	if stateless {
		if fault := s.checkParams(r.Header, e); fault != nil {
			fail(w, e.ID, fault)
			return
		}
	}
	if !e.IsRequest() {
		s.talk.Handle(context.WithoutCancel(r.Context()), body, mcpgateway.Nowhere{})
		w.WriteHeader(http.StatusAccepted)
		return
	}
	reply := &httpReply{front: h, w: w, control: http.NewResponseController(w), stateless: stateless, owner: s, id: e.ID,
		header: r.Header}
	if !stateless {
		if e.Method == "initialize" {
			reply.session = s.id
		}
		if !s.take(e.ID, reply) {
			fail(w, e.ID, &httpFault{status: http.StatusBadRequest, code: rpc.CodeInvalidRequest,
				message: "a request with this id is under way; ids are used once"})
			return
		}
		defer s.give(e.ID)
	}
	h.converse(r, reply, e, body)
}

// converse has a request answered. Without a session, a client that goes away cancels its request; with one it does not, and
// says so itself if it means to (MCP 2025-11-25, transports).
func (h *Front) converse(r *http.Request, reply *httpReply, e rpc.Envelope, body []byte) {
	s, ctx := reply.owner, r.Context()
	if !reply.stateless {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if e.Method == "subscriptions/listen" {
		ctx, cancel = context.WithTimeout(ctx, h.limits.Stream)
		defer cancel()
		stop := context.AfterFunc(s.ended, cancel)
		defer stop()
	}
	reply.cancel = cancel
	s.talk.Handle(ctx, body, reply)
	reply.finish()
	if reply.session != "" && reply.failed {
		h.end(s)
	}
}

// read reads a request's body within its bounds of size and time.
func (h *Front) read(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	tooLarge := func() ([]byte, bool) {
		w.Header().Set("Connection", "close") // what is left of the body is not worth reading
		say(w, http.StatusRequestEntityTooLarge, "the message is larger than this gateway reads")
		return nil, false
	}
	if r.ContentLength > h.body {
		return tooLarge()
	}
	source := http.MaxBytesReader(w, r.Body, h.body)
	var body []byte
	var err error
	if r.ContentLength >= 0 {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(source, body)
	} else {
		body, err = io.ReadAll(source)
	}
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge()
	case err != nil:
		w.Header().Set("Connection", "close")
		say(w, http.StatusBadRequest, "the body could not be read to its end")
		return nil, false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // from here on the client only listens
	return body, true
}

// revisionOf says whether a message is by itself, as from 2026-07-28 on, or belongs to a session. Where the message says
// its revision, the header says the same: something between client and gateway may have gone by either.
func revisionOf(header http.Header, e rpc.Envelope) (stateless bool, fault *httpFault) {
	given := header["Mcp-Protocol-Version"]
	if len(given) > 1 {
		return false, mismatch("MCP-Protocol-Version stands twice")
	}
	said := mcpgateway.SaidRevision(e.Params)
	version := ""
	if len(given) == 1 {
		version = strings.TrimSpace(given[0])
	}
	switch {
	case said == "" && (version == "" || mcpgateway.SpeaksSessions(version)):
		return false, nil
	case said == "" && version == mcpgateway.RevisionStateless && e.IsRequest():
		return true, &httpFault{status: http.StatusBadRequest, code: rpc.CodeInvalidParams,
			message: "params/_meta lacks " + mcpgateway.MetaVersion}
	case said == "" && version == mcpgateway.RevisionStateless && e.Method != "":
		return true, nil
	case said == "" && version == mcpgateway.RevisionStateless:
		return true, &httpFault{status: http.StatusBadRequest, code: rpc.CodeInvalidRequest,
			message: "in this revision clients send no responses"}
	case said != "" && version != said:
		return true, mismatch("the header MCP-Protocol-Version and " + mcpgateway.MetaVersion + " in the body are not the same")
	case version != mcpgateway.RevisionStateless:
		data, err := json.Marshal(struct {
			Supported []string `json:"supported"`
			Requested string   `json:"requested"`
		}{mcpgateway.Revisions(), version})
		if err != nil {
			data = nil // unreachable: they are texts
		}
		return true, &httpFault{status: http.StatusBadRequest, code: rpc.CodeVersion,
			message: "this revision of the protocol is not spoken here", data: data}
	}
	return true, nil
}

func mismatch(message string) *httpFault {
	return &httpFault{status: http.StatusBadRequest, code: rpc.CodeHeaderMismatch, message: message}
}

// checkHeaders holds the headers that repeat a message's method and name against the message, which alone counts.
func checkHeaders(header http.Header, e rpc.Envelope) *httpFault {
	if values := header["Mcp-Method"]; len(values) != 1 || strings.TrimSpace(values[0]) != e.Method {
		return mismatch("the header Mcp-Method must be the body's method, once")
	}
	name := ""
	switch e.Method {
	case "tools/call", "prompts/get":
		name = rpc.Unquoted(rpc.Member(e.Params, "name"))
	case "resources/read":
		name = rpc.Unquoted(rpc.Member(e.Params, "uri"))
	case "tasks/get", "tasks/update", "tasks/cancel":
		name = rpc.Unquoted(rpc.Member(e.Params, "taskId"))
	default:
		return nil
	}
	values := header["Mcp-Name"]
	if len(values) != 1 {
		return mismatch("the header Mcp-Name must be the name in the body's params, once")
	}
	if given := strings.TrimSpace(values[0]); given != name && headerText(given) != name {
		return mismatch("the header Mcp-Name is not the name in the body's params")
	}
	return nil
}

// headerText decodes a header's value that could not stand there as it is; another comes back unchanged.
func headerText(value string) string {
	inner, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value
	}
	if inner, ok = strings.CutSuffix(inner, "?="); !ok {
		return value
	}
	text, err := base64.StdEncoding.DecodeString(inner)
	if err != nil {
		return value
	}
	return string(text)
}

func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	kind, parameters, _ := strings.Cut(values[0], ";")
	parameters = strings.ToLower(strings.ReplaceAll(parameters, " ", ""))
	return strings.EqualFold(strings.TrimSpace(kind), "application/json") && (parameters == "" || parameters == "charset=utf-8")
}

// accepts reports whether a client takes a type. One that says nothing takes everything.
func accepts(values []string, kind string) bool {
	if len(values) == 0 {
		return true
	}
	group, _, _ := strings.Cut(kind, "/")
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			part, _, _ = strings.Cut(part, ";")
			part = strings.ToLower(strings.TrimSpace(part))
			if part == kind || part == "*/*" || part == group+"/*" {
				return true
			}
		}
	}
	return false
}

// fail answers a message that goes no further.
func fail(w http.ResponseWriter, id json.RawMessage, f *httpFault) {
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(f.status)
	// a caller that went away has no answer to miss
	_, _ = w.Write(rpc.AppendFault(nil, id, rpc.FaultObject(f.code, f.message, f.data)))
}

// failOpening answers a client for which no session could be opened.
func (h *Front) failOpening(w http.ResponseWriter, id json.RawMessage, err error) {
	var refusal *interlock.Error
	if !errors.As(err, &refusal) {
		h.logger.Error("opening a session", "error", err.Error())
		fail(w, id, &httpFault{status: http.StatusInternalServerError, code: rpc.CodeInternal,
			message: "the session could not be opened"})
		return
	}
	w.Header().Set("Retry-After", "5")
	fail(w, id, &httpFault{status: http.StatusServiceUnavailable, code: rpc.CodeBusy, message: refusal.Error()})
}
