package answer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/cmd/interlock/cli"
	"interlock/cmd/interlock/try"
	"interlock/embedded"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// newestFirst puts requests in the order in which people look for them.
func newestFirst(requests []interlock.ApprovalRequest) []interlock.ApprovalRequest {
	out := slices.Clone(requests)
	slices.SortFunc(out, func(a, b interlock.ApprovalRequest) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.ID, b.ID))
	})
	return out
}

// requestTable lists requests. Nobody approves from a list, so actions are short in it.
func requestTable(requests []interlock.ApprovalRequest) *cli.Table {
	t, at := cli.NewTable("ID", "STATUS", "AGE", "EXPIRES IN", "AGENT**", "RULE*", "ACTION*", "REASON**"), cli.Now()
	for _, r := range newestFirst(requests) {
		t.Row(r.ID, r.State(), cli.Age(at.Sub(r.Created)), cli.Span(r.Expires.Sub(at)), cli.Printable(r.Requester.Agent),
			cli.OrDash(cli.Printable(r.Rule)), cli.Brief(r.Display), cli.Printable(r.Reason))
		if r.Waits(at) {
			t.Styled("STATUS", cli.Yellow)
		} else {
			t.Styled("STATUS", cli.Faint)
		}
		t.Styled("ACTION", cli.Heading)
	}
	return t
}

type PendingCommand struct {
	cli.ListFlags
	ID        string `arg:"" optional:"" help:"Show this request whole: the complete action, why it was held, what it would do."`
	JSON      bool   `name:"json" help:"Print JSON."`
	Statement bool   `help:"Print the exact text an operator signs with ssh-keygen -Y sign -n interlock-approval. Needs ID and --as."`
	As        string `help:"With --statement: the operator who will sign." placeholder:"NAME"`
	Deny      bool   `help:"With --statement: the text that says no."`
	Health    bool   `help:"Show whether the people in charge still decide: time taken, share approved, answers within seconds."`
}

// Help is what `interlock pending --help` adds.
func (PendingCommand) Help() string {
	return "Without ID it lists what waits for an operator and what was approved and has not been used yet. " +
		"Control and invisible characters are shown as escapes, so that what is read is what would run."
}

// Run lists the requests or shows one.
func (c *PendingCommand) Run(p *cli.Program) error {
	if c.ID == "" && (c.Statement || c.As != "" || c.Deny) || c.Statement != (c.As != "") || c.Deny && !c.Statement {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--statement", "needs the request's id and --as NAME"))
	}
	if c.Health && (c.ID != "" || c.Statement) {
		return cli.Usage(interlock.Errorf(interlock.CodeInvalid, "--health", "is about all requests; leave out the id"))
	}
	backend, err := p.Open()
	if err != nil {
		return err
	}
	defer backend.Close()
	if c.Health {
		return c.health(p, backend)
	}
	if c.ID == "" {
		requests, err := backend.Requests(p.Ctx, c.Limit())
		if err != nil {
			return err
		}
		defer c.More(p, requests.More())
		return cli.ShowRows(p, c.JSON, requests.Rows, "nothing waits", requestTable)
	}
	standing, err := backend.Ground(p.Ctx, cli.Ref(ledger.Request, c.ID))
	if err != nil {
		return err
	}
	if request, known := standing.Requests[c.ID]; known && cli.Now().Before(request.Expires) {
		return c.show(p, backend, request)
	}
	return interlock.Errorf(interlock.CodeNotFound, "ID", "no request that waits has this id; `interlock pending` lists them")
}

// show prints one request whole, or the text that is signed.
func (c *PendingCommand) show(p *cli.Program, backend *embedded.Backend, request interlock.ApprovalRequest) error {
	if c.Statement {
		verdict := interlock.Allow
		if c.Deny {
			verdict = interlock.Deny
		} else {
			run, err := try.DryRunFor(p.Ctx, backend.Store, request)
			if err != nil {
				return err
			}
			request = try.ShownRun(request, run)
		}
		_, err := io.WriteString(p.Stdout, quorum.Statement(request, verdict, c.As))
		return err
	}
	decision, err := DecisionFor(p.Ctx, backend, request)
	if err != nil {
		return err
	}
	tried, err := try.DryRunFor(p.Ctx, backend.Store, request)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteLine(p.Stdout, struct {
			Request  interlock.ApprovalRequest `json:"request"`
			Decision *interlock.Decision       `json:"decision,omitempty"`
			DryRun   *interlock.DryRun         `json:"dry_run,omitempty"`
		}{request, decision, tried})
	}
	if err := printRequest(p.Stdout, request, decision); err != nil {
		return err
	}
	if tried != nil {
		try.PrintDryRun(p.Stdout, *tried)
	}
	if request.Status == interlock.RequestPending {
		_, err = fmt.Fprint(p.Stdout, p.Printed(fmt.Sprintf("\nanswer with: interlock approve %s   or   interlock deny %s\n",
			request.ID, request.ID)))
	}
	return err
}

// printRequest shows a request to the person who is to answer it. Everything an agent could have chosen is made printable.
func printRequest(w io.Writer, r interlock.ApprovalRequest, decision *interlock.Decision) error {
	b := cli.Card{Width: 10}
	at, line := cli.Now(), b.Line
	line("request", r.ID)
	line("status", r.State())
	line("agent", r.Requester.Agent)
	line("principal", r.Requester.Principal)
	line("run", r.Requester.Run)
	line("asked", r.Created.UTC().Format(time.RFC3339)+", "+cli.Span(at.Sub(r.Created))+" ago")
	line("expires", r.Expires.UTC().Format(time.RFC3339)+", in "+cli.Span(r.Expires.Sub(at)))
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
	b.Display(r.Display)
	if decision != nil {
		var shown strings.Builder
		if err := cli.PrintDecision(&shown, *decision); err != nil {
			return err
		}
		for _, text := range strings.Split(strings.TrimRight(shown.String(), "\n"), "\n") {
			b.WriteString(cli.Printable(text) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// DecisionFor finds the decision that left a request behind: the newest review event that names it, no older than it. It
// is nil where the log holds none, because a request must stay answerable.
func DecisionFor(ctx context.Context, backend *embedded.Backend, request interlock.ApprovalRequest) (*interlock.Decision, error) {
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
