package interlock

// A SignalKind says what an observer tells of an agent.
type SignalKind string

// The kinds. Of quality and health little is bad, of all others much.
const (
	SignalContext SignalKind = "context" // how much of its context window is used, in percent
	SignalQuality SignalKind = "quality" // how good what it puts out is, as a score
	SignalAnomaly SignalKind = "anomaly" // how unusual it behaves, as a score
	SignalDrift   SignalKind = "drift"   // how far it has moved from its baseline, as a score
	SignalDLP     SignalKind = "dlp"     // a data-loss defence objects to its traffic; how sure it is, in percent
	SignalFraud   SignalKind = "fraud"   // a fraud defence does
	SignalHealth  SignalKind = "health"  // how well it answers: 0 not at all, 100 well
)

// SignalKinds lists the kinds.
func SignalKinds() []SignalKind {
	return []SignalKind{SignalContext, SignalQuality, SignalAnomaly, SignalDrift, SignalDLP, SignalFraud, SignalHealth}
}

// A Signal is what an observer tells of an agent. It tightens or changes nothing; nothing that it says lets anything happen.
type Signal struct {
	Kind   SignalKind `json:"kind"`
	Agent  string     `json:"agent"`
	Run    string     `json:"run,omitempty"`
	Value  int        `json:"value"`            // 0 to 100, see the kinds
	Reason string     `json:"reason,omitempty"` // at most 500 bytes, for the record
}

// OwnObserver is the name under which Interlock itself tells what it finds unusual in its log. No observer is registered under it.
const OwnObserver = "interlock"

// ControlObserver is the name under which a signal is recorded that comes with the control door's own token.
const ControlObserver = "control"

// NoName is the name under which it is recorded what somebody did who could not be told.
const NoName = "unknown"

// CheckNotOwn refuses the names under which Interlock itself appears in its log: an agent or person called so would sign what a
// machine decided, or be taken for one.
func CheckNotOwn(field, name string) error {
	switch name {
	case OwnObserver, ControlObserver, NoName:
		return Errorf(CodeInvalid, field, "%s is what Interlock calls itself in the log; choose another name", name)
	}
	return nil
}

// Badness is the signal's value turned so that more is worse.
func (s Signal) Badness() int {
	if s.Kind == SignalQuality || s.Kind == SignalHealth {
		return 100 - s.Value
	}
	return s.Value
}
