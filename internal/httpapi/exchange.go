package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/account"
	"interlock/internal/ledger"
)

// An exchange is one request and its answer. It lives in one goroutine.
type exchange struct {
	server *Server
	door   door
	route  route
	w      http.ResponseWriter
	r      *http.Request
	body   pacedBody
	id     string // the caller's request id, if it sent a usable one
	start  time.Time

	peer  account.User          // who asks on the agents' door, as the kernel says
	uid   int                   // its number
	agent interlock.AgentRecord // of the bearer token; zero on the local door without one
	token bool                  // a token was given and counts
	// it was one that only tells usage, which harnesses have and agents don't
	harness bool
	who     string // for the log of the server: the agent's id, never what a request claims

	room    *slots // it holds a slot of, for holder; nil: of none
	holder  string
	reading bool // and a slot of those who read the log

	asked  [sha256.Size]byte // of the request's body, where the answer is to be signed
	status int
	code   interlock.Code
	turned int   // requests that found no room, this one and those that went unsaid before it
	unsaid bool  // this one is counted and not logged
	cause  error // of an internal failure: wraps what the store or the log said, never an action or a token
}

// buffers lends out request and answer buffers; what is kept never exceeds the common size.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

const keptBuffer = 64 << 10

func release(b *[]byte) {
	if cap(*b) <= keptBuffer {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// Shared header values: net/http reads them and never writes them.
var (
	typeJSON  = []string{"application/json"}
	typeText  = []string{"text/plain; charset=utf-8"}
	noStore   = []string{"no-store"}
	noSniff   = []string{"nosniff"}
	challenge = []string{"Bearer"}
)

// answer sends a body with a status. It is called once per exchange.
func (x *exchange) answer(status int, contentType []string, body []byte) {
	header := x.w.Header()
	header["Content-Type"] = contentType
	header["Cache-Control"] = noStore
	header["X-Content-Type-Options"] = noSniff
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.status = status
	x.vouch(body)
	x.w.WriteHeader(status)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(body) // a caller that went away has no answer to miss
	}
}

// A statusWriter remembers the status a door of its own answered with.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach what the server can do.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush sends what has been written, for answers that come in parts.
func (w *statusWriter) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// checkOrigin refuses what a browser sends and what reached a loopback port under a foreign name: a page that resolves
// its own name to 127.0.0.1 must not speak to Interlock. Sec-Fetch-Mode alone is no sign of one: JavaScript programs outside
// browsers, most MCP clients among them, send it without Sec-Fetch-Site, and every browser that sends it sends both.
func (x *exchange) checkOrigin() error {
	if x.door != network {
		return nil
	}
	if !x.server.names.Has(x.r.Host) {
		return interlock.Errorf(interlock.CodeUnauthorized, "Host", "this server does not answer under that name")
	}
	header := x.r.Header
	if header["Origin"] != nil || header["Sec-Fetch-Site"] != nil {
		return interlock.Errorf(interlock.CodeUnauthorized, "Origin", "requests from web pages are not accepted")
	}
	return nil
}

// authenticate finds out who asks. On the network door a token is needed; on the local door one is welcome.
func (x *exchange) authenticate() error {
	values := x.r.Header["Authorization"]
	if len(values) == 0 && x.door != network && (x.door == local || x.peer.Name != "") {
		x.who = localAgent
		return nil
	}
	if len(values) != 1 {
		return interlock.Errorf(interlock.CodeUnauthorized, "Authorization",
			"send one header: Authorization: Bearer and the agent's token")
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return interlock.Errorf(interlock.CodeUnauthorized, "Authorization", "send Bearer and the agent's token")
	}
	record, err := x.server.config.Tokens.Agent(x.r.Context(), token)
	x.who = record.ID
	if err != nil {
		var refusal *interlock.Error
		if errors.As(err, &refusal) {
			return interlock.Errorf(refusal.Code, "Authorization", "%s", refusal.Message)
		}
		return fmt.Errorf("looking up a token: %w", err)
	}
	if record.ID == "" {
		return interlock.Errorf(interlock.CodeUnauthorized, "Authorization", "unknown agent token")
	}
	x.agent, x.token = record, true
	return nil
}

// unauthenticated answers a request whose caller is not known. Only the use of a revoked token leaves an event: anybody
// can send garbage, and garbage must not be able to fill the log.
func (x *exchange) unauthenticated(err error) {
	var refusal *interlock.Error
	if errors.As(err, &refusal) && refusal.Code == interlock.CodeUnauthorized {
		if x.who != "" {
			x.record(err)
		}
		x.w.Header()["Www-Authenticate"] = challenge
		x.failStatus(http.StatusUnauthorized, err)
		return
	}
	x.fail(err)
}

// localAgent is who acts through the local door when a request names nobody.
const localAgent = "local"

// requester says who proposes: the token's agent, else what the local door's caller says, which is then held against the
// agents that have a token and so can't be borrowed.
func (x *exchange) requester(claimed interlock.Requester) (interlock.Requester, error) {
	if len(claimed.Run) > maxName {
		return claimed, tooLong("/run", maxName)
	}
	if len(claimed.Call) > maxName {
		return claimed, tooLong("/call_id", maxName)
	}
	if x.token {
		if claimed.Agent != "" && claimed.Agent != x.agent.ID {
			return claimed, interlock.Errorf(interlock.CodeUnauthorized, "/requester/agent", "the token belongs to another agent")
		}
		claimed.Agent, claimed.Principal = x.agent.ID, x.agent.Principal
		return claimed, nil
	}
	if len(claimed.Agent) > maxName || len(claimed.Principal) > maxName {
		return claimed, tooLong("/requester", maxName)
	}
	if claimed.Agent == "" {
		claimed.Agent = localAgent
	}
	if claimed.Principal == "" {
		claimed.Principal = x.user()
	}
	if x.door == agents && claimed.Principal != x.peer.Name {
		return claimed, interlock.Errorf(interlock.CodeUnauthorized, "/requester/principal",
			"is another user than the one who asks; leave it out or name %.60q", x.peer.Name)
	}
	standing, err := x.server.config.Backend.Known(x.r.Context(), ledger.Ref{Kind: ledger.Agent, Key: claimed.Agent})
	if err != nil {
		return claimed, fmt.Errorf("reading the agents: %w", err)
	}
	if standing.Agents[claimed.Agent].TokenHash != "" {
		return claimed, interlock.Errorf(interlock.CodeUnauthorized, "/requester/agent", "this agent has a token; send it")
	}
	return claimed, nil
}

func tooLong(field string, bound int) error {
	return interlock.Errorf(interlock.CodeInvalid, field, "is longer than %d bytes", bound)
}

// maxName bounds identifiers a caller may choose, in bytes; the log refuses longer ones.
const maxName = 128

// read reads the body into a lent buffer, which the caller releases.
func (x *exchange) read() (*[]byte, error) {
	if err := checkContentType(x.r.Header["Content-Type"]); err != nil {
		return nil, err
	}
	return x.readBody()
}

// readBody reads a body of any type into a lent buffer.
func (x *exchange) readBody() (*[]byte, error) {
	limit := x.server.config.Limits.Body
	if x.r.ContentLength > limit {
		return nil, x.tooLarge(limit)
	}
	buffer := buffers.Get().(*[]byte)
	body := *buffer
	source := http.MaxBytesReader(x.w, &x.body, limit)
	for {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := source.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			*buffer = body
			release(buffer)
			var over *http.MaxBytesError
			if errors.As(err, &over) {
				return nil, x.tooLarge(limit)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				x.w.Header()["Connection"] = []string{"close"} // nobody knows when the rest would come
				return nil, &statusError{status: http.StatusRequestTimeout,
					err: interlock.Errorf(interlock.CodeInvalid, "", "the body came too slowly; send it at once")}
			}
			return nil, interlock.Errorf(interlock.CodeInvalid, "", "the body could not be read to its end")
		}
	}
	*buffer = body
	if len(body) == 0 {
		release(buffer)
		return nil, interlock.Errorf(interlock.CodeInvalid, "", "the body is empty; send a JSON object")
	}
	if x.nonce() != "" {
		x.asked = sha256.Sum256(body)
	}
	return buffer, nil
}

func (x *exchange) tooLarge(limit int64) error {
	x.w.Header()["Connection"] = []string{"close"} // what is left of the body is not worth reading
	return &statusError{status: http.StatusRequestEntityTooLarge,
		err: interlock.Errorf(interlock.CodeLimited, "", "the body is larger than %d bytes", limit)}
}

func checkContentType(values []string) error {
	if len(values) == 1 {
		if values[0] == "application/json" {
			return nil
		}
		kind, parameters, _ := strings.Cut(values[0], ";")
		parameters = strings.ToLower(strings.ReplaceAll(parameters, " ", ""))
		if strings.EqualFold(strings.TrimSpace(kind), "application/json") && (parameters == "" || parameters == "charset=utf-8") {
			return nil
		}
	}
	return &statusError{status: http.StatusUnsupportedMediaType,
		err: interlock.Errorf(interlock.CodeInvalid, "Content-Type", "send application/json in UTF-8")}
}

// decisionContext bounds one decision in time. A caller that goes away does not end it: the answer may already be on its
// way to the log.
func (x *exchange) decisionContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(x.r.Context()), x.server.config.Limits.Decide)
}

// record leaves an event about input that was refused, under the name of the authenticated caller.
func (x *exchange) record(cause error) interlock.Answer {
	ctx, cancel := x.decisionContext()
	defer cancel()
	return x.server.config.Backend.Refuse(ctx, interlock.Requester{Agent: x.who, Principal: x.user()},
		x.door.name(), cause)
}

// finish counts and logs the exchange, and turns a panic into a refusal. It is the one recover of this door.
func (x *exchange) finish() {
	if v := recover(); v != nil {
		x.panicked(v)
	}
	s := x.server
	s.metrics.request(x.route, x.status)
	if x.code != "" {
		s.metrics.failure(x.code)
	}
	level := slog.LevelDebug // decisions stand in the audit log; the server's log is for what went wrong
	if x.status >= 500 {
		level = slog.LevelError
	} else if x.status >= 400 {
		level = slog.LevelWarn
	}
	ctx := x.r.Context()
	if x.unsaid || !s.config.Logger.Enabled(ctx, level) {
		return
	}
	attributes := []slog.Attr{
		slog.String("door", x.door.name()),
		slog.String("route", routeNames[x.route]),
		slog.Int("status", x.status),
		slog.String("code", string(x.code)),
		slog.String("agent", x.who),
		slog.String("request_id", x.id),
		slog.Duration("took", s.config.Now().Sub(x.start)),
	}
	if x.turned > 1 {
		attributes = append(attributes, slog.Int("turned_away", x.turned))
	}
	if x.cause != nil {
		attributes = append(attributes, slog.String("error", x.cause.Error()))
	}
	s.config.Logger.LogAttrs(ctx, level, "request", attributes...)
}

// panicked answers and records a defect. The panic's value may quote the action, so only its type and the stack, which
// names functions and no text, are logged.
func (x *exchange) panicked(v any) {
	x.server.config.Logger.LogAttrs(x.r.Context(), slog.LevelError, "panic",
		slog.String("type", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack())))
	defect := interlock.Errorf(interlock.CodeInternal, "", "the request could not be completed; nothing was allowed")
	func() {
		defer func() { _ = recover() }() // the backend may be what is broken; the refusal must still go out
		x.record(defect)
	}()
	if x.status == 0 {
		x.fail(defect)
	}
}

// validRequestID accepts what can stand in a header and a log line without quoting.
func validRequestID(id string) bool {
	if id == "" || len(id) > maxName {
		return false
	}
	for i := 0; i < len(id); i++ {
		c := id[i]
		if c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
