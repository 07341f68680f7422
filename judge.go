package interlock

import (
	"context"
	"strconv"
)

// A JudgeSubject says what a judge is asked about.
type JudgeSubject string

// The subjects. Each has a payload of its own kind, so that no judge takes one for another.
const (
	JudgeAction JudgeSubject = "action" // one action that no gate denies
	JudgePlan   JudgeSubject = "plan"   // all steps of a plan before the first of them
	JudgeOutput JudgeSubject = "output" // what a run made, before it is committed outside
)

// A JudgeQuestion is all that a judge learns beside its ground rules. It names no agent, user, run, call or time: equal actions of
// different sessions are equal questions, and nothing that was said in one of them reaches the judge (ASA 9.1).
type JudgeQuestion struct {
	Subject JudgeSubject
	Payload []byte // canonical JSON (RFC 8785), without secrets
	Class   string // the class of action that its price is counted under; it is not sent
}

// A Judgment is what came of asking one judge. It can only object: an Allow takes nothing away from what gates found. The zero value
// denies.
type Judgment struct {
	Judge       string       `json:"judge"`             // the judge's name in the settings
	Subject     JudgeSubject `json:"subject,omitempty"` // what it is about; empty: an action
	Verdict     Verdict      `json:"verdict"`           // Allow or Deny; Deny wherever there is a failure
	Failure     JudgeFailure `json:"failure,omitempty"`
	Layer       int          `json:"layer,omitempty"`       // of the ground rule that it denies by: 1 to 4
	Rule        string       `json:"rule_id,omitempty"`     // id of that ground rule
	Reason      string       `json:"reason,omitempty"`      // for operators; an agent reads it only classified and redacted
	Conditional bool         `json:"conditional,omitempty"` // that rule leaves the decision to a person
	Percent     int          `json:"confidence,omitempty"`  // how sure the judge says it is: 0 to 100

	Model       string `json:"model,omitempty"`        // the pinned model that answered
	GroundRules Digest `json:"ground_rules,omitempty"` // what it was held against
	Prompt      Digest `json:"prompt,omitempty"`       // of the bytes that were sent
	Response    Digest `json:"response,omitempty"`     // of the bytes that came back

	TokensIn  int64  `json:"tokens_in,omitempty"`
	TokensOut int64  `json:"tokens_out,omitempty"`
	Cost      int64  `json:"cost,omitempty"`     // in millionths of one unit of the currency, such as millionths of a dollar
	Currency  string `json:"currency,omitempty"` // ISO 4217
	Micros    int64  `json:"micros,omitempty"`   // how long it took, in microseconds
	Context   int    `json:"context,omitempty"`  // how much of the judge's own context window question and answer took, in percent

	Remembered bool `json:"remembered,omitempty"` // it is an earlier answer to the same question

	Share int `json:"share,omitempty"` // where only some of a class are judged: how many of a hundred
	Draw  int `json:"draw,omitempty"`  // and what was drawn for this one, from 0 to 99: below the share it is judged
}

// Says is what the judge said, in one line for the one who answers instead: its own words are a model's, made from what an agent wrote.
func (j Judgment) Says() string {
	text := j.Judge
	if j.Subject != "" {
		text += " of the " + string(j.Subject)
	}
	switch {
	case j.Failure == JudgeOwed:
		return text + ": is heard after the action"
	case j.Failure == JudgeUnsampled:
		return text + ": not heard, as the action was not drawn"
	case j.Failure != "":
		return text + ": not heard (" + string(j.Failure) + ")"
	case j.Verdict == Allow:
		text += ": objects to nothing"
	default:
		text += ": denies by " + j.Rule + ", layer " + strconv.Itoa(j.Layer)
	}
	if j.Reason != "" {
		text += ": " + j.Reason
	}
	return text
}

// A JudgeFailure says why a judge gave no verdict. Each is a denial with a reason of its own.
type JudgeFailure string

// The failures.
const (
	JudgeMissing     JudgeFailure = "missing"     // none is configured
	JudgeUnavailable JudgeFailure = "unavailable" // it could not be reached, or answered with an error
	JudgeTimeout     JudgeFailure = "timeout"     // no answer within the time there was
	JudgeMalformed   JudgeFailure = "malformed"   // the answer is not of the one form it may have
	JudgeTooLong     JudgeFailure = "too-long"    // the question is longer than it may be; a person is asked
	JudgeShed        JudgeFailure = "shed"        // too many questions were waiting
	JudgeCanary      JudgeFailure = "canary"      // it judged wrongly what it is tested with
	JudgeBreaker     JudgeFailure = "breaker"     // it failed too often, and is not asked for a while
	JudgeSpent       JudgeFailure = "spent"       // its budget is used up
	JudgeMoved       JudgeFailure = "moved"       // what it was asked about became another thing, twice
	JudgeAlone       JudgeFailure = "alone"       // much depends on it, and no second judge with another model is configured; a person is asked

	// these two let an action pass unheard, where an operator has said so of its class and it can be undone
	JudgeOwed      JudgeFailure = "owed"      // it is asked after the action
	JudgeUnsampled JudgeFailure = "unsampled" // only a share of the class is judged, and this one was not drawn
)

// Spares reports whether an operator has settled that nobody is asked before the action.
func (f JudgeFailure) Spares() bool { return f == JudgeOwed || f == JudgeUnsampled }

// JudgedBefore says why actions of a class are always judged before they are done, whatever an operator would like (ASA 17.1); nothing of
// classes that an operator may have judged afterwards, or in samples. Where it is uncertain whether something can be undone, it can't be.
func JudgedBefore(kind ImpactKind, reach Reach) (why string) {
	switch reach {
	case ReachProduction:
		return "it reaches production"
	case ReachSelf:
		return "it reaches Interlock itself"
	case ReachWorkspace, ReachHome, ReachSystem, ReachExternal:
	default:
		return "nobody knows how far it reaches"
	}
	switch kind {
	case ImpactRead, ImpactWrite, ImpactConfigure, ImpactSpawn:
		return ""
	case ImpactDelete:
		return "what is deleted may be gone for ever"
	case ImpactExecute:
		return "nobody sees through the code that runs, so that it is uncertain whether it can be undone"
	case ImpactNetwork:
		return "bytes that have left can't be called back"
	case ImpactMessage:
		return "what people have read can't be called back"
	case ImpactSpend:
		return "it commits money"
	case ImpactPrivilege, ImpactPersist:
		return "it changes what may be done later"
	case ImpactCredential:
		return "a secret that was shown stays known"
	}
	return "nobody knows what it does"
}

// Unsent reports whether nothing was sent to a model.
func (f JudgeFailure) Unsent() bool {
	switch f {
	case JudgeMissing, JudgeTooLong, JudgeShed, JudgeCanary, JudgeBreaker, JudgeSpent, JudgeMoved, JudgeOwed, JudgeUnsampled:
		return true
	}
	return false
}

// A JudgeIdentity is what a judge's answers depend on beside the question. An answer is remembered for exactly one identity.
type JudgeIdentity struct {
	Name        string `json:"name"`         // in the settings
	Model       string `json:"model"`        // the pinned model with its parameters
	GroundRules Digest `json:"ground_rules"` // what it holds questions against
}

// A Judge answers questions about what is to be done. It is stateless: an answer depends on the question and on its identity. Asking
// never fails; why there was no verdict is said in the judgment.
type Judge interface {
	Identity() JudgeIdentity
	Ask(ctx context.Context, q JudgeQuestion) Judgment
}
