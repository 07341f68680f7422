package auditlog

import (
	"encoding/json"
	"time"

	"interlock"
)

// A ReportRecord is what somebody reports to be wrong (MACE 9.3).
type ReportRecord struct {
	Title    string `json:"title"` // redacted, as all of it is
	Severity string `json:"severity"`
	Text     string `json:"text"`
	From     string `json:"from,omitempty"` // whom it came from, as whoever took it in says
}

func (r ReportRecord) Payload() (json.RawMessage, error) { return payload("a report", &r) }

// A TriageRecord is what an operator says becomes of a report.
type TriageRecord struct {
	Report   string          `json:"report"` // the event that recorded it
	State    string          `json:"state"`
	Title    string          `json:"title"`
	Severity string          `json:"severity"`
	Order    interlock.Order `json:"order"` // redacted
}

func (r TriageRecord) Payload() (json.RawMessage, error) {
	return payload("what becomes of a report", &r)
}

// A Reported is a report as it stands in the log, or with a state what an operator said of one.
type Reported struct {
	Event    string    `json:"id"` // of the report
	Title    string    `json:"title"`
	Severity string    `json:"severity"`
	Text     string    `json:"text,omitempty"`
	From     string    `json:"from,omitempty"`
	State    string    `json:"state"`
	At       time.Time `json:"at"`
	By       string    `json:"by"` // who took it in, or said what becomes of it
}

// ReportOf reads back from its entry a report, or what became of one. Any other entry is an error.
func ReportOf(e interlock.Entry) (r Reported, err error) {
	wire, event, err := readOf[struct {
		ReportRecord
		Report string          `json:"report"`
		State  string          `json:"state"`
		Order  interlock.Order `json:"order"`
	}](e, "holds no report", interlock.EventReport, interlock.EventTriage)
	if err != nil {
		return r, err
	}
	r = Reported{Event: e.ID, Title: wire.Title, Severity: wire.Severity, Text: wire.Text, From: wire.From, State: wire.State,
		At: event.Recorded, By: event.Actor}
	if e.Type == interlock.EventTriage {
		r.Event, r.By = wire.Report, wire.Order.Operator
	}
	return r, nil
}
