package auditlog

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"interlock"
	"interlock/internal/strictjson"
)

// A Record is the content of an event's payload before it becomes bytes. What it holds has been redacted by the caller.
type Record interface {
	// Payload returns the record as one JSON object in canonical form, within MaxPayload.
	Payload() (json.RawMessage, error)
}

// A DecisionRecord is what is recorded of every evaluation, allowed or not. Together with its event it holds the eight
// fields ASA 14.1 asks for: timestamp (the event's ts_recorded), action identifier (its event_id), user, proposed action,
// gate 1, gate 2, final decision and execution; the last is completed by an OUTCOME event that names this one.
type DecisionRecord struct {
	Proposal  interlock.Proposal // redacted
	Decision  interlock.Decision
	Request   string                 // approval request that waits for a human
	Recent    []interlock.PastAction // what the run had done before, as the snapshot held it
	Orders    []string               // ids of the suppressions the snapshot held; their events hold the rest
	Grants    []string               // ids of the grants the snapshot held; likewise
	Trust     interlock.Trust        // of the agent at that moment
	At        time.Time              // when it was decided
	Block     string                 // id of the challenge that forbade the agent everything, as the snapshot held it
	Pin       *interlock.Pin         // as the snapshot held it
	Canary    bool                   // doctor made it, to see it refused
	Gateway   bool                   // its question was left to Interlock's own gateway, which decides it again
	Judgments []interlock.Judgment   // what judges said of it; their words redacted
	// of a step that a monitored execution reports, of what a gateway would pass on, and how that failed before
	Loop     *interlock.Loop
	Upstream *interlock.Upstream
	Failed   *interlock.Failures
	Origin   *interlock.Origin   // where the action's values come from
	Uses     []interlock.Taken   // what it took from limits
	Basis    *interlock.RunBasis // what its registered run rests on: everybody it was delegated by
	// the human who answers for what agents of this type do, where the ruleset defines types
	Accountable string
	Commits     []Committed     // what it decides, where the rules say that its tool decides something
	Plan        *PlanStep       // which step of its run's plan it is
	Handed      bool            // it went on to `interlock exec`, which decides it again; an approval is left for that
	Classified  *ClassifiedText // what the classifier said of it, where it is a text
}

// The wire forms of a decision record. Their JSON names are part of the log's format.
type (
	decisionWire struct {
		User        string                 `json:"user"`
		Requester   interlock.Requester    `json:"requester"`
		Door        string                 `json:"door,omitempty"`
		Carrier     string                 `json:"harness_event,omitempty"`
		Workspace   string                 `json:"workspace,omitempty"`
		Proposed    proposedWire           `json:"proposed"`
		Recent      []interlock.PastAction `json:"recent,omitempty"`
		Gate1       gateWire               `json:"gate_1"`
		Gate2       gateWire               `json:"gate_2"`
		Final       interlock.Verdict      `json:"final_decision"`
		Execution   executionWire          `json:"execution"`
		Orders      []string               `json:"suppressions,omitempty"`
		Grants      []string               `json:"grants,omitempty"`
		Loop        *interlock.Loop        `json:"loop,omitempty"`
		Block       string                 `json:"block,omitempty"`
		Canary      bool                   `json:"canary,omitempty"`
		Danger      *dangerWire            `json:"danger_audit,omitempty"`
		Upstream    *interlock.Upstream    `json:"upstream,omitempty"`
		Failed      *interlock.Failures    `json:"failed,omitempty"`
		Origin      *interlock.Origin      `json:"origin,omitempty"`
		Pin         *interlock.Pin         `json:"pin,omitempty"`
		Basis       *interlock.RunBasis    `json:"delegation,omitempty"`
		Accountable string                 `json:"accountable_human,omitempty"`
		Request     string                 `json:"request,omitempty"`
		Judgments   []interlock.Judgment   `json:"judgments,omitempty"`
		Decision    interlock.Decision     `json:"decision"`
		Uses        []interlock.Taken      `json:"uses,omitempty"`
		Used        []string               `json:"used_events,omitempty"`
		Commits     []Committed            `json:"commits,omitempty"`
		Plan        *PlanStep              `json:"plan,omitempty"`
		Classified  *ClassifiedText        `json:"classified,omitempty"`
		truncated
	}
	proposedWire struct {
		Type    interlock.Kind   `json:"action_type"`
		Payload interlock.Action `json:"payload"`
		Digest  interlock.Digest `json:"digest"`
	}
	gateWire struct {
		Result string `json:"result"`
		Rule   string `json:"rule,omitempty"`
		Layer  int    `json:"layer,omitempty"`
		Reason string `json:"reason,omitempty"`
	}
	executionWire struct {
		Status     string `json:"status"`
		RecordedIn string `json:"recorded_in,omitempty"`
		Reason     string `json:"reason,omitempty"`
	}
	// cutWire says that a value was too long for the record, and names the whole of it.
	cutWire struct {
		Field  string `json:"field"`
		Bytes  int    `json:"bytes,omitempty"`
		Digest string `json:"digest,omitempty"`
		Items  int    `json:"items,omitempty"`
	}
	// truncated is what a record says of the values in it that were too long.
	truncated struct {
		Cut []cutWire `json:"truncated,omitempty"`
	}
)

// judgeGate is the name under which the judge's findings stand in a decision.
const judgeGate = "judge"

// rooms are how long, in bytes, one value of a record may be, tried from the first on until the whole fits.
var rooms = [...]int{16 << 10, 4 << 10, 1 << 10, 256}

// wires lends out wire forms, because every decision has one. What one held before is not seen.
var wires = sync.Pool{New: func() any { return new(decisionWire) }}

// Payload renders the record. Long values are cut, and cut harder until the whole fits.
func (r DecisionRecord) Payload() (json.RawMessage, error) {
	wire := wires.Get().(*decisionWire)
	defer func() {
		*wire = decisionWire{}
		wires.Put(wire)
	}()
	for _, room := range rooms {
		r.fill(wire, room)
		payload, err := strictjson.Marshal(wire)
		if err != nil {
			return nil, fmt.Errorf("auditlog: encode a decision: %w", err)
		}
		if len(payload) <= MaxPayload {
			return payload, nil
		}
	}
	return nil, errors.New("auditlog: the decision does not fit into an event")
}

func (r *DecisionRecord) fill(w *decisionWire, room int) {
	p, d := &r.Proposal, &r.Decision
	c := cutter{room: room}
	w.User, w.Request, w.Final = p.Requester.Principal, r.Request, d.Answer
	w.Door, w.Carrier, w.Workspace = c.text("door", p.Door), c.text("harness_event", p.Event), c.text("workspace", p.View.Workspace)
	w.Execution = executionWire{Status: "awaited", RecordedIn: string(interlock.EventOutcome)}
	if w.User == "" {
		w.User = p.View.User
	}
	if w.User == "" {
		w.User = p.Requester.Agent
	}
	w.User = c.text("user", w.User)
	w.Requester = interlock.Requester{
		Principal: c.text("principal", p.Requester.Principal), Agent: c.text("agent", p.Requester.Agent),
		Run: c.text("run", p.Requester.Run), Call: c.text("call", p.Requester.Call),
	}
	if r.Handed {
		w.Execution = executionWire{Status: "handed_to_exec", RecordedIn: string(interlock.EventOutcome),
			Reason: "interlock exec decides it again and runs it in a sandbox"}
	}
	if !d.Answer.Allowed() {
		w.Execution = executionWire{Status: "not_run", Reason: "the action was not allowed"}
	}
	if r.Gateway {
		w.Execution = executionWire{Status: "handed_to_gateway", RecordedIn: string(interlock.EventOutcome),
			Reason: "Interlock's own gateway decides it again, and asks"}
	}
	w.Gate1, w.Gate2 = gates(*d, r.Judgments) // of all findings, before the list is cut
	for _, gate := range []*gateWire{&w.Gate1, &w.Gate2} {
		gate.Rule, gate.Reason = c.text("rule", gate.Rule), c.text("reason", gate.Reason)
	}
	w.Proposed = proposedWire{Type: p.Action.Kind, Digest: d.Action, Payload: interlock.Action{
		Kind: p.Action.Kind, Tool: c.text("tool", p.Action.Tool), Input: c.text("input", p.Action.Input),
		Arguments: c.object("arguments", p.Action.Arguments), Dir: c.text("dir", p.Action.Dir),
		Hint: c.text("hint", p.Action.Hint),
	}}
	w.Decision = c.decision(*d)
	w.Recent, w.Orders, w.Grants = c.recent(r.Recent), r.Orders, r.Grants
	w.Loop, w.Block, w.Canary, w.Uses = r.Loop, r.Block, r.Canary, r.Uses
	w.Commits, w.Plan, w.Judgments = r.Commits, r.Plan, c.judgments(r.Judgments)
	w.Upstream, w.Pin, w.Failed, w.Origin = r.Upstream, r.Pin, r.Failed, r.Origin
	w.Basis, w.Accountable, w.Used, w.Classified = r.Basis, r.Accountable, p.Uses, r.Classified
	if d.Danger >= interlock.DangerDestructive {
		w.Danger = r.danger(&c, w.User)
	}
	w.Cut = c.cut
}

// A cutter shortens values to a bound and remembers what it shortened.
type cutter struct {
	room int
	cut  []cutWire
}

// text shortens a string at a character boundary and replaces what is not UTF-8, which JSON can't carry.
func (c *cutter) text(field, value string) string {
	if len(value) <= c.room && utf8.ValidString(value) {
		return value
	}
	c.note(field, []byte(value))
	end := min(c.room, len(value))
	for end > 0 && end < len(value) && !utf8.RuneStart(value[end]) {
		end--
	}
	return validText(value[:end])
}

func validText(value string) string {
	out := make([]byte, 0, len(value))
	for _, r := range value {
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

// object drops a JSON value that is too long.
func (c *cutter) object(field string, value json.RawMessage) json.RawMessage {
	if len(value) <= c.room {
		return value
	}
	c.note(field, value)
	return nil
}

func (c *cutter) note(field string, whole []byte) {
	c.cut = append(c.cut, cutWire{Field: field, Bytes: len(whole), Digest: hashText(sha256.Sum256(whole))})
}

// decision bounds the lists of a decision and the texts in them.
func (c *cutter) decision(d interlock.Decision) interlock.Decision {
	const most = 64
	items := max(c.room/256, 1)
	if items > most {
		items = most
	}
	small := cutter{room: max(c.room/16, 64)}
	if len(d.Findings) > items {
		c.cut = append(c.cut, cutWire{Field: "findings", Items: len(d.Findings)})
		d.Findings = d.Findings[:items]
	}
	if len(d.Impacts) > items {
		c.cut = append(c.cut, cutWire{Field: "impacts", Items: len(d.Impacts)})
		d.Impacts = d.Impacts[:items]
	}
	findings := make([]interlock.Finding, len(d.Findings))
	for i, f := range d.Findings {
		f.Reason, f.Suggestion, f.Rule = small.text("reason", f.Reason), small.text("suggestion", f.Suggestion),
			small.text("rule", f.Rule)
		f.Impacts = below(f.Impacts, len(d.Impacts))
		f.Tags, f.Obligations = short(f.Tags), short(f.Obligations)
		findings[i] = f
	}
	impacts := make([]interlock.Impact, len(d.Impacts))
	for i, impact := range d.Impacts {
		impact.Target, impact.Via = small.text("target", impact.Target), small.text("via", impact.Via)
		impact.Traits = short(impact.Traits)
		for _, n := range []*int64{&impact.Amount, &impact.Records, &impact.Bytes, &impact.Recipients, &impact.Money} {
			*n = min(max(*n, -(1<<53-1)), 1<<53-1) // what JSON can carry exactly
		}
		impacts[i] = impact
	}
	if len(small.cut) > 0 {
		c.cut = append(c.cut, cutWire{Field: "decision", Items: len(small.cut)})
	}
	d.Findings, d.Impacts, d.Obligations = findings, impacts, short(d.Obligations)
	return d
}

// recent bounds what the run had done before; what is left out is the oldest.
func (c *cutter) recent(past []interlock.PastAction) []interlock.PastAction {
	most := max(c.room/1024, 1)
	if len(past) > most {
		c.cut = append(c.cut, cutWire{Field: "recent", Items: len(past)})
		past = past[len(past)-most:]
	}
	return past
}

// short bounds a list whose items come from rules and tables, not from the proposal: there are few, and each is a word.
func short[T any](list []T) []T { return list[:min(len(list), 16)] }

// below keeps the indexes that still point at something.
func below(indexes []int, n int) []int {
	for i, index := range indexes {
		if index >= n {
			kept := append([]int(nil), indexes[:i]...)
			for _, later := range indexes[i:] {
				if later < n {
					kept = append(kept, later)
				}
			}
			return kept
		}
	}
	return indexes
}

// DecisionOf reads the decision and the agent's name back from a decision's entry. Any other entry is an error.
func DecisionOf(e interlock.Entry) (interlock.Decision, string, error) {
	var wire struct {
		Requester interlock.Requester `json:"requester"`
		Decision  interlock.Decision  `json:"decision"`
	}
	if !IsDecision(e.Type) || OfText(&e) {
		return wire.Decision, "", fmt.Errorf("auditlog: this %s event holds no decision", e.Type)
	}
	if _, err := Read(e, &wire); err != nil {
		return interlock.Decision{}, "", err
	}
	return wire.Decision, wire.Requester.Agent, nil
}

// An OutcomeRecord is what is recorded of an execution. With an Alert it says that the execution should not have been.
type OutcomeRecord struct {
	Outcome interlock.Outcome `json:",inline"` // Detail redacted
	Alert   string            `json:"alert,omitempty"`
	Attests []string          `json:"attests,omitempty"` // the tools that its run requires and that this shows to have been called
	// the one that says so carried the action out, as the gateway and the sandbox do; else it is its agent's word
	Carried bool `json:"carried_out,omitempty"`
	truncated
}

// Payload renders the record.
func (r OutcomeRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 8 << 10}
	r.Outcome.Detail = c.text("detail", r.Outcome.Detail)
	r.Outcome.Effects, r.Outcome.Partial = c.effects(r.Outcome.Effects, r.Outcome.Partial)
	r.Alert = c.text("alert", r.Alert)
	r.Cut = c.cut
	return payload("an outcome", &r)
}

// An ApprovalRecord is a human's answer and the request it answers, as displayed and signed.
type ApprovalRecord struct {
	Request  interlock.ApprovalRequest `json:"request"`
	Approval interlock.Approval        `json:"approval"`
	Proved   string                    `json:"proved,omitempty"` // by what: see Proves in package quorum
	truncated
}

// Payload renders the record.
func (r ApprovalRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 8 << 10}
	r.Request.Display, r.Request.Reason = c.text("display", r.Request.Display), c.text("reason", r.Request.Reason)
	r.Approval.Reason = c.text("approval", r.Approval.Reason)
	r.Request.Approval = nil // it is recorded beside
	r.Request.Ballot = withoutVotes(r.Request.Ballot)
	r.Cut = c.cut
	return payload("an approval", &r)
}

// A SuppressionRecord is an order to keep a rule silent, as signed, or its end.
type SuppressionRecord struct {
	Suppression interlock.Suppression `json:"suppression"`
	Lifted      string                `json:"lifted,omitempty"` // why it ends; empty if it begins
}

func (r SuppressionRecord) Payload() (json.RawMessage, error) { return payload("a suppression", &r) }

// An ExpiryRecord is a request whose time has passed. Its status says whether it was answered.
type ExpiryRecord struct{ Request interlock.ApprovalRequest }

// Payload renders the record.
func (r ExpiryRecord) Payload() (json.RawMessage, error) {
	return payload("an expiry", &struct {
		Request string                  `json:"request"`
		Status  interlock.RequestStatus `json:"status"` // before: pending, or approved and not used
		Action  interlock.Digest        `json:"action"`
		Expires time.Time               `json:"expires"`
	}{r.Request.ID, r.Request.Status, r.Request.Action, r.Request.Expires.UTC()})
}

// A RefusalRecord is input that was refused before it became an action, or an answer to a request that did not count.
type RefusalRecord struct {
	Door    string `json:"door,omitempty"`
	Code    string `json:"code"`
	Reason  string `json:"reason"`
	Request string `json:"request,omitempty"` // id of the approval request, if it was about one

	Judgments []interlock.Judgment `json:"judgments,omitempty"` // what judges said of what was refused; their words redacted
	truncated
}

// Payload renders the record.
func (r RefusalRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 4 << 10}
	r.Door = c.text("door", r.Door)
	r.Code = c.text("code", r.Code)
	r.Reason = c.text("reason", r.Reason)
	r.Request = c.text("request", r.Request)
	r.Judgments = c.judgments(r.Judgments)
	r.Cut = c.cut
	return payload("a refusal", &r)
}

// An AlertRecord is something an operator should look at.
type AlertRecord struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	truncated
}

// Payload renders the record.
func (r AlertRecord) Payload() (json.RawMessage, error) {
	c := cutter{room: 4 << 10}
	r.Code = c.text("code", r.Code)
	r.Message = c.text("message", r.Message)
	r.Cut = c.cut
	return payload("an alert", &r)
}

// An IdentityRecord is an agent or operator that was added, changed or revoked. The hash of an agent's token is left out:
// the log is read by more people than the store.
type IdentityRecord struct {
	Agent    *interlock.AgentRecord    `json:"agent,omitempty"`
	Operator *interlock.OperatorRecord `json:"operator,omitempty"`
	// on which it was done; nil where an operator changed what is their own, or is the first
	Order *interlock.Order `json:"order,omitempty"`
	// First: the operator is the first who governs, made at a terminal on nobody's order.
	First    bool   `json:"first,omitempty"`
	Settings string `json:"settings,omitempty"` // what the first one was shown of the settings, which stand by their word
	WeakKeys bool   `json:"-"`                  // it is about nobody, but about which keys may sign: see the order
}

// Payload renders the record.
func (r IdentityRecord) Payload() (json.RawMessage, error) {
	if (r.Agent == nil) == (r.Operator == nil) && (!r.WeakKeys || r.Agent != nil || r.Order == nil) {
		return nil, errors.New("auditlog: an identity record is about one agent or one operator")
	}
	if r.Agent != nil {
		agent := *r.Agent
		agent.TokenHash = ""
		r.Agent = &agent
	}
	return payload("an identity", &r)
}

// A SettingsRecord is standing settings that changed: ruleset, mode, profile.
type SettingsRecord struct {
	Before map[string]string `json:"before"`
	After  map[string]string `json:"after"`
	Order  *interlock.Order  `json:"order,omitempty"` // redacted; nil where nobody ordered it
}

func (r SettingsRecord) Payload() (json.RawMessage, error) { return payload("settings", &r) }

// SettingsAfter reads the settings that an event of a change brought into force.
func SettingsAfter(e interlock.Entry) (map[string]string, error) {
	var r SettingsRecord
	_, err := Read(e, &r)
	return r.After, err
}

// payload encodes a record and holds it to the bound.
func payload(what string, value any) (json.RawMessage, error) {
	encoded, err := strictjson.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("auditlog: encode %s: %w", what, err)
	}
	if len(encoded) > MaxPayload {
		return nil, interlock.Errorf(interlock.CodeLimited, "", "%s of %d bytes does not fit into an event", what, len(encoded))
	}
	return encoded, nil
}
