package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"interlock"
	"interlock/internal/ruleset"
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
func requestTable(requests []interlock.ApprovalRequest, at time.Time) *table {
	t := newTable("ID", "STATUS", "AGE", "EXPIRES IN", "AGENT**", "RULE*", "ACTION*", "REASON**")
	for _, r := range requests {
		t.row(r.ID, r.State(), age(at.Sub(r.Created)), span(r.Expires.Sub(at)), printable(r.Requester.Agent),
			orDash(printable(r.Rule)), brief(r.Display), printable(r.Reason))
		if r.Waits(at) {
			t.styled("STATUS", yellow)
		} else {
			t.styled("STATUS", faint)
		}
		t.styled("ACTION", heading)
	}
	return t
}

// ruleTable lists rules by id.
func ruleTable(rules []*ruleset.Rule) *table {
	t := newTable("RULE", "VERDICT", "LAYER", "WHOSE", "REASON**")
	for _, r := range rules {
		whose := "default"
		if r.User() {
			whose = "yours"
		}
		t.row(r.ID, r.Verdict.String(), fmt.Sprintf("layer %d", r.Layer), whose, printable(r.Reason))
		t.styled("VERDICT", verdictStyle(r.Verdict))
	}
	return t
}

// agentTable lists agents in the order they are given.
func agentTable(agents []agentShown) *table {
	t := newTable("NAME", "TYPE*", "TRUST", "OWNER*", "TOKEN", "ALLOW*", "ADDED", "REVOKED")
	for _, a := range agents {
		token := "no"
		if a.Token {
			token = "yes"
		}
		t.row(a.ID, orDash(a.Type), a.Trust.String(), orDash(a.Principal), token, orDash(printable(strings.Join(a.Allow, " "))),
			day(a.Created), day(a.Revoked))
		if !a.Revoked.IsZero() {
			t.styled("NAME", faint)
			t.styled("REVOKED", red)
		}
	}
	return t
}

// age is how long ago something was, in the largest unit that says enough.
func age(d time.Duration) string {
	if d >= 48*time.Hour {
		return fmt.Sprintf("%dd", int(d.Hours())/24)
	}
	return span(d)
}
