package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/console/render"
	"interlock/internal/gate"
	"interlock/internal/ledger"
)

// A decided is the page of one decision.
type decided struct {
	auditlog.Decided
	Trace     render.Trace
	Row       row
	Proof     proof
	Arguments string // of the action, indented
	Veiled    bool   // the action's own words are not shown
	Request   *interlock.ApprovalRequest
	Words     []render.Word // its input, for the eye
	Lead      string        // what its arguments are about
	Similar   render.Precedent
	Ended     string // what execution did, as reported
	Wrote     *wrote // what a run in a sandbox wrote, as far as it was recorded
	Later     []line // events after it that name it or its request
	LaterEnd  bool   // everything up to the log's end was looked through
}

// laterReads bounds how far after a decision its page looks for what became of it.
const laterReads = 1000

func (c *Console) decisionPage(w http.ResponseWriter, r *http.Request) {
	e, err := c.entry(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	if !auditlog.IsDecision(e.Type) || auditlog.OfText(&e) {
		if c.may(r, auditing) {
			http.Redirect(w, r, "/events/"+e.ID, http.StatusSeeOther)
			return
		}
		c.fail(w, r, interlock.Errorf(interlock.CodeNotFound, "event", "this event is no decision"))
		return
	}
	d, err := c.opened(r, e)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	page := decided{Decided: d, Row: rowOf(e.Index, d), Veiled: !c.may(r, reading)}
	page.Trace = c.traced(d, page.Veiled)
	var indented bytes.Buffer
	if len(d.Proposal.Action.Arguments) > 0 && json.Indent(&indented, d.Proposal.Action.Arguments, "", "  ") == nil {
		page.Arguments = indented.String()
	}
	if page.Proof, _, err = c.prove(r, e); err != nil {
		c.fail(w, r, err)
		return
	}
	for _, id := range []string{d.Request, d.Decision.Approval} {
		if id == "" {
			continue
		}
		request, found, err := c.config.Backend.Request(r.Context(), id)
		if err != nil {
			c.fail(w, r, err)
			return
		}
		if found {
			page.Request = &request
		}
	}
	if err := c.tellAction(r, &page); err != nil {
		c.fail(w, r, err)
		return
	}
	if page.Later, page.LaterEnd, err = c.later(r, e, &page); err != nil {
		c.fail(w, r, err)
		return
	}
	if page.Veiled {
		page.Wrote = nil
	}
	c.render(w, r, http.StatusOK, "decision.html", "Decision "+short(e.ID), page)
}

// tellAction adds how a decision's action is told to people, and what became of questions like it.
func (c *Console) tellAction(r *http.Request, page *decided) (err error) {
	a := page.Proposal.Action
	if a.Input != "" {
		page.Words = render.MarkedRaw(a.Input)
	} else if len(a.Arguments) > 0 {
		page.Lead = summary(a)
		if a.Kind == interlock.KindTool {
			page.Lead = a.Tool
		}
	}
	if page.Request != nil && !page.Veiled {
		page.Similar, err = c.similar(r.Context(), *page.Request)
	}
	return err
}

// outcome takes from an entry what execution did: from an OUTCOME event among those that name a decision.
func (p *decided) outcome(e interlock.Entry) {
	event, err := auditlog.ParseEvent(e.Body)
	var o interlock.Outcome
	if err != nil || json.Unmarshal(event.Payload, &o) != nil || o.Status == "" {
		return
	}
	if len(o.Effects) > 0 || o.Overlay {
		p.Wrote = &wrote{Partial: o.Partial, Overlay: o.Overlay, Kept: o.Kept}
		p.Wrote.take(o.Effects)
	}
	p.Ended = map[interlock.OutcomeStatus]string{interlock.OutcomeSuccess: "It ran and succeeded", interlock.OutcomeFailure: "It ran and failed",
		interlock.OutcomeSkipped: "It was not run", interlock.OutcomeUnknown: "It was begun, and how it ended is not known"}[o.Status]
	if o.Duration > 0 && p.Ended != "" {
		p.Ended += " in " + render.InWords(o.Duration)
	}
}

// The bounds of what a page shows of the files that a run wrote.
const (
	maxWrote = 100
	maxDiffs = 24 << 10 // bytes of how they differ
)

// A wrote is what a run in a sandbox wrote.
type wrote struct {
	Tried   bool // it was a dry run, so nothing of it stays
	Exit    int
	Stopped string
	Overlay bool
	Kept    bool
	Partial bool
	Effects []interlock.Effect
	More    int // that were recorded and are not shown
}

// take has the page show as many of the files as it has room for.
func (w *wrote) take(effects []interlock.Effect) {
	w.More = max(len(effects)-maxWrote, 0)
	w.Effects = slices.Clone(effects[:min(len(effects), maxWrote)])
	left := maxDiffs
	for i := range w.Effects {
		if left -= len(w.Effects[i].Diff); left < 0 {
			w.Effects[i].Diff = ""
		}
	}
}

// dryRun takes from an entry what the action did when it was tried, unless what it did in earnest is known.
func (p *decided) dryRun(e interlock.Entry) {
	run, err := auditlog.DryRunOf(e)
	if err != nil || run.Event != p.Event.ID || p.Wrote != nil && !p.Wrote.Tried {
		return
	}
	p.Wrote = &wrote{Tried: true, Exit: run.Exit, Stopped: run.Stopped, Overlay: true, Partial: run.Partial}
	p.Wrote.take(run.Effects)
}

// later finds the events after a decision that name it or its request.
func (c *Console) later(r *http.Request, e interlock.Entry, d *decided) (lines []line, end bool, err error) {
	entries, err := c.config.Log.Entries(r.Context(), "", ledger.From(e.Index+1, laterReads))
	if err != nil {
		return nil, false, err
	}
	names := [][]byte{[]byte(`"` + e.ID + `"`)}
	if d.Decided.Request != "" {
		names = append(names, []byte(`"`+d.Decided.Request+`"`))
	}
	for _, other := range entries {
		for _, name := range names {
			if bytes.Contains(other.Body, name) {
				lines = append(lines, c.lineFor(r, other))
				switch other.Type {
				case interlock.EventOutcome:
					d.outcome(other)
				case interlock.EventDryRun:
					d.dryRun(other)
				}
				break
			}
		}
	}
	return lines, len(entries) < laterReads, nil
}

// lineFor is lineOf as this request's operator may see it.
func (c *Console) lineFor(r *http.Request, e interlock.Entry) line {
	l := lineOf(e)
	if !c.may(r, reading) {
		l.Summary = ""
	}
	if strings.HasPrefix(l.Path, "/events/") && !c.may(r, auditing) {
		l.Path = ""
	}
	return l
}

// Cites are the impacts a finding rests on, counted from 1 as the page does.
func (d decided) Cites(f interlock.Finding) []int {
	var out []int
	for _, index := range f.Impacts {
		if index < len(d.Decision.Impacts) {
			out = append(out, index+1)
		}
	}
	return out
}

// traced puts together how a decision came about. The record names the gates that objected; the others are those of this
// version's table.
func (c *Console) traced(d auditlog.Decided, veiled bool) (t render.Trace) {
	table := gate.Gates()
	found := map[string][]interlock.Finding{}
	for _, f := range d.Decision.Findings {
		found[f.Gate] = append(found[f.Gate], f)
	}
	for _, row := range table {
		if list := found[row.Name]; len(list) > 0 {
			t.Gates = append(t.Gates, render.Gated{Name: row.Name, Findings: list})
		} else if row.Check != nil {
			t.Silent = append(t.Silent, row.Name)
		}
	}
	for _, f := range d.Decision.Findings { // of a gate that this version knows no more
		if table.Place(f.Gate) == len(table) && !slices.ContainsFunc(t.Gates, func(g render.Gated) bool { return g.Name == f.Gate }) {
			t.Gates = append(t.Gates, render.Gated{Name: f.Gate, Findings: found[f.Gate]})
		}
	}
	var wire struct {
		Second render.VerdictOf `json:"gate_2"`
	}
	if json.Unmarshal(d.Event.Payload, &wire) == nil {
		t.Judge = wire.Second
	}
	if veiled {
		t.Judge.Reason = interlock.GeneralReason(t.Judge.Reason)
	}
	for _, taken := range d.Uses {
		one := render.Charged{Taken: taken}
		if l, known := c.config.Facts.Rules().Limit(taken.Limit); known {
			one.Most = l.Most
		}
		t.Charged = append(t.Charged, one)
	}
	return t
}
