package privacy

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"interlock"
	"interlock/internal/personal"
)

// Terms are what a consent says beside whose it is.
type Terms struct {
	ID         string        `json:"consent_id"` // of what the person said, see [ConsentID]
	Tier       personal.Tier `json:"tier"`       // the most sensitive that it covers: medium or high
	Agent      string        `json:"agent,omitempty"`
	Run        string        `json:"run,omitempty"`
	Persistent bool          `json:"persistent,omitempty"`
	Until      time.Time     `json:"until"`
}

// A Consent is what a person has permitted to be kept of them, as an operator put it on record: for one run of an agent unless it is
// persistent, and always until a time.
type Consent struct {
	Terms
	Subject  string    `json:"subject"`
	At       time.Time `json:"at"`
	Operator string    `json:"operator"`
	Council  string    `json:"council,omitempty"` // the request by which the council approved that data of the high tier is kept
	Revoked  time.Time `json:"revoked,omitzero"`
}

// The bounds of consents.
const (
	MaxRun        = 30 * 24 * time.Hour  // how long one for a run counts
	MaxPersistent = 400 * 24 * time.Hour // and one for all of them, before the person is asked again
	MaxConsents   = 100                  // of one person, ended ones included
	MaxKept       = 1000                 // texts that are kept of one person
	MaxText       = 64 << 10             // bytes of a text
	maxSubject    = 100
)

// Of what governed actions about people are.
const (
	TargetPerson  = "person:"
	TargetConsent = "consent:"
)

// ConsentID names a consent by what the person said: sha256(subject, run, text), as MACE's companion has it, each with its length before
// it, so that no two consents can be read as one. run is empty where it is persistent.
func ConsentID(subject, agent, run, text string) string {
	var b strings.Builder
	b.WriteString("interlock/consent/v1\n")
	for _, part := range []string{subject, agent, run, text} {
		b.WriteString(strconv.Itoa(len(part)) + ":" + part + "\n")
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// CheckSubject refuses a name for a person that is none, or that says itself who it is: it goes into the log.
func CheckSubject(name string) error {
	switch {
	case name == "" || len(name) > maxSubject:
		return interlock.Errorf(interlock.CodeInvalid, "subject", "name the person by an id of at most %d characters", maxSubject)
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") != "":
		return interlock.Errorf(interlock.CodeInvalid, "subject", "name the person by an id of letters, digits and _ - . :")
	}
	for _, s := range personal.Find(name) {
		if s.Tier != personal.Low {
			return interlock.Errorf(interlock.CodeInvalid, "subject", "is personal data itself (%s), and goes into the log; name the person by "+
				"an id of your own", s.Kind)
		}
	}
	return nil
}

// Check refuses terms that say too little or too much.
func (t Terms) Check(now time.Time) error {
	most := MaxRun
	if t.Persistent {
		most = MaxPersistent
	}
	switch {
	case len(t.ID) != 2*sha256.Size || strings.Trim(t.ID, "0123456789abcdef") != "":
		return interlock.Errorf(interlock.CodeInvalid, "consent_id", "is no sha256 in hexadecimal")
	case t.Tier != personal.Medium && t.Tier != personal.High:
		return interlock.Errorf(interlock.CodeInvalid, "tier", "is medium or high")
	case t.Persistent && t.Run != "":
		return interlock.Errorf(interlock.CodeInvalid, "run", "a persistent consent is for every run; name a run or say persistent")
	case !t.Persistent && (t.Agent == "" || t.Run == ""):
		return interlock.Errorf(interlock.CodeInvalid, "run", "name the agent and the run that it is for, or say persistent")
	case !t.Until.After(now):
		return interlock.Errorf(interlock.CodeInvalid, "until", "must be later than now")
	case t.Until.Sub(now) > most:
		return interlock.Errorf(interlock.CodeInvalid, "until", "is more than %d days from now; ask the person again then", int(most.Hours()/24))
	case len(t.Agent) > maxSubject || len(t.Run) > 2*maxSubject:
		return interlock.Errorf(interlock.CodeInvalid, "run", "is too long")
	}
	return nil
}

// InForce reports whether a consent counts for what an agent does in a run.
func (c *Consent) InForce(agent, run string, now time.Time) bool {
	return c.Revoked.IsZero() && now.Before(c.Until) && (c.Agent == "" || c.Agent == agent) && (c.Persistent || c.Run == run)
}

// Permitted is what consents of one person come to for what an agent does in a run.
func Permitted(consents []Consent, agent, run string, now time.Time) (a Authority) {
	for n := range consents {
		c := &consents[n]
		if !c.InForce(agent, run, now) {
			continue
		}
		a.IDs = append(a.IDs, c.ID)
		switch c.Tier {
		case personal.High:
			a.High, a.Council = true, a.Council || c.Council != ""
		case personal.Medium:
			a.Medium = true
		}
	}
	return a
}
