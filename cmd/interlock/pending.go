package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

type pendingCommand struct {
	listFlags
	ID        string `arg:"" optional:"" help:"Show this request whole: the complete action, why it was held, what it would do."`
	JSON      bool   `name:"json" help:"Print JSON."`
	Statement bool   `help:"Print the exact text an operator signs with ssh-keygen -Y sign -n interlock-approval. Needs ID and --as."`
	As        string `help:"With --statement: the operator who will sign." placeholder:"NAME"`
	Deny      bool   `help:"With --statement: the text that says no."`
	Health    bool   `help:"Show whether the people in charge still decide: time taken, share approved, answers within seconds."`
}

// Help is what `interlock pending --help` adds.
func (pendingCommand) Help() string {
	return "Without ID it lists what waits for an operator and what was approved and has not been used yet. " +
		"Control and invisible characters are shown as escapes, so that what is read is what would run."
}

// Run lists the requests or shows one.
func (c *pendingCommand) Run(p *program) error {
	if c.ID == "" && (c.Statement || c.As != "" || c.Deny) || c.Statement != (c.As != "") || c.Deny && !c.Statement {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--statement", "needs the request's id and --as NAME"))
	}
	if c.Health && (c.ID != "" || c.Statement) {
		return usage(interlock.Errorf(interlock.CodeInvalid, "--health", "is about all requests; leave out the id"))
	}
	backend, err := p.open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if c.Health {
		return c.health(p, backend)
	}
	if c.ID == "" {
		requests, err := backend.Requests(p.ctx, c.limit())
		if err != nil {
			return err
		}
		defer c.more(p, requests.More())
		return showRows(p, c.JSON, requests.Rows, "nothing waits", requestTable)
	}
	standing, err := backend.Ground(p.ctx, ref(ledger.Request, c.ID))
	if err != nil {
		return err
	}
	if request, known := standing.Requests[c.ID]; known && now().Before(request.Expires) {
		return c.show(p, backend, request)
	}
	return interlock.Errorf(interlock.CodeNotFound, "ID", "no request that waits has this id; `interlock pending` lists them")
}

// show prints one request whole, or the text that is signed.
func (c *pendingCommand) show(p *program, backend *embedded.Backend, request interlock.ApprovalRequest) error {
	if c.Statement {
		verdict := interlock.Allow
		if c.Deny {
			verdict = interlock.Deny
		} else {
			run, err := dryRunFor(p.ctx, backend.Store, request)
			if err != nil {
				return err
			}
			request = shownRun(request, run)
		}
		_, err := io.WriteString(p.stdout, quorum.Statement(request, verdict, c.As))
		return err
	}
	decision, err := decisionFor(p.ctx, backend, request)
	if err != nil {
		return err
	}
	tried, err := dryRunFor(p.ctx, backend.Store, request)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeLine(p.stdout, struct {
			Request  interlock.ApprovalRequest `json:"request"`
			Decision *interlock.Decision       `json:"decision,omitempty"`
			DryRun   *interlock.DryRun         `json:"dry_run,omitempty"`
		}{request, decision, tried})
	}
	if err := printRequest(p.stdout, request, decision); err != nil {
		return err
	}
	if tried != nil {
		printDryRun(p.stdout, *tried)
	}
	if request.Status == interlock.RequestPending {
		_, err = fmt.Fprint(p.stdout, p.printed(fmt.Sprintf("\nanswer with: interlock approve %s   or   interlock deny %s\n",
			request.ID, request.ID)))
	}
	return err
}

// A card is what a person is shown to answer: lines of a name and a value, and the action as it is displayed. What an agent
// could have chosen is made printable.
type card struct {
	strings.Builder
	width int // of the names
}

func (c *card) line(name, value string) {
	if value != "" {
		fmt.Fprintf(c, "%-*s%s\n", c.width, name, printable(value))
	}
}

func (c *card) display(action string) {
	c.WriteString("\n")
	for _, text := range strings.Split(strings.TrimRight(action, "\n"), "\n") {
		c.WriteString("  | " + printable(text) + "\n")
	}
	c.WriteString("\n")
}

// printRequest shows a request to the person who is to answer it. Everything an agent could have chosen is made printable.
func printRequest(w io.Writer, r interlock.ApprovalRequest, decision *interlock.Decision) error {
	b := card{width: 10}
	at, line := now(), b.line
	line("request", r.ID)
	line("status", r.State())
	line("agent", r.Requester.Agent)
	line("principal", r.Requester.Principal)
	line("run", r.Requester.Run)
	line("asked", r.Created.UTC().Format(time.RFC3339)+", "+span(at.Sub(r.Created))+" ago")
	line("expires", r.Expires.UTC().Format(time.RFC3339)+", in "+span(r.Expires.Sub(at)))
	line("rule", r.Rule)
	line("reason", r.Reason)
	for _, obligation := range r.Obligations {
		line("needs", strings.TrimSpace(obligation.Type+" "+obligation.Note))
	}
	if r.First != nil {
		line("first yes", "by "+r.First.Operator)
	}
	for _, j := range r.Judged {
		line("judge", j.Says())
	}
	line("action", string(r.Action))
	line("ruleset", string(r.Ruleset))
	line("shown", string(quorum.DisplayDigest(r.Display)))
	b.display(r.Display)
	if decision != nil {
		var shown strings.Builder
		if err := printDecision(&shown, *decision); err != nil {
			return err
		}
		for _, text := range strings.Split(strings.TrimRight(shown.String(), "\n"), "\n") {
			b.WriteString(printable(text) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// decisionFor finds the decision that left a request behind: the newest review event that names it, no older than it. It
// is nil where the log holds none, because a request must stay answerable.
func decisionFor(ctx context.Context, backend *embedded.Backend, request interlock.ApprovalRequest) (*interlock.Decision, error) {
	const page, pages = 500, 40
	before := int64(-1)
	for range pages {
		entries, err := backend.Store.Entries(ctx, interlock.EventReviewRequest, ledger.Before(before, page))
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			before = entry.Index
			if auditlog.Released(&entry) {
				return nil, nil // and so are those before: none of them is of a request that is open
			}
			event, err := auditlog.ParseEvent(entry.Body)
			if err != nil {
				return nil, err
			}
			var names struct {
				Request string `json:"request"`
			}
			if err := json.Unmarshal(event.Payload, &names); err != nil {
				return nil, fmt.Errorf("reading entry %d: %w", entry.Index, err)
			}
			if names.Request == request.ID {
				decision, _, err := auditlog.DecisionOf(entry)
				return &decision, err
			}
			if event.Recorded.Before(request.Created.Add(-time.Minute)) {
				return nil, nil
			}
		}
		if len(entries) < page {
			break
		}
	}
	return nil, nil
}

// printable spells out every character a terminal would act on or hide.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == unicode.ReplacementChar || !core.Shows(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// brief is a display in one short line, for lists only; nobody approves from a list.
func brief(display string) string {
	head, text, found := strings.Cut(display, "\n\n")
	if !found {
		text = display
	}
	if strings.HasPrefix(text, "{") { // arguments say little without the tool they are for
		if _, rest, named := strings.Cut(head, "\ntool: "); named {
			tool, _, _ := strings.Cut(rest, "\n")
			text = tool + " " + text
		}
	}
	runes := []rune(printable(strings.Join(strings.Fields(text), " ")))
	if len(runes) > 48 {
		return string(runes[:47]) + "…"
	}
	return string(runes)
}

// span writes a duration as people say it.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	default:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
}
