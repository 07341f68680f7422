package ruleset_test

import (
	"strings"
	"testing"
	"time"

	"interlock"
	"interlock/internal/ruleset"
)

func typed(t *testing.T, text string) (*ruleset.Ruleset, error) {
	t.Helper()
	return ruleset.Load(nil, map[string][]byte{"team.yaml": []byte(text)})
}

const someTypes = `
runs: {depth: 1, turns: 4, retries: 2, resolver: planner}
types:
  - name: refunds
    owner: payments
    accountable: ada
    role: executor
    tools: [refund, lookup_*]
    scopes: {paths: [workspace], hosts: ["*.example.com"], databases: [orders]}
    parameters:
      - tool: refund
        must:
          - {parameter: amount, operator: ">=", value: 0}
          - {parameter: amount, operator: "<=", value: 500}
          - {parameter: currency, operator: in, value: [EUR, USD]}
    data: [personal]
    risk: 60
    runs: required
    tier: 3
    spawn: {open: 2, most: 3, within: 10m}
    alive: 30s
    sandbox: build
  - {name: people, accountable: ada, tools: ["*"], users: ["guest-*"]}
`

// TestTypesAreRead: what a document says of types and runs is what the ruleset says.
func TestTypesAreRead(t *testing.T) {
	r, err := typed(t, someTypes)
	if err != nil {
		t.Fatal(err)
	}
	own := r.TypeOf(interlock.AgentRecord{ID: "r1", Type: "refunds"})
	if !r.Typed() || own.Owner != "payments" || own.Accountable != "ada" || r.Deep(own) != 3 || time.Duration(own.Alive) != 30*time.Second ||
		own.Spawns() != (ruleset.Spawn{Open: 2, Most: 3, Within: ruleset.Span(10 * time.Minute)}) || !own.Gives("lookup_order") || own.Gives("drop") {
		t.Errorf("%+v", own)
	}
	if got := r.Runs(); *got.Depth != 1 || got.Turns != 4 || got.Retries != 2 || got.Resolver != "planner" {
		t.Errorf("%+v", got)
	}
	if t := r.TypeNamed("people"); r.Deep(t) != 1 || t.Spawns().Open != 100 {
		panic("the bounds of a type that names none")
	}
	if unknown := r.TypeOf(interlock.AgentRecord{ID: "refunds2"}); unknown.Defined() || r.Deep(unknown) != 0 {
		t.Errorf("nobody defined %+v", unknown)
	}
	if r.TypeOf(interlock.AgentRecord{ID: "refunds"}) != own {
		t.Error("an agent without a type is not of the one of its name")
	}
	if got := r.TypesOfUser("guest-1"); len(got) != 1 || got[0].Name != "people" || len(r.TypesOfUser("ada")) != 0 {
		t.Errorf("%v", got)
	}
	for arguments, want := range map[string]string{`{"amount":500,"currency":"EUR"}`: "", `{"amount":0,"currency":"USD"}`: "",
		`{"amount":500.01,"currency":"EUR"}`: "amount", `{"amount":-1,"currency":"EUR"}`: "amount", `{"currency":"EUR"}`: "amount",
		`{"amount":null,"currency":"EUR"}`: "amount", `{"amount":1e3,"currency":"EUR"}`: "amount", `{"amount":"x","currency":"EUR"}`: "amount",
		`{"amount":5}`: "currency", `{"amount":5,"currency":"GBP"}`: "currency", `{"Amount":5,"currency":"EUR"}`: "amount", `[]`: "amount", ``: "amount"} {
		if got, fits := own.Fits("refund", []byte(arguments)); got != want || fits != (want == "") {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
	if _, fits := own.Fits("lookup_order", []byte(`{}`)); !fits {
		t.Error("the bounds of one tool hold for another")
	}
}

// TestTypesThatAreRefused: every mistake names its field and what to do.
func TestTypesThatAreRefused(t *testing.T) {
	one := func(rest string) string { return "types: [{name: a, accountable: ada, tools: [x]" + rest + "}]" }
	for text, want := range map[string]string{
		"types: [null]": "types[0]: the type is empty",
		"types: [{accountable: ada, tools: [x]}]":                             "types[0].name: name must be",
		"types: [{name: undefined, accountable: ada, tools: [x]}]":            "choose another",
		"types: [{name: a, tools: [x]}]":                                      "types[0].accountable: accountable is missing; name the human",
		"types: [{name: a, accountable: ada}]":                                "types[0].tools: tools is empty; list globs",
		one(", tool: x"):                                                      "tool",
		one(", runs: often"):                                                  "types[0].runs: runs must be required or delegated",
		one(", tier: 4"):                                                      "types[0].tier: tier must be 1",
		one(", risk: 101"):                                                    "types[0].risk",
		one(", sandbox: a/b"):                                                 "types[0].sandbox",
		one(", alive: 25h"):                                                   "types[0].alive: alive is at most 24h",
		one(", alive: soon"):                                                  "is no length of time",
		one(", data: [health]"):                                               "types[0].data[0]: unknown class of data; known are [personal secret]",
		one(", spawn: {open: -1}"):                                            "types[0].spawn.open",
		one(", spawn: {most: 10001}"):                                         "types[0].spawn.most",
		one(", spawn: {within: 1000h}"):                                       "types[0].spawn.within",
		one(`, users: [""]`):                                                  "types[0].users[0]: the glob is empty",
		one(`, scopes: {hosts: [""]}`):                                        "types[0].scopes.hosts[0]: the glob is empty",
		one(", parameters: [{must: []}]"):                                     "types[0].parameters[0].tool: tool is missing",
		one(", parameters: [{tool: x}]"):                                      "types[0].parameters[0].must: must is empty",
		one(", parameters: [{tool: x, must: [{parameter: a}]}]"):              "types[0].parameters[0].must[0].operator",
		one(", limits: [{id: x.y, per: agent, measure: calls, most: 1}]"):     "types[0].limits[0].measure: measure must be one of",
		one(", limits: [{id: x.y, agents: [b], per: agent, measure: bytes}]"): "types[0].limits[0].agents: a limit of a type concerns",
		one(", limits: [null]"):                                               "types[0].limits[0]: the limit is empty",
		one(", caps: {records: -1}"):                                          "types[0].caps.records: a cap is from 1",
		one(", caps: {money: {Euro: 1}}"):                                     "types[0].caps.money.Euro.currency: money is counted in one currency",
		one(", caps: {calls: 1}"):                                             "calls",
		one(", owner: " + strings.Repeat("x", 201)):                           "types[0].owner: owner is longer",
		"types: [{name: a, accountable: b, tools: [x]}, {name: a, accountable: b, tools: [x]}]": "types[1].name: the type \"a\" is defined already",
		"runs: {depth: 4}":     "runs.depth: depth is from 0",
		"runs: {turns: -1}":    "runs.turns",
		"runs: {retries: 101}": "runs.retries",
		"runs: {speed: 1}":     "speed",
		"runs: {resolver: " + strings.Repeat("x", 201) + "}": "runs.resolver",
	} {
		_, err := typed(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
	for name, documents := range map[string]map[string][]byte{
		"a type":   {"a.yaml": []byte(one("")), "b.yaml": []byte(one(""))},
		"the runs": {"a.yaml": []byte("runs: {depth: 1}"), "b.yaml": []byte("runs: {depth: 0}")},
	} {
		if _, err := ruleset.Load(nil, documents); err == nil {
			t.Errorf("%s in two documents are taken", name)
		}
	}
	if _, err := ruleset.Load(map[string][]byte{"d.json": []byte(
		`{"rules":[],"types":[{"name":"a","accountable":"b","tools":["x"]}]}`)}, nil); err == nil {
		t.Error("the program defines a type")
	}
}

// TestLoosenedTypes: a type that is gone, says anything else or is new where there were types is named, and so are other bounds of runs.
func TestLoosenedTypes(t *testing.T) {
	from, err := typed(t, someTypes)
	if err != nil {
		t.Fatal(err)
	}
	for edit, want := range map[[2]string]string{
		{"", ""}:                                  "",
		{"owner: payments", "owner: payments2"}:   "",
		{"tools: [refund", "tools: [pay, refund"}: "type refunds",
		{"value: 500}", "value: 501}"}:            "type refunds",
		{"name: refunds", "name: pays"}:           "type pays type refunds",
		{"depth: 1", "depth: 2"}:                  "runs",
		{"retries: 2", "retries: 3"}:              "runs",
		{"runs: {depth: 1, turns: 4, retries: 2, resolver: planner}\n", ""}: "runs",
	} {
		to, err := typed(t, strings.Replace(someTypes, edit[0], edit[1], 1))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ruleset.Loosened(from, to)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %q, %v; want %q", edit, got, err, want)
		}
	}
	none, err := typed(t, "production: [x]")
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := ruleset.Loosened(none, from); len(got) > 0 {
		t.Errorf("where there were no types, they loosen %q", got)
	}
	if got, _ := ruleset.Loosened(from, none); strings.Join(got, " ") != "type people type refunds runs" {
		t.Errorf("without types: %q", got)
	}
}
