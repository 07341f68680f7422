package console

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"interlock/internal/console/render"
)

// FuzzTicket: what is read as a ticket names an operator and a nonce in their one form, and reads the same from its link.
func FuzzTicket(f *testing.F) {
	good := Ticket{Operator: "olga", Nonce: strings.Repeat("0", 32), Issued: time.Unix(1_700_000_000, 0).UTC(), Signature: "s"}
	link, err := good.Link("http://localhost")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(strings.TrimPrefix(link, "http://localhost/login?ticket="))
	f.Add("e30")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		ticket, err := parseTicket(text)
		if err != nil {
			if diff := cmp.Diff(Ticket{}, ticket); diff != "" {
				t.Errorf("a refused ticket says something: %s", diff)
			}
			return
		}
		link, err := ticket.Link("http://localhost")
		if err != nil {
			return // a time no JSON can hold
		}
		again, err := parseTicket(strings.TrimPrefix(link, "http://localhost/login?ticket="))
		if err != nil || again.Statement("x") != ticket.Statement("x") || strings.ContainsAny(ticket.Operator, "\n\"") {
			t.Errorf("%q reads as %+v and then as %+v, %v", text, ticket, again, err)
		}
	})
}

// FuzzLocalPath: whatever a form or an address names, a browser is sent to a path of this console.
func FuzzLocalPath(f *testing.F) {
	for _, target := range []string{"/pending?x=1", "//evil.example", `/\evil.example`, "https://evil.example", "/%2f%2fevil", "/\t/evil.example"} {
		f.Add(target)
	}
	base := url.URL{Scheme: "http", Host: "localhost:7433", Path: "/login"}
	f.Fuzz(func(t *testing.T, target string) {
		got := localPath(target)
		// Browsers drop tabs and line ends and read backslashes as slashes before they look at an address.
		read := strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(got)
		u, err := base.Parse(read)
		if err != nil || u.Host != base.Host || u.Scheme != "http" || !strings.HasPrefix(read, "/") || strings.HasPrefix(read, "//") {
			t.Errorf("%q leads to %q", target, got)
		}
	})
}

func TestEditOf(t *testing.T) {
	head := "kind: file\ntool: Edit\n\n"
	for name, test := range map[string]struct {
		display string
		want    []render.EditLine
	}{
		"one line of three": {head + `{"old_string":"a\nb\nc","new_string":"a\nB\nc"}` + "\n", []render.EditLine{{Sign: " ", Text: "a"},
			{Sign: "-", Text: "b"}, {Sign: "+", Text: "B"}, {Sign: " ", Text: "c"}}},
		"a new file": {head + `{"content":"a\nb\n"}` + "\n", []render.EditLine{{Sign: "+", Text: "a"}, {Sign: "+", Text: "b"}}},
		"several edits": {head + `{"edits":[{"old_string":"a","new_string":"b"},{"oldText":"c","newText":""}]}`,
			[]render.EditLine{{Sign: "-", Text: "a"}, {Sign: "+", Text: "b"}, {Sign: "-", Text: "c"}}},
		"no edit":         {head + `{"file_path":"x"}`, nil},
		"another kind":    {"kind: shell\n\n" + `{"content":"a"}`, nil},
		"no arguments":    {"kind: file\n", nil},
		"broken":          {head + "{", nil},
		"more than shown": {head + `{"content":"` + strings.Repeat(`x\n`, render.MaxChanges+1) + `"}`, nil},
	} {
		if diff := cmp.Diff(test.want, render.EditOf(test.display)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
