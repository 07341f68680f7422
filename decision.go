package interlock

import "slices"

// A Decision is the binding result for one action. The zero value denies. Equal inputs give equal decisions, byte for
// byte; everything it was computed from is named by digest.
type Decision struct {
	Verdict Verdict `json:"verdict"` // what the ruleset says of the action
	Answer  Verdict `json:"answer"`  // what the door must answer, after mode, attendance and approval
	// strictest first; the first is the one that is named; last those that were suppressed, which argue for Allow
	Findings    []Finding    `json:"findings"`
	Obligations []Obligation `json:"obligations,omitempty"` // union over the findings, without duplicates
	Impacts     []Impact     `json:"impacts"`
	Risk        int          `json:"risk"`   // 0 to 100
	Danger      Danger       `json:"danger"` // declared, or inferred from the impacts
	Mode        Mode         `json:"mode"`
	Profile     string       `json:"profile"`
	Tier        Tier         `json:"tier,omitempty"` // of a step that a monitored execution reported
	// id of the standing grant that lowers this verdict and is drawn once with it
	Grant string `json:"grant,omitempty"`
	// id of the approval request whose approval lowers this verdict and is spent with it
	Approval string `json:"approval,omitempty"`
	Action   Digest `json:"digest"`   // of the action
	Ruleset  Digest `json:"ruleset"`  // of the ruleset
	Snapshot Digest `json:"snapshot"` // of the snapshot, view included
}

// Decisive returns the finding that is named as the reason, or nil if nothing objected.
func (d Decision) Decisive() *Finding {
	if len(d.Findings) == 0 || d.Findings[0].Verdict == Allow {
		return nil
	}
	return &d.Findings[0]
}

// Owes reports whether the decision carries an obligation of a type.
func (d Decision) Owes(obligation string) bool {
	for _, o := range d.Obligations {
		if o.Type == obligation {
			return true
		}
	}
	return false
}

// Danger is a level of the MCP-AQL danger scale. The zero value is the lowest; undeclared operations are at least
// Reversible, which is the gate's rule and not this type's.
type Danger uint8

// The danger levels.
const (
	DangerSafe Danger = iota
	DangerReversible
	DangerDestructive
	DangerDangerous
	DangerForbidden
)

var dangerNames = [...]string{"safe", "reversible", "destructive", "dangerous", "forbidden"}

// String returns the level's name.
func (d Danger) String() string { return name(dangerNames[:], int(d)) }

// MarshalText writes the name; an out-of-range level is an error.
func (d Danger) MarshalText() ([]byte, error) {
	return marshalName(dangerNames[:], int(d), "danger level")
}

// UnmarshalText accepts exactly the five names.
func (d *Danger) UnmarshalText(text []byte) error {
	n, err := unmarshalName(dangerNames[:], text, "danger level")
	*d = Danger(n)
	return err
}

// Trust is how far an agent or adapter has been examined. The zero value, untested, is trusted least.
type Trust uint8

// The trust levels, in the only order in which they are climbed.
const (
	TrustUntested Trust = iota
	TrustGenerated
	TrustValidated
	TrustCommunityReviewed
	TrustCertified
)

var trustNames = [...]string{"untested", "generated", "validated", "community_reviewed", "certified"}

// String returns the level's name.
func (t Trust) String() string { return name(trustNames[:], int(t)) }

// MarshalText writes the name; an out-of-range level is an error.
func (t Trust) MarshalText() ([]byte, error) {
	return marshalName(trustNames[:], int(t), "trust level")
}

// UnmarshalText accepts exactly the five names.
func (t *Trust) UnmarshalText(text []byte) error {
	n, err := unmarshalName(trustNames[:], text, "trust level")
	*t = Trust(n)
	return err
}

// Mode says what is done with verdicts. The zero value enforces them.
type Mode uint8

// The modes.
const (
	Enforcing  Mode = iota // verdicts bind
	Monitoring             // verdicts are computed, recorded and shown; the answer is always allow
	Logging                // actions are recorded without being evaluated; the answer is always allow
	Disabled               // nothing is evaluated; the record says so; the answer is always allow
)

var modeNames = [...]string{"enforcing", "monitoring", "logging", "disabled"}

// String returns the mode's name.
func (m Mode) String() string { return name(modeNames[:], int(m)) }

// MarshalText writes the name; an out-of-range mode is an error.
func (m Mode) MarshalText() ([]byte, error) { return marshalName(modeNames[:], int(m), "mode") }

// UnmarshalText accepts exactly the four names.
func (m *Mode) UnmarshalText(text []byte) error {
	n, err := unmarshalName(modeNames[:], text, "mode")
	*m = Mode(n)
	return err
}

// BeyondPrompt reports whether the decision asks for more than a yes of the person who sits before a harness: its prompt knows no
// challenge, no role, no second person and shows no dry run. Only what Interlock asks for itself can give that.
func (d Decision) BeyondPrompt() bool {
	return slices.ContainsFunc(d.Obligations, func(o Obligation) bool {
		switch o.Type {
		case ObligationConfirm, ObligationRedact, ObligationWithin, ObligationCooldown:
			return false
		}
		return true
	})
}
