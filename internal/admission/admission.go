package admission

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/engine"
	"interlock/internal/gate"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/internal/ruleset"
)

// Evaluator decides without recording: what `interlock check` and the rule tests use, and what Admission decides with.
type Evaluator struct {
	Rules    *ruleset.Ruleset
	Analyser *impact.Analyser
	Mode     interlock.Mode
	Profile  string
	Attended bool // somebody may be asked, where the door can ask at all

	Own     map[string][]byte // the operator's documents among the rules, by path
	Ordered Ordering          // who ordered them

	Quiet func(time.Time) bool // optional: when nobody is there although somebody is at other times
}

// Evaluate decides one case at a given time from a given standing. It is a function of its arguments and of what the case's
// door reads.
func (e *Evaluator) Evaluate(c Case, standing ledger.Standing, now time.Time) interlock.Decision {
	return e.Judge(&c, standing, now)
}

// Judge is [Evaluator.Evaluate] that leaves in the case what was read for it.
func (e *Evaluator) Judge(c *Case, standing ledger.Standing, now time.Time) interlock.Decision {
	return e.judge(c, e.analyse(c), standing, nil, now).Decision
}

// analyse says what a case's action would do. Only its view has a say in that, so that one analysis serves every decision
// about it as long as nothing more is known of the world.
func (e *Evaluator) analyse(c *Case) impact.Analysis {
	view := e.view(c.Proposal)
	return e.read(c, &view)
}

// An evaluation is a decision with what it was made from.
type evaluation struct {
	interlock.Decision
	snapshot  interlock.Snapshot
	analysis  impact.Analysis
	limits    []interlock.Finding
	limited   []auditlog.Limited // rows of limits as they were read
	approvals []interlock.ApprovalRequest
}

// judge decides a case that was analysed, with what limits object.
func (e *Evaluator) judge(c *Case, analysis impact.Analysis, standing ledger.Standing, limits []interlock.Finding,
	now time.Time) evaluation {
	over := holdsOver(standing, c.Requester, now)
	snapshot := e.snapshot(c, standing, now)
	approvals := sinceGiven(sinceHeld(approved(standing, c.Requester), over, c.post.quarantinedAt(&standing)), c.since)
	act := actOf(c.Requester, analysis)
	limits = slices.Concat(stopping(c.stop, c.Sandboxed, now), held(standing),
		phased(over, act, e.Rules.TierFor(snapshot.Agent), now), e.unwatched(),
		filled(c.context, c.Requester, standing, act.Changes), limits)
	d := engine.Decide(e.Rules, snapshot, c.Action, analysis, limits, approvals, now)
	return evaluation{Decision: d, snapshot: snapshot, analysis: analysis, limits: limits, approvals: approvals}
}

// view is what is known of the world for a proposal, with what the rules say is production.
func (e *Evaluator) view(p interlock.Proposal) interlock.View {
	p.View.Production = append(append([]string{}, p.View.Production...), e.Rules.Production()...)
	p.View.Staging = e.Rules.Staging() // nobody else says so
	return p.View
}

// snapshot holds what a decision about a case reads.
func (e *Evaluator) snapshot(c *Case, standing ledger.Standing, now time.Time) interlock.Snapshot {
	snapshot := interlock.Snapshot{
		Version: standing.Version,
		Mode:    e.Mode,
		Profile: e.Profile,
		// the gateway finds out whom to ask
		Attended: c.Handover == interlock.HandoverGateway || e.Attended && c.CanAsk && (e.Quiet == nil || !e.Quiet(now)),
		Agent:    trustedAt(agentOf(c.Requester, standing), now),
		View:     e.view(c.Proposal),
		Loop:     c.Loop,
		Recent:   c.Recent,
		Upstream: c.Upstream,

		Sandboxed: c.Sandboxed || c.Handover.Boxes(),

		Failed: c.Failed,
		Origin: c.Origin,
		Pin:    pinOf(standing, c.Upstream),
		Run:    basisOf(c.Requester, standing, now),

		Judgments: c.judging.said,

		Authors: c.authors,

		Grants:       grantsOf(standing, c.Requester, e.Rules.Digest(), now),
		Suppressions: suppressionsOf(standing, c.Requester, now),
	}
	if block, blocked := blockOf(standing, c.Requester); blocked {
		snapshot.Block = block.ID
	}
	if len(c.Recent) > 0 || c.Failed != nil || len(e.Rules.Cedar()) > 0 {
		snapshot.Taken = now
	}
	return snapshot
}

// Explain returns how a proposal's action is read, as a tree whose steps name the impacts of the decision about it by
// their place in [interlock.Decision.Impacts]. redact takes secrets out of what is shown; texts are shortened after it.
func (e *Evaluator) Explain(p interlock.Proposal, redact func(string) (string, []string)) fact.Step {
	p.View = e.view(p)
	return shown(e.Analyser.Explain(p.View, p.Action), redact)
}

// Work returns how many rules are held against a proposal, of how many.
func (e *Evaluator) Work(p interlock.Proposal) ruleset.Work {
	p.View = e.view(p)
	return gate.WorkOf(e.Rules, e.Analyser.Analyse(p.View, p.Action))
}

// maxShown is how much of a step's text is shown, in runes.
const maxShown = 160

func shown(s fact.Step, redact func(string) (string, []string)) fact.Step {
	text, _ := redact(s.Text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxShown {
		runes = append(runes[:maxShown-1], '…')
	}
	s.Text = string(runes)
	steps := make([]fact.Step, len(s.Steps))
	for i := range s.Steps {
		steps[i] = shown(s.Steps[i], redact)
	}
	if s.Steps = steps; len(steps) == 0 {
		s.Steps = nil
	}
	return s
}

// agentOf is what is known of a requester's agent. One that nobody registered, such as a local hook's, is known by the names
// it came with and has no Created time, so that it gets the profile's trust and an approval can still be bound to it.
func agentOf(r interlock.Requester, standing ledger.Standing) interlock.AgentRecord {
	agent := standing.Agents[r.Agent]
	if agent.ID == "" {
		agent.ID = r.Agent
	}
	if agent.Principal == "" {
		agent.Principal = r.Principal
	}
	return agent
}

// trustedAt is an agent with the trust it has at a time.
func trustedAt(agent interlock.AgentRecord, now time.Time) interlock.AgentRecord {
	agent.Trust = agent.TrustAt(now)
	return agent
}

// trustOf is the trust that an agent's actions are held against: of one that nobody registered, the profile's.
func (e *Evaluator) trustOf(r interlock.Requester, standing ledger.Standing, now time.Time) interlock.Trust {
	agent := agentOf(r, standing)
	if profile, known := e.Rules.Profile(e.Profile); known && agent.Created.IsZero() {
		return profile.Trust
	}
	return agent.TrustAt(now)
}

// inOffice refuses a revoked agent. Doors refuse its token already; this holds for agents without one, and for a door that
// read the standing a moment too early.
func inOffice(r interlock.Requester, standing ledger.Standing, now time.Time) error {
	if revoked := standing.Agents[r.Agent].Revoked; !revoked.IsZero() && !now.Before(revoked) {
		return interlock.Errorf(interlock.CodeUnauthorized, "/requester/agent", "this agent is revoked")
	}
	if standing.Agents[r.Agent].Observer {
		return interlock.Errorf(interlock.CodeUnauthorized, "/requester/agent", "this is an observer, which proposes nothing")
	}
	return nil
}

// owned gives a requester the owner configured for its agent: what a caller says of itself does not replace that.
func owned(r interlock.Requester, standing ledger.Standing) interlock.Requester {
	if owner := standing.Agents[r.Agent].Principal; owner != "" {
		r.Principal = owner
	}
	return r
}

// suppressionsOf picks the orders in force that may touch a requester's actions, by id, without what proves them: that is
// for the caller to have seen to.
func suppressionsOf(standing ledger.Standing, r interlock.Requester, now time.Time) []interlock.Suppression {
	if len(standing.Suppressions) == 0 {
		return nil
	}
	var own []interlock.Suppression
	for _, s := range standing.Suppressions {
		if s.InForce(now) && quorum.Concerns(s, r.Agent, standing.Agents) {
			s.Key, s.Statement, s.Signature, s.Weak = "", "", "", ""
			own = append(own, s)
		}
	}
	sort.Slice(own, func(i, j int) bool { return own[i].ID < own[j].ID })
	return own
}

// approved picks the approved requests of one requester, ordered by id, so that Decide sees a value and not a map. All others
// approve nothing, and there may be many.
func approved(standing ledger.Standing, r interlock.Requester) []interlock.ApprovalRequest {
	var own []interlock.ApprovalRequest
	for _, request := range standing.Requests {
		if request.Requester.Agent == r.Agent && request.Requester.Principal == r.Principal &&
			request.Status == interlock.RequestApproved {
			own = append(own, request)
		}
	}
	sortRequests(own)
	return own
}

// An Attester returns the signature field of a statement that this server saw made, by [interlock.MethodSession] or
// [interlock.MethodCode]; subject is the id of the session or of the challenge, and becomes the answer's Key.
type Attester func(method, subject, statement string) (signature string, err error)

// Config configures an Admission. Every field is required unless it says otherwise.
type Config struct {
	Evaluator
	Store         Store
	Redact        func(string) (string, []string) // removes secrets from text before it is recorded or shown
	Hash          Hasher                          // optional: hashes what may not be recorded; without it no text can be screened
	Verify        quorum.Verifier                 // checks what proves an operator's words
	Attest        Attester                        // optional: signs as the server what it saw; without it no code counts
	Now           func() time.Time
	Random        io.Reader
	Owner         string                     // the human who answers for what nobody else is named for; optional
	ApprovalTTL   time.Duration              // how long a request waits and an approval lives; 0 means one hour
	MaxQuestions  int                        // of one agent, waiting at once and new within an hour; 0 sets no bound
	TellUserAfter int                        // after how many denials in a row of the same thing agents are told to tell their users; 0 is never
	CodeTTL       time.Duration              // how long a challenge's code counts; 0 means five minutes
	Notify        Notifier                   // optional: takes codes to humans; without it nobody is told
	Alert         func(kind, message string) // optional: told of every alert event, without secrets

	Record Recorder // how what decisions were made from is kept

	// optional: makes of an operator's documents the ruleset that they and the program's own rules are; without it no ruleset
	// decides beside the one in force
	Candidate func(documents map[string][]byte) (*ruleset.Ruleset, error)
	// optional: says whether the operator's rules have become others, at most a few milliseconds late; without it those the process
	// began with stay in force. It is asked before every decision
	Renew func() Renewal
	// optional: finds out who ordered the operator's rules of an evaluator, and puts others in their place where that is needed
	OrderRules func(ctx context.Context, e *Evaluator) error
	// optional: the operator's documents that an admin ordered last, where it takes two teams to weaken them; else nil
	LastOrdered func(ctx context.Context) (map[string][]byte, error)
	// optional: refuses an order about settings that this program does not know, or could not read
	Settings func(departures map[string]json.RawMessage) error
	// optional: what the log says of the rows beside it, oldest first, for mending them
	Said func(ctx context.Context) ([]ledger.Row, error)
	// optional: the actions let through since a time that nobody has told the end of, newest first
	Unfinished func(ctx context.Context, since time.Time) ([]auditlog.Unfinished, error)
	// optional: works out from the log what has to be undone
	Planner Planner
	// optional: what signals of observers stop everything, once they are critical
	KillOn []interlock.SignalKind
	// how long people have to decline what an observer asks to be stopped; 0: it is stopped at once
	KillConfirm time.Duration
	// optional: the file that stops everything; without it only the ledger does
	Kill KillSwitch
	// optional: what limits would have an action use up that a decision lets through
	Uses func(p interlock.Proposal, d interlock.Decision, now time.Time) []Use
	// optional: who is asked whether an action that no gate denies breaks the ground rules; all but the first only where much depends on
	// it. Without one nothing passes under a profile that wants a judge's Allow
	Judges    []interlock.Judge
	JudgeWhen JudgeWhen // of which actions, where the profile does not want it of all
	// how long an Allow of theirs is remembered for an equal action; 0: not at all. Their denials always are
	JudgeWithin time.Duration
	JudgeModels []JudgeModel // optional: which models they are, to tell where an agent reasons with one of them
	// optional: the digest of the ground rules that ship with those that a text adds, as a judge is sent them; without it nobody orders any
	Grounds func(added string) (interlock.Digest, error)
	// optional: what they may cost. Where there are any, a judge that does not say what it costs is not asked
	JudgeBudgets []JudgeBudget
	// optional: of which classes of action they are heard afterwards, or of a share only
	JudgeLater JudgeLater
	// optional: the log, for finding what is unusual in it; without it nobody looks
	Log Log
	// the constants of governance; what is zero is as [DefaultCouncil] has it
	Council interlock.CouncilTerms
	// the process makes a few decisions and exits: what else there is to do is done when it is closed
	Brief bool
}

// Admission decides and records. It is safe for concurrent use. What decisions turn on is in the store: what it holds itself are the
// locks and counters of work under way, what is on its way to the store, and what checking a signature has come to, which would come
// to the same again.
type Admission struct {
	config Config
	book   ledger.Book

	force        atomic.Pointer[force] // what decides now
	ordersLooked atomic.Int64          // when it was last looked whether rules that nobody had ordered are somebody's order, in unix nanoseconds
	renewing     chan struct{}         // held by whoever puts other rules into force

	guard  sync.Mutex
	proofs map[string]error // what checking a standing order's signature ended with, by what was checked

	overseen atomic.Int64 // when it was last looked for orchestrations that take too long, in unix nanoseconds

	handlers map[interlock.Verb]deed                // what orders do, by their verb
	permit   func(context.Context, *carrying) error // says whether the council lets an order be carried out, where that takes it
	declared func(context.Context, *force) error    // declares rules in the log before anything is decided under them
	unread   func(context.Context) error            // is told that the operator's rules can't be used

	executions executions
	bases      bases
	signals    signals
	metering   metering
	reporters  reporters
	observer   atomic.Pointer[func(Decided)] // of how this process decides, see Observe
	endings    endings
	watching   watching
	inquiries  *inquiries
	layers     layers
	owing      owing
	pulse      pulse
	shadow     *shadow // nil where no ruleset can decide beside the one in force
}

// New returns an Admission, or an error naming the missing field.
func New(c Config) (*Admission, error) {
	missing := ""
	switch {
	case c.Rules == nil:
		missing = "Rules"
	case c.Analyser == nil:
		missing = "Analyser"
	case c.Store == nil:
		missing = "Store"
	case c.Redact == nil:
		missing = "Redact"
	case c.Verify == nil:
		missing = "Verify"
	case c.Now == nil:
		missing = "Now"
	case c.Random == nil:
		missing = "Random"
	}
	if missing != "" {
		return nil, fmt.Errorf("admission: Config.%s is missing", missing)
	}
	if c.ApprovalTTL <= 0 {
		c.ApprovalTTL = time.Hour
	}
	if c.CodeTTL <= 0 {
		c.CodeTTL = codeTTL
	}
	a := &Admission{config: c, executions: executions{seed: maphash.MakeSeed()}, book: ledger.NewBook(),
		proofs: map[string]error{}, renewing: make(chan struct{}, 1), inquiries: newInquiries()}
	a.force.Store(newForce(c.Evaluator, 0))
	a.config.Rules, a.config.Own = nil, nil // they change: whoever decides asks what is in force
	if c.Candidate != nil {
		a.shadow = newShadow(a)
	}
	a.handlers, a.permit, a.declared, a.unread = a.orders(), a.byCouncil, a.declareForce, a.rulesUnread
	return a, nil
}

// orders lists what each verb does. Replays have their own: several orders make one.
func (a *Admission) orders() map[interlock.Verb]deed {
	all := a.governanceOrders()
	for _, rows := range []map[interlock.Verb]deed{a.containmentOrders(), a.pinningOrders(), a.judgingOrders(), a.runsOrders()} {
		maps.Copy(all, rows)
	}
	promote := all[interlock.VerbPromoteRules]
	promote.after = a.shadow.changed
	all[interlock.VerbPromoteRules] = promote
	return all
}

// Close closes the store after what is under way has been committed.
func (a *Admission) Close() error {
	a.shadow.close()
	return a.config.Store.Close()
}

// random returns n fresh random bytes in hexadecimal.
func (a *Admission) random(n int) (string, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(a.config.Random, b); err != nil {
		return "", fmt.Errorf("reading randomness: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// maxRaces bounds how often a decision is made again because the standing moved under it: with the pauses in between about a
// second. Of three processes that write one row without end, each loses two of three races, and eight in a row now and then.
const maxRaces = 40

// commit commits what build makes of a ground as it is in the store now, again if anything of it moved in between.
func (a *Admission) commit(ctx context.Context, on grounds,
	build func(ledger.Standing) (ledger.Change, error)) (ledger.Receipt, error) {
	return a.commitOn(ctx, false, on, build)
}

// runOf names a requester's run as the store knows it.
func runOf(r interlock.Requester) string { return r.Agent + "\x00" + r.Run }

// draft returns an event about a requester, placed in the requester's run.
func (a *Admission) draft(kind interlock.EventType, r interlock.Requester, role string, payload []byte) (ledger.Draft, error) {
	seed, err := a.random(16)
	if err != nil {
		return ledger.Draft{}, err
	}
	if payload, err = a.accounted(r, role, payload); err != nil {
		return ledger.Draft{}, err
	}
	return ledger.Draft{
		Type:     kind,
		Run:      r.Agent + "\x00" + r.Run,
		Seed:     seed,
		Trace:    r.Call,
		Actor:    r.Agent,
		Role:     role,
		Recorded: a.config.Now().UTC(),
		Snapshots: map[string]string{
			"ruleset": string(a.force.Load().Rules.Digest()),
		},
		Payload: payload,
	}, nil
}

// Analyser returns what reads actions.
func (a *Admission) Analyser() *impact.Analyser { return a.config.Analyser }
