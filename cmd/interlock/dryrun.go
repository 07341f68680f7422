package main

import (
	"context"
	"fmt"
	"io"

	"interlock"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/store"
)

// dryRunFor finds what the action of a request did when it was last tried in a throw-away copy, or nil.
func dryRunFor(ctx context.Context, log store.Log, request interlock.ApprovalRequest) (*interlock.DryRun, error) {
	const most = 500
	entries, err := log.Entries(ctx, interlock.EventDryRun, ledger.Before(-1, most))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if auditlog.Released(&entry) {
			break // and so are those before: none of them is of a request that is open
		}
		run, err := auditlog.DryRunOf(entry)
		if err != nil {
			return nil, err
		}
		if run.Request == request.ID && run.Action == request.Action {
			return &run, nil
		}
	}
	return nil, nil
}

// shownRun is a request with the dry run that a yes to it is shown, where a rule wants one.
func shownRun(request interlock.ApprovalRequest, run *interlock.DryRun) interlock.ApprovalRequest {
	if run != nil && request.Owes(interlock.ObligationDryRun) {
		request.DryRun = run.ID
	}
	return request
}

// printDryRun shows what a dry run did.
func printDryRun(w io.Writer, run interlock.DryRun) {
	if run.Form != "" {
		how := "it went well"
		if run.Exit != 0 {
			how = "it failed"
		}
		fmt.Fprintf(w, "\nits dry run, or the same in another place, was carried out: %s\n", how)
		if run.Detail != "" {
			fmt.Fprintf(w, "  %s\n", printable(run.Detail))
		}
		return
	}
	fmt.Fprintf(w, "\ntried in a throw-away copy without network: it ended with %d", run.Exit)
	if run.Stopped != "" {
		fmt.Fprintf(w, ", stopped by the limit on %s", printable(run.Stopped))
	}
	if len(run.Effects) == 0 {
		fmt.Fprint(w, ", and wrote nothing")
	}
	fmt.Fprintln(w)
	printEffects(w, run.Effects, run.Partial)
}
