package admission_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/admission"
	"interlock/internal/auditlog"
	"interlock/internal/ruleset"
	"interlock/internal/strictjson"
	"interlock/rules"
	"interlock/spec"
)

// invoice is a message as one type publishes it and the next accepts it.
const invoice = `{type: object, required: [number, cents], properties: {number: {type: string, maxLength: 20}, ` +
	`cents: {type: integer, minimum: 0}, file: {type: string, format: relative-path}, ` +
	`lines: {type: array, maxItems: 3, items: {type: object, required: [what], properties: {what: {type: string, enum: [goods, work]}}}}}}`

// pipelineRules are three types that hand messages on: the reader to the checker to the payer.
const pipelineRules = `
maso: {tier: %d, first_use: noted}
runs: {turns: 4, resolver: the planner}
types:
  - name: reader
    accountable: ada
    tools: ["*"]
    tier: 3
    publishes: [{message: invoice, version: 1, schema: {type: object, properties: {old: {type: string}}}},
      {message: invoice, version: 2, schema: ` + invoice + `}, {message: scan, version: 1, media: [image/png, application/pdf, text/plain]},
      {message: note, version: 1, schema: {type: object, properties: {text: {type: string}}}}]
    accepts: [{message: question, from: [checker], schema: {type: string, maxLength: 100}}]
  - name: checker
    accountable: ada
    tools: ["*"]
    tier: 3
    publishes: [{message: payment, version: 1, schema: {type: object, required: [cents], properties: {cents: {type: integer}}}},
      {message: question, version: 1, schema: {type: string}}]
    accepts: [{message: invoice, from: [reader], versions: [2], bytes: 200, schema: {type: object, required: [number, cents],
        properties: {number: {type: string}, cents: {type: integer, minimum: 1, maximum: 100000}, file: {type: string},
        lines: {type: array, items: {type: object, properties: {what: {type: string}}}}}}},
      {message: scan, media: [image/png, application/pdf, text/plain], bytes: 60000},
      {message: note, schema: {type: object, required: [text], properties: {text: {type: string}}}}]
  - name: payer
    accountable: bob
    tools: ["*"]
    tier: 3
    publishes: [{message: question, version: 1, schema: {type: string}}]
    accepts: [{message: payment, from: [checker], schema: {type: object, required: [cents], properties: {cents: {type: integer, maximum: 5000}}}},
      {message: scan, from: [reader], media: [image/png], unread: true}]
  - {name: mute, accountable: bob, tools: ["ls *"]}
`

// A piped house is one whose agents work in one orchestration, each in a run of its own.
type piped struct {
	*house
	runs map[string]string
}

// pipeline is a house at a tier with an agent of each of those types, and a run of each in one orchestration.
func pipeline(t *testing.T, tier int, edit ...func(*admission.Config)) (h *piped, runs map[string]string) {
	t.Helper()
	h = &piped{}
	h.house = newHouse(t, append(edit, func(c *admission.Config) {
		set, err := ruleset.LoadShipped(rules.Defaults(), rules.Sums(), map[string][]byte{"team.yaml": fmt.Appendf(nil, pipelineRules, tier)})
		if err != nil {
			t.Fatal(err)
		}
		c.Rules = set
	})...)
	for _, name := range []string{"reader", "checker", "payer", "mute"} {
		if err := h.PutAgent(t.Context(), interlock.AgentRecord{ID: name, Type: name, Principal: "ada", Trust: interlock.TrustCommunityReviewed,
			Created: h.now}); err != nil {
			t.Fatal(err)
		}
	}
	runs = map[string]string{}
	root := h.run("reader", interlock.RunRequest{Task: "pay the bills"})
	runs["reader"] = root.ID
	second := h.run("reader", interlock.RunRequest{Parent: root.ID, Agent: "checker"})
	runs["checker"] = second.ID
	runs["payer"] = h.run("checker", interlock.RunRequest{Parent: second.ID, Agent: "payer"}).ID
	runs["mute"] = h.run("mute", interlock.RunRequest{}).ID
	h.runs = runs
	return h, runs
}

func (h *house) send(from, run string, q interlock.MessageRequest) interlock.MessageAnswer {
	h.t.Helper()
	a, err := h.SendMessage(h.t.Context(), interlock.Requester{Agent: from, Principal: "ada", Run: run}, q)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *piped) receive(by string, m *interlock.Message) interlock.MessageAnswer {
	h.t.Helper()
	if m == nil {
		h.t.Fatal("there is no message")
	}
	a, err := h.ReceiveMessage(h.t.Context(), interlock.Requester{Agent: by, Principal: "ada", Run: h.runs[by]}, m.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

func (h *house) mailbox(agent string) []interlock.Message {
	h.t.Helper()
	list, err := h.WaitingMessages(h.t.Context(), interlock.Requester{Agent: agent})
	if err != nil {
		h.t.Fatal(err)
	}
	return list
}

func bill(body string) interlock.MessageRequest {
	return interlock.MessageRequest{To: "checker", Type: "invoice", Body: json.RawMessage(body)}
}

// carried are the records of messages in the log, oldest first.
func (h *house) carried() (list []auditlog.MessageRecord) {
	h.t.Helper()
	for _, e := range h.log() {
		if e.Type != interlock.EventMessage {
			continue
		}
		var event struct {
			Payload struct {
				What      string               `json:"what"`
				Message   interlock.Message    `json:"message"`
				Violation *interlock.Violation `json:"violation"`
				Halted    bool                 `json:"halted"`
			} `json:"payload"`
		}
		if err := json.Unmarshal(e.Body, &event); err != nil {
			h.t.Fatal(err)
		}
		list = append(list, auditlog.MessageRecord(event.Payload))
	}
	return list
}

// TestOutputSchema: what a type publishes is what its agents send under that name, in the version they name or the latest; everything else
// is refused with the place that is wrong, and nothing of it is kept.
func TestOutputSchema(t *testing.T) {
	spec.Covers(t, "EC-2.13", "EC-T2.14")
	h, runs := pipeline(t, 2)
	for _, test := range []struct {
		name, body  string
		version     int
		at, keyword string
	}{
		{name: "whole", body: `{"number":"A1","cents":100}`},
		{name: "with what need not be there", body: `{"number":"A1","cents":100,"lines":[{"what":"work"}],"file":"in/a1.pdf"}`},
		{name: "a member is missing", body: `{"number":"A1"}`, at: "/cents", keyword: "required"},
		{name: "a text for a number", body: `{"number":"A1","cents":"100"}`, at: "/cents", keyword: "type"},
		{name: "a number with a fraction", body: `{"number":"A1","cents":1.5}`, at: "/cents", keyword: "type"},
		{name: "too long", body: `{"number":"A123456789012345678901","cents":1}`, at: "/number", keyword: "maxLength"},
		{name: "none of its values", body: `{"number":"A1","cents":1,"lines":[{"what":"goods"},{"what":"rent"}]}`, at: "/lines/1/what", keyword: "enum"},
		{name: "missing further down", body: `{"number":"A1","cents":1,"lines":[{}]}`, at: "/lines/0/what", keyword: "required"},
		{name: "too many", body: `{"number":"A1","cents":1,"lines":[{"what":"work"},{"what":"work"},` +
			`{"what":"work"},{"what":"work"}]}`, at: "/lines", keyword: "maxItems"},
		{name: "another kind", body: `[]`, at: "", keyword: "type"},
		{name: "a version nobody published", body: `{"number":"A1","cents":1}`, version: 3, at: "", keyword: "publishes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := bill(test.body)
			q.Version = test.version
			before := len(h.mailbox("checker"))
			a := h.send("reader", runs["reader"], q)
			if test.keyword == "" {
				if a.Answer.Answer != interlock.Allow || a.Event == "" || a.Message == nil || a.Message.Version != 2 || len(a.Message.Steps) != 1 ||
					!a.Message.Steps[0].Valid || a.Message.Steps[0].Content != auditlog.BlobDigest(canonical(t, test.body)) {
					t.Fatalf("%+v %+v", a, a.Message)
				}
				h.takes("checker", a.Message)
				return
			}
			v := a.Violation
			if a.Answer.Answer != interlock.Deny || rule(a.Answer) != "message.schema" || a.Message != nil || v == nil || v.At != test.at ||
				v.Keyword != test.keyword || v.Agent != "reader" || v.Side != "schema" || len(h.mailbox("checker")) != before {
				t.Errorf("%s: %+v", rule(a.Answer), v)
			}
		})
		h.now = h.now.Add(10 * time.Minute) // so that refusals don't make a breaker trip
	}
	nobody := h.send("mute", runs["mute"], bill(`{}`))
	if nobody.Violation == nil || nobody.Violation.Keyword != "publishes" {
		t.Errorf("a type that publishes nothing sends: %+v", nobody.Violation)
	}
	free := newHouse(t)
	if err := free.PutAgent(t.Context(), interlock.AgentRecord{ID: "codex", Created: free.now}); err != nil {
		t.Fatal(err)
	}
	if a := free.send("claude", free.run("claude", interlock.RunRequest{}).ID, interlock.MessageRequest{To: "codex", Type: "note",
		Text: "the tests are green"}); a.Message == nil ||
		a.Message.Steps[0].Valid {
		t.Errorf("where no types are defined, nobody has to publish anything, and nothing is attested to be valid: %+v", a)
	}
}

func canonical(t *testing.T, body string) []byte {
	t.Helper()
	text, err := strictjson.Canonical([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// takes has a message received and acknowledged.
func (h *piped) takes(by string, m *interlock.Message) {
	h.t.Helper()
	if a := h.receive(by, m); a.Answer.Answer != interlock.Allow {
		h.t.Fatalf("%+v", a.Findings)
	}
	if err := h.AcknowledgeMessage(h.t.Context(), interlock.Requester{Agent: by}, m.ID); err != nil {
		h.t.Fatal(err)
	}
}

// TestReceiversContract: what the sender's type publishes and the receiver's does not accept is refused before the receiver hears of it:
// what is missing, what lies beyond its ranges, what is too large, and what is of a sender or a version that it does not name.
func TestReceiversContract(t *testing.T) {
	spec.Covers(t, "EC-2.14", "EC-T2.15")
	h, runs := pipeline(t, 2)
	for _, test := range []struct {
		name, from  string
		q           interlock.MessageRequest
		at, keyword string
	}{
		{"as it is accepted", "reader", bill(`{"number":"A1","cents":5}`), "", ""},
		{"out of range", "reader", bill(`{"number":"A1","cents":0}`), "/cents", "minimum"},
		{"far out of range", "reader", bill(`{"number":"A1","cents":100001}`), "/cents", "maximum"},
		{"too large", "reader", bill(`{"number":"A1","cents":5,"file":"` + strings.Repeat("a/", 100) + `b"}`), "", "bytes"},
		{"missing", "reader", interlock.MessageRequest{To: "checker", Type: "note", Body: json.RawMessage(`{}`)}, "/text", "required"},
		{"a version it does not take", "reader", interlock.MessageRequest{To: "checker", Type: "invoice", Version: 1,
			Body: json.RawMessage(`{"old":"x"}`)}, "", "accepts"},
		{"nothing it takes", "checker", interlock.MessageRequest{To: "payer", Type: "question", Body: json.RawMessage(`"why?"`)}, "", "accepts"},
		{"of a sender it does not take it from", "payer", interlock.MessageRequest{To: "reader", Type: "question",
			Body: json.RawMessage(`"why?"`)}, "", "accepts"},
		{"another media type", "reader", interlock.MessageRequest{To: "payer", Type: "scan", Text: "a scan"}, "", "accepts"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := h.send(test.from, runs[test.from], test.q)
			if test.keyword == "" {
				h.takes(test.q.To, a.Message)
				return
			}
			if v := a.Violation; a.Message != nil || v == nil || v.Side != "contract" || v.At != test.at || v.Keyword != test.keyword ||
				v.Agent != test.from ||
				rule(a.Answer) != "message.contract" || len(h.mailbox(test.q.To)) != 0 {
				t.Errorf("%s %+v", rule(a.Answer), v)
			}
		})
		h.now = h.now.Add(10 * time.Minute)
	}
}
