package control_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission/core"
	"interlock/internal/auditlog"
	"interlock/internal/control"
	"interlock/internal/ledger"
	"interlock/internal/quorum"
	"interlock/spec"
)

// A desk takes in orders, and has a log of one event.
type desk struct {
	entry interlock.Entry
	took  []string
}

func (d *desk) CarryOut(_ context.Context, given quorum.Given, only ...interlock.Verb) (core.Carried, error) {
	if !slices.Contains(only, given.Verb) {
		return core.Carried{}, interlock.Errorf(interlock.CodeInvalid, "verb", "this order is for something else")
	}
	if given.Signature != "ada's" {
		return core.Carried{}, interlock.Errorf(interlock.CodeUnauthorized, "signature", "the signature does not verify")
	}
	d.took = append(d.took, fmt.Sprint(given.Verb, " ", given.Subject))
	status := interlock.ActionPending
	if given.Verb == interlock.VerbExecute {
		status = interlock.ActionExecuted
	}
	if given.Detail == "stale" {
		status = interlock.ActionInvalidated
	}
	done := core.Carried{Receipt: ledger.Receipt{Events: []string{"e1", "e2"}}, Request: interlock.ActionRequest{ID: "act_1", Status: status}}
	if given.Verb == interlock.VerbDataRequest && given.Detail == "export" {
		done.Request, done.Opened = interlock.ActionRequest{}, map[string]string{"pd_1": "hers"}
	}
	return done, nil
}

func (d *desk) Action(_ context.Context, id string) (r interlock.ActionRequest, c quorum.Count, err error) {
	kind, known := map[string]string{"act_1": quorum.ActOverride, "act_2": "code_upload", "act_3": quorum.ActRegister,
		"act_4": quorum.ActQuarantine}[id]
	if !known {
		return r, c, interlock.Errorf(interlock.CodeNotFound, "id", "no request has this id")
	}
	r.Action.Type = kind
	return r, c, nil
}

func (d *desk) Entry(_ context.Context, id string) (interlock.Entry, bool, error) {
	return d.entry, id == d.entry.ID, nil
}

func newDesk(t *testing.T) (*desk, http.Handler) {
	t.Helper()
	private, _, err := auditlog.GenerateKey(bytes.NewReader(make([]byte, 64)))
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := auditlog.NewSealer(private)
	if err != nil {
		t.Fatal(err)
	}
	draft := ledger.Draft{Type: interlock.EventBlock, Run: "r", Seed: "seed", Actor: "claude", Role: "agent", Recorded: noon,
		Snapshots: map[string]string{"ruleset": "sha256:beef"}, Payload: []byte(`{"action_digest":"sha256:0a","reason":"<the secret plan>"}`)}
	entries, _, err := sealer.Seal(ledger.Head{}, []ledger.Draft{draft}, []int64{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{entry: entries[0]}
	return d, control.Handler(control.Config{Backend: &switchboard{}, Orders: d, Log: d, Watch: &switchboard{}, Token: token,
		Now: func() time.Time { return noon }, Logger: slog.New(slog.DiscardHandler)})
}

func orderText(t *testing.T, verb interlock.Verb, subject, detail, signature string) string {
	t.Helper()
	text, err := json.Marshal(interlock.Order{ID: "ord_1", Verb: verb, Subject: subject, Detail: detail, Operator: "ada", At: noon,
		Expires: noon.Add(time.Minute), Signature: signature})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOrders: what people have signed is carried out on the path that it is for, and nothing else is; the door's credential alone signs
// nothing, and an observer's hands nothing in.
func TestOrders(t *testing.T) {
	spec.Covers(t, "MACE-12-12")
	d, h := newDesk(t)
	vote := func(vote string) string { return quorum.VoteDetail(quorum.Vote{Request: "act_1", Vote: vote}) }
	override := orderText(t, interlock.VerbRequest, quorum.ActOverride, "", "ada's")
	for name, test := range map[string]struct {
		status     int
		path, body string
		says, took string
		edit       func(*http.Request)
	}{
		"asked":        {200, "/safety/override", override, `"request_id":"act_1","status":"pending","event_ids":["e1","e2"]`, "request safety_override", nil},
		"carried out":  {200, "/safety/override", orderText(t, interlock.VerbExecute, "act_1", "executing", "ada's"), `"status":"executed"`, "execute-request act_1", nil},
		"stale":        {409, "/safety/override", orderText(t, interlock.VerbExecute, "act_1", "stale", "ada's"), `"status":"invalidated"`, "execute-request act_1", nil},
		"of another":   {400, "/safety/override", orderText(t, interlock.VerbExecute, "act_2", "executing", "ada's"), "not asked for on this path", "", nil},
		"of none":      {404, "/safety/override", orderText(t, interlock.VerbExecute, "act_9", "executing", "ada's"), "not_found", "", nil},
		"another type": {400, "/safety/override", orderText(t, interlock.VerbRequest, "code_upload", "", "ada's"), "not asked for on this path", "", nil},
		"another verb": {400, "/safety/override", orderText(t, interlock.VerbReleaseKill, quorum.ActOverride, "", "ada's"), `"field":"verb"`, "", nil},
		"forged":       {403, "/safety/override", orderText(t, interlock.VerbRequest, quorum.ActOverride, "", "mallory's"), `"field":"signature"`, "", nil},
		"no order":     {400, "/safety/override", `{"rule":"fs.delete"}`, "rule", "", nil},
		"no JSON":      {400, "/safety/override", `please`, `"error"`, "", nil},
		"too long":     {413, "/safety/override", strings.Repeat(" ", 40<<10), "limited", "", nil},
		"an agent":     {401, "/safety/override", override, "an agent's opens nothing", "", with("Authorization", "Bearer ilk_abc")},
		"an observer":  {403, "/safety/override", override, "door's own token", "", with("Authorization", "Bearer ilkobs_meter")},
		"rules":        {200, "/governance/policy/propose", orderText(t, interlock.VerbRequest, quorum.ActPolicy, "", "ada's"), "pending", "request governance_policy", nil},
		"other rules":  {400, "/governance/policy/propose", override, "not asked for on this path", "", nil},
		"an emergency": {200, "/superadmin/override", orderText(t, interlock.VerbRequest, quorum.ActHaltReplays, "", "ada's"), "pending", "request halt_replays", nil},
		"none":         {400, "/superadmin/override", override, "not asked for on this path", "", nil},
		"a person's":   {200, "/dsr/request", orderText(t, interlock.VerbDataRequest, "u-1", "delete", "ada's"), `"request_id":"act_1","status":"pending"`, "dsr-request u-1", nil},
		"a copy":       {200, "/dsr/request", orderText(t, interlock.VerbDataRequest, "u-1", "export", "ada's"), `"texts":{"pd_1":"hers"}`, "dsr-request u-1", nil},
		"no person's":  {400, "/dsr/request", override, `"field":"verb"`, "", nil},
		"forged copy":  {403, "/dsr/request", orderText(t, interlock.VerbDataRequest, "u-1", "export", "mallory's"), `"field":"signature"`, "", nil},
		"a vote":       {200, "/actionrequest/act_1/vote", orderText(t, interlock.VerbVote, "act_1", vote("reject"), "ada's"), "pending", "vote act_1", nil},
		"its approval": {200, "/actionrequest/act_1/approve", orderText(t, interlock.VerbVote, "act_1", vote("approve"), "ada's"), "pending", "vote act_1", nil},
		"its reject":   {400, "/actionrequest/act_1/approve", orderText(t, interlock.VerbVote, "act_1", vote("reject"), "ada's"), "/detail", "", nil},
		"no vote":      {400, "/actionrequest/act_1/approve", orderText(t, interlock.VerbVote, "act_1", "{}", "ada's"), "/detail", "", nil},
		"a module":     {200, "/module/register", orderText(t, interlock.VerbRequest, quorum.ActRegister, "", "ada's"), "pending", "request module_register", nil},
		"registered":   {200, "/module/register", orderText(t, interlock.VerbExecute, "act_3", "executing", "ada's"), "executed", "execute-request act_3", nil},
		"no module":    {400, "/module/register", orderText(t, interlock.VerbExecute, "act_4", "executing", "ada's"), "not asked for on this path", "", nil},
		"more of one":  {400, "/module/register", orderText(t, interlock.VerbRequest, interlock.ActModuleAction, "", "ada's"), "not asked for on this path", "", nil},
		"a quarantine": {200, "/module/quarantine", orderText(t, interlock.VerbRequest, quorum.ActQuarantine, "", "ada's"), "pending", "request module_quarantine", nil},
		"one at once":  {200, "/module/quarantine", orderText(t, interlock.VerbRequest, quorum.ActQuarantineNow, "", "ada's"), "pending", "request quarantine_module_immediate", nil},
		"quarantined":  {200, "/module/quarantine", orderText(t, interlock.VerbExecute, "act_4", "executing", "ada's"), "executed", "execute-request act_4", nil},
		"its end":      {400, "/module/quarantine", orderText(t, interlock.VerbRequest, quorum.ActUnquarantine, "", "ada's"), "not asked for on this path", "", nil},
		"by an agent":  {401, "/module/quarantine", orderText(t, interlock.VerbRequest, quorum.ActQuarantine, "", "ada's"), "opens nothing", "", with("Authorization", "Bearer ilk_abc")},
		"on another":   {400, "/actionrequest/act_2/vote", orderText(t, interlock.VerbVote, "act_1", "{}", "ada's"), "/subject", "", nil},
	} {
		d.took = nil
		edit := test.edit
		if edit == nil {
			edit = func(*http.Request) {}
		}
		w := ask(h, "POST", test.path, test.body, edit)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) || strings.Join(d.took, " ") != test.took ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s, took %q", name, w.Code, w.Body, d.took)
		}
	}
	for path, want := range map[string]int{"/v1/nothing": 404, "/safety/override": 405, "/": 404} {
		if w := ask(h, "GET", path, ""); w.Code != want || !strings.HasPrefix(w.Body.String(), `{"error":{"code":"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestEvents: an event is told without what was wanted and written, and whole on an admin's signed order about it.
func TestEvents(t *testing.T) {
	d, h := newDesk(t)
	for _, prefix := range []string{"/safety/events/", "/governance/events/", "/audit/event/"} {
		w := ask(h, "GET", prefix+d.entry.ID, "")
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"payload":{"action_digest":"sha256:0a","redacted":true}`) {
			t.Errorf("%s: %d %s", prefix, w.Code, w.Body)
		}
	}
	signed := func(subject, signature string) func(*http.Request) {
		return with("Interlock-Order", base64.StdEncoding.EncodeToString([]byte(orderText(t, interlock.VerbReadSealed, subject, "", signature))))
	}
	path := "/safety/events/" + d.entry.ID
	if w := ask(h, "GET", path, "", signed(control.ReadEvent(d.entry.ID), "ada's")); w.Code != 200 ||
		w.Body.String() != string(d.entry.Body)+"\n" || strings.Join(d.took, "") != "read-sealed event:"+d.entry.ID {
		t.Errorf("whole: %d %s, %q", w.Code, w.Body, d.took)
	}
	for name, test := range map[string]struct {
		status int
		path   string
		edit   func(*http.Request)
	}{
		"not signed":    {403, path, signed(control.ReadEvent(d.entry.ID), "mallory's")},
		"about another": {400, path, signed("event:00", "ada's")},
		"no order":      {400, path, with("Interlock-Order", "please")},
		"an observer":   {403, path, with("Authorization", "Bearer ilkobs_meter")},
		"no such event": {404, "/safety/events/00", func(*http.Request) {}},
	} {
		if w := ask(h, "GET", test.path, "", test.edit); w.Code != test.status || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
