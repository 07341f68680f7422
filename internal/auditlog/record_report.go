package auditlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"interlock"
	"interlock/internal/strictjson"
)

// A ReportRecord is what somebody reports to be wrong (MACE 9.3).
type ReportRecord struct {
	Title    string `json:"title"` // redacted, as all of it is
	Severity string `json:"severity"`
	Text     string `json:"text"`
	From     string `json:"from,omitempty"` // whom it came from, as the one who took it in says
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

// A Reported is a report as it is in the log, or with a state what an operator said of one.
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

// A RedteamRecord is what came of attacks that were made out of a number (MACE 9.2). It names the failures by their numbers: with
// the seed they are made again, and no attack that works is in the log.
type RedteamRecord struct {
	Seed      uint64           `json:"seed,string"` // a text: not every reader keeps numbers of that size
	Grammar   int              `json:"grammar"`     // the version of what makes attacks out of numbers
	Cases     int              `json:"cases"`
	Family    string           `json:"family,omitempty"` // the only one that was tried; empty: all
	Where     string           `json:"where"`            // throw-away or live
	Profile   string           `json:"profile"`
	Rules     interlock.Digest `json:"rules"`
	Version   string           `json:"version"`   // of the program
	Scheduled bool             `json:"scheduled"` // by the settings and not by a person
	Passed    bool             `json:"passed"`
	Families  []RedteamCount   `json:"families"`
	Allowed   []int            `json:"allowed"` // numbers of the cases whose attack was allowed, the first of them
	Stopped   []int            `json:"stopped"` // and of those whose harmless twin was stopped

	Sets  []RedteamSet `json:"sets,omitempty"`  // what it did not make itself
	Wrong []string     `json:"wrong,omitempty"` // ids of the cases of those that went wrong, the first of them
}

// A RedteamSet is a file of cases. With its digest and an id, a case of it is tried again.
type RedteamSet struct {
	Source string           `json:"source"` // open set, or file
	Name   string           `json:"name"`   // without the way to it
	Digest interlock.Digest `json:"digest"`
	Cases  int              `json:"cases"`
}

// A RedteamCount is what came of one family of attacks.
type RedteamCount struct {
	Family  string `json:"family"`
	Cases   int    `json:"cases"`
	Stopped int    `json:"stopped"`
	Twins   int    `json:"twins_passed"`
	Held    bool   `json:"held"`

	Source     string `json:"source,omitempty"` // own grammar, open set or file
	Set        string `json:"set,omitempty"`
	TwinsTried int    `json:"twins,omitempty"`
	HeldOut    int    `json:"held_out,omitempty"`         // attacks and twins that nobody tuned on
	Unknown    int    `json:"held_out_unknown,omitempty"` // and those of which nothing is said
	Untried    int    `json:"untried,omitempty"`          // of which nothing was found out
}

func (r RedteamRecord) Payload() (json.RawMessage, error) {
	return payload("what a red team found", &r)
}

// RedteamOf reads back from its entry what a red team found, and when. Any other entry is an error.
func RedteamOf(e interlock.Entry) (r RedteamRecord, at time.Time, err error) {
	r, event, err := readOf[RedteamRecord](e, "holds no red-team report", interlock.EventRedteam)
	return r, event.Recorded, err
}

// A DryRunRecord is what an action did in a throw-away copy.
type DryRunRecord struct {
	Run interlock.DryRun // Diffs redacted
}

type dryRunWire struct {
	interlock.DryRun
	truncated
}

// Payload renders the record. Differences are left out first, and then whole effects, until the rest fits; the record says
// how many there were.
func (r DryRunRecord) Payload() (json.RawMessage, error) {
	all := len(r.Run.Effects)
	for _, room := range [...]struct{ effects, diff int }{{500, 4 << 10}, {500, 512}, {500, 0}, {100, 0}, {20, 0}} {
		run, c := r.Run, cutter{room: 1 << 10}
		run.ID = ""
		run.Effects = make([]interlock.Effect, 0, min(all, room.effects))
		for _, e := range r.Run.Effects[:min(all, room.effects)] {
			if e.Path = c.text("path", e.Path); len(e.Diff) > room.diff {
				e.Diff = ""
			}
			run.Effects = append(run.Effects, e)
		}
		cut := c.cut
		if len(run.Effects) < all {
			run.Partial = true
			cut = append(cut, cutWire{Field: "effects", Items: all})
		}
		encoded, err := strictjson.Marshal(&dryRunWire{run, truncated{cut}})
		if err != nil {
			return nil, fmt.Errorf("auditlog: encode a dry run: %w", err)
		}
		if len(encoded) <= MaxPayload {
			return encoded, nil
		}
	}
	return nil, errors.New("auditlog: the dry run does not fit into an event")
}

// DryRunOf reads what a DRY_RUN event records.
func DryRunOf(e interlock.Entry) (interlock.DryRun, error) {
	r, _, err := readOf[interlock.DryRun](e, "holds no dry run", interlock.EventDryRun)
	r.ID = e.ID
	return r, err
}

// effects are as many of the files that a run wrote as an outcome has room for, without how they differ.
func (c *cutter) effects(list []interlock.Effect, partial bool) (kept []interlock.Effect, more bool) {
	const most, room = 200, 16 << 10 // effects, and bytes of their paths
	small, bytes := cutter{room: 512}, 0
	for i, e := range list {
		e.Path, e.Diff = small.text("path", e.Path), ""
		if bytes += len(e.Path); i == most || bytes > room {
			c.cut = append(c.cut, cutWire{Field: "effects", Items: len(list)})
			return kept, true
		}
		kept = append(kept, e)
	}
	c.cut = append(c.cut, short(small.cut)...)
	return kept, partial
}
