package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/console/signin"
	"interlock/internal/console/stats"
	"interlock/internal/identity"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/meter"
	"interlock/internal/quorum"
	"interlock/internal/replay"
	"interlock/internal/ruleset"
	"interlock/internal/webpush"
)

// Backend is what the console needs of admission. Implementations are safe for concurrent use.
type Backend interface {
	Governor
	core.Ledger
	core.Watcher
	// Ground returns what refs name of what is in force, and the version of the ledger.
	Ground(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error)
	// Killed is the stop of everything that is in force, if any.
	Killed(ctx context.Context) (h ledger.HoldBody, any bool, err error)
	// Requests returns up to limit requests that can be answered or used, and Pending counts those that can be answered.
	Requests(ctx context.Context, limit int) (core.List[interlock.ApprovalRequest], error)
	Pending(ctx context.Context, limit int) (int, error)
	// Request is one request, whatever has become of it.
	Request(ctx context.Context, id string) (r interlock.ApprovalRequest, found bool, err error)
	Resolve(ctx context.Context, approval interlock.Approval) (ledger.Receipt, error)
	RefuseApproval(ctx context.Context, role, actor, request string, cause error) (ledger.Receipt, error)
	UpdateOperator(ctx context.Context, name string, change func(*interlock.OperatorRecord) error) error
	// RegisterPasskey gives an operator a passkey that nobody has, if allow does not refuse it.
	RegisterPasskey(ctx context.Context, name string, passkey interlock.Passkey, allow func(*interlock.OperatorRecord) error) error
	RecordSession(ctx context.Context, record auditlog.SessionRecord) error
	// RecordAccess records that an auditor opens a page, and Council has how long they may.
	RecordAccess(ctx context.Context, operator, page string) error
	Council() interlock.CouncilTerms
	// Subscriptions are the browsers that are told of requests.
	Subscriptions(ctx context.Context) ([]ledger.SubscriptionBody, error)
	// Counted is how much was used of what limits and budgets count, under each of some keys.
	Counted(ctx context.Context, keys ...string) ([]meter.Count, error)
	// Definitions returns a tool's definition as approved, if it ever was, and as seen last.
	Definitions(ctx context.Context, server, tool string) (approved, seen json.RawMessage, err error)
}

// Tokens finds the agent a bearer token belongs to, so that its use here is recorded under its name.
type Tokens interface {
	Agent(ctx context.Context, token string) (interlock.AgentRecord, error)
}

// Config configures a Console. Every field is required unless it says otherwise.
type Config struct {
	Backend Backend
	Tokens  Tokens
	Log     stats.Log
	Verify  quorum.Verifier // checks a login ticket
	// Attest signs, as the server, that a session made a statement.
	Attest func(method, subject, statement string) (signature string, err error)
	// URL is where browsers reach the console: https, or http on localhost. Its host is what passkeys are made for.
	URL string
	// Decision finds the decision that left a request behind; nil where the log holds none. Optional.
	Decision func(ctx context.Context, request interlock.ApprovalRequest) (*interlock.Decision, error)
	// DryRun finds what a request's action did when it was tried in a throw-away copy; nil where it was not. Optional.
	DryRun func(ctx context.Context, request interlock.ApprovalRequest) (*interlock.DryRun, error)
	// Try explains an action that somebody supposes. It records nothing and asks nobody. Optional.
	Try func(ctx context.Context, t Trial) (Tried, error)
	// WhatIf says what rules would have decided about the past, Shadow what decides beside the rules in force. Optional.
	WhatIf func(ctx context.Context, q replay.Question) (replay.Report, error)
	Shadow func(ctx context.Context) (replay.ShadowState, error)
	// Always makes a standing yes of what a request asked, as an operator wants it, and tries it on the past. Optional.
	Always func(ctx context.Context, request string, aim admission.Aim) (interlock.Grant, replay.GrantReport, error)
	// Push tells browsers of operators, if they want that, when something waits. Optional.
	Push *webpush.Sender
	// Judges says who judges and how they do now, see [Judges]. Optional: nobody does.
	Judges func(ctx context.Context) (render.Judges, error)
	// Warnings are what is wrong now with what should call Interlock, or with its log. They stand on every page. Optional.
	Warnings func() []string
	// Disk is how much room the home has, Latency how long decisions took that this server made. Optional.
	Disk    func() (Space, error)
	Latency func() Latency

	Logger *slog.Logger
	Now    func() time.Time
	Random io.Reader // optional: crypto/rand
	Facts  Facts
	Done   <-chan struct{} // optional: closed when the server stops, so that no stream keeps it
}

// Facts are what the console tells about the Interlock it belongs to.
type Facts struct {
	Rules    func() *ruleset.Ruleset // in force now
	Analyser *impact.Analyser
	Key      *auditlog.PublicKey // of the log
	Version  string
	Mode     interlock.Mode
	Profile  string
	Channels []string // optional: by which codes reach people, as a reader may be told
}

// A Console serves the pages. It is safe for concurrent use.
type Console struct {
	config   Config
	origin   string // of every page, as browsers write it
	host     string // the relying party of passkeys
	secure   bool   // pages come over TLS
	started  time.Time
	secret   []byte // of this process, for CSRF tokens
	mux      *http.ServeMux
	pages    *pages
	sessions *signin.Sessions
	asked    *signin.Questions // what passkeys are asked to sign beside approvals
	attempts *limiter
	orders   *orders // that were shown and not signed yet
	counter  *stats.Counter
	files    func() map[string]packed
	streams  atomic.Int64
	long     sync.Mutex // held by the one who reads the whole log
}

//go:embed static
var staticFiles embed.FS

// New returns a console, or an error that names what is wrong with its configuration.
func New(c Config) (*Console, error) {
	missing := ""
	switch {
	case c.Backend == nil:
		missing = "Backend"
	case c.Tokens == nil:
		missing = "Tokens"
	case c.Log == nil:
		missing = "Log"
	case c.Facts.Rules == nil || c.Facts.Analyser == nil || c.Facts.Key == nil:
		missing = "Facts"
	case c.Verify == nil:
		missing = "Verify"
	case c.Attest == nil:
		missing = "Attest"
	case c.Logger == nil:
		missing = "Logger"
	case c.Now == nil:
		missing = "Now"
	}
	if missing != "" {
		return nil, fmt.Errorf("console: Config.%s is missing", missing)
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	base, err := ParseURL(c.URL)
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 32)
	if _, err := io.ReadFull(c.Random, secret); err != nil {
		return nil, fmt.Errorf("console: reading randomness: %w", err)
	}
	console := &Console{config: c, origin: base.Scheme + "://" + base.Host, host: base.Hostname(), secure: base.Scheme == "https",
		started: c.Now(), secret: secret, pages: &pages{now: c.Now}, sessions: signin.NewSessions(c.Now, c.Random),
		asked:    signin.NewQuestions(c.Now, c.Random, secret, base.Scheme+"://"+base.Host),
		attempts: newLimiter(c.Now), orders: newOrders(c.Now), counter: stats.NewCounter(c.Log, c.Now, c.Done, c.Judges != nil),
		files: sync.OnceValue(packStatic)}
	console.mux = console.routes()
	return console, nil
}

// ParseURL reads the address of a console. Passkeys work over TLS and on localhost, and for names, not for addresses.
func ParseURL(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || base.Host == "" || !identity.OriginFits(base.Scheme+"://"+base.Host, base.Hostname()) ||
		base.String() != base.Scheme+"://"+base.Host {
		return nil, interlock.Errorf(interlock.CodeInvalid, "console_url",
			"%.80q is not https://HOST[:PORT] or http://localhost[:PORT]", text)
	}
	return base, nil
}

// routes is the table of pages. Whatever a person must be signed in for goes through signedIn.
func (c *Console) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /static/", c.static)
	mux.HandleFunc("GET /login", c.loginPage)
	mux.HandleFunc("POST /login", c.login)
	mux.HandleFunc("GET /enrol", c.enrolPage)
	mux.HandleFunc("POST /enrol", c.enrol)
	mux.Handle("POST /logout", c.signedIn(c.logout))
	mux.HandleFunc("GET /warnings", c.warningsPart)
	mux.Handle("GET /sessions", c.signedIn(c.sessionsPage))
	mux.Handle("POST /sessions/end", c.signedIn(c.endSession))
	mux.Handle("POST /passkeys/remove", c.signedIn(c.removePasskey))
	if c.config.Push != nil {
		mux.HandleFunc("GET /push-worker.js", c.pushWorker)
		mux.Handle("POST /notifications", c.entitled(answering, c.beginPush))
		mux.Handle("POST /notifications/test", c.entitled(answering, c.tryPush))
		mux.Handle("POST /notifications/end", c.signedIn(c.endPush))
	}
	for _, one := range c.views() {
		mux.Handle(one.pattern, c.entitled(one.needs, one.handler))
	}
	mux.Handle("GET /pending", c.signedIn(c.pendingPage))
	mux.Handle("POST /pending", c.signedIn(c.answerSeveral))
	mux.Handle("GET /pending/stream", c.signedIn(c.inboxStream))
	mux.Handle("GET /pending/{id}", c.signedIn(c.requestPage))
	mux.Handle("POST /pending/{id}", c.signedIn(c.answerOne))
	mux.Handle("POST /pending/{id}/grant", c.signedIn(c.draftGrant))
	mux.Handle("POST /grants/{id}", c.signedIn(c.signGrant))
	mux.Handle("POST /filters", c.signedIn(c.keepFilter))
	mux.Handle("GET /pending/{id}/always", c.entitled(reading|answering, c.alwaysPage))
	mux.Handle("POST /pending/{id}/always", c.entitled(reading|answering, c.draftAlways))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, interlock.Errorf(interlock.CodeNotFound, "", "there is no such page"))
	})
	return mux
}

// ServeHTTP answers one request: headers, credential, name and origin first, then the page.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer c.recovered(w, r)
	c.protect(w.Header())
	if err := c.refuseAgents(r); err != nil {
		c.fail(w, r, err)
		return
	}
	if done := c.elsewhere(w, r); done {
		return
	}
	r = c.recognise(w, r)
	if err := c.checkForgery(w, r); err != nil {
		c.fail(w, r, err)
		return
	}
	c.mux.ServeHTTP(w, r)
}

// protect sets what every answer says: no scripts but our own, no frame around us, nothing kept.
func (c *Console) protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // not less, or browsers hide the origin of our own forms from us
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()")
	h.Set("Cache-Control", "no-store")
	if c.secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// elsewhere sends a browser that came by another of our names to the one passkeys are made for, and refuses every name that
// is not ours: a page that resolves its own name to this machine must not speak to the console.
func (c *Console) elsewhere(w http.ResponseWriter, r *http.Request) bool {
	if "http://"+r.Host == c.origin || "https://"+r.Host == c.origin {
		return false
	}
	name := (&url.URL{Host: r.Host}).Hostname()
	if name != "127.0.0.1" && name != "::1" && name != "localhost" {
		c.fail(w, r, interlock.Errorf(interlock.CodeUnauthorized, "Host", "the console does not answer under that name"))
		return true
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		c.fail(w, r, interlock.Errorf(interlock.CodeUnauthorized, "Host", "the console takes answers at %s", c.origin))
		return true
	}
	http.Redirect(w, r, c.origin+"/"+strings.TrimLeft(r.URL.RequestURI(), "/"), http.StatusFound)
	return true
}

// refuseAgents turns away a caller with an agent's credential. No identity is both (AQL 8.7.3s), so the try is recorded
// and raises an alert under the agent's name; an unknown token is not worth an event.
func (c *Console) refuseAgents(r *http.Request) error {
	values := r.Header.Values("Authorization")
	for _, cookie := range r.Cookies() {
		if identity.TokenShaped(cookie.Value) {
			values = append(values, "Bearer "+cookie.Value)
		}
	}
	if len(values) == 0 {
		return nil
	}
	refusal := interlock.Errorf(interlock.CodeUnauthorized, "Authorization", "the console is for people; no token opens it")
	for _, value := range values {
		_, token, _ := strings.Cut(value, " ")
		agent, err := c.config.Tokens.Agent(r.Context(), strings.TrimSpace(token))
		if agent.ID == "" {
			continue
		}
		if err == nil {
			err = refusal
		}
		if _, err := c.config.Backend.RefuseApproval(r.Context(), "agent", agent.ID, requestIn(r.URL.Path), err); err != nil {
			c.config.Logger.ErrorContext(r.Context(), "an agent's try at the console could not be recorded", "agent", agent.ID)
		}
	}
	return refusal
}

// requestIn is the id of the request that an address names. Anything else an agent put there is not written down: it could be
// a code.
func requestIn(address string) string {
	id := path.Base(address)
	digits, found := strings.CutPrefix(id, "apr_")
	if !found || len(digits) != 12 || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// recovered turns a defect into an answer. What was shown or asked is not logged.
func (c *Console) recovered(w http.ResponseWriter, r *http.Request) {
	if v := recover(); v != nil {
		if v == http.ErrAbortHandler { //nolint:errorlint // it is this value, not an error that wraps it
			panic(v) // a file that is not whole must not look whole
		}
		c.config.Logger.ErrorContext(r.Context(), "panic in the console", "type", fmt.Sprintf("%T", v))
		http.Error(w, "the page could not be made; nothing was answered", http.StatusInternalServerError)
	}
}

// A page is what every template gets.
type page struct {
	Title    string
	Operator *interlock.OperatorRecord // who is signed in, or nil
	CSRF     string                    // for the hidden field csrf of every form
	Path     string
	Tabs     []tab
	Rights   right
	Warnings []string // see [Config.Warnings]
	Filters  *shelfOf // nil: the page has none
	Data     any
}

// May reports whether the operator has a right, for templates to show what can be done. It opens nothing.
func (p page) May(name string) bool {
	needs, known := map[string]right{"read": reading, "audit": auditing, "answer": answering, "govern": governing, "order": ordering}[name]
	return known && p.Rights&needs == needs
}

// render writes a page from templates/NAME inside templates/layout.html.
func (c *Console) render(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) {
	p := page{Title: title, CSRF: c.csrf(r), Path: r.URL.Path, Data: data}
	if operator, ok := c.operator(r); ok {
		p.Operator, p.Rights, p.Tabs, p.Warnings = &operator, c.rights(operator), c.tabs(r), c.warnings()
		if status == http.StatusOK {
			p.Filters = c.shelf(r, operator.Name)
		}
	}
	var b bytes.Buffer
	if err := c.pages.execute(&b, name, "layout.html", p); err != nil {
		c.config.Logger.ErrorContext(r.Context(), "a page could not be made", "page", name, "error", err.Error())
		http.Error(w, "the page could not be made; nothing was answered", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a reader that went away has nothing to miss
}

// fail answers with one clear error. What is not ours to tell is logged and shown as a defect.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, err error) {
	refusal := &interlock.Error{Code: interlock.CodeInternal, Message: "something went wrong here; nothing was answered"}
	if !errors.As(err, &refusal) {
		c.config.Logger.ErrorContext(r.Context(), "console", "path", r.URL.Path, "error", err.Error())
	}
	status := http.StatusInternalServerError
	switch refusal.Code {
	case interlock.CodeInvalid:
		status = http.StatusBadRequest
	case interlock.CodeNotFound:
		status = http.StatusNotFound
	case interlock.CodeConflict, interlock.CodeExpired:
		status = http.StatusConflict
	case interlock.CodeUnauthorized:
		status = http.StatusForbidden
	case interlock.CodeLimited:
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "60")
	case interlock.CodeUnavailable:
		status = http.StatusServiceUnavailable
	}
	c.render(w, r, status, "error.html", http.StatusText(status), refusal)
}
