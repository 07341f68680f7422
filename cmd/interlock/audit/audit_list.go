package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/embedded"
	"interlock/internal/archive"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
	"interlock/internal/strictjson"
)

// auditTable is events for a reader, as they come.
func auditTable(s *cli.Screen, entries []interlock.Entry, at time.Time) *cli.Table {
	t := cli.NewTable("INDEX", "AGE", "TYPE", "WHO*", "VERDICT", "RULE*", "ACTION*", "EVENT**")
	for _, e := range entries {
		l := auditRow(e, at)
		t.Row(fmt.Sprint(e.Index), l.age, string(e.Type), cli.OrDash(l.who), cli.OrDash(l.verdict), cli.OrDash(l.rule),
			cli.OrDash(l.what), e.ID)
		t.Styled("VERDICT", l.style)
		t.Styled("AGE", cli.Faint)
		t.Styled("EVENT", cli.Faint)
	}
	return t
}

// An eventRow is what a list tells of one event.
type eventRow struct {
	age, verdict, who, what, rule string
	style                         cli.Style // of the verdict
}

func auditRow(e interlock.Entry, at time.Time) eventRow {
	if auditlog.Released(&e) {
		return eventRow{age: "archived"}
	}
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return eventRow{age: "damaged", verdict: "-", what: cli.Printable(err.Error()), style: cli.Alarm}
	}
	l := eventRow{age: cli.Age(at.Sub(event.Recorded)), who: cli.Printable(event.Actor),
		what: cli.OneLine(auditlog.Telling(event), cli.MaxRow)}
	if d, err := auditlog.ReadDecision(e); err == nil {
		l.verdict, l.style = d.Decision.Answer.String(), cli.VerdictStyle(d.Decision.Answer)
		l.who, l.what = cli.Printable(d.Proposal.Requester.Agent), cli.OneLine(auditlog.ActionLine(d.Proposal.Action), cli.MaxRow)
		if f := d.Decision.Decisive(); f != nil {
			l.rule = cli.Printable(f.Rule)
		}
	}
	return l
}

// printEvent shows one event to a reader: a decision as the person who answers requests sees it, anything else by its members.
func printEvent(s *cli.Screen, e interlock.Entry, at time.Time) error {
	event, err := auditlog.ParseEvent(e.Body)
	if err != nil {
		return interlock.Errorf(interlock.CodeInternal, "", "the event can't be read: %s", err)
	}
	b := cli.Card{Width: 10}
	b.Line("event", event.ID)
	b.Line("index", fmt.Sprint(e.Index))
	b.Line("recorded", event.Recorded.UTC().Format(time.RFC3339)+", "+cli.Age(at.Sub(event.Recorded))+" ago")
	b.Line("type", string(event.Type))
	b.Line("actor", strings.TrimSpace(event.Actor+" ("+event.Role+")"))
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
func decisionCard(b *cli.Card, s *cli.Screen, d auditlog.Decided) error {
	who := d.Proposal.Requester
	b.Line("agent", who.Agent)
	b.Line("principal", who.Principal)
	b.Line("run", who.Run)
	b.Line("door", d.Proposal.Door)
	b.Line("dir", d.Proposal.Action.Dir)
	b.Line("request", d.Request)
	if d.Decision.Answer != d.Decision.Verdict {
		b.Line("answered", d.Decision.Answer.String())
	}
	b.Line("execution", d.Execution)
	for _, cut := range d.Cut {
		b.Line("cut", cut.Field+": the record does not hold all of it")
	}
	a := d.Proposal.Action
	text := a.Input
	if text == "" {
		text = strings.TrimSpace(a.Tool + " " + string(a.Arguments))
	}
	b.Display(text)
	var shown strings.Builder
	if err := cli.PrintDecision(&shown, d.Decision); err != nil {
		return err
	}
	for i, text := range strings.Split(strings.TrimRight(shown.String(), "\n"), "\n") {
		if text = cli.Printable(text); i == 0 {
			text = s.Paint(cli.VerdictStyle(d.Decision.Verdict), text)
		}
		b.WriteString(text + "\n")
	}
	return nil
}

// membersOf shows a payload member by member.
func membersOf(b *cli.Card, payload []byte) error {
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
		b.WriteString("  " + cli.Printable(line) + "\n")
	}
	return nil
}

// record makes the check that a server makes daily, and prints what the log says of it now.
func (c *auditVerifyCommand) record(p *cli.Program) error {
	if c.From != "" || c.Key != "" || len(c.Checkpoint)+len(c.Archive)+len(c.Witness) > 0 || c.Cosigned > 0 {
		return interlock.Errorf(interlock.CodeInvalid, "--record", "goes with --json alone: it checks the home's own log with the home's own key")
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	found, err := backend.CheckIntegrity(p.Ctx, p.Now())
	if err != nil {
		return err
	}
	if c.JSON {
		line, err := strictjson.Marshal(found)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.Stdout, "%s\n", line)
	} else {
		fmt.Fprintf(p.Stdout, "%s: %d entries, %d with a signature of their own, %d signed heads, %d snapshots\n",
			interlock.EventIntegritySummary, found.Events, found.Signed, found.Heads, found.Snapshots)
	}
	if len(found.Failures) == 0 {
		return nil
	}
	for _, failure := range found.Failures {
		fmt.Fprintf(p.Stderr, "%s: %s\n", interlock.EventIntegrity, cli.Printable(failure))
	}
	return &cli.ExitCode{Code: 1}
}

// noteUnsound appends to a log what verification found wrong with it, where this program may write there. That it can't is said, and
// changes nothing of the verdict.
func noteUnsound(p *cli.Program, failure string) {
	backend, err := p.Open()
	if err == nil {
		defer backend.Close()
		err = backend.NoteIntegrity(p.Ctx, []string{failure})
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "interlock: the failure could not be recorded in the log: %s\n", cli.Shown(err))
	}
}

// An inputsCheck looks at the inputs beside each entry while the log is verified.
type inputsCheck struct {
	next  int64 // after the last entry that was looked at
	wrong []*ledger.Tampered
}

// entry notes inputs that are not what the entry's event names. What is sealed only its key opens; replaying it tells.
func (c *inputsCheck) entry(e *interlock.Entry, event *auditlog.Event) error {
	c.next = e.Index + 1
	if len(e.Inputs) == 0 || isSealed(e.Inputs) || event != nil && event.Snapshots["inputs"] == string(auditlog.InputsDigest(e.Inputs)) ||
		len(c.wrong) >= maxWrong {
		return nil
	}
	c.wrong = append(c.wrong, &ledger.Tampered{Table: "entries", Kind: "inputs of entry", Key: fmt.Sprint(e.Index),
		What: "are not those that it names"})
	return nil
}

func isSealed(text []byte) bool { return bytes.HasPrefix(text, []byte(auditlog.SealedIntro)) }

// A recordedSource is a store's log that is read with its inputs.
type recordedSource struct{ archive.Recording }

// Walk calls visit for every entry in order, with its inputs.
func (s recordedSource) Walk(ctx context.Context, visit func(interlock.Entry) error) error {
	return s.Recorded(ctx, 0, visit)
}

// checkTexts names what decisions were made from that is not what its digest says: texts that many share, and inputs beside entries, of
// which those that were looked at already are not read again.
func checkTexts(ctx context.Context, opened *store.Store, inputs *inputsCheck, name func(*ledger.Tampered) error) error {
	err := opened.Blobs(ctx, func(blob ledger.Blob) error {
		if isSealed(blob.Text) || auditlog.BlobDigest(blob.Text) == blob.Digest {
			return nil
		}
		return name(&ledger.Tampered{Table: "blobs", Kind: "text", Key: string(blob.Digest), What: "is another than its digest says"})
	})
	if err != nil {
		if err := name(&ledger.Tampered{Table: "blobs", What: fmt.Sprintf("a text can't be read: %s", err)}); err != nil {
			return err
		}
	}
	err = opened.Recorded(ctx, inputs.next, func(e interlock.Entry) error {
		event, err := auditlog.ParseEvent(e.Body)
		if err != nil {
			return inputs.entry(&e, nil)
		}
		return inputs.entry(&e, &event)
	})
	for _, wrong := range inputs.wrong {
		if err == nil {
			err = name(wrong)
		}
	}
	return err
}

type auditMendCommand struct {
	cli.OrderFlags
	Reason string `help:"Why, for the record. Without it nothing is signed and nothing done." placeholder:"TEXT"`
	JSON   bool   `name:"json" help:"Print what would be done as JSON, and do nothing."`
}

// Help is what `interlock audit mend --help` adds.
func (auditMendCommand) Help() string {
	return "Shows what is wrong beside the log and what mending would do. With --reason an admin's signed order has exactly that done, and is\n" +
		"recorded as STORE_MENDED. What is put back is what the log says, and only where the proofs bear it out; what the log does not say\n" +
		"is left, and takes a backup. Exit status: 0 nothing is wrong or all was mended, 1 something is left."
}

// Run shows what mending would do, and with a reason has it done.
func (c *auditMendCommand) Run(p *cli.Program) error {
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if err := backend.Store.Need(store.PartMending); err != nil {
		return err
	}
	plan, err := repairs(p, backend)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := cli.WriteLine(p.Stdout, plan); err != nil {
			return err
		}
		return leftOver(plan, len(plan) > 0)
	}
	if len(plan) == 0 {
		_, err = fmt.Fprintln(p.Stdout, "nothing is wrong beside the log")
		return err
	}
	can := 0
	for _, r := range plan {
		if r.Can {
			can++
		}
		if _, err := fmt.Fprintf(p.Stdout, "%s: %s\n", cli.Printable(r.Wrong), cli.Printable(r.Does)); err != nil {
			return err
		}
	}
	switch {
	case can == 0:
		return interlock.Errorf(interlock.CodeUnavailable, "", "none of this can be mended; put back a backup of the store")
	case c.Reason == "":
		if _, err := fmt.Fprintln(p.Stdout, "nothing was done; an admin has it done with: interlock audit mend --reason TEXT"); err != nil {
			return err
		}
		return &cli.ExitCode{Code: 1}
	}
	given, done, err := p.OrderNew(backend, c.OrderFlags, interlock.VerbMend, interlock.MendSubject,
		string(ledger.PlanDigest(plan)), c.Reason)
	if err != nil {
		return err
	}
	if err := p.Done(done, "%d of %d mended by order of %s", can, len(plan), given.Operator); err != nil {
		return err
	}
	return leftOver(plan, can < len(plan))
}

// repairs is what mending would do now.
func repairs(p *cli.Program, backend *embedded.Backend) ([]ledger.Repair, error) {
	said, err := embedded.SaidOf(p.Ctx, backend.Store)
	if err != nil {
		return nil, err
	}
	return backend.Store.Mending.Repairs(p.Ctx, said)
}

// leftOver is the exit status where something is left that is wrong.
func leftOver(plan []ledger.Repair, left bool) error {
	if left && len(plan) > 0 {
		return &cli.ExitCode{Code: 1}
	}
	return nil
}
