package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/internal/auditlog"
)

// maxRow is how much of an action or of what an event tells a list shows.
const maxRow = 72

// auditTable is events for a reader, as they come.
func auditTable(s *screen, entries []interlock.Entry, at time.Time) *table {
	t := newTable("INDEX", "AGE", "TYPE", "WHO*", "VERDICT", "RULE*", "ACTION*", "EVENT**")
	for _, e := range entries {
		l := auditRow(e, at)
		t.row(fmt.Sprint(e.Index), l.age, string(e.Type), orDash(l.who), orDash(l.verdict), orDash(l.rule), orDash(l.what), e.ID)
		t.styled("VERDICT", l.style)
		t.styled("AGE", faint)
		t.styled("EVENT", faint)
	}
	return t
}

// An eventRow is what a list tells of one event.
type eventRow struct {
	age, verdict, who, what, rule string
	style                         style // of the verdict
}

func auditRow(e interlock.Entry, at time.Time) eventRow {
	if auditlog.Released(&e) {
		return eventRow{age: "archived"}
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return eventRow{age: "damaged", verdict: "-", what: printable(err.Error()), style: alarm}
	}
	l := eventRow{age: age(at.Sub(event.Recorded)), who: printable(event.Actor), what: oneLine(auditlog.Telling(event), maxRow)}
	if d, err := auditlog.ReadDecision(e); err == nil {
		l.verdict, l.style = d.Decision.Answer.String(), verdictStyle(d.Decision.Answer)
		l.who, l.what = printable(d.Proposal.Requester.Agent), oneLine(auditlog.ActionLine(d.Proposal.Action), maxRow)
		if f := d.Decision.Decisive(); f != nil {
			l.rule = printable(f.Rule)
		}
	}
	return l
}

// oneLine is a text in one line of at most so many characters, made printable.
func oneLine(text string, most int) string {
	return cut(printable(strings.Join(strings.Fields(text), " ")), most)
}

// printEvent shows one event to a reader: a decision as whoever answers requests sees it, anything else by its members.
func printEvent(s *screen, e interlock.Entry, at time.Time) error {
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return interlock.Errorf(interlock.CodeInternal, "", "the event can't be read: %s", err)
	}
	b := card{width: 10}
	b.line("event", event.ID)
	b.line("index", fmt.Sprint(e.Index))
	b.line("recorded", event.Recorded.UTC().Format(time.RFC3339)+", "+age(at.Sub(event.Recorded))+" ago")
	b.line("type", string(event.Type))
	b.line("actor", strings.TrimSpace(event.Actor+" ("+event.Role+")"))
	if d, err := auditlog.ReadDecision(e); err == nil {
		if err := decisionCard(&b, s, d); err != nil {
			return err
		}
	} else if err := membersOf(&b, event.Payload); err != nil {
		return err
	}
	_, err = s.WriteString(b.String())
	return err
}

// decisionCard is what a decision's event tells a reader.
func decisionCard(b *card, s *screen, d auditlog.Decided) error {
	who := d.Proposal.Requester
	b.line("agent", who.Agent)
	b.line("principal", who.Principal)
	b.line("run", who.Run)
	b.line("door", d.Proposal.Door)
	b.line("dir", d.Proposal.Action.Dir)
	b.line("request", d.Request)
	if d.Decision.Answer != d.Decision.Verdict {
		b.line("answered", d.Decision.Answer.String())
	}
	b.line("execution", d.Execution)
	for _, cut := range d.Cut {
		b.line("cut", cut.Field+": the record does not hold all of it")
	}
	a := d.Proposal.Action
	text := a.Input
	if text == "" {
		text = strings.TrimSpace(a.Tool + " " + string(a.Arguments))
	}
	b.display(text)
	var shown strings.Builder
	if err := printDecision(&shown, d.Decision); err != nil {
		return err
	}
	for i, text := range strings.Split(strings.TrimRight(shown.String(), "\n"), "\n") {
		if text = printable(text); i == 0 {
			text = s.paint(verdictStyle(d.Decision.Verdict), text)
		}
		b.WriteString(text + "\n")
	}
	return nil
}

// membersOf shows a payload member by member.
func membersOf(b *card, payload []byte) error {
	var value any
	if err := json.Unmarshal(payload, &value); err != nil {
		return interlock.Errorf(interlock.CodeInternal, "", "the event's payload can't be read")
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("showing the event: %w", err)
	}
	b.WriteString("\n")
	for _, line := range strings.Split(string(text), "\n") {
		b.WriteString("  " + printable(line) + "\n")
	}
	return nil
}
