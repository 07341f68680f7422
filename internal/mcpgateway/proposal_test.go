package mcpgateway_test

import (
	"bytes"
	"encoding/json"
	"net/url"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"interlock"
	"interlock/embedded"
	"interlock/internal/admission"
	"interlock/internal/config"
	"interlock/internal/ledger"
	"interlock/internal/mcpgateway"
	"interlock/internal/strictjson"
)

// A judged is how the default profile answers an action, and what the action is.
type judged struct {
	Kind      interlock.Kind
	Tool      string
	Arguments string
	Verdict   interlock.Verdict
	Rule      string
}

func judge(t *testing.T, action interlock.Action, r interlock.Requester, hints *interlock.Annotations) judged {
	t.Helper()
	evaluator, err := embedded.NewEvaluator(config.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	d := admission.Evaluate(evaluator, admission.Case{Proposal: interlock.Proposal{Action: action, Requester: r,
		View: interlock.View{Home: "/home/dev", Workspace: "/home/dev/project", Annotations: hints}}},
		ledger.Standing{}, newHouse(t).clock())
	out := judged{Kind: action.Kind, Tool: action.Tool, Arguments: string(action.Arguments), Verdict: d.Verdict}
	if f := d.Decisive(); f != nil {
		out.Rule = f.Rule
	}
	return out
}

// TestWhatIsGated: what a client reads through a server is judged as what it is, and what a server wants of the client as an
// action of the server.
func TestWhatIsGated(t *testing.T) {
	client := interlock.Requester{Principal: "alice", Agent: "claude", Run: "s"}
	const dir = "/home/dev/project"
	resource := func(method, uri string) func() (interlock.Action, error) {
		return func() (interlock.Action, error) { return mcpgateway.ResourceAction("files", method, uri, dir) }
	}
	server := func(method, params string) func() (interlock.Action, error) {
		return func() (interlock.Action, error) {
			return mcpgateway.ServerAction("files", method, json.RawMessage(params))
		}
	}
	for _, test := range []struct {
		name  string
		build func() (interlock.Action, error)
		want  judged
	}{
		{"a file", resource("resources/read", "file:///home/dev/project/a%20b.txt"),
			judged{"file", "read", `{"path":"/home/dev/project/a b.txt"}`, interlock.Allow, ""}},
		{"a file of Windows", resource("resources/read", "file:///C:/x.txt"), judged{"file", "read", `{"path":"C:/x.txt"}`, interlock.Allow, ""}},
		{"a secret file", resource("resources/read", "file:///home/dev/.ssh/id_rsa"),
			judged{"file", "read", `{"path":"/home/dev/.ssh/id_rsa"}`, interlock.Ask, "cred.read"}},
		{"a secret file, watched", resource("resources/subscribe", "FILE://localhost/home/dev/.ssh/id_rsa"),
			judged{"file", "read", `{"path":"/home/dev/.ssh/id_rsa"}`, interlock.Ask, "cred.read"}},
		{"another machine's file", resource("resources/read", "file://server/share/x"),
			judged{"tool", "files.resources/read", `{"uri":"file://server/share/x"}`, interlock.Allow, ""}},
		{"a page", resource("resources/read", "https://example.com/a"),
			judged{"http", "", `{"method":"GET","url":"https://example.com/a"}`, interlock.Allow, ""}},
		{"metadata of the machine", resource("resources/read", "http://169.254.169.254/latest/meta-data/"),
			judged{"http", "", `{"method":"GET","url":"http://169.254.169.254/latest/meta-data/"}`, interlock.Deny, "cloud.metadata"}},
		{"something of the server's", resource("resources/read", "memo://insights"),
			judged{"tool", "files.resources/read", `{"uri":"memo://insights"}`, interlock.Allow, ""}},
		{"something of the server's, watched", resource("resources/subscribe", "memo://insights"),
			judged{"tool", "files.resources/read", `{"subscribe":true,"uri":"memo://insights"}`, interlock.Allow, ""}},
		{"a prompt", func() (interlock.Action, error) {
			return mcpgateway.PromptAction("files", "review", json.RawMessage(`{"b":"2","a":"1"}`), dir)
		}, judged{"tool", "files.prompts/get", `{"arguments":{"a":"1","b":"2"},"name":"review"}`, interlock.Allow, ""}},
		{"a completion", func() (interlock.Action, error) {
			return mcpgateway.CompletionAction("files",
				json.RawMessage(`{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"language","value":"py"}}`), dir)
		}, judged{"tool", "files.completion/get",
			`{"argument":{"name":"language","value":"py"},"ref":{"name":"review","type":"ref/prompt"}}`, interlock.Allow, ""}},
		{"a tool", func() (interlock.Action, error) { return mcpgateway.ToolAction("files", "list_directory", nil, dir) },
			judged{"tool", "files.list_directory", `{}`, interlock.Allow, ""}},
		{"sampling", server("sampling/createMessage", `{"maxTokens":5,"messages":[]}`),
			judged{"tool", "files.sampling/createMessage", `{"maxTokens":5,"messages":[]}`, interlock.Ask, "server.sampling"}},
		{"a form", server("elicitation/create", `{"message":"Which branch?","requestedSchema":{"type":"object","properties":{"branch":{"type":"string"}}}}`),
			judged{"tool", "files.elicitation/show-form",
				`{"message":"Which branch?","requestedSchema":{"properties":{"branch":{"type":"string"}},"type":"object"}}`, interlock.Allow, ""}},
		{"a form for a secret", server("elicitation/create", `{"mode":"form","message":"Your GitHub token?","requestedSchema":{}}`),
			judged{"tool", "files.elicitation/show-form", `{"message":"Your GitHub token?","mode":"form","requestedSchema":{}}`,
				interlock.Deny, "server.elicitation-secret"}},
		{"an address", server("elicitation/create", `{"mode":"url","message":"Sign in","url":"https://login.example/"}`),
			judged{"tool", "files.elicitation/show-url-https", `{"message":"Sign in","mode":"url","url":"https://login.example/"}`, interlock.Allow, ""}},
		{"an address in the clear", server("elicitation/create", `{"mode":"url","message":"Sign in","url":"HTTP://login.example/"}`),
			judged{"tool", "files.elicitation/show-url-http", `{"message":"Sign in","mode":"url","url":"HTTP://login.example/"}`,
				interlock.Deny, "server.elicitation-address"}},
		{"an address that is a program", server("elicitation/create", `{"mode":"url","message":"Sign in","url":"javascript:alert(1)"}`),
			judged{"tool", "files.elicitation/show-other", `{"message":"Sign in","mode":"url","url":"javascript:alert(1)"}`,
				interlock.Deny, "server.elicitation-address"}},
		{"an address that deceives", server("elicitation/create", `{"mode":"url","message":"Sign in","url":"https://bank.example@evil.example/"}`),
			judged{"tool", "files.elicitation/show-other",
				`{"message":"Sign in","mode":"url","url":"https://bank.example@evil.example/"}`, interlock.Deny, "server.elicitation-address"}},
		{"another mode", server("elicitation/create", `{"mode":"","message":"Sign in"}`),
			judged{"tool", "files.elicitation/show-other", `{"message":"Sign in","mode":""}`, interlock.Deny, "server.elicitation-address"}},
		{"the client's places", server("roots/list", ``), judged{"tool", "files.roots/list", `{}`, interlock.Allow, ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			action, err := test.build()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, judge(t, action, client, nil)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := mcpgateway.ServerRequester("files", client); got != (interlock.Requester{Principal: "alice", Agent: "server:files", Run: "s"}) {
		t.Errorf("who asks where a server asks: %+v", got)
	}
	for name, build := range map[string]func() (interlock.Action, error){
		"an unknown method": server("tools/call", `{}`), "no object": server("roots/list", `[]`), "a key twice": server("roots/list", `{"a":1,"a":2}`),
		"a mode that is none": server("elicitation/create", `{"mode":5}`),
	} {
		if action, err := build(); err == nil {
			t.Errorf("%s became %+v", name, action)
		}
	}
}

// TestHintsRaiseOnly: whatever a server says of a tool, no decision becomes milder by it, and some become stricter.
func TestHintsRaiseOnly(t *testing.T) {
	said := []string{`true`, `false`, `"true"`}
	raised := 0
	for _, tool := range []string{"read_text_file", "write_file", "frobnicate", "search", "delete_event", "send_email", "execute"} {
		action, err := mcpgateway.ToolAction("x", tool, json.RawMessage(`{"path":"a.txt","content":"x"}`), "/home/dev/project")
		if err != nil {
			t.Fatal(err)
		}
		plain := judge(t, action, interlock.Requester{Agent: "claude"}, nil)
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			for _, value := range said {
				got := judge(t, action, interlock.Requester{Agent: "claude"},
					mcpgateway.AnnotationsOf(json.RawMessage(`{"name":"x","annotations":{"`+hint+`":`+value+`}}`)))
				if got.Verdict.Compare(plain.Verdict) < 0 {
					t.Errorf("%s %s=%s lowered %v to %v", tool, hint, value, plain.Verdict, got.Verdict)
				}
				if got.Verdict != plain.Verdict {
					raised++
				}
			}
		}
	}
	if raised == 0 {
		t.Error("nothing was raised: the hints are not read")
	}
}

// FuzzResourceAction: whatever a client calls a resource, it becomes an action that names what is read and can be recorded, or
// an error where it, or the path it names, is no text; and a URI that is no path of this machine never becomes a path.
func FuzzResourceAction(f *testing.F) {
	for _, uri := range []string{"file:///etc/passwd", "file:///C:/x", "file://host/x", "FILE:/x", "file:x", "file:///a%00b",
		"file:/%80", "https://a/b", "http://[::1]/", "memo://x", "", ":", "\xff"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		action, err := mcpgateway.ResourceAction("files", "resources/read", uri, "/")
		if err != nil {
			if decoded, unescaped := url.PathUnescape(uri); utf8.ValidString(uri) && (unescaped != nil || utf8.ValidString(decoded)) {
				t.Fatalf("%q: %v", uri, err)
			}
			return
		}
		canonical, err := strictjson.Canonical(action.Arguments)
		if err != nil || !bytes.Equal(canonical, action.Arguments) {
			t.Fatalf("%q: arguments %s are not canonical: %v", uri, action.Arguments, err)
		}
		var said struct{ Path, URL, URI string }
		if err := json.Unmarshal(action.Arguments, &said); err != nil {
			t.Fatal(err)
		}
		switch action.Kind {
		case interlock.KindFile:
			if said.Path == "" || bytes.ContainsRune([]byte(said.Path), 0) {
				t.Fatalf("%q became the path %q", uri, said.Path)
			}
		case interlock.KindHTTP:
			if said.URL != uri {
				t.Fatalf("%q became the address %q", uri, said.URL)
			}
		default:
			if said.URI != uri || action.Tool != "files.resources/read" {
				t.Fatalf("%q became %s %s", uri, action.Tool, action.Arguments)
			}
		}
	})
}

// FuzzServerAction: whatever a server sends, it becomes an action under the server's own name with all that was sent in
// canonical form, or an error; and only https is opened under the name that may be.
func FuzzServerAction(f *testing.F) {
	for _, params := range []string{``, `{}`, `{"mode":"url","url":"https://a/"}`, `{"mode":"url","url":"http://a/"}`,
		`{"mode":"form"}`, `{"a":1,"a":2}`, `[]`, `{"mode":"url","url":"https://a@b/"}`} {
		f.Add("elicitation/create", []byte(params))
		f.Add("sampling/createMessage", []byte(params))
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		action, err := mcpgateway.ServerAction("files", method, params)
		if err != nil {
			return
		}
		if !bytes.HasPrefix([]byte(action.Tool), []byte("files.")) {
			t.Fatalf("another server's: %s", action.Tool)
		}
		want := []byte(`{}`)
		if len(bytes.Trim(params, " \t\r\n")) > 0 {
			if want, err = strictjson.Canonical(params); err != nil {
				t.Fatalf("an action was made of %q: %v", params, err)
			}
		}
		if !bytes.Equal(want, action.Arguments) {
			t.Fatalf("judged %s, sent %s", action.Arguments, want)
		}
		if action.Tool == "files.elicitation/show-url-https" {
			var p struct{ URL string }
			if err := json.Unmarshal(params, &p); err != nil || len(p.URL) < 8 || !bytes.EqualFold([]byte(p.URL[:8]), []byte("https://")) {
				t.Fatalf("opened as https: %s", params)
			}
		}
	})
}
