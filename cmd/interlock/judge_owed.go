package main

import (
	"context"
	"fmt"
	"io"

	"interlock"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

type judgeOwed struct {
	listFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// Help is what `interlock judge owed --help` adds.
func (judgeOwed) Help() string {
	return "Where settings have a class of actions judged after they were let through (judge.after), a running server asks the judge and\n" +
		"records its answer. What it denied then, or was not heard of in time, was taken back: `interlock rollback plan --event ID` says\n" +
		"what would have to be undone."
}

// A takenBack is an action that was let through and was denied afterwards.
type takenBack struct {
	Event  string                 `json:"event"`
	At     string                 `json:"at"`
	Agent  string                 `json:"agent"`
	Class  string                 `json:"class"`
	Result string                 `json:"result"`
	Held   string                 `json:"held,omitempty"`
	Rule   string                 `json:"rule_id,omitempty"`
	Undo   *auditlog.UndoProposed `json:"undo,omitempty"`
}

// Run lists what is owed, and what was taken back.
func (c *judgeOwed) Run(p *program) error {
	owed, back, err := c.read(p)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeLine(p.stdout, struct {
			Owed  []ledger.OwedBody `json:"owed"`
			Taken []takenBack       `json:"taken_back"`
		}{owed, back})
	}
	s := p.screen()
	if len(owed) == 0 {
		fmt.Fprintln(s, "no judgment is owed")
	} else {
		t := newTable("OWED FOR EVENT", "SINCE", "UNTIL", "AGENT", "JUDGE", "CLASS**")
		for n := range owed {
			o := &owed[n]
			t.row(o.Event, when(o.At), when(o.Until), printable(o.Requester.Agent), printable(o.Judge), printable(o.Class))
		}
		t.print(s)
	}
	if len(back) > 0 {
		fmt.Fprintln(s)
		t := newTable("TAKEN BACK", "AT", "AGENT", "RESULT", "HELD", "RULE", "CLASS**")
		for _, b := range back {
			t.row(b.Event, b.At, printable(b.Agent), b.Result, printable(b.Held), printable(b.Rule), printable(b.Class))
		}
		t.print(s)
	}
	return s.show()
}

// maxLateRead bounds how many answers of judges are looked through for denials.
const maxLateRead = 20_000

// tookBack reads from the log, newest first, what was denied after it was let through; at most so many, or with 0 all.
func tookBack(ctx context.Context, log *store.Store, most int) ([]takenBack, error) {
	list := []takenBack{}
	for before, read := int64(-1), 0; read < maxLateRead; {
		entries, err := log.Entries(ctx, interlock.EventJudgedLate, ledger.Before(before, digestPage))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			one, revoked, err := tookBackBy(e)
			if err != nil {
				return nil, err
			}
			if revoked {
				list = append(list, one)
			}
			if before = e.Index; len(list) == most && most > 0 {
				return list, nil
			}
		}
		if read += len(entries); len(entries) < digestPage {
			break
		}
	}
	return list, nil
}

// tookBackBy is what one answer of a judge took back, if it did.
func tookBackBy(e interlock.Entry) (one takenBack, revoked bool, err error) {
	var is auditlog.JudgedAfterRecord
	event, err := auditlog.Read(e, &is)
	if err != nil || !is.Revokes() {
		return one, false, err
	}
	one = takenBack{Event: is.Event, At: when(event.Recorded), Agent: event.Actor, Class: is.Class, Result: is.Result, Held: is.Held, Undo: is.Undo}
	for n := range is.Judgments {
		if is.Judgments[n].Rule != "" {
			one.Rule = is.Judgments[n].Rule
		}
	}
	return one, true, nil
}

// owed says of judgments that are overdue: no server runs that could ask for them, or none can record what it hears.
func (d *diagnosis) owed() {
	opened, _, err := d.program.auditStore()
	if err != nil {
		return // other checks say what is wrong with the store
	}
	defer opened.Close()
	rows, _, err := opened.Scan(d.program.ctx, ledger.Ref{Kind: ledger.Owed, Mark: ledger.All}, ledger.Every(maxListed))
	if err != nil {
		d.note("judge", "", statusFail, "what is owed a judgment can't be read: %s", err)
		return
	}
	overdue := 0
	for _, row := range rows {
		if o, is := row.Value.(ledger.OwedBody); is && d.program.now().After(o.Until) {
			overdue++
		}
	}
	if overdue > 0 {
		d.note("judge", "", statusFail, "%d actions were let through and their judge was not heard in time; run `interlock up`, which takes back "+
			"what can be taken back", overdue)
	}
}

// withOwed adds to a page of metrics what judges said of actions after they were let through, and how much they still owe.
func withOwed(backend *embedded.Backend, next func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		said := backend.JudgedAfter()
		fmt.Fprint(w, "# HELP interlock_judged_after_total Answers of judges about actions that had been let through; denials before are gate 2's.\n"+
			"# TYPE interlock_judged_after_total counter\n")
		for _, result := range []string{auditlog.JudgedAllow, auditlog.JudgedDeny, auditlog.JudgedUnheard} {
			fmt.Fprintf(w, "interlock_judged_after_total{result=%q} %d\n", result, said[result])
		}
		n, err := backend.Store.Count(context.Background(), ledger.Ref{Kind: ledger.Owed, Mark: ledger.All}, ledger.Every(0))
		if err == nil { // what can be told is told; /readyz says that the store can't be read
			fmt.Fprintf(w, "# HELP interlock_judgments_owed Actions that were let through and wait for their judge.\n"+
				"# TYPE interlock_judgments_owed gauge\ninterlock_judgments_owed %d\n", n)
		}
		return next(w)
	}
}

// read finds what is owed and what was taken back; nothing in a home in which nothing was decided yet.
func (c *judgeOwed) read(p *program) (owed []ledger.OwedBody, back []takenBack, err error) {
	owed, back = []ledger.OwedBody{}, []takenBack{}
	settings, err := p.settings()
	if err != nil || !store.Exists(settings.Home) {
		return owed, back, err
	}
	opened, _, err := p.auditStore()
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close()
	rows, _, err := opened.Scan(p.ctx, ledger.Ref{Kind: ledger.Owed, Mark: ledger.All}, ledger.Every(c.limit()))
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		if o, is := row.Value.(ledger.OwedBody); is {
			o.Payload, o.Impacts = "", nil // what the action was stands in its decision
			owed = append(owed, o)
		}
	}
	back, err = tookBack(p.ctx, opened, c.limit())
	return owed, back, err
}
