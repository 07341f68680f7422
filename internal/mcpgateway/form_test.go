package mcpgateway_test

import (
	"fmt"
	"strings"
	"testing"

	"interlock/internal/mcpgateway"
	"interlock/spec"
)

// TestArgumentsMeetTheToolsSchema: where a tier is in force a tool is called with what its schema lets in and nothing else; what is not
// forwarded leaves its record and repeats no value. Elsewhere arguments are what the server makes of them.
func TestArgumentsMeetTheToolsSchema(t *testing.T) {
	spec.Covers(t, "EC-ENV-1")
	const fits, wrong, unnamed = `{"amount":5,"to":"ada"}`, `{"amount":"5","to":"ada"}`, `{"amount":5,"to":"ada","secret":"s3cret"}`
	properties := `{"type":"object","required":["to"],"properties":{"amount":{"type":"integer","maximum":9},"to":{"enum":["ada","bob"]}}`
	for name, test := range map[string]struct {
		schema, arguments string
		forwarded         bool
		says              string
	}{
		"what fits":                {properties + "}", fits, true, ""},
		"a text for a number":      {properties + "}", wrong, false, "don't meet the tool's schema"},
		"a number that is too big": {properties + "}", `{"amount":10,"to":"ada"}`, false, "don't meet"},
		"a value not listed":       {properties + "}", `{"to":"s3cret"}`, false, "don't meet"},
		"what is required":         {properties + "}", `{"amount":5}`, false, "don't meet"},
		"null":                     {properties + "}", `{"to":null}`, false, "don't meet"},
		"a member nobody named":    {properties + "}", unnamed, false, "don't meet"},
		"a member that may be":     {properties + `,"additionalProperties":true}`, unnamed, true, ""},
		"an object of anything":    {`{"type":"object"}`, unnamed, true, ""},
		"no schema":                {`null`, fits, false, "can't be used"},
		"a schema elsewhere":       {`{"$ref":"https://example.com/schema.json"}`, fits, false, "can't be used"},
		"what is no schema":        {`{"type":7}`, fits, false, "can't be used"},
		"a schema without an end":  {`{"$ref":"#"}`, fits, false, "can't be used"},
		"one within itself":        {`{"properties":{"to":{"$ref":"#"}}}`, fits, false, "can't be used"},
		"one that explodes":        {exploding(20), fits, false, "can't be used"},
		"parts of its own": {`{"properties":{"to":{"$ref":"#/$defs/a~1b"},"amount":{"$ref":"#/$defs/n"}},` +
			`"$defs":{"a/b":{"type":"string"},"n":{}}}`, fits, true, ""},
		"a choice": {`{"properties":{"to":{"anyOf":[{"type":"string"},{"type":"null"}]},"amount":{}}}`, fits, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, tiered := range []bool{true, false} {
				server, book := newFakeServer("notes"), newFakeLog()
				server.answers["tools/list"] = fmt.Sprintf(`{"tools":[{"name":"pay","inputSchema":%s}]}`, test.schema)
				c := join(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Forms = func() bool { return tiered } }, server))
				c.shake("{}")
				a := c.call("tools/call", `{"name":"notes.pay","arguments":`+test.arguments+`}`)
				want := test.forwarded || !tiered
				if got := len(server.sent("tools/call")) == 1; got != want {
					t.Errorf("tiered %v: forwarded %v, %+v", tiered, got, a.Error)
				}
				if want {
					continue
				}
				if a.Error == nil || !strings.Contains(a.Error.Message, test.says) || strings.Contains(a.Error.Message, "s3cret") {
					t.Errorf("it says %+v", a.Error)
				}
			}
		})
	}
}

// exploding is a schema each part of which refers twice to the next.
func exploding(parts int) string {
	text := `{"$ref":"#/$defs/p0","$defs":{`
	for n := range parts {
		text += fmt.Sprintf(`"p%d":{"anyOf":[{"$ref":"#/$defs/p%d"},{"$ref":"#/$defs/p%d"}]},`, n, n+1, n+1)
	}
	return text + fmt.Sprintf(`"p%d":{"type":"object"}}}`, parts)
}

// FuzzForms: whatever schema a server sends, holding arguments against it ends, and what is refused is refused without repeating a value.
func FuzzForms(f *testing.F) {
	for _, seed := range []string{`{"type":"object"}`, `{"$ref":"#"}`, `{"properties":{"a":{"$ref":"#/properties/b"},"b":{}}}`, exploding(3),
		`{"patternProperties":{"(a+)+$":{}}}`, `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{}}}`} {
		f.Add(seed, `{"a":"s3cret"}`)
	}
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		err := mcpgateway.CheckForm([]byte(`{"name":"x","inputSchema":`+schema+`}`), []byte(arguments))
		if err != nil && strings.Contains(err.Error(), "s3cret") && !strings.Contains(schema, "s3cret") {
			t.Errorf("it repeats a value: %v", err)
		}
	})
}
