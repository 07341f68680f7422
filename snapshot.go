package interlock

import "time"

// A Snapshot holds the versioned values Decide may read, and nothing else does.
type Snapshot struct {
	Version  int64        `json:"version"`  // of the Standing it was taken from
	Mode     Mode         `json:"mode"`     // what is done with verdicts
	Profile  string       `json:"profile"`  // which base verdicts apply
	Attended bool         `json:"attended"` // whether an Ask can be answered; otherwise the answer is Deny with a request id
	Agent    AgentRecord  `json:"agent"`    // who asks; the zero record is an unknown agent
	View     View         `json:"view"`     // what the door saw of the world
	Danger   []DangerRule `json:"danger,omitempty"`
	// what the same run did a moment ago, oldest first, as far as a rule asks for it
	Recent []PastAction `json:"recent,omitempty"`
	// when the snapshot was taken; only set where there is something recent or failed, or where policies ask what time it is
	Taken time.Time `json:"taken,omitzero"`

	Block  string  `json:"block,omitempty"`  // id of the challenge that forbids this agent everything
	Loop   *Loop   `json:"loop,omitempty"`   // how far the monitored execution is that reports this step
	Grants []Grant `json:"grants,omitempty"` // proved, in force and for this agent, by id; without signatures

	// proved orders for this agent, in force, by id; without signatures
	Suppressions []Suppression `json:"suppressions,omitempty"`

	Sandboxed bool `json:"sandboxed,omitempty"` // the action would run in Interlock's own sandbox

	Upstream *Upstream `json:"upstream,omitempty"` // the server behind the gateway that would carry the action out
	// how the same action of the same agent has failed lately, where a gateway carries it out
	Failed *Failures `json:"failed,omitempty"`
	Origin *Origin   `json:"origin,omitempty"` // where the values of the action come from; nil: nothing was heard
	// what is known of that tool, or of that server where the action is no tool's; nil: nothing
	Pin *Pin `json:"pin,omitempty"`
	// what the registered run of the action rests on; nil: it names none, and its agent holds none that was delegated
	Run *RunBasis `json:"run,omitempty"`
	// what judges say of the action, in the order they were asked; none: none was asked, or what they said was of another
	Judgments []Judgment `json:"judgments,omitempty"`
	// other agents that wrote, or had written, what the action runs, as far as types bind agents; by name
	Authors []RunHolder `json:"authors,omitempty"`
}

// A PastAction is what is remembered of an action of the same run: when it was, and those of its impacts that a rule may
// ask for later. It holds no text, and nothing of an action that was refused.
type PastAction struct {
	At      time.Time `json:"at"`
	Kind    Kind      `json:"kind"`
	Impacts []Impact  `json:"impacts"`
}

// The bounds of what is remembered of a run.
const (
	RecentActions = 16               // actions
	RecentImpacts = 6                // impacts of one action
	RecentWindow  = 30 * time.Minute // how long
)

// WrittenWindow is how long it is remembered that an agent wrote a file.
const WrittenWindow = 24 * time.Hour

// Remember returns the recent actions of a run with one more, without what is over a bound or too old by then. It changes
// no slice it is given.
func Remember(recent []PastAction, past PastAction) []PastAction {
	out := make([]PastAction, 0, min(len(recent)+1, RecentActions))
	for i, p := range recent {
		if past.At.Sub(p.At) <= RecentWindow && len(recent)-i < RecentActions {
			out = append(out, p)
		}
	}
	return append(out, past)
}

// An AgentRecord is what is known of an agent. Its token is kept only as a hash.
type AgentRecord struct {
	ID        string    `json:"id"`
	Type      string    `json:"type,omitempty"`      // harness or program, e.g. "claude"
	Principal string    `json:"principal,omitempty"` // the operator who answers for it
	Trust     Trust     `json:"trust"`
	Until     time.Time `json:"trust_until,omitzero"` // a certificate's end; see TrustAt
	Allow     []string  `json:"allow,omitempty"`      // if not empty: globs over tools and commands it may use, nothing else
	Observer  bool      `json:"observer,omitempty"`   // it proposes nothing: its token is for telling what it sees of others
	Module    *Module   `json:"module,omitempty"`     // what it may do and needs, where it is registered as a module
	TokenHash string    `json:"token_hash,omitempty"` // SHA-256 of the bearer token; empty for local hooks
	Created   time.Time `json:"created"`
	Revoked   time.Time `json:"revoked,omitzero"`
}

// TrustAt is how far the agent is trusted at a time: a certificate that has expired leaves the level below it.
func (a AgentRecord) TrustAt(now time.Time) Trust {
	if a.Trust == TrustCertified && !a.Until.IsZero() && !now.Before(a.Until) {
		return TrustCommunityReviewed
	}
	return a.Trust
}

// A DangerRule declares a danger level for operations by name glob. Declarations beat inference.
type DangerRule struct {
	Name  string `json:"name"` // glob over tool names and commands
	Level Danger `json:"level"`
}
