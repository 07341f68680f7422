// Package httpapi is the HTTP door: it turns requests into proposals, answers them with what admission says, and decides
// nothing itself.
//
// It serves two doors, and a third where it runs as a user of its own, with the same routes. The network door listens on a
// loopback address, wants an agent's bearer token
// for everything that decides or reads, and refuses requests that come from a browser or were steered to it by another
// name (DNS rebinding). The local door is a unix socket of mode 0600: only the user Interlock runs as can open it,
// so it needs no token and takes whole proposals, which is how the hook hands over what it saw. The agents' door is a socket for
// agents of other users: the kernel says who asks, and nobody proposes in another's name or reads the log; see agents.go.
//
// No door can answer an approval, change a rule or an identity, or stop Interlock; every attempt is refused and
// recorded. Whatever is wrong with a request gets one clear error and never an allow: an answer counts as allow only if it
// names a durable event.
//
// Start with httpapi.go for the shape, decide.go for the main route; docs/http-api.md is the reference.
package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/hostname"
	"interlock/internal/ledger"
	"interlock/internal/witness"
)

// Backend is what the doors need of admission. Implementations are safe for concurrent use.
type Backend interface {
	// ProposeBy decides and records one action; see [interlock.Backend].
	ProposeBy(ctx context.Context, way admission.Way, p interlock.Proposal) interlock.Answer
	// Report records what executing an action did.
	Report(ctx context.Context, r interlock.Requester, o interlock.Outcome) error
	// Refuse records that input was refused before it became an action.
	Refuse(ctx context.Context, r interlock.Requester, door string, cause error) interlock.Answer
	// RefuseApproval records an attempt to answer a request by somebody who never may.
	RefuseApproval(ctx context.Context, role, actor, request string, cause error) (ledger.Receipt, error)
	// Ground returns what refs name of what is in force, and the version of the ledger.
	Ground(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error)
	// Pending counts the requests that can still be answered, no further than a limit if there is one.
	Pending(ctx context.Context, limit int) (int, error)
	// Known is Ground as this process last saw it, at most a few milliseconds late.
	Known(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error)
	// HearPrompt takes note of what a run's user said, HearResult of what an action of the run returned.
	HearPrompt(ctx context.Context, r interlock.Requester, text string) error
	HearResult(ctx context.Context, p interlock.Proposal, result string) error
}

// Log is what the doors need of the audit log, read only.
type Log interface {
	auditlog.HashRows
	// Head returns the newest state of the log.
	Head(ctx context.Context) (ledger.Head, error)
	auditlog.Pages
}

// Tokens finds the unrevoked agent a bearer token belongs to. For a token that is known and revoked it returns the record
// beside the error.
type Tokens interface {
	Agent(ctx context.Context, token string) (interlock.AgentRecord, error)
}

// Limits bound what one caller can take. A zero field means its default.
type Limits struct {
	Body        int64         // bytes of a request's body; default 1 MiB
	Header      int           // bytes of a request's line and header; default 16 KiB
	Concurrent  int64         // requests under way; more get 503 and Retry-After; default 1024
	PerAgent    int64         // of these, one agent's, or one address's without a token; more get 429; default a quarter
	Readings    int64         // of these, one agent's that read the log; more get 429; default 4
	Pause       time.Duration // to begin with a body; then a second for each 16 KiB; default 3 s
	ReadHeader  time.Duration // to send a request's header; default 5 s
	Read        time.Duration // to send a whole request; default 15 s
	Write       time.Duration // from the header's end to the answer's; default 30 s
	Idle        time.Duration // of a kept connection; default 2 min
	Decide      time.Duration // to decide and record one action; default 5 s
	SlowDown    time.Duration // before an agent is told that it sends too much that is costly to read; default 2 s
	Drain       time.Duration // for what is under way when the server stops; default 10 s
	Evaluations int           // in one AuthZEN evaluations request; default 100
	Page        int           // most events in one answer; default 1000
}

func (l Limits) withDefaults() Limits {
	fallback(&l.Body, 1<<20)
	fallback(&l.Header, 16<<10)
	fallback(&l.Concurrent, 1024)
	fallback(&l.PerAgent, max(l.Concurrent/4, 4))
	fallback(&l.Readings, 4)
	fallback(&l.Pause, 3*time.Second)
	fallback(&l.ReadHeader, 5*time.Second)
	fallback(&l.Read, 15*time.Second)
	fallback(&l.Write, 30*time.Second)
	fallback(&l.Idle, 2*time.Minute)
	fallback(&l.Decide, 5*time.Second)
	fallback(&l.SlowDown, 2*time.Second)
	fallback(&l.Drain, 10*time.Second)
	fallback(&l.Evaluations, 100)
	fallback(&l.Page, 1000)
	return l
}

func fallback[T int | int64 | time.Duration](value *T, standard T) {
	if *value <= 0 {
		*value = standard
	}
}

// Build says what is running, for /metrics and /healthz.
type Build struct {
	Version  string
	Revision string
	Go       string
}

// InForce names a ruleset and what in it may object: its rules and the rows of the profile in force.
type InForce struct {
	Ruleset interlock.Digest
	Rules   []string
}

// Config configures a [Server]. Fields are required unless they say otherwise.
type Config struct {
	Backend Backend
	Log     Log
	Tokens  Tokens
	Logger  *slog.Logger
	Now     func() time.Time
	Limits  Limits         // optional
	Build   Build          // optional
	Rules   func() InForce // optional: the ruleset in force now, for counting what it objects to
	User    string         // operating-system user the local door acts for
	// optional: what is known of the world for an action in a directory; default: the directory alone
	View      func(string) interlock.View
	Work      admission.WorkReader        // optional: what git knows of the paths an action would delete, likewise
	Read      admission.Reader            // optional: texts of the files an action would run, asked for on the local door
	Hosts     []string                    // optional: further Host values the network door answers to, as host or host:port
	Ready     func(context.Context) error // optional: whether the store can be written; default: the standing can be read
	Metrics   func(io.Writer) error       // optional: writes further metrics in the Prometheus text format
	Pages     http.Handler                // optional: answers the network door's paths that are none of the API's, by its own rules
	Past      Past                        // optional: what other rules would have decided; asked for on the local door
	Waits     Waits                       // optional: lets the side that asked wait for the answer
	Runs      Runs                        // optional: registers runs and ends them
	Telemetry Telemetry                   // optional: takes in what is reported as used, over OTLP
	// optional: whose usage a token of a harness reports
	UsageAgent func(token string) (agent string, ok bool)
	// optional: carries messages between agents
	Messages Messages
	// optional: takes in what agents and others report to be wrong
	Reports Reports
	// optional: says what may become of a text
	Texts Texts
	// optional: takes requests for acts of governance
	Actions Actions
	// optional: says what may become of personal data
	Personal Personal
	// optional: keeps facts for agents
	Memory Memory
	// optional: signs what the local door answers, for hooks; without it they decide by themselves
	Sign func(*witness.Answer) (signature string)
	// optional: what may be known of the world where the user of that number asks, for the agents' door
	PeerView func(uid int, dir string) interlock.View
	// optional: serves /mcp on the network door, behind its checks of host and origin; it authenticates by itself
	MCP http.Handler
	// optional: records a look, which leaves no event by itself, before it is answered
	Looked func(ctx context.Context, by interlock.Requester, what string) error
	// optional: agents read nothing of the log, their own events included, which hold what a judge said of them (ASA 14.3)
	LogForPeople bool
}

// A Server holds both doors. It is safe for concurrent use.
type Server struct {
	config  Config
	metrics *metrics
	names   hostname.Names
	rows    remembered

	endpoints [len(routeNames)]endpoint
	paths     map[string]route

	// Requests under way: of agents, by credential; of these, those that read the log; of those who have shown no credential, by
	// address or, on the agents' door, by user; and on the local socket without a token. None of them takes room from another.
	agents, readers, strangers, hooks *slots
	waiters                           *slots // of those who wait for people, which takes none of these
	reports                           reportPace

	serving context.Context // ends when the server does, for those who wait
	end     context.CancelFunc
}

// New returns a server that is not listening yet, or an error that names the missing field.
func New(c Config) (*Server, error) {
	missing := ""
	switch {
	case c.Backend == nil:
		missing = "Backend"
	case c.Log == nil:
		missing = "Log"
	case c.Tokens == nil:
		missing = "Tokens"
	case c.Logger == nil:
		missing = "Logger"
	case c.Now == nil:
		missing = "Now"
	case c.User == "":
		missing = "User"
	}
	if missing != "" {
		return nil, fmt.Errorf("httpapi: Config.%s is missing", missing)
	}
	if c.View == nil {
		c.View = func(dir string) interlock.View { return interlock.View{Workspace: dir} }
	}
	c.Limits = c.Limits.withDefaults()
	most, share := int(c.Limits.Concurrent), int(c.Limits.PerAgent)
	serving, end := context.WithCancel(context.Background())
	all := endpoints()
	return &Server{endpoints: all, paths: routesByPath(all), serving: serving, end: end,
		waiters: newSlots(most, share, max(most/64, 1)), config: c,
		metrics: newMetrics(c.Now(), c.Build, c.Rules), names: hostname.New(c.Hosts...),
		agents:    newSlots(most, share, max(most/64, 1)), // what other agents can't take
		readers:   newSlots(most, int(c.Limits.Readings), int(c.Limits.Readings)),
		strangers: newSlots(most, share, 0),
		hooks:     newSlots(most, most, 0), rows: remembered{log: c.Log}}, nil
}

// door says which way a request came in.
type door uint8

const (
	network door = iota
	local
	agents // a socket that other users of the machine reach; see agents.go
)

func (d door) name() string { return [...]string{"http", "socket", "agents"}[d] }

// Handler returns the network door: it wants an agent's token.
func (s *Server) Handler() http.Handler { return s.handler(network) }

// LocalHandler returns the local door. Serve it on a socket only its user can open.
func (s *Server) LocalHandler() http.Handler { return s.handler(local) }

func (s *Server) handler(d door) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{server: s, door: d, w: w, r: r, body: s.pace(w, r), start: s.config.Now()}
		x.askedBy()
		defer x.body.leave()
		if d == network && s.config.Pages != nil && s.routeOf(r.URL.Path) == routeUnknown && !wantsJSON(r) {
			s.config.Pages.ServeHTTP(w, x.body.in(r))
			return
		}
		if id := r.Header.Get("X-Request-Id"); validRequestID(id) {
			x.id = id
			w.Header()["X-Request-Id"] = []string{id}
		}
		defer x.finish()
		x.route = s.routeOf(r.URL.Path)
		x.serve()
	})
}

// A route names one path family; it is the only thing about a path that metrics and logs see.
type route uint8

const (
	routeUnknown route = iota
	routeDecide
	routeOutcome
	routeEvents
	routeCheckpoint
	routeProof
	routeEvaluation
	routeEvaluations
	routeAuthzen
	routeGovernance
	routeHealth
	routeReady
	routeMetrics
	routeMCP
	routeHeard
	routeWhatIf
	routeShadow
	routeWait
	routeRuns
	routeRunEnd
	routeTurn
	routeHeartbeat
	routeBind
	routeTelemetry
	routeMessages
	routeWaiting
	routeReceive
	routeAcknowledge
	routeKeep
	routePlans
	routeReport
	routeClassify
	routeActionRequest
	routeOneEvent
	routePersonal
	routeFactPut
	routeFactPromote
	routeFactGet
	routeFactSearch
)

var routeNames = [...]string{"unknown", "decide", "outcome", "events", "checkpoint", "proof", "evaluation", "evaluations",
	"authzen_configuration", "governance", "healthz", "readyz", "metrics", "mcp", "heard",
	"whatif", "shadow", "wait", "runs", "run_end", "run_turn", "heartbeat",
	"run_session", "telemetry", "messages", "messages_waiting", "message_receive", "message_acknowledge", "run_checkpoint", "plans",
	"safety_report", "safety_classify", "actionrequest", "one_event", "pii", "memory_put", "memory_promote", "memory_get",
	"memory_search"}

// An endpoint is how a route is served.
type endpoint struct {
	path   string            // empty: a part of it varies, see [Server.routeOf]
	method string            // empty: GET
	serve  func(x *exchange) // nil: it is answered before it comes to that
	look   bool              // it leaves no event by itself
}

// endpoints are those of all routes. docs/openapi.yaml describes them.
func endpoints() [len(routeNames)]endpoint {
	return [...]endpoint{
		routeDecide:        {path: "/v1/decide", method: http.MethodPost, serve: (*exchange).decide},
		routeOutcome:       {path: "/v1/outcome", method: http.MethodPost, serve: (*exchange).outcome},
		routeEvents:        {path: "/v1/events", serve: (*exchange).events, look: true},
		routeCheckpoint:    {path: "/v1/checkpoint", serve: (*exchange).checkpoint, look: true},
		routeProof:         {path: "/v1/proof", serve: (*exchange).proof, look: true},
		routeEvaluation:    {path: "/access/v1/evaluation", method: http.MethodPost, serve: (*exchange).evaluation},
		routeEvaluations:   {path: "/access/v1/evaluations", method: http.MethodPost, serve: (*exchange).evaluations},
		routeAuthzen:       {path: "/.well-known/authzen-configuration", serve: (*exchange).authzenConfiguration},
		routeHealth:        {path: "/healthz"},
		routeReady:         {path: "/readyz", serve: (*exchange).ready},
		routeMetrics:       {path: "/metrics", serve: (*exchange).writeMetrics},
		routeMCP:           {path: "/mcp"},
		routeHeard:         {path: "/v1/heard", method: http.MethodPost, serve: (*exchange).heard, look: true},
		routeWhatIf:        {path: "/v1/whatif", serve: (*exchange).whatIf, look: true},
		routeShadow:        {path: "/v1/shadow", serve: (*exchange).shadow, look: true},
		routeWait:          {method: http.MethodPost, serve: (*exchange).wait, look: true},
		routeRuns:          {path: "/v1/runs", method: http.MethodPost, serve: (*exchange).runs},
		routeRunEnd:        {method: http.MethodPost, serve: (*exchange).runs},
		routeTurn:          {method: http.MethodPost, serve: (*exchange).runs},
		routeHeartbeat:     {path: "/v1/heartbeat", method: http.MethodPost, serve: (*exchange).runs, look: true},
		routeBind:          {method: http.MethodPost, serve: (*exchange).runs},
		routeTelemetry:     {method: http.MethodPost, serve: (*exchange).telemetry, look: true},
		routeMessages:      {path: "/v1/messages", method: http.MethodPost, serve: (*exchange).messages},
		routeWaiting:       {path: "/v1/messages/waiting", serve: (*exchange).messages, look: true},
		routeReceive:       {method: http.MethodPost, serve: (*exchange).messages},
		routeAcknowledge:   {method: http.MethodPost, serve: (*exchange).messages},
		routeKeep:          {method: http.MethodPost, serve: (*exchange).runs, look: true},
		routePlans:         {path: "/v1/plans", method: http.MethodPost, serve: (*exchange).runs},
		routeReport:        {path: "/safety/report", method: http.MethodPost, serve: (*exchange).report},
		routeClassify:      {path: "/safety/classify", method: http.MethodPost, serve: (*exchange).classify},
		routeActionRequest: {path: "/v1/actionrequest/create", method: http.MethodPost, serve: (*exchange).actionRequest},
		routeOneEvent:      {serve: (*exchange).oneEvent, look: true},
		routePersonal:      {path: "/pii/detect_and_handle", method: http.MethodPost, serve: (*exchange).personal},
		routeFactPut:       {path: "/v1/memory/put", method: http.MethodPost, serve: (*exchange).memory},
		routeFactPromote:   {path: "/v1/memory/promote", method: http.MethodPost, serve: (*exchange).memory},
		routeFactGet:       {path: "/v1/memory/get", method: http.MethodPost, serve: (*exchange).memory},
		routeFactSearch:    {path: "/v1/memory/search", method: http.MethodPost, serve: (*exchange).memory},
	}
}

// routesByPath are the routes whose paths do not vary.
func routesByPath(all [len(routeNames)]endpoint) map[string]route {
	paths := map[string]route{}
	for r := range all {
		if path := all[r].path; path != "" {
			paths[path] = route(r)
		}
	}
	return paths
}

func (s *Server) routeOf(path string) route {
	if known, found := s.paths[path]; found {
		return known
	}
	if _, waits := waitPath(path); waits {
		return routeWait
	}
	if _, of := runPath(path); of != routeUnknown {
		return of
	}
	if _, reports := telemetrySignal(path); reports {
		return routeTelemetry
	}
	if _, of := messagePath(path); of != routeUnknown {
		return of
	}
	if _, is := eventPath(path); is {
		return routeOneEvent
	}
	if path == "/actionrequest/create" { // as MACE's companions spell it
		return routeActionRequest
	}
	if governs(path) {
		return routeGovernance
	}
	return routeUnknown
}

// looks records that somebody looks, where that is recorded (MACE safety boundaries 12). What can't be recorded is not shown.
func (x *exchange) looks(public bool) error {
	kept := x.route == routeKeep && x.r.Method == http.MethodPost // which leaves its own
	if public || kept || x.server.config.Looked == nil || !x.server.endpoints[x.route].look {
		return nil
	}
	by := interlock.Requester{Agent: x.who}
	if x.token {
		by.Principal = x.agent.Principal
	}
	return x.server.config.Looked(x.r.Context(), by, x.r.Method+" "+x.r.URL.Path)
}

// serve holds the request against the door and hands it to its route.
func (x *exchange) serve() {
	if err := x.checkOrigin(); err != nil {
		x.fail(err)
		return
	}
	if x.route == routeMCP && (x.door != network || x.server.config.MCP == nil) {
		x.route = routeUnknown
	}
	switch x.route {
	case routeMCP:
		_ = x.authenticate() // for counting only: the door behind it finds out by itself, and answers in its own words
		if !x.enter() {
			return
		}
		defer x.leave()
		seen := &statusWriter{ResponseWriter: x.w}
		x.server.config.MCP.ServeHTTP(seen, x.body.in(x.r))
		x.status = seen.status
		return
	case routeUnknown:
		x.fail(interlock.Errorf(interlock.CodeNotFound, "", "no such path; docs/http-api.md lists them"))
		return
	case routeGovernance:
		x.governance()
		return
	}
	method := cmp.Or(x.server.endpoints[x.route].method, http.MethodGet)
	if x.route == routeKeep && (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead) {
		method = http.MethodGet
	}
	if x.r.Method != method && !(method == http.MethodGet && x.r.Method == http.MethodHead) {
		x.w.Header()["Allow"] = []string{method}
		x.failStatus(http.StatusMethodNotAllowed, interlock.Errorf(interlock.CodeInvalid, "", "this path takes %s", method))
		return
	}
	public := x.route == routeReady || x.route == routeMetrics || x.route == routeAuthzen
	switch {
	case x.route == routeHealth: // must answer while everything else is refused, or a full server looks like a dead one
		x.health()
		return
	case !public:
		who := x.authenticate
		if x.route == routeTelemetry {
			who = x.reporter
		}
		if err := who(); err != nil {
			x.unauthenticated(err)
			return
		}
	}
	if err := x.forPeers(); err != nil {
		x.fail(err)
		return
	}
	if !x.enter() {
		return
	}
	defer x.leave()
	if err := x.looks(public); err != nil {
		x.fail(err)
		return
	}
	if serve := x.server.endpoints[x.route].serve; serve != nil {
		serve(x)
		return
	}
	x.fail(errors.New("a route without a handler"))
}
