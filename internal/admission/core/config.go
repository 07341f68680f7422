package core

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/classify"
	"interlock/internal/dataflow"
	"interlock/internal/impact"
	"interlock/internal/ledger"
	"interlock/internal/notice"
	"interlock/internal/quorum"
	"interlock/internal/rollback"
	"interlock/internal/ruleset"
)

// A Log is what of the log is read to find what is unusual.
type Log interface {
	Entries(ctx context.Context, kind interlock.EventType, span ledger.Span) ([]interlock.Entry, error)
}

// An Attester returns the signature field of a statement that this server saw made, by [interlock.MethodSession] or
// [interlock.MethodCode]; subject is the id of the session or of the challenge, and becomes the answer's Key.
type Attester func(method, subject, statement string) (signature string, err error)

// Config configures an Admission. Every field is required unless it says otherwise.
type Config struct {
	Evaluator
	Store        Store
	Redact       func(string) (string, []string) // removes secrets from text before it is recorded or shown
	Hash         Hasher                          // optional: hashes what may not be recorded; without it no text can be screened
	People       PersonalKeys                    // optional: keys of people; without it nothing is kept of anybody
	Verify       quorum.Verifier                 // checks what proves an operator's words
	Attest       Attester                        // optional: signs as the server what it saw; without it no code counts
	Now          func() time.Time
	Random       io.Reader
	Owner        string        // the human who answers for what nobody else is named for; optional
	ApprovalTTL  time.Duration // how long a request waits and an approval lives; 0 means one hour
	MaxQuestions int           // of one agent, waiting at once and new within an hour; 0 sets no bound
	// after how many denials in a row of the same thing agents are told to tell their users; 0 is never
	TellUserAfter int
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
	// optional: who is asked whether an action that no gate denies breaks the ground rules; all but the first only where much
	// depends on it. Without one nothing passes under a profile that wants a judge's Allow
	Judges    []interlock.Judge
	JudgeWhen JudgeWhen // for which actions, where the profile does not want it for all
	// how long an Allow of theirs is remembered for an equal action; 0: not at all. Their denials always are
	JudgeWithin time.Duration
	JudgeModels []JudgeModel // optional: which models they are, to tell where an agent reasons with one of them
	// optional: the digest of the ground rules that ship with those that a text adds, as a judge is sent them; without it nobody
	// orders any
	Grounds func(added string) (interlock.Digest, error)
	// optional: what they may cost. Where there are any, a judge that does not say what it costs is not asked
	JudgeBudgets []JudgeBudget
	// optional: for which classes of action they are heard afterwards, or for a share only
	JudgeLater JudgeLater
	// optional: the log, for finding what is unusual in it; without it nobody looks
	Log Log
	// optional: what agents may have kept; without it nothing is
	Memory MemoryTerms
	// the constants of governance; what is zero is as [interlock.CouncilTerms.Filled] has it
	Council interlock.CouncilTerms
	// the process makes a few decisions and exits: what else there is to do is done when it is closed
	Brief bool
}

// MemoryTerms say what agents may have kept, and what it is held against. Without a ruleset to hold it against nothing is kept.
type MemoryTerms struct {
	Enabled bool
	Shared  []string      // scopes of keys that all agents read and write; all others are each agent's own
	TTL     time.Duration // of episodic facts; one that ends sooner says so
	Most    int           // facts of one agent in one store, and shared ones of all agents together

	Kept  *classify.Ruleset // what is about to be kept is held against it
	Shown *classify.Ruleset // and what is about to be answered against this
}

// Analyser returns what reads actions.
func (a *Core) Analyser() *impact.Analyser { return a.Config.Analyser }

// Texts returns what texts are classified by.
func (a *Core) Texts() *classify.Library { return a.Config.Evaluator.Texts }

// RulesUnordered is what is written in place of an event where nobody ordered the operator's rules that are in force.
const RulesUnordered = "nobody"

// An Ordering says who ordered the operator's rules.
type Ordering struct {
	By      string           // id of the event, or [RulesUnordered]; empty where there are none, or nobody who could
	Refused interlock.Digest // of the documents that are not in force because nobody did
}

// settled reports whether an order that is still to come could change nothing.
func (o Ordering) settled() bool { return o.Refused == "" && o.By != RulesUnordered }

// A Notifier takes codes to humans, outside any agent's view. It returns once each channel has taken the notice or has
// failed, or when the context ends. It is safe for concurrent use, and what it returns holds no code.
type Notifier interface {
	Notify(ctx context.Context, n notice.Notice) notice.Delivery
}

// A Renewal says what an operator's rules are now.
type Renewal struct {
	Number int64             // counts how often they have become others since the process began; 0: they are what it began with
	Rules  *ruleset.Ruleset  // what they are; nil where they can't be used
	Own    map[string][]byte // and the documents they were made from
	Err    error             // why they can't be used
}

// Recorder says how what decisions were made from is kept beside their events.
type Recorder struct {
	Program  string // version of the program
	Analyser string // names the code that analysed: equal names read an action alike
	// seals what holds a secret, for the holder of the key; nil: such inputs are not kept, and their decision can't be made again
	Seal func(text []byte) ([]byte, error)
	// the text of the ruleset in force, from which it can be made again; nil: it is not kept
	Ruleset func(own map[string][]byte) ([]byte, error)
	Off     bool // nothing is kept, as where decisions are only tried
	// what is recorded is without personal data as well as without secrets, so that who makes a decision again takes out the same
	Personal bool
	// what the settings say of how is decided, beside mode and profile; nil: no snapshots are declared
	Governance map[string]string
}

// A KillSwitch is the file.
type KillSwitch interface {
	// Thrown reports whether everything is stopped, and what the file says of it
	Thrown() (ledger.HoldBody, bool)
	Throw(h ledger.HoldBody, now time.Time) error
	Clear() error
}

// A Planner works out from so many entries of the log what has to be undone.
type Planner func(ctx context.Context, seed dataflow.Seed, size int64, rules *ruleset.Ruleset) (rollback.Plan, error)

// A Hasher hashes what may not be recorded, under a key of its own that changes with time. It names the key.
type Hasher func(value, seed string, at time.Time) (hash, key string, err error)

// PersonalKeys make and use the keys under which what is kept of people is sealed, one for each person.
type PersonalKeys interface {
	Make() (public string, key []byte, err error)     // key is the private half, itself sealed for the home
	Seal(public string, text []byte) ([]byte, error)  // needs no secret
	Open(key, sealed []byte) (text []byte, err error) // for who may read the home's key
}

// A Use is what an action that is let through takes from a row of the ledger, such as one of a counter. An action that uses it up
// does not read the row first, so that many that do at once neither race nor decide again: the store takes it with the event, one
// commit after another, and says what it met where there is too little. That is no error of the decision but something to object.
type Use struct {
	ledger.Spend
	// what there is to object where there is not as much left. It says so of the time at which it is decided again: until then time passes,
	// and a replay holds a wait against the time of the event.
	Objects func(met *ledger.Met) func(now time.Time) interlock.Finding

	Taken     interlock.Taken // of a limit
	Limit     *ruleset.Limit
	Escalates bool // it is the part that is given out without a human
}
