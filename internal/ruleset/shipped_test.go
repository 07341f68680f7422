package ruleset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"interlock/internal/strictjson"
	"interlock/rules"
)

// unset are what loading fills in and no document holds. Tests are compared as they read.
var unset = cmp.Options{cmpopts.IgnoreUnexported(Rule{}, Limit{}, After{}, Profile{}, Row{}, Escalation{}, Factor{}),
	cmp.Transformer("read", func(t Tests) []any {
		read, err := t.Read()
		return []any{read.Block, read.Ask, read.Pass, err != nil}
	})}

// TestShippedReaderReadsTheDefaults: it reads every default document as the general decoder does, and gives up on none.
func TestShippedReaderReadsTheDefaults(t *testing.T) {
	n := 0
	for name, document := range rules.Defaults() {
		if isKnowledge(document) {
			continue
		}
		n++
		var want, got Document
		if err := strictjson.DecodeTrusted(document, &want); err != nil {
			t.Fatal(err)
		}
		r := shippedReader{text: string(document)}
		r.document(&got)
		if r.gaveUp {
			t.Errorf("%s: gave up; teach it the member", name)
		}
		if diff := cmp.Diff(want, got, unset); diff != "" {
			t.Errorf("%s: general decoder(-) shipped reader(+):\n%s", name, diff)
		}
	}
	if n < 20 {
		t.Errorf("only %d documents", n)
	}
}

// FuzzShippedReader: whatever stands in a document, it is read as the general decoder reads it, or given up, or refused by
// that decoder; never with a panic or without an end.
func FuzzShippedReader(f *testing.F) {
	for _, seed := range []string{
		`{"rules":[{"id":"a.b","layer":2,"match":{"kind":["read"],"traits":{"all":["x\n"]}},"verdict":"ask","reason":"r","tests":{"block":["rm",{"input":"a]"}]}}]}`,
		`{"profiles":[{"name":"p","trust":"low","empty":"ask","rows":[{"id":"r","when":{"over":3},"verdict":"deny","reason":"\u00e9"}]}]}`,
		`{"loop":{"max_autonomous_steps":5,"cumulative":[{"risk":3,"reason":"r"}]}}`, `{"loop":null}`, `{"rules":[]}`,
		`{"rules":[{"after":{"within":"5m","times":2}}]}`, `{"scope":[]}`, `{`, `{"rules":[{"heuristic":true}`, `{"rules":[{"id":"\"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want, got Document
		r := shippedReader{text: text}
		r.document(&got)
		if r.gaveUp || r.at != len(text) || strictjson.DecodeTrusted([]byte(text), &want) != nil {
			return
		}
		if diff := cmp.Diff(want, got, unset, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: general decoder(-) shipped reader(+):\n%s", text, diff)
		}
	})
}
