package mcpaql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/admission/core"
	"interlock/internal/admission/governance"
	"interlock/internal/auditlog"
	"interlock/internal/gate"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// Backend is what the door needs of admission. Implementations are safe for concurrent use.
type Backend interface {
	// ProposeBy decides and records one action; see [interlock.Backend].
	ProposeBy(ctx context.Context, way admission.Way, p interlock.Proposal) interlock.Answer
	// Report records what executing an action did.
	Report(ctx context.Context, r interlock.Requester, o interlock.Outcome) error
	// Refuse records that input was refused before it became an action.
	Refuse(ctx context.Context, r interlock.Requester, door string, cause error) interlock.Answer
	// Ground returns what refs name of what is in force; Known the same as this process last saw it.
	Ground(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error)
	Known(ctx context.Context, refs ...ledger.Ref) (ledger.Standing, error)
	core.Ledger
	// Verify judges a code that an agent hands in for a challenge.
	Verify(ctx context.Context, r interlock.Requester, challenge, code string) (governance.Verification, error)
	// Confirm says what has become of a request of this requester, or redeems a human's code for it.
	Confirm(ctx context.Context, r interlock.Requester, request, code string) (interlock.ApprovalRequest, error)
	// RegisterRun, EndRun and Heartbeat are what agents tell of their runs and of themselves.
	RegisterRun(ctx context.Context, by interlock.Requester, q interlock.RunRequest) (interlock.Run, error)
	EndRun(ctx context.Context, by interlock.Requester, id string, end interlock.RunEnd) (interlock.Run, error)
	Heartbeat(ctx context.Context, by interlock.Requester) error
	// Plans and Messages are what they hand over before a run's first step, and what they send each other.
	interlock.Plans
	interlock.Messages
	// RecordExecution and RecordToken record what happened to an execution and to a confirmation token.
	RecordExecution(ctx context.Context, r interlock.Requester, record auditlog.ExecutionRecord) error
	RecordToken(ctx context.Context, kind interlock.EventType, r interlock.Requester, record auditlog.TokenRecord) error
}

// Config configures a [Server]. Fields are required unless they say otherwise.
type Config struct {
	Backend Backend
	Rules   func() *ruleset.Ruleset // in force now
	Profile string
	Mode    interlock.Mode
	Now     func() time.Time
	Random  io.Reader
	Logger  *slog.Logger

	Single  bool                            // serve the one tool mcp_aql instead of one tool per endpoint
	Version string                          // optional: of this program, for clients
	View    func(dir string) interlock.View // optional: what is known of the world for an action in a directory
	Memory  Memory                          // optional: where agents keep facts; without it they keep none
	// ask for a confirmation token where a permission wants a confirmation; see docs/mcp.md
	Acknowledge bool
	Tokens      TokenConfig   // optional
	Limits      Limits        // optional
	Executions  int           // optional: how many an agent may have open; default 100
	Idle        time.Duration // optional: an execution nobody has touched for so long is ended; default 1 h
	Timeout     time.Duration // optional: for one operation; default 30 s
}

func (c Config) check() error {
	missing := ""
	switch {
	case c.Backend == nil:
		missing = "Backend"
	case c.Rules == nil:
		missing = "Rules"
	case c.Now == nil:
		missing = "Now"
	case c.Random == nil:
		missing = "Random"
	case c.Logger == nil:
		missing = "Logger"
	}
	if missing != "" {
		return fmt.Errorf("mcpaql: Config.%s is missing", missing)
	}
	return nil
}

// A Server is the MCP-AQL server of one process, whatever connections it serves. It is safe for concurrent use.
type Server struct {
	config     Config
	operations []operation
	executions *executions
	tokens     *confirmations
	workers    workers

	mu        sync.Mutex
	confirmed map[string]map[string]bool // connection -> operations confirmed once for it
	clients   map[string]*client         // by agent, of the HTTP door
}

// New returns a server that serves nobody yet, or an error that names the field at fault.
func New(c Config) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	var err error
	if c.Tokens, err = c.Tokens.withDefaults(); err != nil {
		return nil, err
	}
	if c.Tokens.Tolerance > warnClockTolerance {
		c.Logger.Warn("the clock tolerance of confirmation tokens is long", "tolerance", c.Tokens.Tolerance.String())
	}
	if c.View == nil {
		c.View = func(dir string) interlock.View { return interlock.View{Workspace: dir} }
	}
	c.Limits = c.Limits.withDefaults()
	fallback(&c.Executions, 100)
	fallback(&c.Idle, time.Hour)
	fallback(&c.Timeout, 30*time.Second)
	served := operations()
	if c.Memory != nil {
		served = append(served, memoryOperations()...)
	}
	return &Server{config: c, operations: served, workers: newWorkers(),
		executions: &executions{perOwner: c.Executions, idle: c.Idle, random: c.Random, byID: map[string]*execution{},
			byOwner: map[string]map[string]*execution{}},
		tokens:    newConfirmations(c.Tokens, c.Now, c.Random),
		confirmed: map[string]map[string]bool{}, clients: map[string]*client{}}, nil
}

// A Caller is who calls, as the transport has established it. Nothing a request says changes it.
type Caller struct {
	Agent      string
	Principal  string
	Connection string // names the transport's connection, or the credential where a transport has none
	Dir        string // working directory of a local agent; empty for a remote one
}

func (c Caller) requester() interlock.Requester {
	return interlock.Requester{Agent: c.Agent, Principal: c.Principal}
}

// Call carries out one request that came in through an endpoint; with the empty endpoint every operation is open. It never
// panics: a defect is an internal error.
func (s *Server) Call(ctx context.Context, c Caller, endpoint Endpoint, raw json.RawMessage) (result Result) {
	// A caller that goes away does not end it: what was begun is recorded to its end.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.Timeout)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			// The panic's value may quote what was reported, so only its type is logged.
			s.config.Logger.Error("an operation failed on a defect", "type", fmt.Sprintf("%T", r), "stack", string(debug.Stack()))
			result = Result{Error: failed(errors.New("panic"))}
		}
	}()
	r, failure := decodeRequest(raw, s.config.Limits)
	switch {
	case failure != nil:
		result = s.bare(r.operation, s.refuse(ctx, c, r.operation, failure))
	case r.isBatch:
		result = s.batch(ctx, c, endpoint, r.batch)
	default:
		result = s.one(ctx, c, endpoint, r)
	}
	return result
}

// refuse records a request that did not become an operation and answers it. The record names the code and the operation,
// and nothing the caller wrote: it might have put a secret there.
func (s *Server) refuse(ctx context.Context, c Caller, operation string, failure *Failure) Result {
	what := string(failure.Code)
	if o, known := s.find(operation); known {
		what += " in " + o.name
	}
	s.config.Backend.Refuse(ctx, c.requester(), "mcp", interlock.Errorf(interlock.CodeInvalid, "", "%s", what))
	return Result{Error: failure}
}

// one carries out one operation on the endpoint it came in through.
func (s *Server) one(ctx context.Context, c Caller, endpoint Endpoint, r request) Result {
	o, failure := s.route(endpoint, r.operation)
	if failure != nil {
		return s.refuse(ctx, c, r.operation, failure)
	}
	return s.bare(o.name, s.routed(ctx, c, o, r))
}

// bare leaves what introspection refuses without details: its published error is closed, so the message says it all. That it was
// called through another endpoint is no answer of introspection.
func (s *Server) bare(operation string, result Result) Result {
	if o, known := s.find(operation); known && o.introspects && result.Error != nil {
		failure := *result.Error
		failure.Details = nil
		result.Error = &failure
	}
	return result
}

// routed decodes a request of an operation, holds it against trust and runs it.
func (s *Server) routed(ctx context.Context, c Caller, o operation, r request) Result {
	a, failure := r.resolve(o.name, o.parameters)
	if failure != nil {
		return s.refuse(ctx, c, r.operation, failure)
	}
	standing, err := s.config.Backend.Known(ctx, agentRef(c))
	if err != nil {
		return Result{Error: failed(err)}
	}
	if owner := standing.Agents[c.Agent].Principal; owner != "" {
		c.Principal = owner // who answers for an agent is not for a caller to say
	}
	if failure := s.permit(ctx, c, o, a, r.meta, standing); failure != nil {
		return Result{Error: failure}
	}
	if !o.directs {
		answer, held, err := s.decided(ctx, c, o, a)
		if err != nil {
			return Result{Error: failed(err)}
		}
		if held {
			return Result{Error: heldBack(o, answer)}
		}
	}
	data, err := o.run(s, ctx, c, a)
	if err != nil {
		return Result{Error: failed(err)}
	}
	if o.endpoint == Read {
		data, err = selected(data, a.texts("fields"))
		if err != nil {
			return Result{Error: failed(err)}
		}
	}
	return Result{Data: data}
}

// agentRef names what is known of a caller's agent.
func agentRef(c Caller) ledger.Ref { return ledger.Ref{Kind: ledger.Agent, Key: c.Agent} }

// permit holds an operation's own danger level against the agent's trust, and asks for a confirmation where one is due.
// The matrix is the gate's; here it only gets its error codes (AQL-D-4.3, AQL-D-4.4).
func (s *Server) permit(ctx context.Context, c Caller, o operation, a arguments, meta map[string]any,
	standing ledger.Standing) *Failure {
	level := dangerLevel(o, s.declared(o, a))
	agent := standing.Agents[c.Agent]
	agent.Trust = agent.TrustAt(s.config.Now()) // a certificate ends
	verdict, trust := gate.Permits(s.config.Rules(), s.config.Profile, agent, level, o.introspects)
	if verdict == interlock.Deny && s.config.Mode == interlock.Enforcing {
		needed := gate.MinimumTrust(level)
		failure := &Failure{Code: CodeDangerDenied,
			Message: fmt.Sprintf("Operation '%s' (danger: %s) denied for adapter trust level '%s'", o.name, level, trust),
			Details: map[string]any{"operation": o.name, "danger_level": level.String(), "adapter_trust": trust.String(),
				"minimum_trust_required": needed.String(), "reasons": s.dangerOf(o).Reasons}}
		s.config.Backend.Refuse(ctx, c.requester(), "mcp",
			interlock.Errorf(interlock.CodeUnauthorized, "", "%s", failure.Message))
		return failure
	}
	if verdict == interlock.Ask && s.wants(o, a) {
		verdict = interlock.Allow // a human is asked, by what decides about it
	}
	if s.config.Mode != interlock.Enforcing || verdict != interlock.Ask && !s.unconfirmed(c, o) {
		return nil
	}
	digest, err := strictjson.Digest("interlock/mcp-aql/parameters/v1", map[string]any(a))
	if err != nil {
		return invalidType("params", "JSON without numbers beyond 2^53", a, o.name)
	}
	scope := tokenScope{operation: o.name, parameters: digest, connection: c.Connection}
	if token, given := meta["_confirmation"].(string); given {
		return s.redeem(ctx, c, o, level, token, scope)
	}
	return s.askConfirmation(ctx, c, o, a, level, scope)
}

// dangerLevel is an operation's danger level. What operators' rules declare can only raise it.
func dangerLevel(o operation, declared []ruleset.DangerRule) interlock.Danger {
	level := o.danger
	for _, d := range declared {
		level = max(level, d.Level)
	}
	return level
}

// unconfirmed reports whether the operation's permission wants a confirmation that this connection has not given.
func (s *Server) unconfirmed(c Caller, o operation) bool {
	if !s.config.Acknowledge || o.permission == AutoApprove {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return o.permission != ConfirmSession || !s.confirmed[c.Connection][o.name]
}

// askConfirmation issues a token for exactly this call.
func (s *Server) askConfirmation(ctx context.Context, c Caller, o operation, a arguments, level interlock.Danger,
	scope tokenScope) *Failure {
	token, expires, err := s.tokens.issue(scope, level)
	if err != nil {
		return failed(err)
	}
	record := auditlog.TokenRecord{Token: hashToken(token), Operation: o.name, Danger: level}
	if err := s.config.Backend.RecordToken(ctx, interlock.EventTokenIssued, c.requester(), record); err != nil {
		return failed(err)
	}
	return &Failure{Code: CodeConfirmation,
		Message: "This operation requires confirmation. Ask the user, then call again with '_confirmation' in params",
		Details: map[string]any{"operation": o.name, "danger_level": level.String(), "reasons": s.dangerOf(o).Reasons,
			"permission":           string(o.permission),
			"confirmation_message": o.confirmationMessage(s.dangerOf(o).Confirmation, a), "confirmation_token": token,
			"expires_at": stamp(expires)}}
}

// confirmationMessage fills an operation's question with the parameters it names; sensitive ones are never shown.
func (o operation) confirmationMessage(message string, a arguments) string {
	if message == "" {
		message = "Run '" + o.name + "'?"
	}
	for _, p := range o.parameters {
		value := short(a.text(p.Name))
		if p.Sensitive || value == "" {
			value = "…"
		}
		message = strings.ReplaceAll(message, "{"+p.Name+"}", value)
	}
	return message
}

// redeem uses a token up and records what came of it.
func (s *Server) redeem(ctx context.Context, c Caller, o operation, level interlock.Danger, token string,
	scope tokenScope) *Failure {
	failure := s.tokens.redeem(token, scope)
	kind, record := interlock.EventTokenValidated, auditlog.TokenRecord{Token: hashToken(token), Operation: o.name, Danger: level}
	if failure != nil {
		kind, record.Code = interlock.EventTokenRejected, string(failure.Code)
	}
	if err := s.config.Backend.RecordToken(ctx, kind, c.requester(), record); err != nil {
		return failed(err)
	}
	if failure == nil && o.permission == ConfirmSession {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.confirmed[c.Connection] == nil {
			s.confirmed[c.Connection] = map[string]bool{}
		}
		s.confirmed[c.Connection][o.name] = true
	}
	return failure
}

// disconnect ends what does not outlive a connection: its tokens and its executions (AQL-2.3).
func (s *Server) disconnect(ctx context.Context, c Caller) {
	for hash, entry := range s.tokens.revoke(c.Connection) {
		record := auditlog.TokenRecord{Token: hash, Operation: entry.scope.operation, Danger: entry.danger,
			Code: "the connection ended"}
		if err := s.config.Backend.RecordToken(ctx, interlock.EventTokenRevoked, c.requester(), record); err != nil {
			s.config.Logger.Error("a revoked token could not be recorded", "error", err.Error())
		}
	}
	s.mu.Lock()
	delete(s.confirmed, c.Connection)
	s.mu.Unlock()
	s.end(ctx, "the connection ended", func(e *execution) bool { return e.connection == c.Connection })
}

// Sweep ends executions that nobody has touched for long and forgets what has expired. A server calls it every minute.
func (s *Server) Sweep(ctx context.Context) {
	now := s.config.Now()
	s.end(ctx, "nobody reported a step for "+s.config.Idle.String(), func(e *execution) bool {
		if !e.mu.TryLock() {
			return false
		}
		defer e.mu.Unlock()
		return now.Sub(e.touched) > s.config.Idle
	})
	s.executions.drop(now)
	s.tokens.sweep()
}
