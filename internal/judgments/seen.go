package judgments

import (
	"bytes"
	"encoding/json"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// AlertShared is the kind of alert that an agent reasons with the model that judges it.
const AlertShared = "judge-model-shared"

// A Seen is what one entry of the log tells of judges and gates.
type Seen struct {
	At      time.Time
	Class   string // of what is done, such as "delete production"; of what is no action its subject: plan or output
	Decided bool   // it is a decision: both gates are known
	Denied  int    // which of the two gates denies: 1, 2, or 0 for neither
	Asked   bool   // gate 2 was asked
	Agent   string // of an alert: who it is about
	Shared  bool   // it is an alert that an agent reasons with a judge's model
	Said    []interlock.Judgment
}

// member is how judgments stand in an event's payload.
var member = []byte(`"judgments":[`)

// A wire is what is read of an event.
type wire struct {
	Canary    bool                 `json:"canary"`
	Code      string               `json:"code"`
	Gate1     gate                 `json:"gate_1"`
	Gate2     gate                 `json:"gate_2"`
	Judgments []interlock.Judgment `json:"judgments"`
	Decision  struct {
		Impacts []interlock.Impact `json:"impacts"`
	} `json:"decision"`
}

type gate struct {
	Result string `json:"result"`
}

func (g gate) denies() bool {
	return g.Result == interlock.Deny.String() || g.Result == interlock.Halt.String()
}

// Of is what an entry tells; false where that is nothing. What can't be read tells nothing: the log's own checks are for that.
func Of(e interlock.Entry) (Seen, bool) {
	decision := auditlog.IsDecision(e.Type)
	if !decision && e.Type != interlock.EventAlert && !bytes.Contains(e.Body, member) || auditlog.Released(&e) {
		return Seen{}, false
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return Seen{}, false
	}
	var w wire
	if json.Unmarshal(event.Payload, &w) != nil || w.Canary {
		return Seen{}, false
	}
	s := Seen{At: event.Recorded, Decided: decision, Said: w.Judgments}
	switch {
	case decision:
		s.Class, s.Asked = interlock.ImpactClass(w.Decision.Impacts), w.Gate2.Result != "" && w.Gate2.Result != "not_run"
		if w.Gate1.denies() {
			s.Denied = 1
		} else if w.Gate2.denies() {
			s.Denied = 2
		}
	case e.Type == interlock.EventAlert:
		s.Shared, s.Agent = w.Code == AlertShared, event.Actor
	case len(w.Judgments) > 0:
		s.Class = string(w.Judgments[0].Subject)
	}
	return s, decision || s.Shared || len(s.Said) > 0
}
