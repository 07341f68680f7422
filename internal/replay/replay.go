package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/engine"
	"interlock/internal/impact"
	"interlock/internal/impact/fact"
	"interlock/internal/ledger"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
)

// A Code says why a decision could not be made again, or that it came out otherwise. The texts are MACE's and exact.
type Code string

// The codes.
const (
	MissingSnapshot    Code = "MISSING_SNAPSHOT"               // something the decision was made from is not there
	IntegrityFailure   Code = "INTEGRITY_FAILURE"              // something is not what the event names
	MissingAgentOutput Code = "MISSING_PERSISTED_AGENT_OUTPUT" // an answer from outside was not kept
	ResultMismatch     Code = "RESULT_MISMATCH"                // another decision comes out
	Divergence         Code = "REPLAY_DIVERGENCE"              // the analysis comes out otherwise under the same code
	ForceContinue      Code = "FORCE_CONTINUE_REQUIRED"        // it stopped at a divergence, and nobody had it go on
	ForceHalt          Code = "FORCE_HALT_REPLAY"              // a hold is on what the decision was made under or from
)

// A Failure is why one decision was not made again, or not the same.
type Failure struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"` // one sentence, without anything of the action

	On     ledger.HoldBody `json:"-"` // what is broken, for a caller that has it held; its Scope is empty where that is not sure
	unsure bool            // it may be the key or the disk, and not what is stored
}

// Error makes a Failure an error.
func (f *Failure) Error() string { return string(f.Code) + ": " + f.Detail }

func failure(code Code, format string, args ...any) *Failure {
	return &Failure{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Sources give what events name. Each is a function of its argument; what is missing is nil without an error. They are not safe
// for concurrent use.
type Sources struct {
	Blob    func(interlock.Digest) ([]byte, error)
	Ruleset func(interlock.Digest) (*ruleset.Ruleset, error)
	Open    func(sealed []byte) ([]byte, error) // opens what was sealed; nil: nobody here can
	Redact  func(string) (string, []string)     // as when it was recorded
	// likewise, where personal data was taken out as well; nil: such decisions can't be made again here
	RedactPersonal func(string) (string, []string)

	// whether an event that is signed by itself declares a manifest of snapshots, or a growing one; nil: nobody here can tell
	Declared func(interlock.Digest) (bool, error)

	// whether a hold is on something; nil: nobody here can tell
	Held func(scope ledger.HoldScope, key string) bool

	bases     map[interlock.Digest]auditlog.Base // those that were read and are what their digests say
	manifests map[interlock.Digest]declared      // likewise
	checked   map[string]bool                    // growing snapshots, likewise, by name and digest
}

// A Record is one decision with everything it was made from.
type Record struct {
	Event     auditlog.Event
	Index     int64
	Requester interlock.Requester
	Decision  json.RawMessage          // as recorded
	Text      *auditlog.ClassifiedText // what the classifier said, where it is about a text
	Base      auditlog.Base
	Inputs    auditlog.Inputs
	Snapshot  interlock.Snapshot
}

// ErrOlder says that an event names no inputs: it was recorded before they were, or by somebody who keeps none. The
// log proves that it names none, so that taking inputs away makes no event older.
var ErrOlder = failure(MissingSnapshot, "the event names no inputs: it was recorded before they were")

// ErrSealed says that what a decision was made from holds secrets or personal data and is kept sealed, and that nobody has ordered it
// opened. It is not missing: opened, the decision can be made again.
var ErrSealed = failure(MissingSnapshot, "what the decision was made from is sealed because it holds secrets or personal data; "+
	"an admin or an auditor opens it with --sealed, by a signed order")

// Holds reports whether an entry records a decision.
func Holds(kind interlock.EventType) bool {
	return kind == interlock.EventDecision || kind == interlock.EventBlock || kind == interlock.EventReviewRequest
}

// Read puts together what a decision was made from. The entry is the log's, with its inputs. What is missing or is not what the
// event names is a *[Failure]; with it comes what the event says of itself, so that a look at one run or one agent counts
// its failures among theirs. Nothing comes of an event that can't be read.
func (s *Sources) Read(e interlock.Entry) (*Record, error) {
	r := &Record{Index: e.Index}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return nil, failure(IntegrityFailure, "the event can't be read: %v", err)
	}
	if !event.Sound() {
		return nil, failure(IntegrityFailure, "the event's payload is not the one that was hashed")
	}
	r.Event = event
	var payload struct {
		Requester interlock.Requester `json:"requester"`
		Decision  json.RawMessage     `json:"decision"`

		Text *auditlog.ClassifiedText `json:"classified"`
	}
	if err := strictjson.DecodeSome(event.Payload, &payload); err != nil || len(payload.Decision) == 0 {
		return nil, failure(IntegrityFailure, "the event holds no decision")
	}
	r.Requester, r.Decision, r.Text = payload.Requester, payload.Decision, payload.Text
	if event.Snapshots["inputs"] == "" {
		return r, ErrOlder
	}
	return r, broken(s.gather(r, e), ledger.HoldEvent, event.ID)
}

// gather reads what an event names into its record.
func (s *Sources) gather(r *Record, e interlock.Entry) error {
	if err := s.halted(r); err != nil {
		return err
	}
	text, err := s.inputs(e, interlock.Digest(r.Event.Snapshots["inputs"]))
	if err != nil {
		return err
	}
	if err := strictjson.DecodeTrusted(text, &r.Inputs); err != nil || r.Inputs.Schema != auditlog.InputsSchema {
		return failure(IntegrityFailure, "the inputs are of no form that is known here")
	}
	if r.Base, err = s.base(r.Inputs.Base); err != nil {
		return err
	}
	if err := s.manifest(r); err != nil {
		return err
	}
	if err := s.grown(r); err != nil {
		return err
	}
	r.Snapshot, err = auditlog.Join(r.Base.Snapshot, r.Inputs.Moving, r.Event.Recorded, func(d interlock.Digest) (string, error) {
		text, err := s.stored(d, "the text of a file")
		if err == nil {
			text, err = s.opened(text)
		}
		if err == nil {
			err = whole(text, d, "the text of a file")
		}
		return string(text), err
	})
	return err
}

// inputs are the text that an event names, opened where it is sealed.
func (s *Sources) inputs(e interlock.Entry, want interlock.Digest) ([]byte, error) {
	if len(e.Inputs) == 0 {
		return nil, failure(MissingSnapshot, "the inputs are not kept")
	}
	text, err := s.opened(e.Inputs)
	if err != nil {
		return nil, err
	}
	if auditlog.InputsDigest(text) != want {
		return nil, failure(IntegrityFailure, "the inputs are not those that the event names")
	}
	return text, nil
}

// base reads a base, or finds it read: most decisions share one with those before.
func (s *Sources) base(want interlock.Digest) (auditlog.Base, error) {
	if base, known := s.bases[want]; known {
		return base, nil
	}
	text, err := s.blob(want, "the snapshot")
	if err != nil {
		return auditlog.Base{}, err
	}
	var base auditlog.Base
	if err := strictjson.DecodeTrusted(text, &base); err != nil {
		return base, failure(IntegrityFailure, "the snapshot is of no form that is known here")
	}
	if s.bases == nil || len(s.bases) >= maxBases {
		s.bases = map[interlock.Digest]auditlog.Base{}
	}
	s.bases[want] = base
	return base, nil
}

// maxBases is how many bases are kept in memory.
const maxBases = 1024

// blob is a text that is never sealed, so that nothing put in its place passes for one that waits for an order.
func (s *Sources) blob(want interlock.Digest, what string) ([]byte, error) {
	text, err := s.stored(want, what)
	if err == nil {
		err = whole(text, want, what)
	}
	return text, err
}

// whole refuses a text that a digest does not name.
func whole(text []byte, want interlock.Digest, what string) error {
	if auditlog.BlobDigest(text) != want {
		return failure(IntegrityFailure, "%s is not the one that the inputs name", what)
	}
	return nil
}

// stored is a text as it is stored.
func (s *Sources) stored(want interlock.Digest, what string) ([]byte, error) {
	text, err := s.Blob(want)
	if err != nil {
		return nil, &Failure{Code: IntegrityFailure, Detail: fmt.Sprintf("%s can't be read: %v", what, err),
			unsure: !errors.Is(err, ErrDamaged)}
	}
	if text == nil {
		return nil, failure(MissingSnapshot, "%s is not kept", what)
	}
	return text, nil
}

// opened is a text as it was before it was sealed, if it was. Everything that is not sealed is JSON or the text of a file.
func (s *Sources) opened(text []byte) ([]byte, error) {
	if !bytes.HasPrefix(text, []byte(auditlog.SealedIntro)) {
		return text, nil
	}
	if s.Open == nil {
		return nil, ErrSealed
	}
	open, err := s.Open(text)
	if err != nil {
		return nil, &Failure{Code: IntegrityFailure, Detail: "what is sealed can't be opened with this key", unsure: true}
	}
	return open, nil
}

// analysis is the analysis as it was recorded.
func (r *Record) analysis() impact.Analysis {
	a := impact.Analysis{Impacts: r.Inputs.Impacts, Spoken: r.Inputs.Spoken}
	for _, t := range r.Inputs.Texts {
		a.Texts = append(a.Texts, fact.Text(t))
	}
	return a
}

// Was is the decision as it was recorded: redacted, and cut where it was long.
func (r *Record) Was() (interlock.Decision, error) {
	var d interlock.Decision
	if err := strictjson.DecodeTrusted(r.Decision, &d); err != nil {
		return d, failure(IntegrityFailure, "the recorded decision can't be read")
	}
	return d, nil
}

// At is when the decision was made.
func (r *Record) At() time.Time { return r.Event.Recorded }

// Decide makes the decision under some rules, from the recorded analysis.
func (r *Record) Decide(rules *ruleset.Ruleset) interlock.Decision { return r.decide(rules, nil) }

// decide is Decide from the analysis that an analyser makes now, where there is one.
func (r *Record) decide(rules *ruleset.Ruleset, analyser *impact.Analyser) interlock.Decision {
	analysis := r.analysis()
	if analyser != nil {
		analysis = analyser.Analyse(r.Snapshot.View, r.Inputs.Action)
	}
	var approvals []interlock.ApprovalRequest
	if r.Inputs.Approval != nil {
		approvals = append(approvals, *r.Inputs.Approval)
	}
	return engine.Decide(rules, r.Snapshot, r.Inputs.Action, analysis, r.Inputs.Limits, approvals, r.At())
}

// Again makes a recorded decision again under the rules it was made under. It returns nil if it is the same, byte for byte.
func (s *Sources) Again(r *Record) error {
	digest := r.Event.Snapshots["ruleset"]
	rules, err := s.Ruleset(interlock.Digest(digest))
	if err != nil {
		return broken(failure(IntegrityFailure, "the ruleset can't be made of its text: %v", err), ledger.HoldRuleset, digest)
	}
	if rules == nil {
		return broken(failure(MissingSnapshot, "the text of the ruleset is not kept"), ledger.HoldRuleset, digest)
	}
	d := r.Decide(rules)
	if string(d.Snapshot) != r.Event.Snapshots["snapshot"] {
		return broken(failure(IntegrityFailure, "the snapshot is not the one that the event names"), ledger.HoldEvent, r.Event.ID)
	}
	if err := r.limited(rules); err != nil {
		return err
	}
	if err := s.classified(r); err != nil {
		return err
	}
	same, redact := false, s.Redact
	if r.Base.Personal {
		if redact = s.RedactPersonal; redact == nil {
			return failure(MissingSnapshot, "how personal data was taken out of what was recorded is not known here")
		}
	}
	redacted := auditlog.RedactDecision(d, redact)
	if err := auditlog.DecisionTexts(redacted, func(text []byte) bool {
		same = bytes.Equal(text, r.Decision)
		return same
	}); err != nil {
		return failure(ResultMismatch, "the decision has no canonical form")
	}
	if !same && r.Inputs.Approval == nil {
		if was, err := r.Was(); err == nil && was.Approval != "" {
			return failure(MissingAgentOutput, "the approval that the decision rests on is not kept")
		}
	}
	if !same {
		return failure(ResultMismatch, "%s", difference(r.Decision, redacted))
	}
	return nil
}

// difference says in a sentence how a decision differs from the one recorded.
func difference(recorded json.RawMessage, now interlock.Decision) string {
	var was interlock.Decision
	if err := strictjson.DecodeTrusted(recorded, &was); err != nil {
		return "the recorded decision can't be read"
	}
	switch {
	case was.Verdict != now.Verdict || was.Answer != now.Answer:
		return fmt.Sprintf("recorded %s answered %s, now %s answered %s", was.Verdict, was.Answer, now.Verdict, now.Answer)
	case named(was) != named(now):
		return fmt.Sprintf("recorded for the rule %s, now for %s", named(was), named(now))
	default:
		return "verdict and rule are the same, and what is said about them differs"
	}
}

func named(d interlock.Decision) string {
	if f := d.Decisive(); f != nil {
		return f.Rule
	}
	return "none"
}

// Reanalysed compares the recorded analysis with the one that an analyser makes now, under the same view. It returns nil if they
// are the same; whether a difference means anything depends on [Base.Analyser].
func (r *Record) Reanalysed(analyser *impact.Analyser) error {
	now := analyser.Analyse(r.Snapshot.View, r.Inputs.Action)
	was, wasErr := strictjson.Marshal(r.analysis())
	again, err := strictjson.Marshal(now)
	if err := errors.Join(wasErr, err); err != nil {
		return failure(Divergence, "the analysis has no canonical form")
	}
	if !bytes.Equal(was, again) {
		return failure(Divergence, "recorded %d impacts and %d texts, now %d and %d, or others",
			len(r.Inputs.Impacts), len(r.Inputs.Texts), len(now.Impacts), len(now.Texts))
	}
	return nil
}
