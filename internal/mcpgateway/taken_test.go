package mcpgateway_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/internal/admission/pinning"
	"interlock/internal/mcpgateway"
)

// takers are pins that note what is read for the first time.
type takers struct {
	pins
	mu    sync.Mutex
	taken []string
	lists []string // of resources, as they were examined
	fails error
}

// Examine gives each definition a digest that says what it is of.
func (p *takers) Examine(_ context.Context, l pinning.Listing) ([]pinning.PinVerdict, error) {
	if l.Of == interlock.PinnedResource {
		p.mu.Lock()
		p.lists = append(p.lists, fmt.Sprintf("%s", l.Definitions))
		p.mu.Unlock()
	}
	all := make([]pinning.PinVerdict, len(l.Definitions))
	for i, d := range l.Definitions {
		all[i] = pinning.PinVerdict{Definition: interlock.Digest(l.Of + ":" + string(d)), Approved: true}
	}
	return all, nil
}

func (p *takers) Take(_ context.Context, r pinning.Reading) (interlock.Upstream, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = append(p.taken, r.URI+" "+string(r.Definition))
	by := interlock.Upstream{Server: r.Server, Identity: r.Identity}
	if len(r.Definition) > 0 {
		by.Tool, by.Definition = interlock.PinnedResource+r.URI, interlock.Digest(interlock.PinnedResource+":"+string(r.Definition))
	}
	return by, p.fails
}

// TestWhatIsReadIsJudgedByItsPin: a prompt, a resource and a template by their own, once taken without asking for it again in the
// session; what the server does not list by the template that it fits, else by the server.
func TestWhatIsReadIsJudgedByItsPin(t *testing.T) {
	server, book, p := fullServer("a"), newFakeLog(), &takers{}
	server.answers["resources/templates/list"] = `{"resourceTemplates":[{"uriTemplate":"page:{id}","name":"any"}]}`
	c := join(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Pins = p }, server))
	c.shake("{}")
	const one = `{"uri":"note://a/1","name":"one"}`
	calls := []struct{ method, params, tool string }{
		{"prompts/get", `{"name":"a.greet"}`, "/prompts/greet"},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"a.greet"},"argument":{"name":"who","value":"A"}}`, "/prompts/greet"},
		{"completion/complete", `{"ref":{"type":"ref/resource","uri":"page:{id}"},"argument":{"name":"id","value":"A"}}`, "/templates/page:{id}"},
		{"resources/read", `{"uri":"note://a/1"}`, "/resources/note://a/1"},
		{"resources/read", `{"uri":"note://a/1"}`, "/resources/note://a/1"},
		{"resources/subscribe", `{"uri":"note://a/1"}`, "/resources/note://a/1"},
		{"resources/read", `{"uri":"page:7"}`, "/templates/page:{id}"},
		{"resources/read", `{"uri":"other:7"}`, ""},
	}
	for _, call := range calls {
		if a := c.call(call.method, call.params); a.Error != nil {
			t.Errorf("%s %s: %+v", call.method, call.params, a.Error)
		}
	}
	proposed := book.proposed()
	if len(proposed) != len(calls) {
		t.Fatalf("%d were decided, want %d", len(proposed), len(calls))
	}
	for i, call := range calls {
		u := proposed[i].Upstream
		if u.Tool != call.tool || (u.Definition == "") != (call.tool == "") || u.Server != "a" {
			t.Errorf("%s %s is judged by %+v", call.method, call.params, u)
		}
	}
	if diff := cmp.Diff([]string{"note://a/1 " + one, "page:7 ", "other:7 "}, p.taken); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

// TestWhatCannotBeTakenIsNotRead: nothing is decided or sent where nobody can tell what it is to be judged by.
func TestWhatCannotBeTakenIsNotRead(t *testing.T) {
	server, book, p := fullServer("a"), newFakeLog(), &takers{}
	p.fails = errors.New("the store is gone")
	c := join(t, newGateway(t, book, func(c *mcpgateway.Config) { c.Pins = p }, server))
	c.shake("{}")
	for _, method := range []string{"resources/read", "resources/subscribe"} {
		a := c.call(method, `{"uri":"note://a/1"}`)
		if a.Error == nil || !strings.Contains(a.Error.Message, "could not be determined, so nothing was done") ||
			strings.Contains(a.Error.Message, "store") {
			t.Errorf("%s: %s %+v", method, a.Result, a.Error)
		}
		if n := len(server.sent(method)); n != 0 {
			t.Errorf("%s was sent %d times", method, n)
		}
	}
	if n := len(book.proposed()); n != 0 {
		t.Errorf("%d were decided", n)
	}
}

// TestOnlyWhatIsNewOfAListIsExamined: a long list that hardly changes costs what has changed; where two entries have one URI all of it
// is looked at, because one of them does not count.
func TestOnlyWhatIsNewOfAListIsExamined(t *testing.T) {
	server, p := fullServer("a"), &takers{}
	server.answers["initialize"] = `{"protocolVersion":"2025-11-25","capabilities":{"resources":{}},"serverInfo":{"name":"full","version":"1"}}`
	const one, two, other = `{"uri":"x:1","name":"one"}`, `{"uri":"x:2","name":"two"}`, `{"uri":"x:2","name":"other"}`
	server.answers["resources/list"] = `{"resources":[` + one + `,` + two + `]}`
	c := join(t, newGateway(t, newFakeLog(), func(c *mcpgateway.Config) { c.Pins = p }, server))
	c.shake("{}")
	for _, list := range []string{one + "," + two, one + "," + other, one + "," + two + "," + other, one + "," + two} {
		server.answers["resources/list"] = `{"resources":[` + list + `]}`
		if a := c.call("resources/list", "{}"); a.Error != nil || !strings.Contains(string(a.Result), one) {
			t.Errorf("%s: %s %+v", list, a.Result, a.Error)
		}
	}
	want := []string{"[" + one + " " + two + "]", "[" + other + "]", "[" + one + " " + two + " " + other + "]"}
	if diff := cmp.Diff(want, p.lists); diff != "" {
		t.Errorf("examined (-want +got):\n%s", diff)
	}
}
